"""Every kind of request, in and out of memory, against numpy."""
import h5py
import hypothesis
import hypothesis.strategies as st
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from tests.storage.files import set_splits, some_images

COUNT = 14
FIXED = numpy.arange(COUNT * 6).reshape(COUNT, 2, 3).astype('uint8')
NUMBER = numpy.arange(COUNT) * 3
WORDS = [f'wörd {i}'.encode() for i in range(COUNT)]
IMAGES = some_images(COUNT)
SOURCES = ('fixed', 'images', 'number', 'words')

SPLITS = {'first': (0, 6), 'last': (6, 14), 'some': numpy.array([12, 1, 3, 4, 8])}
ROWS = {'first': list(range(6)), 'last': list(range(6, 14)), 'some': [1, 3, 4, 8, 12]}
SETS = [('first',), ('last',), ('some',), ('last', 'some'), ('first', 'last')]
SUBSETS = [None, slice(1, 4), slice(0, 5, 2), [4, 0, 2]]


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp('requests') / 'f.hdf5'
    with h5py.File(path, 'w') as h5file:
        h5file['fixed'], h5file['number'] = FIXED, NUMBER
        h5file['words'] = WORDS
        images = h5file.create_dataset('images', (COUNT,), dtype=h5py.vlen_dtype('uint8'))
        for place, image in enumerate(IMAGES):
            images[place] = image.ravel()
        h5file['shapes'] = numpy.array([image.shape for image in IMAGES])
        h5file['shapes'].make_scale('shapes')
        images.dims[0].attach_scale(h5file['shapes'])
        set_splits(h5file, {name: dict.fromkeys(SOURCES, rows) for name, rows in SPLITS.items()})
    return str(path)


@pytest.fixture(scope='module')
def datasets(path):
    """Every data set, out of and in memory, with its rows."""
    made = []
    for which_sets in SETS:
        for subset in SUBSETS:
            rows = sorted({row for name in which_sets for row in ROWS[name]})
            if subset is not None:
                rows = rows[subset] if isinstance(subset, slice) else [
                    rows[index] for index in sorted(subset)]
            pair = [H5PYDataset(path, which_sets, subset=subset, load_in_memory=in_memory)
                    for in_memory in (False, True)]
            made.append((pair, rows))
    yield made
    for pair, _ in made:
        pair[0].close(None)


def wanted(rows, request):
    """Return the data of a request by plain means."""
    request = request.tolist() if isinstance(request, numpy.ndarray) else request
    if isinstance(request, slice):
        chosen = rows[request]
    elif isinstance(request, int):
        return FIXED[rows[request]], IMAGES[rows[request]], NUMBER[rows[request]], WORDS[
            rows[request]]
    elif isinstance(request[0], bool):
        chosen = [row for row, keep in zip(rows, request, strict=True) if keep]
    else:
        chosen = [rows[index] for index in request]
    images = numpy.empty(len(chosen), dtype=object)
    for place, row in enumerate(chosen):
        images[place] = IMAGES[row]
    return FIXED[chosen], images, NUMBER[chosen], numpy.array(
        [WORDS[row] for row in chosen], dtype=object)


def equal(left, right):
    if getattr(right, 'dtype', None) == object:
        return (isinstance(left, numpy.ndarray) and left.dtype == object
                and left.shape == right.shape
                and all(equal(one, other) for one, other in zip(left, right, strict=True)))
    return (numpy.array_equal(left, right)
            and getattr(left, 'dtype', None) == getattr(right, 'dtype', None))


@st.composite
def requests(draw, count):
    indices = st.integers(0, count - 1)
    kind = draw(st.sampled_from(['int', 'numpy', 'slice', 'list', 'tuple', 'array', 'mask']))
    if kind == 'int':
        return draw(indices)
    if kind == 'numpy':
        return numpy.int32(draw(indices))
    if kind == 'slice':
        start = draw(indices)
        stop = draw(st.one_of(st.integers(start + 1, count), st.none()))
        return slice(start or draw(st.sampled_from([0, None])), stop,
                     draw(st.sampled_from([None, 1, 2, 5])))
    if kind == 'mask':
        mask = draw(st.lists(st.booleans(), min_size=count, max_size=count).filter(any))
        return draw(st.sampled_from([list, numpy.array]))(mask)
    values = draw(st.lists(indices, min_size=1, max_size=12))
    return {'list': list, 'tuple': tuple, 'array': numpy.array}[kind](values)


