from __future__ import annotations

import os

import pytest

import fuel
from fuel.bin.fuel_download import main
from tests.bin.commands import fails, run
from tests.loopback import serving, whole
from tests.test_plugins import write_module  # noqa: F401

EXTRA = '''
from fuel.downloaders.base import default_downloader

def fill_subparser(subparser):
    """100 % additional files.

    This is not shown.
    """
    subparser.add_argument('-P', '--url-prefix')
    subparser.set_defaults(urls=[None, {url!r}], filenames=['a.bin', 'b.bin'])
    return default_downloader

def bad(subparser):
    def download(directory, clear):
        raise KeyError('some key')
    return download

all_downloaders = (('extra', fill_subparser), ('bad', bad))
'''


@pytest.fixture
def extra(write_module, tmp_path, monkeypatch):  # noqa: F811
    (tmp_path / 'cwd').mkdir()
    monkeypatch.chdir(tmp_path / 'cwd')
    with serving() as server:
        server.routes['/a.bin'] = whole(b'a')
        server.routes['/x/b'] = whole(b'b')
        write_module('extra_downloaders', EXTRA.format(url=server.url('/x/b')))
        fuel.config.extra_downloaders = ['extra_downloaders']
        yield server


def test_into_the_current_directory_by_default(extra):
    assert main(['extra', '-P', extra.url('/')]) is None
    assert sorted(os.listdir('.')) == ['a.bin', 'b.bin']


def test_into_a_directory_that_is_made(extra):
    main(['extra', '--url-prefix', extra.url('/'), '-d', 'some/where'])
    assert sorted(os.listdir('some/where')) == ['a.bin', 'b.bin']
    main(['extra', '--directory', 'some/where', '--clear'])
    assert os.listdir('some/where') == []
    main(['extra', '--directory', 'some/where', '--clear'])


def test_help_of_another_module(extra, capsys):
    with pytest.raises(SystemExit):
        main(['-h'])
    text = capsys.readouterr().out
    assert '    extra               100 % additional files\n' in text
    assert '    bad                 download bad\n' in text
    with pytest.raises(SystemExit):
        main(['extra', '-h'])
    text = capsys.readouterr().out
    assert 'Download extra: 100 % additional files.\n' in text
    assert text.endswith('raw files: a.bin, b.bin\n')


def test_missing_prefix(extra, capsys):
    line = fails('download', ['extra'], capsys)
    assert 'a.bin' in line
    assert '--url-prefix' in line
    assert os.listdir('.') == []


def test_download_error(extra, capsys):
    line = fails('download', ['extra', '-P', extra.url('/nowhere/')], capsys)
    assert f'{extra.url("/nowhere/a.bin")}: answered 404' in line
    assert os.listdir('.') == []


def test_error_in_a_downloader_says_where(extra, capsys):
    line = fails('download', ['bad'], capsys)
    assert "KeyError: 'some key'" in line
    assert 'extra_downloaders.py, line' in line


def test_directory_that_is_a_file(extra, capsys):
    open('file', 'w').close()
    line = fails('download', ['extra', '-P', extra.url('/'), '-d', 'file'], capsys)
    assert 'a file stands there' in line


def test_broken_extra_module(extra, capsys):
    fuel.config.extra_downloaders = ['not_there', 'extra_downloaders']
    main(['extra', '-P', extra.url('/')])
    warning, = capsys.readouterr().err.splitlines()
    assert warning.startswith('warning: not_there, named by the setting extra_downloaders')


def test_log_of_a_run_that_is_not_watched(extra, tmp_path):
    result = run('download', 'extra', '-P', extra.url('/'), cwd=tmp_path / 'cwd',
                 FUEL_EXTRA_DOWNLOADERS='extra_downloaders', PYTHONPATH=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, '')
    assert '\r' not in result.stdout
    assert result.stdout.splitlines() == [
        'Downloading a.bin: done, 1 B',
        f'{os.path.realpath("a.bin")}: 1 B from {extra.url("/a.bin")}',
        'Downloading b.bin: done, 1 B',
        f'{os.path.realpath("b.bin")}: 1 B from {extra.url("/x/b")}']
