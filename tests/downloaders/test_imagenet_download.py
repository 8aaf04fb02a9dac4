from __future__ import annotations

import argparse
import importlib

import pytest

from fuel.downloaders.base import default_downloader
from fuel.exceptions import NeedURLPrefix
from tests.bin.commands import fails
from tests.loopback import serving, whole


def declared(year, *arguments):
    parser = argparse.ArgumentParser()
    module = importlib.import_module(f'fuel.downloaders.ilsvrc{year}')
    assert module.fill_subparser(parser) is default_downloader
    return vars(parser.parse_args(arguments))


def converted(year):
    return importlib.import_module(f'fuel.converters.ilsvrc{year}')


def test_files_of_2010():
    known = converted(2010)
    arguments = declared(2010)
    public = 'http://www.image-net.org/challenges/LSVRC/2010/download/'
    assert arguments['urls'] == [
        public + 'ILSVRC2010_devkit-1.0.tar.gz', public + 'ILSVRC2010_test_ground_truth.txt',
        None, None, None, public + 'patch_images.tar']
    assert arguments['filenames'] == [None, None, *known.IMAGE_TARS]
    assert [url.rpartition('/')[2] if name is None else name for name, url in zip(
        arguments['filenames'], arguments['urls'], strict=True)] == list(known.ALL_FILES)
    assert arguments['url_prefix'] is None


def test_files_of_2012():
    arguments = declared(2012, '-P', 'http://somewhere/')
    assert arguments['urls'] == [None] * 4
    assert arguments['filenames'] == list(converted(2012).ALL_FILES)
    assert [checksum and checksum[:8] for checksum in arguments['checksums']] == [
        'md5:fa75', 'md5:1d67', 'md5:29b2', None]
    assert arguments['url_prefix'] == 'http://somewhere/'


@pytest.mark.parametrize('year', [2010, 2012])
def test_without_a_prefix(tmp_path, capsys, year):
    with pytest.raises(NeedURLPrefix, match='--url-prefix'):
        default_downloader(tmp_path, **declared(year))
    line = fails('download', [f'ilsvrc{year}', '-d', str(tmp_path)], capsys)
    assert '-P/--url-prefix' in line
    assert f'ILSVRC{year}_im' in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('year', [2010, 2012])
def test_files_are_removed(tmp_path, year):
    for name in (*converted(year).ALL_FILES, 'other'):
        (tmp_path / name).write_bytes(b'x')
    default_downloader(tmp_path, clear=True, **declared(year))
    assert [path.name for path in tmp_path.iterdir()] == ['other']


def test_names_are_appended_to_the_prefix(tmp_path):
    names = converted(2012).ALL_FILES
    with serving(**{name: whole(name.encode()) for name in names}) as server:
        arguments = declared(2012, '--url-prefix', server.url('/'))
        default_downloader(tmp_path, **{**arguments, 'checksums': None})
    for name in names:
        assert (tmp_path / name).read_bytes() == name.encode()
