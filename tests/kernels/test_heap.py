"""The kernel that copies objects of a heap, against heaps made by hand."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import heap as reference
from tests.kernels.heaps import (
    DTYPES,
    UNFILLED,
    a_collection,
    an_object,
    as_file,
    check_fresh,
    free_space,
    references,
    some_bytes,
    vector,
)

HEAPS = [_kernels.heap_arrays, reference.heap_arrays]


@st.composite
def heap_files(draw):
    """Return a file, its base, and what each reference must lead to."""
    parts, contents = [], []
    for _ in range(draw(st.integers(1, 3))):
        numbers = draw(st.permutations(range(1, 1 + draw(st.sampled_from([0, 1, 5, 70, 200])))))
        step = draw(st.sampled_from([1, 1, 300]))
        length = draw(st.integers(0, 40))
        objects = {number * step: some_bytes((number * 7) % (length + 1), number)
                   for number in numbers}
        pieces = [an_object(number, data) for number, data in objects.items()]
        if draw(st.booleans()):
            pieces.append(free_space(draw(st.sampled_from([16, 24, 4000]))))
        pieces.append(b'\0' * draw(st.sampled_from([0, 8])))
        parts.append(a_collection(*pieces))
        contents.append(objects)
    base = draw(st.sampled_from([0, 512]))
    file, addresses = as_file(b'some header', *parts, base=base)
    wanted = {(len(data), address, number): data
              for address, objects in zip(addresses[1:], contents, strict=True)
              for number, data in objects.items()}
    wanted[0, 0, 0] = wanted[0, 2**64 - 1, 5] = b''
    return file, base, wanted


@given(heap_files(), st.data())
@pytest.mark.parametrize('heap_arrays', HEAPS)
def test_objects_of_a_heap(heap_arrays, made, data):
    file, base, wanted = made
    chosen = data.draw(st.lists(st.sampled_from(sorted(wanted)), max_size=20))
    tables = data.draw(st.sampled_from([None, {}]))
    for _ in range(2):
        result = heap_arrays(file, base, references(*chosen), 'u1', None, tables,
                             data.draw(st.integers(1, 3)))
        check_fresh(result, [numpy.frombuffer(wanted[key], 'u1') for key in chosen], 'u1', file)


@pytest.mark.parametrize('heap_arrays', HEAPS)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('many', [2, 100])
def test_values_of_any_kind(heap_arrays, dtype, many):
    dtype = numpy.dtype(dtype)
    data = [some_bytes(6 * dtype.itemsize, number) for number in range(many)]
    file, (address,) = as_file(a_collection(*[an_object(number + 1, entry)
                                              for number, entry in enumerate(data)]))
    chosen = [many - 1, 0, many - 1]
    wanted = [numpy.frombuffer(data[number], dtype).reshape(2, 3) for number in chosen]
    stored = references(*[(6, address, number + 1) for number in chosen])
    shapes = numpy.array([(2, 3)] * 3)
    check_fresh(heap_arrays(file, 0, stored, dtype, shapes), wanted, dtype, file)
    check_fresh(heap_arrays(file, 0, numpy.repeat(stored, 2)[::2], dtype,
                            numpy.asfortranarray(shapes)), wanted, dtype, file)
    check_fresh(heap_arrays(file, 0, stored[:0], dtype, shapes[:0]), [], dtype)


@pytest.mark.parametrize('heap_arrays', HEAPS)
@pytest.mark.parametrize('shape', UNFILLED)
def test_shapes_that_objects_do_not_fill(heap_arrays, shape):
    file, (address,) = as_file(a_collection(an_object(1, b'abcde')))
    stored = references((5, address, 1), (5, address, 1))
    with pytest.raises(_kernels.ExampleError) as error:
        heap_arrays(file, 0, stored, 'u1', numpy.array([(1, 5, 1), shape]))
    assert type(error.value) is _kernels.ExampleError
    assert error.value.place == 1
    assert error.value.problem == (
        f'has 5 values, which do not fill the shape {shape} that is stored for it')


DAMAGES = {
    'no signature': (a_collection(an_object(1, b'abcde'), signature=b'GC0L'), 1),
    'version': (a_collection(an_object(1, b'abcde'), version=2), 1),
    'collection without header': (a_collection(an_object(1, b'abcde'), size=15), 1),
    'collection of no size': (a_collection(an_object(1, b'abcde'), size=0), 1),
    'collection longer than the file': (a_collection(an_object(1, b'abcde'), size=999), 1),
    'collection of any size': (a_collection(an_object(1, b'abcde'), size=2**64 - 1), 1),
    'collection shorter than its object': (a_collection(an_object(1, b'abcde'), size=36), 1),
    'object of another length': (a_collection(an_object(1, b'abcd')), 1),
    'object longer than the collection': (a_collection(an_object(1, b'abcde', size=9)), 1),
    'object of any length': (a_collection(an_object(1, b'', size=2**64 - 1)), 1),
    'object without length': (a_collection(an_object(1, b'')), 1),
    'object that is not there': (a_collection(an_object(1, b'abcde')), 2),
    'object with a high number': (a_collection(*[an_object(n, b'') for n in range(1, 90)]), 90),
    'object that has no number': (a_collection(an_object(1, b'abcde'), free_space(24)), 0),
    'number that is too large': (a_collection(an_object(1, b'abcde')), 65537),
    'behind an object that is too long': (
        a_collection(an_object(1, b'x', size=2**63), an_object(2, b'abcde')), 2),
    'behind free space of no size': (a_collection(free_space(0), an_object(2, b'abcde')), 2),
    'behind free space of odd size': (a_collection(free_space(17), an_object(2, b'abcde')), 2),
    'behind free space without end': (
        a_collection(an_object(0, b'', size=2**40), an_object(2, b'abcde')), 2),
    'high number behind free space of no size': (
        a_collection(free_space(0), an_object(200, b'abcde')), 200),
    'objects of no size without end': (a_collection(*[an_object(7, b'')] * 5000), 200)}


@pytest.mark.parametrize('heap_arrays', HEAPS)
@pytest.mark.parametrize('name', DAMAGES)
def test_damaged_heaps(heap_arrays, name):
    collection, number = DAMAGES[name]
    file, (good, bad) = as_file(a_collection(an_object(3, b'right')), collection, base=8)
    for tables in (None, {}):
        with pytest.raises(_kernels.DamagedHeapError) as error:
            heap_arrays(file, 8, references((5, good, 3), (5, bad, number)), 'u1', None, tables)
        assert error.value.place == 1
        assert error.value.problem.startswith('cannot be read, for the file is damaged: ')
        assert str(8 + bad) in error.value.problem


@pytest.mark.parametrize('heap_arrays', HEAPS)
@pytest.mark.parametrize('address', [1, 40, 47, 48, 10**6, 2**63, 2**64 - 1, 2**64 - 8])
@pytest.mark.parametrize('number', [1, 99])
def test_addresses_that_lead_nowhere(heap_arrays, address, number):
    file, _ = as_file(a_collection(an_object(1, b'abcde')), base=8)
    with pytest.raises(_kernels.DamagedHeapError, match='at place 0 cannot be read'):
        heap_arrays(file, 8, references((5, address, number)), 'u1')


@pytest.mark.parametrize('heap_arrays', HEAPS)
@pytest.mark.parametrize('size', range(0, 40, 3))
def test_files_that_end_too_early(heap_arrays, size):
    file, _ = as_file(a_collection(an_object(1, b'abcde')))
    for base in (0, 8, 10**6):
        with pytest.raises(_kernels.DamagedHeapError, match='place 0 cannot be read'):
            heap_arrays(file[:size].copy(), base, references((5, 0, 1)), 'u1')


def test_both_kernels_make_the_same_of_any_damage():
    objects = [an_object(number, some_bytes(number % 11, number)) for number in range(1, 100)]
    file, (first, second) = as_file(a_collection(*objects, free_space(64)),
                                    a_collection(*objects[:3], free_space(32)), base=8)
    keys = [(number % 11, first, number) for number in range(1, 100)]
    keys += [(number % 11, second, number) for number in range(1, 4)]
    stored = references(*keys)
    rng = numpy.random.default_rng(0)
    outcomes = set()
    for _ in range(400):
        broken, chosen = file.copy(), stored.view('u1').copy()
        broken[rng.integers(0, len(broken), size=2)] = rng.integers(0, 256, size=2)
        if rng.random() < 0.5:
            chosen[rng.integers(0, len(chosen))] = rng.integers(0, 256)
        found = []
        for heap_arrays in HEAPS:
            try:
                found.append([array.tobytes() for array
                              in heap_arrays(broken, 8, chosen.view('V16'), 'u1')])
            except _kernels.DamagedHeapError as error:
                found.append(str(error))
        assert found[0] == found[1]
        outcomes.add(type(found[0]))
    assert outcomes == {list, str}


@pytest.mark.parametrize('heap_arrays', HEAPS)
def test_tables_are_kept_and_checked(heap_arrays):
    objects = [an_object(number, some_bytes(8, number)) for number in range(1, 100)]
    file, (address,) = as_file(a_collection(*objects))
    tables = {}
    before = heap_arrays(file, 0, references((8, address, 99)), 'u1', None, tables)[0]
    assert list(tables) == [address]
    assert before.tobytes() == some_bytes(8, 99)
    # Not looked for anew: what stands before it is not even looked at.
    changed = file.copy()
    changed[16:-24] = 0
    after = heap_arrays(changed, 0, references((8, address, 99)), 'u1', None, tables)[0]
    assert after.tobytes() == before.tobytes()


@pytest.mark.parametrize('heap_arrays', HEAPS)
def test_a_table_does_not_lead_out_of_a_file_that_has_shrunk(heap_arrays):
    objects = [an_object(number, some_bytes(8, number)) for number in range(1, 100)]
    file, (address,) = as_file(a_collection(*objects))
    tables = {}
    stored = references((8, address, 99))
    heap_arrays(file, 0, stored, 'u1', None, tables)
    for size in (len(file) - 8, 20, 0):
        with pytest.raises(_kernels.DamagedHeapError):
            heap_arrays(file[:size].copy(), 0, stored, 'u1', None, tables)
    changed = file.copy()
    changed[-24:-16] = 9
    with pytest.raises(_kernels.DamagedHeapError):
        heap_arrays(changed, 0, stored, 'u1', None, tables)


@pytest.mark.parametrize('heap_arrays', HEAPS)
def test_arguments_of_heaps(heap_arrays):
    file, _ = as_file(a_collection(an_object(1, b'abcde')))
    good = references((5, 0, 1))
    for arguments in [(file.view('i1'), 0, good, 'u1'), (file[::2], 0, good, 'u1'),
                      (file[None], 0, good, 'u1'), (file, -1, good, 'u1'),
                      (file, 0, good.view('V8'), 'u1'), (file, 0, good[None], 'u1'),
                      (file, 0, good, object), (file, 0, good, 'V0'), (file, 0, good, '(2,)u1'),
                      (file, 0, good, 'u1', vector(5)), (file, 0, good, 'u1', vector(5, 5)[:, None])
                      ]:
        with pytest.raises(TypeError, match='^expected'):
            heap_arrays(*arguments)


@given(arrays.arrays('u1', st.integers(0, 200)), arrays.arrays('u1', 64))
def test_nothing_is_believed(file, stored):
    for prefix in (b'', a_collection(size=150)):
        content = numpy.frombuffer(prefix + file.tobytes(), 'u1')
        for address in (0, len(prefix)):
            chosen = stored.copy().reshape(-1, 16)
            chosen[:, 4:12] = numpy.frombuffer(address.to_bytes(8, 'little'), 'u1')
            found = []
            for heap_arrays in HEAPS:
                try:
                    found.append([array.tobytes() for array in heap_arrays(
                        content, 0, chosen.view('V16').reshape(-1), 'u1')])
                except _kernels.DamagedHeapError as error:
                    found.append(str(error))
            assert found[0] == found[1]
