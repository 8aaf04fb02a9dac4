"""Windows that slide along an array, against slices one by one."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import windows as reference

KERNELS = [_kernels.sliding_windows, reference.sliding_windows]


@pytest.mark.parametrize('windows', KERNELS)
@given(st.data())
def test_windows_are_slices(windows, data):
    dtype = data.draw(st.one_of(arrays.scalar_dtypes(), st.sampled_from(
        [numpy.dtype('S3'), numpy.dtype([('a', 'u1'), ('b', '>f4')]), numpy.dtype(object)])))
    shape = data.draw(arrays.array_shapes(max_dims=3, min_side=0, max_side=9))
    source = numpy.empty(shape, dtype=dtype)
    if dtype == object:
        source[...] = 'x'
    else:
        source = numpy.frombuffer(numpy.random.RandomState(0).bytes(source.nbytes),
                                  dtype=dtype).reshape(shape) if source.nbytes else source
    if data.draw(st.booleans()):
        source = numpy.repeat(source, 2, axis=0)[::2]
    width = data.draw(st.integers(0, len(source)))
    count = data.draw(st.integers(0, max(0, len(source) - width)))
    start = data.draw(st.integers(0, max(0, len(source) - width - count)))
    source.flags.writeable = False
    result = windows(source, start, count, width)
    assert result.shape == (count, width, *source.shape[1:])
    assert result.dtype == source.dtype
    assert result.flags.writeable
    assert not numpy.shares_memory(result, source)
    for place, window in enumerate(result):
        assert window.tobytes() == source[start + place:start + place + width].tobytes()


@pytest.mark.parametrize('windows', KERNELS)
def test_many_windows(windows):
    source = numpy.arange(100_000)
    result = windows(source, 1, 99_990, 5)
    assert numpy.array_equal(result, numpy.arange(99_990)[:, None] + numpy.arange(1, 6))


@pytest.mark.parametrize('windows', KERNELS)
@pytest.mark.parametrize('wrong', [(0, 4, 3), (3, 1, 3), (-1, 1, 1), (0, -1, 1), (0, 1, -1),
                                   (0, 1, 6), (6, 1, 0)])
def test_out_of_range(windows, wrong):
    start, count, width = wrong
    with pytest.raises(IndexError, match=f'^{count} windows of {width} rows from row {start} on '
                                         'are out of range for 5 rows$'):
        windows(numpy.arange(5), *wrong)


@pytest.mark.parametrize('windows', KERNELS)
def test_scalar_source(windows):
    with pytest.raises(TypeError, match='at least one axis'):
        windows(numpy.array(3), 0, 1, 1)


@pytest.mark.parametrize('arguments', [
    (2**63 - 1, 1, 3), (2**63 - 1, 2**20, 2), (1, 2**62, 2**62), (0, 1, 2**63 - 1),
    (0, 2**63 - 1, 1)])
def test_huge_numbers_are_refused(arguments):
    with pytest.raises(IndexError):
        _kernels.sliding_windows(numpy.zeros((3, 4)), *arguments)
