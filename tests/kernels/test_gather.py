"""The gather kernel against its numpy twin and against plain indexing."""
import os
import subprocess
import sys

import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import gather as reference

KERNELS = [_kernels.gather_rows, reference.gather_rows]


def test_compiled_kernels_are_used_unless_told_otherwise():
    wanted = 'python' if os.environ.get('FUEL_KERNELS') == 'python' else 'compiled'
    assert wanted == _kernels.BACKEND


def test_twins_can_be_forced():
    code = 'import fuel._kernels as k; print(k.BACKEND, k.gather_rows.__module__)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env={**os.environ, 'FUEL_KERNELS': 'python'}, check=True)
    assert done.stdout.split() == ['python', 'fuel._kernels.reference.gather']


@given(st.data())
@pytest.mark.parametrize('gather', KERNELS)
def test_rows_are_those_of_plain_indexing(gather, data):
    dtype = data.draw(st.one_of(
        arrays.scalar_dtypes(), arrays.byte_string_dtypes(max_len=5),
        st.sampled_from([numpy.dtype([('a', 'u1'), ('b', '>f4')]), numpy.dtype(object)])))
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    source = numpy.empty(shape, dtype=dtype)
    if dtype == object:
        source[...] = 'x'
    else:
        source.view('u1' if source.flags.c_contiguous else dtype)
        source = numpy.frombuffer(
            numpy.random.RandomState(0).bytes(source.nbytes), dtype=dtype).reshape(shape)
    layout = data.draw(st.sampled_from(['c', 'fortran', 'strided', 'transposed', 'backwards']))
    source = {'c': lambda: source, 'fortran': lambda: numpy.asfortranarray(source),
              'strided': lambda: numpy.repeat(source, 2, axis=0)[::2],
              'transposed': lambda: source.T, 'backwards': lambda: source[::-1]}[layout]()
    indices = data.draw(arrays.arrays(data.draw(st.sampled_from(['i4', 'i8'])),
                                      st.integers(0, 12),
                                      elements=st.integers(0, len(source) - 1)))
    if data.draw(st.booleans()):
        indices = numpy.repeat(indices, 2)[::2]
    source.flags.writeable = indices.flags.writeable = False
    result = gather(source, indices)
    assert result.dtype == source.dtype
    assert result.tobytes() == source[indices].tobytes()
    assert result.shape == source[indices].shape
    assert result.flags.writeable
    assert not numpy.shares_memory(result, source)


@pytest.mark.parametrize('gather', KERNELS)
@pytest.mark.parametrize('dtype', ['i4', 'i8'])
@pytest.mark.parametrize('wrong', [-1, 5, 2**31 - 1])
def test_out_of_range(gather, dtype, wrong):
    with pytest.raises(IndexError, match=f'^row {wrong} is out of range for 5 rows$'):
        gather(numpy.zeros((5, 3)), numpy.array([1, wrong, 7], dtype=dtype))


@pytest.mark.parametrize('gather', KERNELS)
@pytest.mark.parametrize('indices', [numpy.zeros(2, 'u1'), numpy.zeros((2, 2), 'i8'),
                                     numpy.zeros(2, '>i8'), numpy.zeros(2)])
def test_wrong_indices(gather, indices):
    with pytest.raises(TypeError, match='expected a vector of int32 or int64 indices; got'):
        gather(numpy.zeros(3), indices)


@pytest.mark.parametrize('gather', KERNELS)
def test_scalar_source(gather):
    with pytest.raises(TypeError, match='at least one axis'):
        gather(numpy.array(3), numpy.zeros(1, 'i8'))


@pytest.mark.parametrize('gather', KERNELS)
def test_rows_without_bytes(gather):
    assert gather(numpy.zeros((3, 0, 2)), numpy.array([2, 0])).shape == (2, 0, 2)
    assert gather(numpy.zeros((3, 2)), numpy.empty(0, 'i4')).shape == (0, 2)


@pytest.mark.parametrize('gather', KERNELS)
def test_large_rows(gather):
    source = numpy.random.RandomState(0).bytes(50 * 70_001)
    source = numpy.frombuffer(source, 'u1').reshape(50, 70_001)
    indices = numpy.random.RandomState(1).randint(50, size=200)
    assert gather(source, indices).tobytes() == source[indices].tobytes()


@pytest.mark.parametrize('outside', [_kernels.first_outside_range, reference.first_outside_range])
@pytest.mark.parametrize('dtype', ['i4', 'i8'])
def test_the_first_index_out_of_range_is_found(outside, dtype):
    for indices, place in (([], -1), ([0, 4], -1), ([0, 5, -1], 1), ([3, -1], 1), ([9], 0)):
        assert outside(numpy.array(indices, dtype=dtype), 5) == place
    assert outside(numpy.array([0, 9, 4, 9, 7, 1], dtype=dtype)[::2], 5) == 2
    for wrong in (numpy.array([[1]]), numpy.array([1.5]), numpy.array([1], dtype='u8')):
        with pytest.raises(TypeError, match='int32 or int64'):
            outside(wrong, 5)
