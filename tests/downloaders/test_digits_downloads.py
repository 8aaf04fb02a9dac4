"""Downloads of MNIST, binarized MNIST, CalTech 101 Silhouettes and Adult."""
from __future__ import annotations

import argparse
import os
import urllib.parse

import pytest

from fuel.bin import fuel_download
from fuel.converters import adult as adult_converter
from fuel.converters import binarized_mnist as binarized_converter
from fuel.converters import mnist as mnist_converter
from fuel.downloaders import adult, binarized_mnist, caltech101_silhouettes, mnist
from fuel.downloaders.base import Policy, default_downloader
from fuel.exceptions import DownloadError
from fuel.utils.checksums import checksum_of, parse_checksum
from tests.loopback import closed_port, serving, whole

PLAIN = [(mnist, mnist_converter.ALL_FILES), (adult, adult_converter.ALL_FILES),
         (binarized_mnist, binarized_converter.ALL_FILES)]


def declared(module):
    parser = argparse.ArgumentParser()
    assert module.fill_subparser(parser) is default_downloader
    return vars(parser.parse_args([]))


def choices(url):
    return [url] if isinstance(url, str) else url


@pytest.mark.parametrize(('module', 'needed'), PLAIN)
def test_files_are_those_that_the_converter_needs(module, needed):
    arguments = declared(module)
    assert arguments['filenames'] == needed
    assert len(arguments['urls']) == len(needed)
    for url, name in zip(arguments['urls'], needed, strict=True):
        for address in choices(url):
            parts = urllib.parse.urlsplit(address)
            assert parts.scheme in ('http', 'https')
            assert parts.netloc
            assert parts.path.endswith(f'/{name}')
    for checksum in arguments.get('checksums', []):
        parse_checksum(checksum)
    for size in arguments.get('sizes', []):
        assert size > 1000


def test_mnist_is_looked_for_at_mirrors_before_its_old_home():
    arguments = declared(mnist)
    for url in arguments['urls']:
        hosts = [urllib.parse.urlsplit(address).netloc for address in url]
        assert hosts == ['ossci-datasets.s3.amazonaws.com', 'storage.googleapis.com',
                         'yann.lecun.com']
    assert arguments['sizes'] == [9912422, 28881, 1648877, 4542]
    assert [checksum.partition(':')[0] for checksum in arguments['checksums']] == ['md5'] * 4


def test_next_mirror_serves_where_the_first_cannot_be_reached(tmp_path):
    slept = []
    arguments = declared(mnist)
    source = tmp_path / 'source'
    source.write_bytes(b'images')
    with serving() as server:
        arguments['urls'] = [[closed_port() + name, server.url(f'/gone/{name}'),
                              server.url(f'/{name}')] for name in arguments['filenames']]
        server.routes.update({f'/{name}': whole(b'images') for name in arguments['filenames']})
        arguments.update(checksums=[checksum_of(source, 'md5')] * 4, sizes=[6] * 4)
        default_downloader(tmp_path / 'raw', policy=Policy(sleep=slept.append), **arguments)
    assert sorted(os.listdir(tmp_path / 'raw')) == sorted(arguments['filenames'])
    assert (tmp_path / 'raw' / arguments['filenames'][2]).read_bytes() == b'images'


@pytest.mark.parametrize('size', [16, 28])
def test_silhouettes_of_one_size(tmp_path, monkeypatch, size):
    parser = argparse.ArgumentParser()
    function = caltech101_silhouettes.fill_subparser(parser)
    arguments = vars(parser.parse_args([str(size)]))
    name = f'caltech101_silhouettes_{size}_split1.mat'
    with serving(**{name: whole(b'variables')}) as server:
        monkeypatch.setattr(caltech101_silhouettes, 'FOLDER', server.url('/'))
        function(directory=str(tmp_path), **arguments)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b'variables'
    function(directory=str(tmp_path), clear=True, **arguments)
    assert os.listdir(tmp_path) == []


def test_silhouettes_of_other_sizes_are_refused(tmp_path, capsys):
    parser = argparse.ArgumentParser()
    function = caltech101_silhouettes.fill_subparser(parser)
    for arguments in (['20'], []):
        with pytest.raises(SystemExit):
            parser.parse_args(arguments)
    assert 'SIZE' in capsys.readouterr().err
    with pytest.raises(ValueError, match='expected a size of 16 or 28; got 20'):
        function(20, tmp_path)
    assert urllib.parse.urlsplit(caltech101_silhouettes.FOLDER).scheme == 'https'


def test_silhouettes_that_cannot_be_had(tmp_path, monkeypatch):
    with serving() as server:
        monkeypatch.setattr(caltech101_silhouettes, 'FOLDER', server.url('/'))
        with pytest.raises(DownloadError, match='404'):
            caltech101_silhouettes.silhouettes_downloader(16, tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(('arguments', 'names'), [
    (['mnist'], mnist_converter.ALL_FILES), (['adult'], adult_converter.ALL_FILES),
    (['binarized_mnist'], binarized_converter.ALL_FILES),
    (['caltech101_silhouettes', '16'], ['caltech101_silhouettes_16_split1.mat'])])
def test_command_clears_the_files_and_no_others(tmp_path, arguments, names):
    for name in [*names, 'mine.txt']:
        (tmp_path / name).write_bytes(b'')
    fuel_download.main([*arguments, '-d', str(tmp_path), '--clear'])
    assert os.listdir(tmp_path) == ['mine.txt']
    fuel_download.main([*arguments, '-d', str(tmp_path), '--clear'])
