"""Data of every kind, as description and bytes and back."""
import json
import math

import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.exceptions import DataLayoutError
from fuel.wire.items import as_array, pack, unpack

RNG = numpy.random.RandomState(0)
OVERLAPPING = numpy.dtype({'names': ['a', 'b'], 'formats': ['<i4', '<i2'], 'offsets': [0, 2],
                           'itemsize': 8})
DTYPES = ['?', 'i1', 'u1', '<i2', '>i4', '<u8', '<f2', '>f4', '<f8', numpy.longdouble, '<c8',
          '>c16', '<M8[ns]', '>M8[D]', '<m8[s]', '<M8', 'S3', '<U2', '>U4', 'V5', 'S0', 'U0',
          [('a', '<i4'), ('b', '>f8', (2, 3)), ('c', [('d', 'S2'), ('e', '<M8[us]')])],
          numpy.dtype([('a', 'i1'), ('b', '<i8')], align=True),
          [(('A title', 'a'), '<f4'), ('b', '?')], OVERLAPPING]


def carried(item):
    """Send something through JSON and bytes that cannot be written to."""
    entry, buffers = pack(item)
    sent = [bytes(memoryview(buffer)) for buffer in buffers]
    rest = iter(sent)
    received = unpack(json.loads(json.dumps(entry)), rest)
    assert next(rest, None) is None
    return received


