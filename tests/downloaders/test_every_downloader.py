"""What holds for the downloader of every built-in data set."""
from __future__ import annotations

import argparse
import importlib
import os
from urllib.parse import urlsplit

import pytest

from fuel._registry import BUILT_IN, BY_HAND
from fuel.bin.fuel_download import main
from fuel.downloaders import all_downloaders
from fuel.downloaders._files import raw_files_text
from fuel.downloaders.base import Policy
from fuel.utils.progress import format_amount
from tests.bin.commands import fails
from tests.loopback import ranged, serving

# What to type. The video has its own test: it does not come from an address.
CASES = {name: [name] for name in BUILT_IN if name != 'youtube_audio'}
del CASES['caltech101_silhouettes'], CASES['svhn']
CASES.update({f'{name} {value}': [name, value] for name, values in (
    ('caltech101_silhouettes', ('16', '28')), ('svhn', ('1', '2'))) for value in values})
RAW = {'caltech101_silhouettes 16': {'size': 16}, 'svhn 1': {'which_format': 1}}
EVERY = pytest.mark.parametrize('case', sorted(CASES))
POLICY = Policy(backoff=0, sleep=lambda seconds: None)
CONTENT = bytes(range(256)) * 400


def declared(case, monkeypatch):
    """Return the addresses, names, checksums and sizes that a downloader declares."""
    from fuel.downloaders import base
    name, *arguments = CASES[case]
    found = {}

    def note(directory, urls, filenames, url_prefix=None, clear=False, **more):
        found.update(urls=urls, filenames=filenames, **more)

    module = importlib.import_module(f'fuel.downloaders.{name}')
    for place in (module, base):
        monkeypatch.setattr(place, 'default_downloader', note, raising=False)
    parser = argparse.ArgumentParser()
    function = dict(all_downloaders)[name](parser)
    function(directory='x', clear=False, **vars(parser.parse_args(arguments)))
    monkeypatch.undo()
    return found


@EVERY
def test_addresses_are_addresses(case, monkeypatch):
    found = declared(case, monkeypatch)
    assert len(found['urls']) == len(found['filenames'])
    for choices in found['urls']:
        for url in [choices] if isinstance(choices, str) else choices or ():
            parts = urlsplit(url)
            assert parts.scheme in ('http', 'https')
            assert '.' in parts.netloc
            assert not parts.query or parts.path


@EVERY
def test_names_are_those_that_the_converter_reads(case, monkeypatch, tmp_path):
    found = declared(case, monkeypatch)
    importlib.import_module(f'tests.raw.{CASES[case][0]}').write(tmp_path, **RAW.get(case, {}))
    names = {name or urlsplit(url).path.rpartition('/')[2]
             for name, url in zip(found['filenames'], found['urls'], strict=True)}
    assert names == set(os.listdir(tmp_path))


@EVERY
def test_broken_off_and_moved_files_arrive(case, monkeypatch, tmp_path):
    """Whatever is declared, a server that breaks off is asked for the rest."""
    from fuel.downloaders.base import default_downloader
    found = declared(case, monkeypatch)
    names = [name or urlsplit(url).path.rpartition('/')[2]
             for name, url in zip(found['filenames'], found['urls'], strict=True)]
    with serving() as server:
        for name in names:
            server.routes[f'/{name}'] = ranged(CONTENT + name.encode(), breaks=[1000, 50_000])
        default_downloader(tmp_path, [None] * len(names), names, server.url('/'), policy=POLICY)
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    for name in names:
        assert (tmp_path / name).read_bytes() == CONTENT + name.encode()


@EVERY
@pytest.mark.parametrize('command', ['download', 'convert'])
def test_the_help_tells_names_and_sizes(case, monkeypatch, capsys, command):
    found = declared(case, monkeypatch)
    with pytest.raises(SystemExit):
        importlib.import_module(f'fuel.bin.fuel_{command}').main([CASES[case][0], '-h'])
    text = ' '.join(capsys.readouterr().out.split())
    assert 'raw files' in text
    sizes = found.get('sizes') or [None] * len(found['urls'])
    for name, url, size in zip(found['filenames'], found['urls'], sizes, strict=True):
        if name is None:
            name = urlsplit(url).path.rpartition('/')[2]
        amount = '' if size is None else f' ({format_amount(size, "B")})'
        assert f'{name}{amount}' in text


def test_an_address_without_a_name_in_the_help():
    parser = argparse.ArgumentParser()
    assert raw_files_text(parser) == ''
    parser.set_defaults(urls=[['http://x/', 'http://x/b.bin'], 'http://x/'],
                        filenames=[None, None])
    assert raw_files_text(parser) == 'raw files: b.bin, a file that its server names'


@EVERY
def test_clear_needs_no_network(case, tmp_path, monkeypatch, capsys):
    importlib.import_module(f'tests.raw.{CASES[case][0]}').write(tmp_path, **RAW.get(case, {}))
    (tmp_path / 'of another kind').touch()
    main([*CASES[case], '-d', str(tmp_path), '--clear'])
    assert os.listdir(tmp_path) == ['of another kind']
    main([*CASES[case], '-d', str(tmp_path), '--clear'])
    assert 'is not there' in capsys.readouterr().out


@pytest.mark.parametrize('name', ['celeba', 'dogs_vs_cats', 'ilsvrc2010', 'ilsvrc2012'])
def test_files_behind_a_registration_need_a_prefix(name, tmp_path, capsys):
    line = fails('download', [name, '-d', str(tmp_path)], capsys)
    assert '--url-prefix' in line
    assert f'or put the files into this folder yourself: {tmp_path}. Their home is ' in line
    assert BY_HAND[name] in line
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize('name', sorted(BUILT_IN))
def test_help_can_be_read(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([name, '-h'])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert BUILT_IN[name][:30] in ' '.join(text.split())
    for word in ('SUPPRESS', 'default: None', 'default: False', '%('):
        assert word not in text
