"""Data of any kind that travel through shared memory, and arrive as they were."""
import copy

import hypothesis.extra.numpy as arrays
import numpy
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.transport import Pair, all_arrays, check_apart, same

DTYPES = st.one_of(
    arrays.scalar_dtypes(), arrays.unicode_string_dtypes(), arrays.byte_string_dtypes(),
    arrays.datetime64_dtypes(), arrays.timedelta64_dtypes(), arrays.array_dtypes(),
    st.sampled_from([numpy.dtype('V5'), numpy.dtype([('a', 'u1'), ('b', '>f8', 2)], align=True),
                     numpy.dtype('u1', metadata={'kind': 'test'}), numpy.dtype('>c16')]))
LAYOUTS = {'c': lambda x: x, 'fortran': numpy.asfortranarray, 'transposed': lambda x: x.T,
           'strided': lambda x: x[::2] if x.ndim else x,
           'reversed': lambda x: x[::-1] if x.ndim else x,
           'broadcast': lambda x: numpy.broadcast_to(x, (2, *x.shape))}


@st.composite
def some_arrays(draw, dtypes=DTYPES):
    dtype = draw(dtypes)
    shape = draw(st.one_of(
        arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
        st.sampled_from([(2000,), (300, 40), (64, 5, 100), (40_000,)])))
    array = numpy.zeros(shape, dtype)
    if dtype.hasobject:
        return array
    filled = numpy.frombuffer(numpy.random.RandomState(draw(st.integers(0, 99))).bytes(
        array.nbytes), 'u1')
    if dtype.kind not in 'Ub' and array.nbytes:
        array = numpy.ndarray(shape, dtype, filled.copy()).copy()
    return draw(st.sampled_from(sorted(LAYOUTS)).map(LAYOUTS.get))(array)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
                  st.binary(max_size=20), st.builds(numpy.int64, st.integers(-5, 5)),
                  st.just(b'long' * 3000), st.just('long' * 30_000),
                  st.just(bytearray(b'long' * 3000)))


@st.composite
def object_arrays(draw, elements):
    found = draw(st.lists(elements, max_size=8))
    array = numpy.empty(len(found), dtype=object)
    for i, element in enumerate(found):
        array[i] = element
    if len(found) % 2 == 0 and draw(st.booleans()):
        array = array.reshape(2, -1)
    return array


@st.composite
def ragged(draw):
    """Return arrays of one dtype and different shapes, as a list or an array."""
    dtype = draw(st.sampled_from(['u1', '<f8', '>i4', 'M8[s]', 'S3', 'i8']))
    axes = draw(st.integers(0, 3))
    sides = st.sampled_from([0, 1, 3, 20])
    found = [numpy.frombuffer(numpy.random.RandomState(i).bytes(
        int(numpy.prod(shape, dtype=int)) * numpy.dtype(dtype).itemsize), dtype).reshape(shape)
        for i, shape in enumerate(draw(st.lists(st.tuples(*[sides] * axes), max_size=20)))]
    if draw(st.booleans()):
        found = [numpy.asfortranarray(one) for one in found]
    if draw(st.booleans()):
        return found
    array = numpy.empty(len(found), dtype=object)
    for i, one in enumerate(found):
        array[i] = one
    return array


THINGS = st.recursive(
    st.one_of(some_arrays(), PLAIN, ragged()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.tuples(inner, inner),
                            st.dictionaries(st.text(max_size=3), inner, max_size=3),
                            object_arrays(inner)),
    max_leaves=8)
STEPS = st.lists(st.one_of(THINGS, st.lists(THINGS, max_size=4).map(tuple)), max_size=4)


@given(STEPS, st.sampled_from(['steps', 'copied']), st.sampled_from([1 << 26, 64]),
       st.booleans())
def test_everything_arrives_as_it_was(steps, how, nbytes, installed):
    pair = Pair(nbytes)
    if installed:
        pair.outbox.install(4096)
    try:
        wanted = copy.deepcopy(steps)
        arrived = pair.send(steps, how)
        assert same(arrived, wanted)
        assert same(steps, wanted)
        for array in all_arrays(arrived):
            assert array.flags.writeable
            assert array.flags.aligned
            del array
        check_apart(arrived)
        del arrived
        pair.settle()
        assert pair.outbox.in_flight == pair.inbox.leased == 0
    finally:
        pair.arena.uninstall()


@given(st.lists(some_arrays(), max_size=5))
def test_order_of_items_is_kept(found):
    wanted = [(one.flags.c_contiguous, one.flags.f_contiguous) for one in found]
    arrived, = Pair().send([tuple(found)])
    for one, (c_order, f_order) in zip(arrived, wanted, strict=True):
        if c_order or f_order:
            assert (one.flags.c_contiguous, one.flags.f_contiguous) == (c_order, f_order)
