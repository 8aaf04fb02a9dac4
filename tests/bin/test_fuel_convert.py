from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources

import h5py
import numpy
import pytest

import fuel
from fuel._registry import BY_HAND
from fuel.bin.fuel_convert import main
from tests.bin.commands import environment, fails, run
from tests.test_plugins import write_module  # noqa: F401

EXTRA = '''
import os
import h5py

def write(path):
    with h5py.File(path, mode='w') as h5file:
        h5file['x'] = [1, 2, 3]
    return path

def named(directory, output_directory, output_filename='usual.hdf5'):
    return (write(os.path.join(output_directory, output_filename)),)

def several(directory, output_directory):
    os.mkdir(os.path.join(output_directory, 'deep'))
    with open(os.path.join(output_directory, 'words.txt'), 'w') as stream:
        stream.write('some words')
    return [write(os.path.join(output_directory, name)) for name in ('a.h5', 'deep/b.h5')]

def elsewhere(directory, output_directory):
    return (write(os.path.join(directory, 'own_place.hdf5')),)

def single(directory, output_directory, size):
    return write(os.path.join(output_directory, f'single{size}.hdf5'))

def nothing(directory, output_directory):
    pass

def text(directory, output_directory):
    path = os.path.join(output_directory, 'x.hdf5')
    with open(path, 'w') as stream:
        stream.write('no HDF5')
    return (path,)

def absent(directory, output_directory):
    return (os.path.join(output_directory, 'x.hdf5'),)

def fill_single(subparser):
    subparser.add_argument('size', type=int, choices=(16, 28))
    return single

all_converters = [(f.__name__, lambda subparser, f=f: f)
                  for f in (named, several, elsewhere, nothing, text, absent)]
all_converters.append(('single', fill_single))
'''


@pytest.fixture(autouse=True)
def extra(write_module, tmp_path, monkeypatch):  # noqa: F811
    for name in ('cwd', 'raw', 'out'):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / 'cwd')
    write_module('extra_converters', EXTRA)
    fuel.config.extra_converters = ['extra_converters']
    return tmp_path


def tags(path):
    with h5py.File(path, 'r') as h5file:
        return dict(h5file.attrs)


def test_into_the_current_directory_by_default():
    assert main(['named']) is None
    assert os.listdir('.') == ['usual.hdf5']


def test_tags():
    main(['named', '-d', '../raw'])
    found = tags('usual.hdf5')
    assert found.pop('fuel_convert_date')
    assert found == {'h5py_interface_version': '0.3', 'fuel_convert_version': '0.2',
                     'fuel_convert_command': 'fuel-convert named -d ../raw',
                     'fuel_version': fuel.__version__, 'h5py_version': h5py.__version__,
                     'hdf5_version': h5py.version.hdf5_version, 'numpy_version': numpy.__version__}
    with h5py.File('usual.hdf5', 'r') as h5file:
        for name in h5file.attrs:
            info = h5py.check_string_dtype(h5file.attrs.get_id(name).dtype)
            assert (info.encoding, info.length) == ('ascii', None)
            assert h5file.attrs.get_id(name).shape == ()


def test_command_can_be_typed_again():
    main(['named', '-r', 'a (b) $c'])
    assert tags('a (b) $c.hdf5')['fuel_convert_command'] == "fuel-convert named -r 'a (b) $c'"


def test_command_with_other_letters():
    main(['named', '-r', 'caf\u00e9'])
    assert tags('caf\u00e9.hdf5')['fuel_convert_command'] == "fuel-convert named -r 'caf\u00e9'"


@pytest.mark.parametrize('option', ['-r', '--output-filename', '--output_filename'])
@pytest.mark.parametrize(('given', 'name'), [
    ('x', 'x.hdf5'), ('x.hdf5', 'x.hdf5'), ('x.hdf', 'x.hdf'), ('x.h5', 'x.h5'),
    ('x.y', 'x.y.hdf5')])
def test_output_filename(option, given, name):
    main(['named', option, given])
    assert os.listdir('.') == [name]


@pytest.mark.parametrize('option', ['-o', '--output-directory'])
def test_output_directory(option):
    main(['named', option, '../out'])
    assert os.listdir('../out') == ['usual.hdf5']
    assert os.listdir('.') == []


def test_folder_in_the_output_filename(extra):
    main(['named', '-o', '..', '-r', 'out/x'])
    main(['named', '-r', str(extra / 'out' / 'y.h5')])
    assert sorted(os.listdir('../out')) == ['x.hdf5', 'y.h5']


def test_existing_file_is_replaced_only_on_demand(capsys):
    main(['named'])
    with h5py.File('usual.hdf5', 'a') as h5file:
        h5file['old'] = 1
    capsys.readouterr()
    line = fails('convert', ['named'], capsys)
    assert os.path.realpath('usual.hdf5') in line
    assert '--force' in line
    with h5py.File('usual.hdf5', 'r') as h5file:
        assert list(h5file) == ['old', 'x']
    main(['named', '--force'])
    with h5py.File('usual.hdf5', 'r') as h5file:
        assert list(h5file) == ['x']


def test_name_that_is_taken_is_told_before_the_work(capsys):
    open('mine.hdf5', 'w').close()
    # The converter would fail, if it ran.
    assert 'mine.hdf5 is there already' in fails('convert', ['nothing', '-r', 'mine'], capsys)
    assert os.path.getsize('mine.hdf5') == 0