def same(left, right):
    """Tell whether two things are equal in value, type, dtype and shape."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (numpy.ndarray, numpy.generic)):
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if left.dtype == object:
            return all(map(same, left.reshape(-1).tolist(), right.reshape(-1).tolist()))
        if isinstance(left.dtype, numpy.dtypes.StringDType):
            return left.tolist() == right.tolist()
        return left.tobytes() == right.tobytes()
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return left == right


def filled(dtype, shape):
    """Return an array with bytes that are not all alike."""
    dtype = numpy.dtype(dtype)
    array = numpy.zeros(shape, dtype)
    if dtype.kind in 'iuSUVc' or dtype.names:
        raw = array.reshape(-1).view('u1') if array.nbytes else array
        if dtype.kind in 'iu':
            raw[:] = RNG.randint(256, size=raw.shape)
    elif dtype.kind in 'fmM' and array.size:
        array[...] = numpy.arange(array.size).reshape(shape).astype(dtype)
    return array


@pytest.mark.parametrize('shape', [(), (1,), (7,), (2, 3), (3, 0, 2), (2, 2, 2, 2)])
@pytest.mark.parametrize('dtype', DTYPES, ids=str)
def test_arrays_of_every_dtype_and_shape_arrive_as_they_were(dtype, shape):
    array = filled(dtype, shape)
    assert same(carried(array), array)


@given(arrays.arrays(dtype=st.one_of(
    arrays.scalar_dtypes(), arrays.array_dtypes(), arrays.nested_dtypes()),
    shape=arrays.array_shapes(min_dims=0, min_side=0, max_side=3)))
def test_any_array_arrives_as_it_was(array):
    assert same(carried(array), array)


def test_arrays_that_arrive_can_be_written_to_and_lie_as_their_dtype_wants():
    for dtype in ('u1', '<f8', numpy.longdouble, '<c16'):
        array = filled(dtype, (5,))
        entry, (buffer,) = pack(array)
        room = numpy.empty(len(buffer) + 1, 'u1')
        room[1:] = buffer
        received = unpack(entry, iter([room[1:]]))
        assert received.flags.writeable
        assert received.flags.aligned
        assert same(received, array)


def test_the_order_of_axes_in_memory_is_kept():
    array = numpy.asfortranarray(RNG.rand(3, 4, 5))
    received = carried(array)
    assert same(received, array)
    assert received.flags.f_contiguous
    assert not received.flags.c_contiguous
    assert pack(array)[0]['fortran_order'] is True


def test_arrays_in_one_piece_are_not_copied():
    for array in (RNG.rand(4, 5), numpy.asfortranarray(RNG.rand(4, 5)), numpy.array('2020', 'M8')):
        (buffer,) = pack(array)[1]
        assert numpy.shares_memory(buffer, array)


def test_views_with_gaps_and_turned_around_arrive():
    array = numpy.arange(60).reshape(3, 4, 5)
    for view in (array[::2], array[:, ::-1], array.transpose(1, 2, 0), array[1:, 1:, 1:],
                 numpy.broadcast_to(numpy.arange(3), (4, 3))):
        assert same(carried(view), numpy.array(view))


def test_subclasses_that_only_differ_in_behaviour_become_plain_arrays(tmp_path):
    mapped = numpy.memmap(tmp_path / 'x', 'i4', 'w+', shape=(3,))
    mapped[:] = [1, 2, 3]
    assert same(carried(mapped), numpy.array([1, 2, 3], 'i4'))
    mapped._mmap.close()


RAGGED = [numpy.arange(3), numpy.arange(5), numpy.arange(0)]
SEQUENCES = [
    [], [1], [1, 2, -3], [1, 2.5, True, None], [0.1, float('nan'), float('inf')], [True, False],
    ['a', '', 'Ünï', 'nul\0', '\ud800'], [b'a', b'', b'\0\xff\0'], [[1, 2], [3]], [[], [[]]],
    [2 ** 80, -1], [2 ** 63 - 1, -2 ** 63], [1, 'a', b'b', None, 1.5, 2j], RAGGED,
    [numpy.zeros((2, 3)), numpy.ones((4, 1))], [numpy.zeros(3), numpy.zeros(3, 'f4')],
    [numpy.array(5), numpy.float32(2)], [numpy.zeros(30000), numpy.ones(40000)],
    [{'a': 1, 'b': [numpy.arange(2)]}, {}], [numpy.array(['a', 'bb']), numpy.array(['ccc'])]]


@pytest.mark.parametrize('items', SEQUENCES, ids=lambda items: repr(items)[:40])
@pytest.mark.parametrize('kind', ['list', 'tuple', 'objects', 'square objects'])
def test_lists_tuples_and_object_arrays_arrive(items, kind):
    if kind == 'list':
        sent = items
    elif kind == 'tuple':
        sent = tuple(items)
    else:
        sent = numpy.empty(len(items), object)
        for place, item in enumerate(items):
            sent[place] = item
        if kind == 'square objects':
            sent = sent.reshape(1, len(items), 1)
    assert same(carried(sent), sent)


@pytest.mark.parametrize('item', [
    0, -1, 2 ** 70, True, False, 1.5, -0.0, float('nan'), 3j, None, '', 'text', 'nul\0', '\ud800',
    b'', b'bytes\0', bytearray(b'ab'), {}, {'a': {'b': (1, [2])}, '': None}, numpy.float32(1.5),
    numpy.int64(7), numpy.bool_(True), numpy.datetime64('2020-01-01'), numpy.str_('ab'),
    numpy.bytes_(b'ab'), numpy.zeros((), [('a', 'i4'), ('b', 'S2')])[()]], ids=repr)
def test_single_values_arrive(item):
    assert same(carried(item), item)


def test_an_object_array_without_axes_arrives():
    sent = numpy.empty((), object)
    sent[()] = [1, 2]
    assert same(carried(sent), sent)


def test_strings_of_any_length_arrive():
    sent = numpy.array([['a', 'Ünïcode' * 9], ['', 'nul\0']], numpy.dtypes.StringDType())
    assert same(carried(sent), sent)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_side=0, max_side=3)),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_anything_made_of_these_arrives(value):
    assert same(carried(value), value)


class Custom:
    """Something that could only be pickled."""


@pytest.mark.parametrize(('item', 'named'), [
    (Custom(), 'Custom'), ([1, Custom()], 'Custom'), ({'a': (Custom(),)}, 'Custom'),
    ({1: 2}, '1'), (numpy.ma.masked_array([1, 2], [0, 1]), 'masked'), ({1, 2}, 'set'),
    (numpy.array([Custom()]), 'Custom'), (numpy.zeros(2, [('a', 'O')]), 'Python objects'),
    (lambda: None, 'function'), (numpy.array(['a'], numpy.dtypes.StringDType(na_object=None)),
                                 'missing'), (range(3), 'range')], ids=repr)
def test_what_would_have_to_be_pickled_is_refused_by_name(item, named):
    with pytest.raises(TypeError, match=f"source 'x'.*{named}.*cannot be sent"):
        pack(item, "source 'x'")


def test_the_place_in_a_nested_item_is_named():
    with pytest.raises(TypeError, match=r"source 'x'\[1\]\['deep'\]\[0\]"):
        pack([0, {'deep': [Custom()]}], "source 'x'")


PLAIN = {'shape': [2], 'fortran_order': False, 'descr': '<i4'}


@pytest.mark.parametrize('entry', [
    None, 5, [], {}, 'text', {**PLAIN, 'shape': [3]}, {**PLAIN, 'shape': [-1, -2]},
    {**PLAIN, 'shape': 2}, {**PLAIN, 'shape': [2 ** 62, 4]}, {**PLAIN, 'shape': ['2']},
    {**PLAIN, 'descr': '|O'}, {**PLAIN, 'descr': 'nonsense'}, {**PLAIN, 'descr': [['a', '|O']]},
    {**PLAIN, 'descr': None}, {**PLAIN, 'descr': {'names': ['a']}}, {**PLAIN, 'kind': 'pickle'},
    {**PLAIN, 'kind': []}, {**PLAIN, 'kind': 'strings', 'type': 'list', 'lengths': [9]},
    {**PLAIN, 'kind': 'blobs', 'type': 'list', 'lengths': [-1, 9]},
    {**PLAIN, 'kind': 'ragged', 'type': 'list', 'of': '<i4', 'shapes': [[3]]},
    {**PLAIN, 'kind': 'ragged', 'type': 'list', 'of': '|O', 'shapes': [[1]]},
    {**PLAIN, 'kind': 'items', 'type': 'list', 'items': [PLAIN, PLAIN]},
    {**PLAIN, 'kind': 'items', 'type': 'eval', 'items': [PLAIN]},
    {**PLAIN, 'kind': 'dict', 'keys': ['a', 'b'], 'items': [PLAIN]}], ids=repr)
def test_nonsense_from_the_network_is_an_error(entry):
    with pytest.raises(DataLayoutError):
        unpack(entry, iter([b'12345678']))


def test_what_the_old_library_sent_for_other_things_than_arrays():
    assert same(as_array([1, 2]), numpy.array([1, 2]))
    assert same(as_array(5), numpy.array(5))
    assert same(as_array(['a', 'bc']), numpy.array(['a', 'bc']))
    for item in (RAGGED, numpy.array([None]), Custom(), numpy.ma.masked_array([1], [1])):
        with pytest.raises(TypeError, match='old library'):
            as_array(item)
