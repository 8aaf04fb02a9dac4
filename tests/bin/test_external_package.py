"""A package of somebody else with a downloader and a converter, as the documentation has it.

It is registered under a name that Fuel has itself, and so takes the place of the built-in one. One
thing is changed: the targets are a column, ``data[:, -1:]``, since the documentation labels their
second axis, which ``data[:, -1]`` does not have.
"""
from __future__ import annotations

import os
from importlib import resources

import h5py
import numpy
import pytest

from tests.bin.commands import run
from tests.loopback import serving, whole

DOWNLOADER = '''
from fuel.downloaders.base import default_downloader

def fill_subparser(subparser):
    subparser.set_defaults(
        urls=[{url!r}],
        filenames=['iris.data'])
    return default_downloader
'''

CONVERTER = '''
import os

import h5py
import numpy

from fuel.converters.base import fill_hdf5_file


def convert_iris(directory, output_directory, output_filename='iris.hdf5'):
    output_path = os.path.join(output_directory, output_filename)
    h5file = h5py.File(output_path, mode='w')
    classes = {'Iris-setosa': 0, 'Iris-versicolor': 1, 'Iris-virginica': 2}
    data = numpy.loadtxt(
        os.path.join(directory, 'iris.data'),
        converters={4: lambda x: classes[x]},
        delimiter=',')
    numpy.random.shuffle(data)
    features = data[:, :-1].astype('float32')
    targets = data[:, -1:].astype('uint8')
    train_features = features[:100]
    train_targets = targets[:100]
    valid_features = features[100:120]
    valid_targets = targets[100:120]
    test_features = features[120:]
    data = (('train', 'features', train_features),
            ('train', 'targets', train_targets),
            ('valid', 'features', valid_features),
            ('valid', 'targets', valid_targets),
            ('test', 'features', test_features))
    fill_hdf5_file(h5file, data)
    h5file['features'].dims[0].label = 'batch'
    h5file['features'].dims[1].label = 'feature'
    h5file['targets'].dims[0].label = 'batch'
    h5file['targets'].dims[1].label = 'index'

    h5file.flush()
    h5file.close()

    return (output_path,)

def fill_subparser(subparser):
    return convert_iris
'''

INIT = '''
from my_fuel.{kind} import iris

all_{kind} = (('iris', iris.fill_subparser),)
'''


@pytest.fixture
def package(tmp_path):
    """Write the package; its server gives the raw file."""
    raw = (resources.files('fuel.downloaders') / 'bundled' / 'iris.data').read_bytes()
    with serving() as server:
        server.routes['/iris.data'] = whole(raw)
        make_package(tmp_path / 'site', server.url('/iris.data'))
        (tmp_path / 'cwd').mkdir()
        yield tmp_path


def make_package(site, url):
    for kind, text in (('downloaders', DOWNLOADER.format(url=url)), ('converters', CONVERTER)):
        folder = site / 'my_fuel' / kind
        folder.mkdir(parents=True)
        (folder / 'iris.py').write_text(text)
        (folder / '__init__.py').write_text(INIT.format(kind=kind))
    (site / 'my_fuel' / '__init__.py').touch()


@pytest.fixture(params=['environment', 'rc file'])
def settings(request, package):
    """Return the environment variables that make Fuel know the package."""
    home = package / 'home'
    home.mkdir()
    variables = {'PYTHONPATH': str(package / 'site'), 'HOME': str(home), 'FUEL_CONFIG': ''}
    if request.param == 'environment':
        return {**variables, 'FUEL_EXTRA_DOWNLOADERS': 'my_fuel.downloaders',
                'FUEL_EXTRA_CONVERTERS': 'my_fuel.converters'}
    (home / '.fuelrc').write_text("extra_downloaders: ['my_fuel.downloaders']\n"
                                  "extra_converters: ['my_fuel.converters']\n")
    return variables


def test_external_package(package, settings):
    cwd = package / 'cwd'
    for command in ('download', 'convert'):
        listing = run(command, '-h', cwd=cwd, **settings)
        assert 'iris' in listing.stdout
        result = run(command, 'iris', cwd=cwd, **settings)
        assert (result.returncode, result.stderr) == (0, '')
        assert 'takes the place of the built-in one' in result.stdout
    assert sorted(os.listdir(cwd)) == ['iris.data', 'iris.hdf5']
    with h5py.File(cwd / 'iris.hdf5', 'r') as h5file:
        assert h5file['features'].shape == (150, 4)
        assert h5file['targets'].shape == (120, 1)
        raw = numpy.loadtxt(cwd / 'iris.data', delimiter=',', usecols=range(4), dtype='float32')
        assert sorted(h5file['features'][...].tolist()) == sorted(raw.tolist())
        assert h5file.attrs['fuel_convert_command'] == 'fuel-convert iris'
    result = run('download', 'iris', '--clear', cwd=cwd, **settings)
    assert result.returncode == 0
    assert os.listdir(cwd) == ['iris.hdf5']
