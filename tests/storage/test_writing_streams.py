"""Data that come bit by bit: order, lengths, memory, and what is left after an error."""
from __future__ import annotations

import errno
import itertools
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy
import pytest

import fuel
from fuel.converters.base import Streamed, fill_hdf5_file


def rows(*shape, dtype='int32', seed=0):
    return numpy.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def table(h5file):
    return {(row['split'].decode(), row['source'].decode()): (int(row['start']), int(row['stop']))
            for row in h5file.attrs['split'] if row['available']}


@pytest.fixture
def h5file(tmp_path):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        yield h5file


def test_blocks_of_unknown_number(h5file):
    array, targets = rows(1000, 5), rows(1000, 1)
    fill_hdf5_file(h5file, [('train', 'x', (array[i:i + 7] for i in range(0, 700, 7))),
                            ('test', 'x', iter([array[700:]])),
                            ('train', 'y', targets[:700]), ('test', 'y', targets[700:])],
                   axis_labels={'x': ('batch', 'feature')})
    assert numpy.array_equal(h5file['x'][...], array)
    assert h5file['x'].shape == (1000, 5)
    assert h5file['x'].maxshape == (None, 5)
    assert h5file['x'].chunks == (3276, 5)
    assert h5file['x'].compression is None
    assert h5file['x'].dims[1].label == 'feature'
    assert h5file['y'].chunks is None
    assert table(h5file) == {('train', 'x'): (0, 700), ('test', 'x'): (700, 1000),
                             ('train', 'y'): (0, 700), ('test', 'y'): (700, 1000)}


def test_blocks_of_declared_number_stand_like_an_array(tmp_path):
    array = rows(1000, 5)
    contents = []
    for number, data in enumerate([array, Streamed((array[i:i + 9] for i in range(0, 1000, 9)),
                                                   1000)]):
        with h5py.File(tmp_path / f'{number}.hdf5', 'w') as h5file:
            fill_hdf5_file(h5file, [('train', 'x', data)])
            assert h5file['x'].chunks is None
        contents.append((tmp_path / f'{number}.hdf5').read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize('options', [{'compression': 'gzip', 'checksum': True},
                                     {'chunk_examples': 10}, {'compression': 'lzf'}])
def test_growing_data_with_filters(h5file, options):
    array = rows(123, 5)
    fill_hdf5_file(h5file, [('a', 'x', (array[i:i + 1] for i in range(123)))], **options)
    assert numpy.array_equal(h5file['x'][...], array)
    assert h5file['x'].compression == options.get('compression')


def test_blocks_may_be_lists_and_rows_may_be_numbers(h5file):
    fill_hdf5_file(h5file, [('a', 'x', iter([[1, 2], [3]])), ('a', 'y', range(3)),
                            ('a', 'z', map(numpy.atleast_1d, [b'a', b'b', b'c']))])
    assert h5file['x'][...].tolist() == [1, 2, 3]
    assert h5file['y'][...].tolist() == [0, 1, 2]
    assert h5file['y'].chunks is None
    assert h5file['z'][...].tolist() == [b'a', b'b', b'c']


def test_an_iterable_that_is_no_iterator(h5file):
    class Batches:
        def __iter__(self):
            yield from ([1, 2], [3, 4])

    fill_hdf5_file(h5file, [('a', 'x', Batches())])
    assert h5file['x'][...].tolist() == [1, 2, 3, 4]


def test_iterables_are_touched_in_the_order_in_which_they_are_written(h5file):
    # Splits out of one stream of blocks: nothing of the second may be looked at too early.
    array = rows(10, 3)
    blocks = iter(numpy.split(array, 10))
    fill_hdf5_file(h5file, [('train', 'x', itertools.islice(blocks, 6)),
                            ('test', 'x', itertools.islice(blocks, 4))])
    assert numpy.array_equal(h5file['x'][...], array)
    assert table(h5file) == {('train', 'x'): (0, 6), ('test', 'x'): (6, 10)}


def test_sources_are_written_one_after_the_other(h5file):
    asked = []

    def blocks(name):
        for number in range(2):
            asked.append((name, number))
            yield rows(3, seed=number)

    fill_hdf5_file(h5file, [('a', 'x', blocks('ax')), ('b', 'y', blocks('by')),
                            ('a', 'y', blocks('ay')), ('b', 'x', blocks('bx'))])
    assert asked == [(name, number) for name in ('ax', 'bx', 'ay', 'by') for number in range(2)]


def test_arrays_and_streams_in_one_source(h5file):
    array = rows(30, 2)
    fill_hdf5_file(h5file, [('a', 'x', array[:10]), ('a', 'x', iter([array[10:20]])),
                            ('b', 'x', Streamed([array[20:]], 10))])
    assert numpy.array_equal(h5file['x'][...], array)


@pytest.mark.parametrize('parts', [[rows(0, 2)], [rows(3, 2), rows(0, 2), rows(4, 2)]])
def test_blocks_without_rows(h5file, parts):
    fill_hdf5_file(h5file, [('a', 'x', iter(parts))])
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate(parts))


