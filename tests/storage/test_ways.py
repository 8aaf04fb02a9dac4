"""Every layout that HDF5 has, read by every kind of request: the same as h5py and numpy."""
import io

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from tests.storage.files import write_file
from tests.storage.layouts import LAYOUTS, write_layout

JUDGED = [name for name, layout in LAYOUTS.items() if layout.way is not None]


def requests(count):
    """Return requests for some of the rows, by name."""
    rng = numpy.random.default_rng(count)
    mask = rng.integers(0, 2, count).astype(bool)
    mask[0] = True
    shuffled = rng.permutation(count)
    return {
        'first': 0,
        'last': count - 1,
        'numpy integer': numpy.uint16(count // 2),
        'list': [count - 1, 0, count // 2, count // 2, 0],
        'tuple': (count // 2, 0),
        'range': range(count - 1, -1, -1),
        'one in a list': [count // 3],
        'the same three times': [count // 3] * 3,
        'everything': slice(None),
        'part': slice(count // 4, count - count // 4),
        'every third': slice(1 % count, count, 3),
        'one of many': slice(0, count, count),
        'shuffled': shuffled,
        'shuffled int32': shuffled[:count // 2 + 1].astype('int32'),
        'shuffled, in steps': shuffled[::3],
        'few, in order': numpy.sort(shuffled[:max(1, count // 9)]),
        'most, in order': numpy.sort(shuffled[:max(1, count - 3)]),
        'bytes': rng.integers(0, min(count, 256), 9).astype('uint8'),
        'many times': rng.integers(0, count, 3 * count),
        'mask': mask,
        'list of booleans': mask.tolist(),
    }


def wanted(rows, request):
    """Return what numpy makes of a request."""
    return rows[numpy.asarray(request) if isinstance(request, (list, tuple, range)) else request]


def check(got, expected, what):
    """Compare rows and their dtype; a row by itself may be a scalar."""
    assert numpy.shape(got) == numpy.shape(expected), what
    assert numpy.asarray(got).dtype == numpy.asarray(expected).dtype, what
    assert numpy.array_equal(got, expected), what


def scribble(got):
    """Overwrite what belongs to the caller, whoever else may wrongly use it."""
    if isinstance(got, numpy.ndarray) and got.dtype != object:
        assert got.flags.writeable
        got.view('uint8' if not got.dtype.hasobject and got.flags.c_contiguous and got.ndim
                 and got.size else got.dtype)[...] = numpy.zeros((), 'uint8')


@pytest.fixture(params=LAYOUTS)
def layout(request, tmp_path):
    return request.param, *write_layout(tmp_path, request.param)


@pytest.mark.parametrize('in_memory', [False, True], ids=['file', 'memory'])
def test_rows_are_those_that_were_written(layout, in_memory):
    name, path, rows = layout
    with h5py.File(path) as h5file:
        through_library = h5file['x'][...]
    assert numpy.array_equal(through_library, rows)
    dataset = H5PYDataset(path, ('all',), load_in_memory=in_memory)
    dataset.open()
    for kind, request in requests(len(rows)).items():
        expected = wanted(through_library, request)
        for _ in range(2):
            got, = dataset.get_data(None, request)
            check(got, expected, f'{name}: {kind}')
            scribble(got)
    dataset.close(None)


@pytest.mark.parametrize('name', [
    'contiguous', 'userblock of 512, chunks', 'chunks that split all axes', 'fixed array, gzip',
    'chunks never written, fill value', 'filters shuffle deflate fletcher32', 'structures',
    'strings of any length', 'virtual', 'plugin blosc lz4', 'gzip, masks'])
@pytest.mark.parametrize('in_memory', [False, True], ids=['file', 'memory'])
def test_parts_of_splits(tmp_path, name, in_memory):
    path, rows = write_layout(tmp_path, name)
    order = numpy.random.default_rng(3).permutation(len(rows))
    parts = {'front': (2, 9), 'back': (len(rows) - 5, len(rows))}
    with h5py.File(path, 'r+') as h5file:
        h5file['order'] = order
        h5file.attrs['split'] = H5PYDataset.create_split_array(
            {**{part: {'x': bounds} for part, bounds in parts.items()},
             'some': {'x': (-1, -1, h5file['order'].ref)}})
    both = rows[[*range(2, 9), *range(len(rows) - 5, len(rows))]]
    for which, subset, part in (
            (('front',), None, rows[2:9]), (('back', 'front'), None, both),
            (('front', 'back'), slice(1, -1, 3), both[1:-1:3]),
            (('front', 'back'), [11, 0, 7, 0], both[[0, 7, 11]]),
            (('some',), None, rows), (('some',), slice(5, 15), rows[5:15])):
        dataset = H5PYDataset(path, which, subset=subset, load_in_memory=in_memory)
        assert dataset.num_examples == len(part)
        for kind, request in requests(len(part)).items():
            check(dataset.get_data(None, request)[0], wanted(part, request), kind)
        dataset.close(None)


@pytest.mark.parametrize('name', JUDGED)
def test_the_way_is_told(tmp_path, name):
    path, _ = write_layout(tmp_path, name)
    dataset = H5PYDataset(path, ('all',))
    told = dataset.describe()['x']
    assert told.way == LAYOUTS[name].way, told.reason
    assert bool(told.reason) == (told.way != 'mapped')


@pytest.mark.parametrize('name', ['contiguous', 'chunks of rows', 'gzip, one row a chunk',
                                  'virtual', 'strings of any length'])
@pytest.mark.parametrize('request_', [-1, [0, -1], 1000, [3, 1000, 2], slice(0, 1000), [],
                                      slice(4, 4), slice(0, 5, -1), [1.5], None, 'x', [[1, 2]],
                                      numpy.array([2 ** 63], 'uint64'), numpy.int64(-2 ** 63),
                                      numpy.array([2 ** 62]), numpy.ones(5, bool)],
                         ids=lambda request: str(request).replace('\n', '')[:20])
@pytest.mark.parametrize('in_memory', [False, True], ids=['file', 'memory'])
def test_wrong_requests_are_refused_by_all_ways(tmp_path, name, request_, in_memory):
    path, rows = write_layout(tmp_path, name)
    dataset = H5PYDataset(path, ('all',), load_in_memory=in_memory)
    with pytest.raises(ValueError, match=r'expected|index'):
        dataset.get_data(None, request_)
    check(dataset.get_data(None, [1, 0])[0], rows[[1, 0]], name)
    dataset.close(None)


def read_and_told(dataset, rows):
    check(dataset.get_data(None, [7, 2, 7])[0], rows[[7, 2, 7]], 'list')
    check(dataset.get_data(None, slice(1, 9))[0], rows[1:9], 'slice')
    told = dataset.describe()['x']
    dataset.close(None)
    return told


def numbered(tmp_path, **kwargs):
    rows = numpy.arange(60).reshape(20, 3)
    path = write_file(tmp_path / 'numbers.hdf5', {}, {'all': {'x': (0, 20)}},
                      edit=lambda h5file: h5file.create_dataset('x', data=rows, **kwargs))
    return path, rows


@pytest.mark.parametrize('driver', ['sec2', 'stdio', 'core'])
def test_drivers(tmp_path, driver):
    path, rows = numbered(tmp_path)
    told = read_and_told(H5PYDataset(path, ('all',), driver=driver), rows)
    assert told.way == ('mapped' if driver == 'sec2' else 'library')
    assert bool(told.reason) == (driver != 'sec2')


def test_a_file_like_object(tmp_path):
    path, rows = numbered(tmp_path)
    with open(path, 'rb') as stream:
        content = io.BytesIO(stream.read())
    with h5py.File(content, 'r') as h5file:
        told = read_and_told(H5PYDataset(h5file, ('all',)), rows)
        assert h5file['x'][0].tolist() == [0, 1, 2]
    assert told.way == 'library'
    assert told.reason


@pytest.mark.parametrize('chunks', [None, (3, 3)])
def test_a_file_open_for_writing(tmp_path, chunks):
    """What has been written shows at once, though it may not be in the file yet."""
    path, rows = numbered(tmp_path, chunks=chunks)
    with h5py.File(path, 'r+') as h5file:
        dataset = H5PYDataset(h5file, ('all',))
        for step in range(3):
            h5file['x'][2] = rows[2] = step
            assert dataset.get_data(None, [7, 2])[0].tolist() == rows[[7, 2]].tolist()
        told = read_and_told(dataset, rows)
        assert h5file['x'][7].tolist() == rows[7].tolist()
    assert told.way == 'library'
    assert told.reason


def test_a_file_given_open_for_reading(tmp_path):
    path, rows = numbered(tmp_path)
    with h5py.File(path) as h5file:
        assert read_and_told(H5PYDataset(h5file, ('all',)), rows).way == 'mapped'
        assert h5file['x'][0].tolist() == [0, 1, 2]


def test_sources_of_one_file_go_their_own_ways(tmp_path):
    rows = numpy.arange(60).reshape(20, 3)

    def edit(h5file):
        h5file.create_dataset('b', data=rows, chunks=(2, 3), compression='gzip')
        h5file.create_dataset('c', data=rows, chunks=(2, 3), scaleoffset=0)
    path = write_file(tmp_path / 'ways.hdf5', {'a': rows},
                      {'all': dict.fromkeys('abc', (0, 20))}, edit=edit)
    dataset = H5PYDataset(path, ('all',))
    for read in dataset.get_data(None, [7, 2, 7]):
        check(read, rows[[7, 2, 7]], 'list')
    told = dataset.describe()
    assert {source: entry.way for source, entry in told.items()} == {
        'a': 'mapped', 'b': 'decoded', 'c': 'library'}
    dataset.close(None)
