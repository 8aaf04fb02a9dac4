"""What the downloaders of CIFAR-10, CIFAR-100 and SVHN declare."""
from __future__ import annotations

import argparse
import re

import pytest

from fuel.bin import fuel_download
from fuel.downloaders import cifar10, cifar100, svhn
from fuel.downloaders.base import default_downloader
from fuel.exceptions import ChecksumError
from tests.loopback import reply, serving

PAGE = 'https://www.cs.toronto.edu/~kriz/'


def declared(module, *arguments):
    parser = argparse.ArgumentParser()
    function = module.fill_subparser(parser)
    return function, vars(parser.parse_args(arguments))


@pytest.mark.parametrize(('module', 'name', 'digest', 'size'), [
    (cifar10, 'cifar-10-python.tar.gz', 'c58f30108f718f92721af3b95e74349a', 170498071),
    (cifar100, 'cifar-100-python.tar.gz', 'eb9058c3a382ffc7106e4002c42a8d85', 169001437)])
def test_cifar(module, name, digest, size):
    function, arguments = declared(module)
    assert function is default_downloader
    assert arguments == {'urls': [PAGE + name], 'filenames': [name],
                         'checksums': [f'md5:{digest}'], 'sizes': [size]}


def test_svhn_arguments():
    function, arguments = declared(svhn, '2')
    assert function is svhn.download_svhn
    assert arguments == {'which_format': 2}
    assert svhn.URL_PREFIX == 'http://ufldl.stanford.edu/housenumbers/'
    assert list(svhn.FILES[1]) == ['train.tar.gz', 'test.tar.gz', 'extra.tar.gz']
    assert list(svhn.FILES[2]) == ['train_32x32.mat', 'test_32x32.mat', 'extra_32x32.mat']
    for checksum in svhn.FILES[2].values():
        assert re.fullmatch('md5:[0-9a-f]{32}', checksum)
    with pytest.raises(ValueError, match='1 or 2; got 3'):
        svhn.download_svhn(3, '.')


def test_svhn_files_come_from_the_folder_of_its_authors(tmp_path, monkeypatch):
    routes = {name: lambda handler, name=name: reply(handler, name.encode())
              for name in svhn.FILES[1]}
    with serving(**routes) as server:
        monkeypatch.setattr(svhn, 'URL_PREFIX', server.url('/'))
        fuel_download.main(['svhn', '1', '-d', str(tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: name for name in svhn.FILES[1]}
    fuel_download.main(['svhn', '1', '-d', str(tmp_path), '--clear'])
    assert not list(tmp_path.iterdir())


def test_svhn_files_of_format_2_are_checked(tmp_path):
    with (serving(**{'train_32x32.mat': lambda handler: reply(handler, b'another')}) as server,
          pytest.raises(ChecksumError, match=r'train_32x32\.mat')):
        svhn.download_svhn(2, str(tmp_path), url_prefix=server.url('/'))
    assert not [path for path in tmp_path.iterdir() if path.suffix == '.mat']


@pytest.mark.parametrize('given', [[], ['3'], ['train']])
def test_svhn_needs_its_argument(tmp_path, capsys, given):
    with pytest.raises(SystemExit):
        fuel_download.main(['svhn', *given, '-d', str(tmp_path)])
    assert 'FORMAT' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