@pytest.mark.parametrize(('data', 'message'), [
    ([('a', 'x', iter([]))], 'a/x: expected an iterable of arrays; got one that has nothing'),
    ([('a', 'x', rows(2)), ('b', 'x', iter([]))], 'b/x: expected an iterable .* used before'),
    ([('a', 'x', Streamed([rows(3, 2)], 4))], 'a/x: expected 4 examples, as declared; got 3'),
    ([('a', 'x', Streamed([rows(3, 2), rows(3, 2)], 4))], 'a/x: expected 4 .* at least 6'),
    ([('a', 'x', Streamed([rows(3)], 4)), ('b', 'x', Streamed([rows(3)], 2))], 'a/x: expected 4'),
    ([('a', 'x', iter([rows(3, 2), rows(3, 4)]))], r'x: expected examples of shape \(2,\)'),
    ([('a', 'x', iter([rows(3), rows(3, dtype='int64')]))], 'x: expected dtype int32'),
    ([('a', 'x', iter([numpy.int32(3)]))], 'a/x: expected an iterable .* single value'),
    ([('a', 'x', iter([rows(3)])), ('a', 'y', rows(4))], "split 'a' differ .* x has 3, y has 4"),
    ([('a', 'x', Streamed([rows(3)], 3)), ('a', 'y', rows(4))], "split 'a' differ"),
    ([('a', 'x', iter([['a']]))], 'string_dtype'),
    ([('a', 'w', rows(2)), ('a', 'x', {1: 2}.items())], 'x: .*single value'),
    ([('a', 'x', {1, 2})], 'a/x: .*single value'),
    ([('a', 'x', {'a': 1})], 'a/x: .*single value'), ([('a', 'x', 'text')], 'single value')])
def test_streams_that_are_not_as_they_should_be_leave_nothing(h5file, data, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, data)
    assert not list(h5file)
    assert not list(h5file.attrs)


@pytest.mark.parametrize('number', [-1, 2.5])
def test_declared_number_that_is_none(number):
    with pytest.raises((ValueError, TypeError)):
        Streamed([], number)


@pytest.mark.parametrize('error', [RuntimeError('mine'), KeyboardInterrupt(), OSError('mine'),
                                   FileNotFoundError(2, 'no such file', 'raw')])
def test_error_of_an_iterable_leaves_nothing(h5file, error):
    def blocks():
        yield rows(3, 2)
        raise error

    h5file['before'] = 1
    with pytest.raises(type(error)):
        fill_hdf5_file(h5file, [('a', 'w', rows(3)), ('a', 'x', blocks())])
    assert 'split' not in h5file.attrs
    assert list(h5file) == ['before']


def test_room_on_the_disk_is_asked_for_what_is_known(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, 'disk_usage', lambda path: usage._replace(free=5000))
    ragged = [numpy.zeros(size, 'uint8') for size in (3000, 4000)]
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        for data in (numpy.zeros(1000), ragged):
            with pytest.raises(OSError, match=r'\d\.. kB are needed, 5\.0 kB are free') as caught:
                fill_hdf5_file(h5file, [('a', 'x', data)])
            assert caught.value.errno == errno.ENOSPC
            assert not list(h5file)
        # Nobody knows what is left of data that are compressed.
        fill_hdf5_file(h5file, [('a', 'x', numpy.zeros(100_000))], compression='gzip')


@pytest.mark.parametrize(('layout', 'size'), [('vlen', 30), ('vlen', 3000), ('vlen', 10_000),
                                              ('text', 500), ('rows', 3000)])
