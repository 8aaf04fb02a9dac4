"""Downloaders and converters that installed packages declare."""
from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser

import pytest

import fuel
from fuel import plugins
from fuel.converters import all_converters
from fuel.exceptions import ConfigurationFileError
from tests.bin.commands import run

GOOD = '''
import os

def convert(directory, output_directory, output_filename='beetles.hdf5', *, num_test):
    path = os.path.join(output_directory, output_filename)
    import h5py
    with h5py.File(path, 'w') as file:
        file['num_test'] = num_test
    return (path,)

def fill_subparser(subparser):
    subparser.add_argument('--num-test', type=int, default=1, help='how many to keep')
    return convert

def fill_badly(subparser):
    raise RuntimeError('on purpose')

def fill_with_nothing(subparser):
    pass

number = 3
'''


def install(site, name, code, converters, *, version='1.0', kind='converters',
            summary=None):
    """Lay down what pip would: a module, and the description of its package."""
    site.mkdir(exist_ok=True)
    (site / f'{name}.py').write_text(code)
    info = site / f'{name}-{version}.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(
        f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'
        + ('' if summary is None else f'Summary: {summary}\n'))
    lines = '\n'.join(f'{key} = {value}' for key, value in converters.items())
    (info / 'entry_points.txt').write_text(f'[fuel.{kind}]\n{lines}\n')


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder where packages are installed."""
    monkeypatch.syspath_prepend(tmp_path / 'site')
    before = set(sys.modules)
    yield tmp_path / 'site'
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], '__file__', None) and str(tmp_path) in str(
                sys.modules[name].__file__):
            del sys.modules[name]


def use(fill_subparser):
    return fill_subparser(ArgumentParser())


def test_packages_are_imported_when_a_name_of_theirs_is_used(site):
    install(site, 'beetles', GOOD, {'beetles': 'beetles:fill_subparser'})
    entries = plugins.converters()
    assert list(entries) == [*(name for name, _ in all_converters), 'beetles']
    assert 'beetles' not in sys.modules
    assert use(entries['beetles']) is sys.modules['beetles'].convert
    assert 'beetles' not in plugins.downloaders()


def test_downloaders(site):
    install(site, 'beetles', GOOD, {'beetles': 'beetles:fill_subparser'}, kind='downloaders')
    assert 'beetles' in plugins.downloaders()
    assert 'beetles' not in plugins.converters()


def test_a_built_in_one_stays(site, caplog):
    install(site, 'beetles', GOOD, {'iris': 'beetles:fill_subparser'}, version='2.5')
    assert plugins.converters()['iris'] is dict(all_converters)['iris']
    message, = caplog.messages
    assert message.startswith('iris of beetles 2.5 is left out, for there is a built-in one')
    assert 'extra_converters' in message


def test_two_packages_with_one_name(site):
    for name in ('ants', 'bees'):
        install(site, name, GOOD, {'insects': f'{name}:fill_subparser',
                                   name: f'{name}:fill_subparser'})
    entries = plugins.converters()
    with pytest.raises(ConfigurationFileError, match="ants 1.0 and bees 1.0 both have 'insects'"):
        use(entries['insects'])
    assert callable(use(entries['ants']))
    assert callable(use(entries['bees']))


def test_a_setting_decides_between_them(site, caplog):
    caplog.set_level('INFO')
    for name in ('ants', 'bees'):
        install(site, name, f'{GOOD}\nall_converters = (("insects", fill_subparser),)',
                {'insects': f'{name}:fill_subparser'})
    fuel.config.extra_converters = ['bees']
    assert use(plugins.converters()['insects']) is sys.modules['bees'].convert
    assert caplog.messages == ['insects of bees takes the place of that of an installed package']


@pytest.mark.parametrize(('code', 'value', 'message'), [
    ('import not_there', 'broken:fill', "ModuleNotFoundError: No module named 'not_there'"),
    ('def broken(:', 'broken:fill', 'SyntaxError'), ('', 'broken:fill', 'AttributeError'),
    ('raise SystemExit(3)', 'broken:fill', 'SystemExit: 3'),
    ('', 'broken', 'expected a function that fills a subparser'),
    (GOOD, 'broken:number', 'got 3'), (GOOD, 'broken:fill_with_nothing', 'got None')])
def test_a_broken_package_does_not_break_others(site, code, value, message, caplog):
    install(site, 'broken', code, {'broken': value})
    install(site, 'beetles', GOOD, {'beetles': 'beetles:fill_subparser'})
    entries = plugins.converters()
    assert callable(use(entries['beetles']))
    with pytest.raises(ConfigurationFileError) as caught:
        use(entries['broken'])
    assert str(caught.value).startswith(
        f'broken of broken 1.0 (entry point {value} in fuel.converters)')
    assert message in str(caught.value)
    assert caplog.messages == []


def test_damaged_descriptions(site, caplog):
    install(site, 'beetles', GOOD, {'beetles': 'beetles:fill_subparser'})
    install(site, 'ants', GOOD, {'ants': 'ants:fill_subparser'})
    os.remove(site / 'ants-1.0.dist-info' / 'METADATA')
    install(site, 'bees', GOOD, {})
    (site / 'bees-1.0.dist-info' / 'entry_points.txt').write_bytes(b'what is\nthis = \n[[]')
    entries = plugins.converters()
    assert callable(use(entries['beetles'])) or 'cannot be listed' in caplog.text


def test_in_the_command(tmp_path, site):
    install(site, 'beetles', GOOD, {'beetles': 'beetles:fill_subparser'},
            summary='Beetles, 100 % real')
    install(site, 'broken', '1 / 0', {'ants': 'broken:fill'})
    install(site, 'odd', GOOD, {'bees': 'odd:fill_badly'})
    cwd = tmp_path / 'cwd'
    cwd.mkdir()
    variables = {'PYTHONPATH': str(site), 'FUEL_EXTRA_CONVERTERS': 'not_there'}

    listing = run('convert', '-h', cwd=cwd, **variables)
    assert listing.returncode == 0
    for name, about in (('iris', 'measurements'), ('beetles', 'Beetles, 100 % real'),
                        ('ants', 'convert ants'), ('bees', 'convert bees')):
        assert re.search(rf'\n    {name} +{about}', listing.stdout)
    warning = listing.stderr.strip()
    assert warning.startswith('warning: not_there, named by the setting extra_converters')
    assert '\n' not in warning

    result = run('convert', 'beetles', '--num-test', '7', cwd=cwd, **variables)
    assert (result.returncode, result.stderr.strip()) == (0, warning)
    assert os.listdir(cwd) == ['beetles.hdf5']

    for name, reason in (('ants', 'ants of broken 1.0 (entry point broken:fill in '
                                  'fuel.converters) cannot be imported: ZeroDivisionError'),
                         ('bees', 'on purpose'), ('wasps', "invalid choice: 'wasps'")):
        result = run('convert', name, cwd=cwd, **variables)
        assert result.returncode == 2
        lines = result.stderr.splitlines()
        assert lines[0] == warning
        assert lines[1].startswith('fuel-convert: error: ')
        assert reason in lines[1]
        assert len(lines) == 2
