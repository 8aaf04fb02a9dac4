"""The permutation that is computed and not stored."""
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import permute as reference

KERNELS = [_kernels.permuted, reference.permuted]

# Of (n, key): where the first places are taken.
KNOWN = {(10, 0): [2, 0, 8, 1, 9, 7, 4, 5, 6, 3],
         (10**12, 2**64 - 1): [958358442345, 403149525981, 742261324172, 177815507945,
                               616563020696]}


@given(st.integers(0, 3000), st.integers(0, 2**64 - 1))
@pytest.mark.parametrize('permuted', KERNELS)
def test_it_is_a_permutation(permuted, n, key):
    result = permuted(numpy.arange(n), n, key)
    assert result.dtype == numpy.int64
    assert numpy.array_equal(numpy.sort(result), numpy.arange(n))


@given(st.data(), st.sampled_from(['i8', 'i4', 'u8', 'u1', '>i8', 'i2']))
def test_kernel_and_twin_are_equal(data, dtype):
    n = data.draw(st.one_of(st.integers(1, 100), st.integers(1, 2**63 - 1)))
    key = data.draw(st.integers(0, 2**64 - 1))
    indices = data.draw(st.lists(st.integers(0, min(n - 1, numpy.iinfo(dtype).max)), max_size=20))
    indices = numpy.array(indices, dtype=dtype)
    if data.draw(st.booleans()):
        indices = numpy.repeat(indices, 2)[::2]
    indices.flags.writeable = False
    one, other = (permuted(indices, n, key) for permuted in KERNELS)
    assert one.dtype == other.dtype == numpy.int64
    assert one.tolist() == other.tolist()
    assert all(0 <= image < n for image in one.tolist())


def test_images_stay_the_same_for_ever():
    for (n, key), images in KNOWN.items():
        for permuted in KERNELS:
            assert permuted(numpy.arange(len(images)), n, key).tolist() == images


def test_any_part_of_it_can_be_had_by_itself():
    whole = _kernels.permuted(numpy.arange(1000), 1000, 7)
    assert numpy.array_equal(_kernels.permuted(numpy.arange(990, 1000), 1000, 7), whole[990:])
    assert _kernels.permuted(numpy.array([5, 5]), 1000, 7).tolist() == [whole[5]] * 2


def test_keys_give_different_permutations():
    found = {tuple(_kernels.permuted(numpy.arange(5), 5, key).tolist()) for key in range(5000)}
    assert len(found) == 120  # every permutation there is


@pytest.mark.parametrize('n', [7, 64, 100])
def test_places_are_evenly_spread(n):
    keys = 4000
    counts = numpy.zeros((n, n))
    for key in range(keys):
        counts[numpy.arange(n), _kernels.permuted(numpy.arange(n), n, key)] += 1
    wanted = keys / n
    squares = ((counts - wanted) ** 2 / wanted).sum()
    freedom = (n - 1) ** 2
    assert abs(squares - freedom) < 6 * (2 * freedom) ** 0.5


@pytest.mark.parametrize('permuted', KERNELS)
@pytest.mark.parametrize('count', [1, 5, 1000])
@pytest.mark.parametrize('wrong', [-1, 1000, 2**62])
def test_out_of_range(permuted, count, wrong):
    indices = numpy.arange(count)
    indices[-1] = wrong
    with pytest.raises(IndexError, match=f'^index {wrong} is out of range for 1000 places$'):
        permuted(indices, 1000, 0)


@pytest.mark.parametrize('permuted', KERNELS)
@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    ((numpy.zeros(2), 5, 0), TypeError, 'a vector of integers; got 1 axes of float64'),
    ((numpy.zeros((2, 2), 'i8'), 5, 0), TypeError, 'got 2 axes'),
    ((numpy.zeros(2, 'i8'), -1, 0), ValueError, 'number of places .*got -1'),
    ((numpy.zeros(2, 'i8'), 2**63, 0), ValueError, 'number of places'),
    ((numpy.zeros(2, 'i8'), 5, -1), ValueError, 'expected a key .*got -1'),
    ((numpy.zeros(2, 'i8'), 5, 2**64), ValueError, 'expected a key'),
    ((numpy.zeros(2, 'i8'), 0, 0), IndexError, 'index 0 is out of range for 0 places')])
def test_wrong_arguments(permuted, arguments, error, message):
    with pytest.raises(error, match=message):
        permuted(*arguments)


def test_large_unsigned_indices():
    for permuted in KERNELS:
        with pytest.raises(IndexError, match='out of range'):
            permuted(numpy.array([2**63], 'u8'), 2**62, 0)

