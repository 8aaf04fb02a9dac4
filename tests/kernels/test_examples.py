"""The kernels that copy examples of variable length, against numpy."""
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import examples as reference
from tests.kernels.heaps import DTYPES, UNFILLED, check_fresh, some_bytes, vector

RANGES = [_kernels.range_arrays, reference.range_arrays]
BLOCKS = [_kernels.block_arrays, reference.block_arrays]


@given(st.data())
@pytest.mark.parametrize('copy', RANGES)
def test_ranges_are_those_of_slices(copy, data):
    dtype = numpy.dtype(data.draw(st.sampled_from(DTYPES)))
    count = data.draw(st.integers(0, 40))
    values = numpy.frombuffer(some_bytes(count * dtype.itemsize), dtype=dtype)
    form = data.draw(st.sampled_from(['plain', 'strided', 'backwards', 'unaligned']))
    if form == 'unaligned':
        values = numpy.frombuffer(b'x' + values.tobytes(), dtype='u1')[1:].view(dtype)
    else:
        values = {'plain': values, 'strided': numpy.repeat(values, 2)[::2],
                  'backwards': values[::-1]}[form]
    pairs = data.draw(st.lists(st.tuples(st.integers(0, count), st.integers(0, count)), max_size=8))
    starts = vector(*[min(pair) for pair in pairs])
    stops = vector(*[max(pair) for pair in pairs])
    wanted = [values[start:stop] for start, stop in zip(starts, stops, strict=True)]
    shapes = None
    if data.draw(st.booleans()):
        shapes = numpy.array([data.draw(st.sampled_from([(part.size, 1, 1), (1, 1, part.size)]))
                              for part in wanted], dtype='i8').reshape(-1, 3)
        wanted = [part.reshape(shape) for part, shape in zip(wanted, shapes, strict=True)]
    if data.draw(st.booleans()):
        starts, stops = (numpy.repeat(numbers, 2)[::2] for numbers in (starts, stops))
        shapes = None if shapes is None else numpy.asfortranarray(shapes)
    result = copy(values, starts, stops, shapes, data.draw(st.integers(0, 3)))
    check_fresh(result, wanted, dtype, values)


@pytest.mark.parametrize('copy', RANGES)
@pytest.mark.parametrize('threads', [1, 2, 5])
def test_long_ranges_on_several_threads(copy, threads):
    values = numpy.frombuffer(some_bytes(3_000_001), dtype='u1')
    rng = numpy.random.default_rng(0)
    starts, stops = numpy.sort(rng.integers(0, len(values), size=(2, 9)), axis=0)
    starts[4] = stops[4]
    for _ in range(5):
        result = copy(values, starts, stops, None, threads)
        check_fresh(result, [values[start:stop] for start, stop
                             in zip(starts, stops, strict=True)], 'u1')


@pytest.mark.parametrize('copy', RANGES)
def test_ranges_of_objects(copy):
    values = numpy.array([b'a', b'bc', b'd'], dtype=object)
    assert [part.tolist() for part in copy(values, vector(1, 0), vector(3, 0))] == [
        [b'bc', b'd'], []]


@pytest.mark.parametrize('copy', RANGES)
@pytest.mark.parametrize(('start', 'stop', 'problem'), [
    (3, 2, 'begins at value 3 and ends before it, at 2'),
    (-1, 2, 'reaches from value -1 to 2, and there are 5 values'),
    (2, 6, 'reaches from value 2 to 6, and there are 5 values'),
    (2**63 - 1, -2**63, f'begins at value {2**63 - 1} and ends before it, at {-2**63}'),
    (-2**63, 2**63 - 1, f'reaches from value {-2**63} to {2**63 - 1}, and there are 5 values')])
def test_ranges_that_are_none(copy, start, stop, problem):
    with pytest.raises(_kernels.ExampleError) as error:
        copy(numpy.arange(5), vector(0, start, 9), vector(2, stop, 1))
    assert (error.value.place, error.value.problem) == (1, problem)
    assert str(error.value) == f'the example at place 1 {problem}'


@pytest.mark.parametrize('copy', RANGES)
@pytest.mark.parametrize('shape', UNFILLED)
def test_shapes_that_ranges_do_not_fill(copy, shape):
    with pytest.raises(_kernels.ExampleError) as error:
        copy(numpy.arange(9), vector(0, 1), vector(5, 6), numpy.array([(1, 5, 1), shape]))
    assert error.value.place == 1
    assert error.value.problem == (
        f'has 5 values, which do not fill the shape {shape} that is stored for it')


@pytest.mark.parametrize('copy', RANGES)
def test_shapes_without_values(copy):
    shapes = numpy.array([(0, 2**40, 1)])
    assert copy(numpy.arange(9), vector(3), vector(3), shapes)[0].shape == (0, 2**40, 1)
    with pytest.raises(_kernels.ExampleError, match='fill the shape'):
        copy(numpy.arange(9), vector(3), vector(3), numpy.array([(0, 2**40, 2**40)]))
    assert copy(numpy.arange(9), vector(3), vector(4), numpy.empty((1, 0), 'i8'))[0].shape == ()


@pytest.mark.parametrize('copy', RANGES)
@pytest.mark.parametrize('arguments', [
    (numpy.zeros((2, 2)), vector(0), vector(1)), (numpy.zeros(2), vector(0), vector(1, 2)),
    (numpy.zeros(2), vector(0, 1), vector(1)), (numpy.zeros(2), vector(0).astype('i4'), vector(1)),
    (numpy.zeros(2), vector(0), vector(1).astype('>i8')),
    (numpy.zeros(2), vector(0)[:, None], vector(1)),
    (numpy.zeros(2), vector(0), vector(1), vector(1)),
    (numpy.zeros(2), vector(0), vector(1), vector(1, 1)[:, None]),
    (numpy.zeros(2), vector(0), vector(1), vector(1)[:, None].astype('i4')),
    (numpy.zeros(2), vector(0), vector(1), numpy.ones((1, 65), 'i8'))])