def test_none_of_several_files_is_replaced(capsys):
    os.mkdir('deep')
    open('deep/b.h5', 'w').close()
    assert 'deep/b.h5' in fails('convert', ['several'], capsys)
    assert os.listdir('.') == ['deep']


def test_several_files_and_those_not_returned():
    main(['several', '-o', '../out'])
    main(['several', '-o', '../out', '--force'])
    found = sorted(os.path.relpath(os.path.join(folder, name), '../out')
                   for folder, _, names in os.walk('../out') for name in names)
    assert found == ['a.h5', 'deep/b.h5', 'words.txt']
    for name in ('a.h5', 'deep/b.h5'):
        assert tags(f'../out/{name}')['fuel_convert_command'] == (
            'fuel-convert several -o ../out --force')


def test_file_that_a_converter_puts_elsewhere_is_left_and_tagged_there():
    main(['elsewhere', '-d', '../raw', '-o', '../out'])
    assert os.listdir('../out') == []
    assert os.listdir('../raw') == ['own_place.hdf5']
    assert tags('../raw/own_place.hdf5')['fuel_convert_version'] == '0.2'


def test_arguments_of_a_converter(capsys):
    main(['single', '28'])
    assert os.listdir('.') == ['single28.hdf5']
    assert 'invalid choice' in fails_with_argument(capsys, ['single', '17'])
    # This converter has no output_filename.
    assert 'output_filename' in fails('convert', ['single', '28', '-r', 'x'], capsys)


def fails_with_argument(capsys, args):
    with pytest.raises(SystemExit) as caught:
        main(args)
    assert caught.value.code == 2
    line, = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(('name', 'message'), [
    ('nothing', 'a tuple with the paths of the files it wrote; got None'),
    ('text', 'not an HDF5 file'), ('absent', 'no such file')])
def test_converters_that_do_not_do_what_they_should(capsys, name, message):
    assert message in fails('convert', [name], capsys)
    assert os.listdir('.') == []


def test_missing_input_files_are_listed(capsys):
    with pytest.raises(SystemExit) as caught:
        main(['iris'])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        'fuel-convert: error: The following required files were not found:\n\n   * iris.data\n\n'
        'Did you forget to run fuel-download?\n')
    assert os.listdir('.') == []


def test_missing_input_files_that_no_command_gets(capsys):
    with pytest.raises(SystemExit):
        main(['celeba', '64'])
    *_, line = capsys.readouterr().err.splitlines()
    assert line == f'These files have to be got by hand, from {BY_HAND["celeba"]}'


@pytest.mark.parametrize(('args', 'words'), [
    (['-d', '../missing'], ['missing', 'does not exist']),
    (['-o', '../missing'], ['missing', 'does not exist; to make it: mkdir -p /', '/missing']),
    (['-r', 'missing/x'], ['missing', 'does not exist']),
    (['-o', 'file'], ['file', 'is not a folder'])])
def test_folders_that_are_not_there(capsys, args, words):
    open('file', 'w').close()
    line = fails('convert', ['named', *args], capsys)
    for word in words:
        assert word in line


def test_malformed_input_is_told_by_file_and_line(capsys):
    with open('iris.data', 'w') as stream:
        stream.write('5.1,3.5,1.4,0.2,Iris-setosa\nnonsense\n')
    assert os.path.realpath('iris.data') + ', line 2:' in fails('convert', ['iris'], capsys)
    assert os.listdir('.') == ['iris.data']


def test_iris_as_a_console_script(tmp_path):
    raw = resources.files('fuel.downloaders') / 'bundled' / 'iris.data'
    (tmp_path / 'raw' / 'iris.data').write_bytes(raw.read_bytes())
    result = run('convert', 'iris', '-d', '../raw', cwd=tmp_path / 'cwd')
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == f'wrote {os.path.realpath("iris.hdf5")}\n'
    assert tags('iris.hdf5')['fuel_convert_command'] == 'fuel-convert iris -d ../raw'


@pytest.mark.parametrize('name', ['', '.', '..', 'deep/', '../'])
def test_output_filename_that_is_a_folder(capsys, name):
    os.mkdir('deep')
    assert 'expected the name of a file with -r' in fails('convert', ['named', '-r', name], capsys)
    assert os.listdir('.') == ['deep']
    assert os.listdir('deep') == []


def test_names_that_the_terminal_cannot_show(tmp_path):
    os.mkdir('\u00fc')
    done = run('convert', 'named', '-o', '\u00fc', cwd='.', PYTHONIOENCODING='ascii',
               PYTHONPATH=str(tmp_path), FUEL_EXTRA_CONVERTERS='extra_converters')
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.endswith('\\xfc/usual.hdf5\n')


def test_current_folder_that_is_gone(tmp_path):
    code = ('import os, sys; os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone"); '
            'from fuel.bin.fuel_convert import main; main()')
    for arguments in (['-h'], ['named', '-d', str(tmp_path), '-o', str(tmp_path / 'out')]):
        # As for a script, modules are not looked for in the current folder.
        done = subprocess.run([sys.executable, '-P', '-c', code, *arguments], text=True,
                              timeout=60, capture_output=True, check=False, env=environment(
                                  PYTHONPATH=str(tmp_path),
                                  FUEL_EXTRA_CONVERTERS='extra_converters'))
        assert (done.returncode, done.stderr) == (0, '')
    assert os.listdir('../out') == ['usual.hdf5']
