"""The padding kernel against its numpy twin, and both against a loop over the entries."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import pad as reference

KERNELS = [_kernels.pad_rows, reference.pad_rows]


def padded(rows, fill, dtype, tail=()):
    """Pad entry by entry."""
    width = max(map(len, rows), default=0)
    dense = numpy.zeros((len(rows), width, *tail), dtype)
    if fill is not None:
        dense[...] = fill
    mask = numpy.zeros((len(rows), width))
    for place, row in enumerate(rows):
        for number, entry in enumerate(row):
            dense[place, number] = entry
            mask[place, number] = 1
    return dense, mask


@given(st.data())
@pytest.mark.parametrize('pad', KERNELS)
def test_arrays_of_one_dtype(pad, data):
    dtype = data.draw(st.sampled_from(['u1', '?', 'i2', 'i4', 'i8', 'f2', 'f4', 'f8', 'c16', '>i4',
                                       'U2', 'S3', 'M8[s]']))
    tail = data.draw(st.sampled_from([(), (2,), (2, 1), (0,)]))
    mask_dtype = data.draw(st.sampled_from(['f4', 'f8', '?', 'u1', 'f2', '>f4', 'i8']))
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    layout = data.draw(st.sampled_from(['plain', 'strided', 'backwards', 'fortran']))
    rows = []
    for place, length in enumerate(lengths):
        row = numpy.random.RandomState(place).randint(1, 9, size=(length, *tail)).astype(dtype)
        row = {'plain': row, 'strided': numpy.repeat(row, 2, axis=0)[::2], 'backwards': row[::-1],
               'fortran': numpy.asfortranarray(row)}[layout]
        row.flags.writeable = False
        rows.append(row)
    expected, expected_mask = padded(rows, None, '<' + dtype[1:] if dtype[0] == '>' else dtype,
                                     tail)
    dense, mask = pad(rows, None, mask_dtype)
    assert dense.dtype == expected.dtype and dense.shape == expected.shape
    assert dense.tobytes() == expected.tobytes()
    assert mask.dtype == mask_dtype and mask.tolist() == expected_mask.tolist()
    assert dense.flags.writeable and mask.flags.writeable
    assert not any(numpy.shares_memory(dense, row) for row in rows)


@given(st.lists(st.lists(st.integers(-2**63, 2**63 - 1), max_size=5), min_size=1, max_size=5),
       st.sampled_from([None, 0, 7, -2**63]))
@pytest.mark.parametrize('pad', KERNELS)
def test_lists_of_integers(pad, rows, fill):
    dense, mask = pad(rows, fill, 'f4')
    if not any(rows):
        assert dense.shape == (len(rows), 0)
        return
    expected, expected_mask = padded(rows, fill, 'i8')
    assert dense.dtype == 'i8' and dense.tolist() == expected.tolist()
    assert mask.dtype == 'f4' and mask.tolist() == expected_mask.tolist()


@given(st.data())
def test_kernel_and_twin_agree(data):
    entry = st.one_of(st.integers(-2**70, 2**70), st.floats(), st.booleans(), st.just('a'),
                      st.sampled_from([numpy.int8(3), numpy.float32(2), 2**63]))
    array = arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3,
                                                                      min_side=0, max_side=3))
    row = st.one_of(st.lists(entry, max_size=4), array, st.tuples(entry, entry), entry,
                    st.lists(st.lists(st.integers(0, 3), max_size=2), max_size=2))
    rows = data.draw(st.lists(row, max_size=4))
    fill = data.draw(st.sampled_from([None, 0, -1, 0.5, numpy.nan, 'x', 300]))
    results = []
    for pad in KERNELS:
        try:
            results.append(pad(rows, fill, numpy.dtype('f4')))
        except (ValueError, TypeError) as error:
            results.append((type(error), str(error)))
    (one, other), (same, again) = results
    if isinstance(one, numpy.ndarray):
        assert one.dtype == same.dtype and one.shape == same.shape
        assert one.dtype == object or one.tobytes() == same.tobytes()
        assert other.tobytes() == again.tobytes()
    else:
        assert results[0] == results[1]


@pytest.mark.parametrize('pad', KERNELS)
@pytest.mark.parametrize('fill', [-1, 2.0, numpy.int16(4)])
def test_fill_of_arrays(pad, fill):
    rows = [numpy.array([[1, 2]], 'i2'), numpy.array([[3, 4], [5, 6]], 'i2')]
    dense, _ = pad(rows, fill, 'f4')
    assert dense.dtype == 'i2'
    assert dense.tolist() == [[[1, 2], [fill, fill]], [[3, 4], [5, 6]]]


@pytest.mark.parametrize('pad', KERNELS)
@pytest.mark.parametrize('rows', [[[1], [1, 2]], [numpy.array([1]), numpy.array([1, 2])]])
@pytest.mark.parametrize('fill', [0.5, numpy.nan, 2**70, 'x', None, [0, 1], numpy.inf])
def test_fill_that_does_not_fit(pad, rows, fill):
    if fill is None:
        assert pad(rows, fill, 'f4')[0].tolist() == [[1, 0], [1, 2]]
        return
    with pytest.raises(ValueError, match='expected a fill value that int64 can hold; got'):
        pad(rows, fill, 'f4')


@pytest.mark.parametrize('pad', KERNELS)
@pytest.mark.parametrize(('rows', 'message'), [
    ([numpy.array(3)], 'got the single value 3'), ([[1], 2], 'got the single value 2'),
    ([numpy.zeros((1, 2)), numpy.zeros((1, 3))], r'got the sizes \(2,\) and \(3,\)'),
    ([numpy.zeros((1, 2)), numpy.zeros(1)], r'got the sizes \(\) and \(2,\)'),
    ([[[1, 2], [3]]], 'entries are of the same form')])
def test_wrong_rows(pad, rows, message):
    with pytest.raises(ValueError, match=message):
        pad(rows, None, 'f4')


@pytest.mark.parametrize('pad', KERNELS)
def test_no_rows(pad):
    dense, mask = pad([], None, 'f4')
    assert dense.shape == mask.shape == (0, 0)


@pytest.mark.parametrize('pad', KERNELS)
@pytest.mark.parametrize('make', [numpy.asarray, list])
def test_large_batches(pad, make):
    lengths = numpy.random.RandomState(0).randint(0, 700, size=200)
    rows = [make(numpy.arange(length)) for length in lengths]
    if make is list:
        rows = [row.tolist() if hasattr(row, 'tolist') else list(map(int, row)) for row in rows]
    dense, mask = pad(rows, -5, 'f4')
    assert mask.sum(axis=1).tolist() == lengths.tolist()
    counted = numpy.arange(lengths.max())
    assert numpy.array_equal(dense, numpy.where(counted < lengths[:, None], counted, -5))