def test_room_on_the_disk_is_asked_for_while_a_stream_is_written(tmp_path, monkeypatch, layout,
                                                                size):
    path, margin = tmp_path / 'x.hdf5', 9_000_000
    room = 1_000_000 + margin
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, 'disk_usage',
                        lambda folder: usage._replace(free=room - path.stat().st_size))

    def items():
        for _ in range(30_000_000 // size):
            yield {'vlen': numpy.zeros(size, 'uint8'), 'rows': numpy.zeros((1, size)),
                   'text': numpy.array(['a' * size], dtype=h5py.string_dtype())}[layout]

    with h5py.File(path, 'w') as h5file:
        with pytest.raises(OSError, match='are needed') as caught:
            fill_hdf5_file(h5file, [('a', 'x', items())],
                           layout={'x': layout} if layout == 'vlen' else None)
        assert caught.value.errno == errno.ENOSPC
        assert 'split' not in h5file.attrs
    # What HDF5 had in memory has found its place.
    assert path.stat().st_size < room


@pytest.mark.parametrize('size', [1, 8, 100, 2100, 4060, 4090, 50_000])
def test_room_for_variable_lengths_is_known_beforehand(tmp_path, monkeypatch, size):
    path = tmp_path / 'x.hdf5'
    examples = [numpy.zeros((size, 1), 'uint8')] * (2_000_000 // (size + 100))
    with h5py.File(path, 'w') as h5file:
        fill_hdf5_file(h5file, [('a', 'x', examples)], layout={'x': 'vlen'})
    usage, needed = shutil.disk_usage(tmp_path), path.stat().st_size
    monkeypatch.setattr(shutil, 'disk_usage', lambda folder: usage._replace(free=0.9 * needed))
    with h5py.File(path, 'w') as h5file:
        with pytest.raises(OSError, match='are needed'):
            fill_hdf5_file(h5file, [('a', 'x', examples)], layout={'x': 'vlen'})
        assert not list(h5file)


def run(program, *arguments):
    """Run a program with fuel in a process of its own."""
    return subprocess.run(
        [sys.executable, '-W', 'error', '-c', textwrap.dedent(program), *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=Path(fuel.__file__).parents[1])


MEMORY = """
    import os, resource, sys, tracemalloc
    import h5py, numpy
    from fuel.converters.base import fill_hdf5_file
    kind, folder = sys.argv[1:]
    with open(folder + '/raw', 'wb') as stream:
        stream.truncate(200_000_000)            # takes no room on the disk
    raw = numpy.memmap(folder + '/raw', 'uint8', 'r').reshape(-1, 10_000)
    small = raw[:200]

    def data(array):
        return {'array': lambda: array, 'gzip': lambda: array, 'vlen': lambda: list(array),
                'ragged': lambda: list(array), 'blocks': lambda: iter(numpy.split(array, 100)),
                'examples': lambda: (numpy.array(row) for row in array)}[kind]()

    options = {'gzip': {'compression': ('gzip', 1)}, 'vlen': {'layout': {'x': 'vlen'}},
               'ragged': {'layout': {'x': 'ragged'}},
               'examples': {'layout': {'x': 'ragged'}}}.get(kind, {})

    def write(array):
        with h5py.File(folder + '/out', 'w') as h5file:
            fill_hdf5_file(h5file, [('a', 'x', data(array))], **options)

    write(small)
    # Linux counts all memory that this process has for itself, also that of the HDF5 library.
    if os.path.exists('/proc/self/status'):
        with open('/proc/self/status') as stream:
            used, = (int(line.split()[1]) for line in stream if line.startswith('VmData'))
        resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + 40_000_000, -1))
    tracemalloc.start()
    write(raw)
    assert tracemalloc.get_traced_memory()[1] < 40e6, tracemalloc.get_traced_memory()
    with h5py.File(folder + '/out') as h5file:
        assert h5file['x'].size in (200_000_000, 20_000)
        print('written')
"""


@pytest.mark.parametrize('kind', ['array', 'gzip', 'blocks', 'vlen', 'ragged', 'examples'])
def test_data_are_never_in_memory_as_a_whole(tmp_path, kind):
    done = run(MEMORY, kind, tmp_path)
    assert done.stdout == 'written\n', done.stderr
    for name in ('raw', 'out'):
        (tmp_path / name).unlink()


# A limit on the size of files makes writes fail as a full disk does. HDF5 may crash when it closes
# a file that it could not write, so the process ends without that.
FULL_DISK = """
    import os, resource, sys
    import h5py, numpy
    from fuel.converters.base import fill_hdf5_file
    kind, path = sys.argv[1:]
    array = numpy.random.default_rng(0).integers(0, 256, (300, 1000), dtype='uint8')
    data = {'small': array[:60], 'blocks': iter([array]), 'ragged': list(array)}.get(kind, array)
    options = {'array': {}, 'blocks': {}, 'ragged': {'layout': {'x': 'ragged'}}}.get(
        kind, {'compression': 'gzip'})
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, -1))
    h5file = h5py.File(path, 'w')
    try:
        fill_hdf5_file(h5file, [('a', 'x', data)], **options)
    except OSError as error:
        print('split' in h5file.attrs, 'File too large' in str(error), flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize('kind', ['array', 'gzip', 'small', 'blocks', 'ragged'])
def test_full_disk_is_an_error_and_the_file_does_not_claim_to_be_whole(tmp_path, kind):
    done = run(FULL_DISK, kind, tmp_path / 'x.hdf5')
    assert done.stdout == 'False True\n', done.stderr
    try:
        with h5py.File(tmp_path / 'x.hdf5') as h5file:
            assert 'split' not in h5file.attrs
    except OSError:
        pass                                    # it has not even become an HDF5 file


def test_what_cannot_be_written_late_is_noticed_before_the_splits_are_written(h5file, monkeypatch):
    def flush(self):
        raise RuntimeError('unable to flush')

    monkeypatch.setattr(h5py.File, 'flush', flush)
    with pytest.raises(RuntimeError, match='unable to flush'):
        fill_hdf5_file(h5file, [('a', 'x', rows(3))])
    assert 'split' not in h5file.attrs
