"""The downloads of CelebA and of Dogs vs. Cats, which have no public address for programs."""
from __future__ import annotations

import argparse
import hashlib

import pytest

from fuel.downloaders import celeba, dogs_vs_cats
from fuel.downloaders.base import default_downloader
from fuel.exceptions import ChecksumError, NeedURLPrefix
from tests.bin.commands import fails
from tests.loopback import reply, serving

NAMES = {celeba: ['img_align_celeba.zip', 'list_attr_celeba.txt'],
         dogs_vs_cats: ['dogs_vs_cats.train.zip', 'dogs_vs_cats.test1.zip']}
each = pytest.mark.parametrize('module', NAMES)


def arguments(module, *given):
    parser = argparse.ArgumentParser()
    assert module.fill_subparser(parser) is default_downloader
    return vars(parser.parse_args(given))


@each
def test_files_that_are_declared(module):
    found = arguments(module)
    assert found['filenames'] == NAMES[module]
    assert found['urls'] == [None, None]
    assert found['url_prefix'] is None


@each
def test_without_a_prefix_the_files_are_named(module, tmp_path):
    with pytest.raises(NeedURLPrefix, match='--url-prefix') as caught:
        default_downloader(tmp_path, **arguments(module))
    assert all(name in str(caught.value) for name in NAMES[module])
    assert not list(tmp_path.iterdir())


@each
def test_the_command_without_a_prefix(module, tmp_path, capsys):
    name = module.__name__.rpartition('.')[2]
    assert '--url-prefix' in fails('download', [name, '-d', str(tmp_path)], capsys)


@pytest.mark.parametrize('option', ['-P', '--url-prefix'])
def test_files_come_from_the_folder_that_was_named(tmp_path, option):
    routes = {name: lambda handler, name=name: reply(handler, name.encode())
              for name in NAMES[dogs_vs_cats]}
    with serving(**routes) as server:
        default_downloader(tmp_path, **arguments(dogs_vs_cats, option, server.url('/')))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: name for name in NAMES[dogs_vs_cats]}


def test_files_of_celeba_are_checked(tmp_path):
    routes = {name: lambda handler: reply(handler, b'something else') for name in NAMES[celeba]}
    with serving(**routes) as server, pytest.raises(ChecksumError):
        default_downloader(tmp_path, **arguments(celeba, '-P', server.url('/')))
    assert not (tmp_path / NAMES[celeba][0]).exists()


def test_files_of_celeba_with_the_right_content(tmp_path):
    given = arguments(celeba, '-P', 'to be replaced')
    given['checksums'] = [f'md5:{hashlib.md5(name.encode()).hexdigest()}'
                          for name in NAMES[celeba]]
    routes = {name: lambda handler, name=name: reply(handler, name.encode())
              for name in NAMES[celeba]}
    with serving(**routes) as server:
        default_downloader(tmp_path, **{**given, 'url_prefix': server.url('/')})
    assert (tmp_path / NAMES[celeba][1]).read_text() == NAMES[celeba][1]


@each
def test_files_are_removed(module, tmp_path):
    for name in NAMES[module]:
        (tmp_path / name).write_text('old')
    default_downloader(tmp_path, clear=True, **arguments(module))
    assert not list(tmp_path.iterdir())
