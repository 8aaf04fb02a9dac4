from __future__ import annotations

import h5py
import numpy
import pytest

from fuel.bin.fuel_info import main
from fuel.datasets.hdf5 import H5PYDataset
from tests.bin.commands import fails, run

EXPECTED = '''
Metadata for x.hdf5
===================

    The command used to generate this file is

        {command}

    Relevant versions are

        H5PYDataset     {interface}
        fuel.converters {converters}

'''


def write(path, as_type=str):
    with h5py.File(path, 'w') as h5file:
        for name, value in (('h5py_interface_version', '0.3'), ('fuel_convert_version', '0.2'),
                            ('fuel_convert_command', 'fuel-convert x -o there')):
            h5file.attrs[name] = as_type(value)


@pytest.mark.parametrize('as_type', [str, str.encode, lambda value: numpy.bytes_(value.encode())])
def test_form(tmp_path, capsys, as_type):
    write(tmp_path / 'x.hdf5', as_type)
    assert main([str(tmp_path / 'x.hdf5')]) is None
    assert capsys.readouterr() == (EXPECTED.format(
        command='fuel-convert x -o there', interface='0.3', converters='0.2'), '')


def test_tags_that_are_absent(tmp_path, capsys):
    h5py.File(tmp_path / 'x.hdf5', 'w').close()
    main([str(tmp_path / 'x.hdf5')])
    assert capsys.readouterr().out == EXPECTED.format(command='N/A', interface='N/A',
                                                      converters='N/A')


def test_as_a_console_script(tmp_path):
    write(tmp_path / 'x.hdf5')
    result = run('info', 'x.hdf5', cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == EXPECTED.format(command='fuel-convert x -o there', interface='0.3',
                                            converters='0.2')


def test_missing_file(tmp_path, capsys):
    assert 'nope.hdf5: No such file' in fails('info', [str(tmp_path / 'nope.hdf5')], capsys)


def test_directory(tmp_path, capsys):
    assert 'directory' in fails('info', [str(tmp_path)], capsys)


@pytest.mark.parametrize('content', [b'', b'some text', b'\x89HDF\r\n'])
def test_file_of_another_kind(tmp_path, capsys, content):
    (tmp_path / 'x').write_bytes(content)
    assert 'is not an HDF5 file' in fails('info', [str(tmp_path / 'x')], capsys)


@pytest.mark.parametrize('kept', [0.01, 0.3, 0.5, 0.9])
def test_truncated_file(tmp_path, capsys, kept):
    path = tmp_path / 'x.hdf5'
    write(path)
    with h5py.File(path, 'a') as h5file:
        h5file['data'] = numpy.arange(10000)
    content = path.read_bytes()
    path.write_bytes(content[:int(kept * len(content))])
    line = fails('info', [str(path)], capsys)
    assert 'truncated' in line


def test_damaged_file(tmp_path, capsys):
    path = tmp_path / 'x.hdf5'
    write(path)
    content = bytearray(path.read_bytes())
    content[60:] = b'\xff' * (len(content) - 60)
    path.write_bytes(content)
    assert 'damaged' in fails('info', [str(path)], capsys)


def test_sources_are_told_with_the_way_they_are_read(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as file:
        file['plain'] = numpy.zeros((5, 3), dtype='u1')
        file.create_dataset('packed', data=numpy.zeros((5, 3)), compression='lzf')
        file.create_dataset('rounded', data=numpy.zeros((5, 3)), scaleoffset=2)
        file.attrs['split'] = H5PYDataset.create_split_array(
            {'all': {'plain': (0, 5), 'packed': (0, 5), 'rounded': (0, 5), 'lost': (0, 5)}})
    main([str(tmp_path / 'x.hdf5')])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert 'plain: 5 x 3 uint8, contiguous, mapped' in lines
    assert any(line.startswith('packed: ') and 'lzf, decoded' in line for line in lines)
    assert any(line.startswith('rounded: ') and 'library: filter scaleoffset' in line
               for line in lines)
    assert any(line.startswith('lost: ') and 'no data set of this name' in line for line in lines)
