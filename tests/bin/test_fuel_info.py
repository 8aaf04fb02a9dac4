from __future__ import annotations

import shutil
import subprocess
import sys

import h5py
import numpy
import pytest
import tables

from fuel.bin.fuel_info import main
from fuel.datasets.hdf5 import H5PYDataset
from tests.bin import info_files
from tests.bin.commands import environment, fails, run

EXPECTED = '''
Metadata for x.hdf5
===================

    The command used to generate this file is

        {command}

    Relevant versions are

        H5PYDataset     {interface}
        fuel.converters {converters}

'''
# What comes after the head for a file without splits.
NO_SPLITS = '''\
    This is not a data set of Fuel: it has no attribute 'split', which tells the splits of the \
data apart

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
        command='fuel-convert x -o there', interface='0.3', converters='0.2') + NO_SPLITS, '')


def test_tags_that_are_absent(tmp_path, capsys):
    h5py.File(tmp_path / 'x.hdf5', 'w').close()
    main([str(tmp_path / 'x.hdf5')])
    assert capsys.readouterr().out == EXPECTED.format(command='N/A', interface='N/A',
                                                      converters='N/A') + NO_SPLITS


def test_as_a_console_script(tmp_path):
    write(tmp_path / 'x.hdf5')
    result = run('info', 'x.hdf5', cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == EXPECTED.format(command='fuel-convert x -o there', interface='0.3',
                                            converters='0.2') + NO_SPLITS


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


def test_whole_text(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(), compression='gzip',
                            chunk_examples=7)
    with h5py.File(path) as h5file:
        stored = h5file['features'].id.get_storage_size(), h5file['targets'].id.get_storage_size()
        sums = [h5file[name].attrs['fuel_checksum'] for name in ('features', 'targets')]
    assert main([path]) is None
    head = EXPECTED.format(command='N/A', interface='N/A', converters='N/A')
    assert capsys.readouterr().out == head + f'''\
    Splits

        train: 40 examples of features, targets (rows 0 to 39)
        test: 20 examples of features, targets (rows 40 to 59)

    How the sources are stored, and how they are read

        features: 60 x 3 x 12 x 10 uint8, chunked in chunks of 7 x 3 x 12 x 10 with deflate, \
decoded: its chunks are encoded with deflate
            axes: batch, channel, height, width; {stored[0] / 1000:.1f} kB on disk, 21.6 kB in \
memory
            checksum: {sums[0]}
        targets: 60 x 1 uint8, chunked in chunks of 7 x 1 with deflate, decoded: its chunks are \
encoded with deflate
            axes: batch, index; {stored[1]} B on disk, 60 B in memory
            checksum: {sums[1]}