@hypothesis.settings(max_examples=200)
@hypothesis.given(st.data())
def test_data_are_those_of_numpy_in_and_out_of_memory(datasets, data):
    pair, rows = data.draw(st.sampled_from(datasets), label='data set')
    request = data.draw(requests(len(rows)), label='request')
    expected = wanted(rows, int(request) if isinstance(request, numpy.int32) else request)
    for dataset in pair:
        assert dataset.num_examples == len(rows)
        given = dataset.get_data(None, request)
        assert isinstance(given, tuple)
        for left, right in zip(given, expected, strict=True):
            assert equal(left, right)


@hypothesis.given(st.data())
def test_other_requests_are_refused_alike(datasets, data):
    pair, rows = data.draw(st.sampled_from(datasets), label='data set')
    count = len(rows)
    request = data.draw(st.sampled_from([
        None, -1, count, count + 5, [], (), [0, count], [-1, 0], [count], numpy.array([count]),
        numpy.array([-1]), slice(-1, None), slice(0, -1), slice(0, count + 1), slice(count, None),
        slice(0, 0), slice(2, 1), slice(None, None, -1), 'abc', 1.0, [0.0], [[0]], {0}, True,
        numpy.ones(count + 1, dtype=bool), numpy.zeros(count, dtype=bool), [None]]))
    said = []
    for dataset in pair:
        with pytest.raises(ValueError, match=r'expected|index') as caught:
            dataset.get_data(None, request)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_next_split_is_never_reached(path):
    for in_memory in (False, True):
        dataset = H5PYDataset(path, ('first',), load_in_memory=in_memory)
        for request in (6, [5, 6], slice(4, 7), numpy.array([6])):
            with pytest.raises(ValueError, match='6'):
                dataset.get_data(None, request)


@pytest.mark.parametrize('in_memory', [False, True])
@pytest.mark.parametrize('request_', [2, slice(0, 4), slice(0, 4, 2), [0, 2], [2, 0, 2],
                                      numpy.array([1, 1])])
def test_arrays_belong_to_the_caller(path, in_memory, request_):
    dataset = H5PYDataset(path, ('first',), load_in_memory=in_memory,
                          sources=('fixed', 'images'))
    before = dataset.get_data(None, request_)
    spoiled = dataset.get_data(None, request_)
    fixed, images = spoiled
    fixed[...] = 0
    for image in ([images] if isinstance(request_, int) else images):
        image[...] = 0
    again = dataset.get_data(None, request_)
    assert equal(again[0], before[0])
    assert equal(again[1], before[1])
    assert fixed.max() == 0


@pytest.mark.parametrize('in_memory', [False, True])
def test_duplicates_do_not_share_memory(path, in_memory):
    dataset = H5PYDataset(path, ('first',), load_in_memory=in_memory, sources=('images',))
    images, = dataset.get_data(None, [3, 3])
    images[0][...] = 0
    assert numpy.array_equal(images[1], IMAGES[3])


def test_requests_are_not_changed(path):
    for in_memory in (False, True):
        dataset = H5PYDataset(path, ('last',), load_in_memory=in_memory)
        request = numpy.array([5, 0, 3])
        request.flags.writeable = False
        dataset.get_data(None, request)
        listed = [5, 0, 3]
        dataset.get_data(None, listed)
        assert listed == request.tolist() == [5, 0, 3]


def test_without_sorting_requests_must_be_sorted(path):
    dataset = H5PYDataset(path, ('last',), sort_indices=False, sources=('number',))
    for request in (4, slice(1, 6, 2), [0, 3, 7], numpy.array([2, 5]), [3, 3, 4]):
        data, = dataset.get_data(None, request)
        assert numpy.array_equal(data, NUMBER[6:][request])
    for request in ([3, 1], numpy.array([7, 0]), (5, 5, 4)):
        with pytest.raises(TypeError, match='increasing order.*sort_indices'):
            dataset.get_data(None, request)
    in_memory = H5PYDataset(path, ('last',), sort_indices=False, sources=('number',),
                            load_in_memory=True)
    assert in_memory.get_data(None, [3, 1])[0].tolist() == [27, 21]


def test_a_state_is_refused_in_memory(path):
    dataset = H5PYDataset(path, ('first',), load_in_memory=True)
    with pytest.raises(ValueError, match='keeps no state'):
        dataset.get_data('state', [0])


def test_many_random_rows_are_read_fast_enough(tmp_path):
    """HDF5 libraries have needed time that grows with the square of the number of rows."""
    data = numpy.arange(200000).reshape(100000, 2)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['x'] = data
        set_splits(h5file, {'all': {'x': (0, 100000)}})
    dataset = H5PYDataset(tmp_path / 'f.hdf5', ('all',))
    order = numpy.random.default_rng(0).permutation(100000)
    for request in (order[:5000], order, numpy.sort(order)[::2]):
        assert numpy.array_equal(dataset.get_data(None, request)[0], data[request])