def test_arguments_of_ranges(copy, arguments):
    with pytest.raises(TypeError, match='^expected'):
        copy(*arguments)


# Blocks.

@st.composite
def blocked(draw):
    """Return blocks in memory, their addresses, what they hold, and ranges of it."""
    dtype = numpy.dtype(draw(st.sampled_from(DTYPES)))
    values, total = draw(st.integers(1, 9)), draw(st.integers(0, 60))
    count = -(-total // values)
    blocks = [numpy.frombuffer(bytearray(some_bytes(values * dtype.itemsize, number)), dtype)
              for number in range(count)]
    addresses = numpy.array([block.ctypes.data for block in blocks], dtype='i8')
    pairs = draw(st.lists(st.tuples(st.integers(0, total), st.integers(0, total)), max_size=8))
    return (blocks, addresses, values, total, vector(*[min(pair) for pair in pairs]),
            vector(*[max(pair) for pair in pairs]), dtype)


@given(blocked(), st.data())
@pytest.mark.parametrize('copy', BLOCKS)
def test_ranges_of_blocks(copy, made, data):
    blocks, addresses, values, total, starts, stops, dtype = made
    flat = numpy.frombuffer(b''.join(block.tobytes() for block in blocks), dtype)
    lost = data.draw(st.sets(st.integers(0, len(blocks) - 1))) if blocks else set()
    addresses[list(lost)] = 0
    touched = [set(range(start // values, -(-stop // values))) if stop > start else set()
               for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    lacking = [place for place, part in enumerate(touched) if part & lost]
    used = data.draw(st.sampled_from([None, numpy.zeros(len(blocks), 'u1')]))
    shapes = data.draw(st.sampled_from([None, numpy.stack([stops - starts, stops * 0 + 1], 1)]))
    arrays, missing = copy(addresses, values, total, starts, stops, dtype, shapes, used,
                           data.draw(st.integers(1, 3)))
    assert (missing is None and not lacking) or missing.tolist() == lacking
    kept = [place for place in range(len(starts)) if place not in lacking]
    wanted = [flat[starts[place]:stops[place]] for place in kept]
    if shapes is not None:
        wanted = [part[:, None] for part in wanted]
    check_fresh(arrays[kept], wanted, dtype, *blocks)
    if used is not None:
        read = set().union(*[touched[place] for place in kept])
        assert read <= set(numpy.flatnonzero(used).tolist()) <= set().union(*touched) - lost


@pytest.mark.parametrize('copy', BLOCKS)
def test_long_ranges_of_blocks_on_several_threads(copy):
    blocks = numpy.frombuffer(some_bytes(7 * 300_000), 'u1').reshape(7, -1)
    addresses = blocks.ctypes.data + numpy.arange(7) * 300_000
    rng = numpy.random.default_rng(0)
    starts, stops = numpy.sort(rng.integers(0, blocks.size, size=(2, 9)), axis=0)
    arrays, missing = copy(addresses, 300_000, blocks.size, starts, stops, 'u1', threads=2)
    assert missing is None
    check_fresh(arrays, [blocks.reshape(-1)[start:stop] for start, stop
                         in zip(starts, stops, strict=True)], 'u1', blocks)


@pytest.mark.parametrize('copy', BLOCKS)
@pytest.mark.parametrize(('start', 'stop', 'problem'), [
    (3, 2, 'begins at value 3 and ends before it, at 2'),
    (2, 6, 'reaches from value 2 to 6, and there are 5 values'),
    (-1, 2, 'reaches from value -1 to 2, and there are 5 values')])
def test_ranges_that_leave_the_blocks(copy, start, stop, problem):
    block = numpy.arange(6)
    with pytest.raises(_kernels.ExampleError) as error:
        copy(vector(block.ctypes.data), 6, 5, vector(0, start), vector(5, stop), 'i8')
    assert (error.value.place, error.value.problem) == (1, problem)


@pytest.mark.parametrize('copy', BLOCKS)
def test_shapes_that_ranges_of_blocks_do_not_fill(copy):
    block = numpy.arange(6)
    with pytest.raises(_kernels.ExampleError, match=r'place 0 has 5 values.* shape \(2, 3\)'):
        copy(vector(block.ctypes.data), 6, 6, vector(0), vector(5), 'i8', numpy.array([(2, 3)]))


@pytest.mark.parametrize('copy', BLOCKS)
def test_arguments_of_blocks(copy):
    good = vector(numpy.arange(6).ctypes.data)
    for arguments in [(good.astype('i4'), 6, 6), (good[:, None], 6, 6), (good, 0, 6), (good, 3, 6),
                      (good, 6, 0), (numpy.repeat(good, 4)[::2], 6, 12)]:
        with pytest.raises(TypeError, match='^expected the addresses'):
            copy(*arguments, vector(0), vector(1), 'i8')
    for dtype in (object, 'V0', '(2,)i8'):
        with pytest.raises(TypeError, match='^expected a dtype'):
            copy(good, 6, 6, vector(0), vector(1), dtype)
    for used in (numpy.zeros(2, 'u1'), numpy.zeros(1, 'i8')):
        with pytest.raises(TypeError, match='^expected a flag'):
            copy(good, 6, 6, vector(0), vector(1), 'i8', None, used)
    for starts, stops in [(vector(0), vector(1, 2)), (vector(0).astype('u8'), vector(1))]:
        with pytest.raises(TypeError, match='^expected st'):
            copy(good, 6, 6, starts, stops, 'i8')