'''


@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_sizes_of_examples_with_shapes_of_their_own(tmp_path, capsys, layout):
    examples = info_files.own_shapes()
    path = info_files.write_variable(tmp_path / 'x.hdf5', examples, layout)
    with h5py.File(path) as h5file:
        scales = {scale.name: scale.id.get_storage_size() for scale in h5file['x'].dims[0].values()}
        labels = [size for name, size in scales.items() if 'label' in name]
        beside = sum(scales.values()) - sum(labels) + (16 * 30 if layout == 'vlen' else 0)
    values = sum(example.nbytes for example in examples)
    main([path])
    printed = capsys.readouterr().out
    assert f'{_amount(values + beside)} on disk, {_amount(values)} in memory' in printed
    assert f'x: 30 x ? x ? x ? int16, {layout}' in printed


def _amount(size):
    return f'{size / 1000:.1f} kB' if size > 999 else f'{size} B'


def test_splits_of_odd_kinds(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        h5file['x'], h5file['y'] = numpy.zeros((9, 2)), numpy.zeros(9)
        h5file['chosen'] = numpy.array([1, 5, 7])
        h5file.attrs['split'] = H5PYDataset.create_split_array({
            'listed': {'x': (0, 0, h5file['chosen'].ref)}, 'empty': {'x': (0, 0), 'y': (0, 0)},
            'apart': {'x': (0, 3), 'y': (6, 9)}, 'unequal': {'x': (0, 3), 'y': (0, 4)},
            'long': {'y': (5, 20, None, 'too long')}, 'one': {'y': (8, 9)}})
    main([str(tmp_path / 'x.hdf5')])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for line in ('listed: 3 examples of x (rows listed in /chosen)',
                 'empty: 0 examples of x, y (no rows)',
                 'apart: 3 examples of x, y (x: rows 0 to 2; y: rows 6 to 8)',
                 'unequal: 3 of x (rows 0 to 2), 4 of y (rows 0 to 3)',
                 'long: 15 examples of y (rows 5 to 19)', 'y: too long',
                 'wrong: y: rows 5 to 20 do not lie within the 9 there are',
                 'one: 1 example of y (rows 8 to 8)'):
        assert line in lines


def test_several_files(tmp_path, capsys):
    paths = [info_files.write(tmp_path / f'{name}.hdf5', *info_files.arrays()) for name in 'ab']
    (tmp_path / 'text').write_text('text')
    with pytest.raises(SystemExit) as caught:
        main([paths[0], str(tmp_path / 'text'), str(tmp_path / 'nope'), paths[1]])
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out.count('Metadata for ') == 2
    assert captured.err.splitlines() == [
        f'fuel-info: error: {tmp_path}/text is not an HDF5 file',
        f'fuel-info: error: {tmp_path}/nope: No such file or directory']


def test_other_hdf5_file_is_told_with_what_it_holds(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file['a/b'] = numpy.zeros((3, 4), 'float32')
        h5file['c'] = 5
    main([str(tmp_path / 'x.h5')])
    printed = capsys.readouterr().out
    assert 'This is not a data set of Fuel' in printed
    assert 'a/b: 3 x 4 float32' in printed
    assert 'c: one value of int64' in printed


def test_split_attribute_of_another_kind(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file.attrs['split'] = 'half'
    main([str(tmp_path / 'x.h5')])
    assert "not a data set of Fuel: expected the attribute 'split' to be" in capsys.readouterr().out


def test_file_that_pytables_wrote(tmp_path, capsys):
    with tables.open_file(str(tmp_path / 'x.h5'), 'w') as file:
        file.create_array('/', 'x', numpy.zeros((5, 2)))
    with h5py.File(tmp_path / 'x.h5', 'a') as h5file:
        h5file.attrs['split'] = H5PYDataset.create_split_array({'all': {'x': (0, 5)}})
    main([str(tmp_path / 'x.h5')])
    assert 'x: 5 x 2 float64, contiguous, mapped' in capsys.readouterr().out


def test_virtual_and_external_data(tmp_path, capsys):
    with h5py.File(tmp_path / 'parts.h5', 'w') as h5file:
        h5file['x'] = numpy.arange(12.)
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        virtual = h5py.VirtualLayout((12,), 'float64')
        virtual[:] = h5py.VirtualSource(tmp_path / 'parts.h5', 'x', (12,))
        h5file.create_virtual_dataset('virtual', virtual)
        h5file.create_dataset('outside', (12,), 'uint8', external=str(tmp_path / 'bytes'))
        h5file['outside'][...] = 3
        h5file.attrs['split'] = H5PYDataset.create_split_array(
            {'all': {'virtual': (0, 12), 'outside': (0, 12)}})
    main([str(tmp_path / 'x.h5')])
    printed = capsys.readouterr().out
    assert 'virtual: 12 float64, virtual, library: it is a virtual data set' in printed
    assert 'outside: 12 uint8, external, library: its data lie in other files' in printed


@pytest.mark.parametrize('tool', [name for name in ('h5dump', 'h5ls') if shutil.which(name)])
def test_tools_of_hdf5_show_the_same(tmp_path, tool):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    options = {'h5dump': ['-H', '-A'], 'h5ls': ['-r', '-v']}[tool]
    printed = subprocess.run([tool, *options, path], capture_output=True, text=True,
                             check=True).stdout
    assert 'fuel_checksum' in printed
    assert 'features_sha256' in printed


def test_pytables_reads_the_checksums(tmp_path):
    """It cannot read the attribute split of the root, whose form is that of the old library."""
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    with tables.open_file(path, root_uep='/fuel_provenance') as file:
        assert file.root.checksums.features_stops[-1] == 60


def test_help_and_description_import_little(tmp_path):
    """What takes long to import is left to those who ask for it."""
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    code = ('import sys\nfrom fuel.bin.fuel_info import main\n'
            'try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n'
            'print(*sorted(sys.modules), file=sys.stderr)')
    for arguments, too_many in ((['-h'], {'h5py', 'PIL', 'matplotlib', 'fuel.converters.base',
                                          'json', 'fuel.plugins'}),
                                ([path], {'PIL', 'matplotlib', 'scipy', 'tables', 'requests',
                                          'fuel.converters.base', 'fuel.plugins'})):
        done = subprocess.run([sys.executable, '-c', code, *arguments], capture_output=True,
                              text=True, env=environment(), check=True)
        loaded = set(done.stderr.split())
        assert 'fuel.bin._common' in loaded
        assert not loaded & too_many


@pytest.mark.parametrize(('arguments', 'message'), [
    ([], 'the following arguments are required: FILE'),
    (['--compare', 'a'], 'argument --compare: expected two files; got 1'),
    (['--compare', 'a', 'b', 'c'], 'argument --compare: expected two files; got 3'),
    (['--sheet', 'a.png', '--verify', 'b'], 'argument --sheet: not allowed with'),
    (['--sheet', 'a.png', 'b', 'c'], 'argument --sheet: expected one file; got 2'),
    (['--sheet', 'a.png', '--json', 'b'], 'argument --sheet: not allowed with argument --json')])
def test_arguments_that_do_not_fit(capsys, arguments, message):
    assert message in fails('info', arguments, capsys)
