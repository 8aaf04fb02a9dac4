# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Objects of the global heap of an HDF5 file, each copied into an array of its own.

See `fuel._kernels.reference.heap`, also for how a heap is made. Nothing that a file says is
believed before it is checked, and what is checked is read only once: another process may change
the file meanwhile.
"""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from fuel._kernels.examples cimport (
    Example, checked_shapes, copy_all, new_arrays, place_unfilled, room_for)

import numpy

cnp.import_array()

cdef enum:
    HEADER = 16             # bytes, of a collection and of an object
    REFERENCE = 16
    MAX_NUMBER = 65535
    # Objects with a number up to this one are looked for from the start of their collection;
    # others by a table of the collection.
    WALK = 8

cdef enum Status:
    FOUND
    WANTS_TABLE
    DAMAGED

cdef uint64_t LARGEST_TABLE = 4294967295


ctypedef struct Heap:
    const unsigned char *file
    uint64_t size
    uint64_t base
    const unsigned char *references
    uint64_t itemsize


ctypedef struct Object:
    uint64_t number
    uint64_t size
    uint64_t end            # where the next one begins


ctypedef struct Spot:
    uint64_t place          # where an object must be, and where its collection ends, by a table
    uint64_t limit


cdef inline uint64_t load(const unsigned char *bytes_, int width) noexcept nogil:
    """Return a little-endian integer, wherever it stands."""
    cdef uint64_t value = 0
    cdef int i
    for i in range(width):
        value |= <uint64_t>bytes_[i] << (8 * i)
    return value


cdef Status open_collection(const Heap *heap, uint64_t address, uint64_t *begin,
                            uint64_t *end) noexcept nogil:
    """Find where a collection begins and ends."""
    cdef uint64_t size
    if heap.size < heap.base or heap.size - heap.base < HEADER:
        return DAMAGED
    if address > heap.size - heap.base - HEADER:
        return DAMAGED
    begin[0] = heap.base + address
    if memcmp(heap.file + begin[0], b'GCOL\x01', 5) != 0:
        return DAMAGED
    size = load(heap.file + begin[0] + 8, 8)
    if size < HEADER or size > heap.size - begin[0]:
        return DAMAGED
    end[0] = begin[0] + size
    return FOUND


cdef bint read_object(const Heap *heap, uint64_t place, uint64_t end,
                      Object *found) noexcept nogil:
    """Read the header of an object; tell whether one can be there.

    Objects take up at least the 16 bytes of their header, so that every walk comes to an end.
    """
    if place > end or end - place < HEADER:
        return False
    found.number = load(heap.file + place, 2)
    found.size = load(heap.file + place + 8, 8)
    if found.number == 0:
        if found.size < HEADER or found.size > end - place or found.size % 8:
            return False
        found.end = place + found.size
    else:
        if found.size > end - place - HEADER:
            return False
        found.end = place + HEADER + (found.size + 7) // 8 * 8
    return True


cdef Status accept(const Heap *heap, const Object *found, uint64_t place, uint64_t number,
                   Example *example) noexcept nogil:
    """Take an object for an example, if it is the one that is meant."""
    if found.number != number or found.size != <uint64_t>example.count * heap.itemsize:
        return DAMAGED
    example.source = heap.file + place + HEADER
    return FOUND


cdef Status walk(const Heap *heap, uint64_t address, uint64_t number, bint to_the_end,
                 Example *example) noexcept nogil:
    """Look for an object from the start of its collection."""
    cdef uint64_t place, end
    cdef Py_ssize_t steps = 0
    cdef Object found
    if open_collection(heap, address, &place, &end) != FOUND:
        return DAMAGED
    if number == 0:
        return DAMAGED
    if end - place > LARGEST_TABLE:
        to_the_end = True
    place += HEADER
    while to_the_end or steps < WALK:
        if not read_object(heap, place, end, &found):
            return DAMAGED
        if found.number == number:
            return accept(heap, &found, place, number, example)
        place = found.end
        steps += 1
    return WANTS_TABLE


cdef Py_ssize_t find_some(const Heap *heap, Example *examples, Py_ssize_t count,
                          Py_ssize_t *tabled) noexcept nogil:
    """Find the examples that are found without tables, and tell those that have none.

    Returns the place of the first reference that leads nowhere, or -1. What wants a table has no
    source afterwards, and is counted.
    """
    cdef Py_ssize_t i
    cdef const unsigned char *reference
    cdef uint64_t number
    cdef Status status
    tabled[0] = 0
    for i in range(count):
        reference = heap.references + i * REFERENCE
        examples[i].count = load(reference, 4)
        examples[i].source = heap.file
        if examples[i].count == 0:
            continue
        number = load(reference + 12, 4)
        if number == 0 or number > MAX_NUMBER:
            return i
        status = WANTS_TABLE
        if number <= WALK:
            status = walk(heap, load(reference + 4, 8), number, False, &examples[i])
        if status == DAMAGED:
            return i
        if status == WANTS_TABLE:
            examples[i].source = NULL
            tabled[0] += 1
    return -1


cdef Py_ssize_t fill_table(const Heap *heap, uint64_t begin, uint64_t end,
                           uint32_t *table, Py_ssize_t length) noexcept nogil:
    """Write down where each object begins, as far as there is room; return the highest number."""
    cdef uint64_t place = begin + HEADER
    cdef Py_ssize_t highest = 0
    cdef Object found
    while read_object(heap, place, end, &found):
        if <Py_ssize_t>found.number > highest:
            highest = found.number
        if 0 < <Py_ssize_t>found.number < length and table[found.number] == 0:
            table[found.number] = <uint32_t>(place - begin)
        place = found.end
    return highest


cdef cnp.ndarray new_table(const Heap *heap, uint64_t address):
    """Return the table of a collection, or `None` if there is none or it is too large for one."""
    cdef uint64_t begin = 0, end = 0
    cdef Py_ssize_t highest = 0
    cdef Status status
    with nogil:
        status = open_collection(heap, address, &begin, &end)
        if status == FOUND and end - begin <= LARGEST_TABLE:
            highest = fill_table(heap, begin, end, NULL, 0)
    if status != FOUND or end - begin > LARGEST_TABLE:
        return None
    cdef cnp.ndarray table = numpy.zeros(highest + 1, numpy.uint32)
    cdef uint32_t *entries = <uint32_t *>cnp.PyArray_DATA(table)
    with nogil:
        fill_table(heap, begin, end, entries, highest + 1)
    entries[0] = <uint32_t>(end - begin)
    return table


cdef Status look_up(const Heap *heap, uint64_t address, uint64_t number, cnp.ndarray table,
                    Spot *spot) noexcept:
    """Take from a table where an object should be."""
    cdef const uint32_t *entries = <const uint32_t *>cnp.PyArray_DATA(table)
    if <Py_ssize_t>number >= cnp.PyArray_DIM(table, 0) or entries[number] == 0:
        return DAMAGED
    if heap.size < heap.base or address > heap.size - heap.base:
        return DAMAGED
    spot.place = heap.base + address + entries[number]
    spot.limit = heap.base + address + entries[0]
    return FOUND if spot.limit <= heap.size else DAMAGED


cdef Py_ssize_t find_rest(const Heap *heap, Example *examples, Py_ssize_t count, Spot *spots,
                          dict tables) except -2:
    """Find the examples that want tables; return the place of the first that has none, or -1."""
    cdef Py_ssize_t i
    cdef uint64_t address, number, last = 0
    cdef cnp.ndarray table = None
    cdef const unsigned char *reference
    cdef Status status
    for i in range(count):
        if examples[i].source != NULL:
            continue
        reference = heap.references + i * REFERENCE
        address = load(reference + 4, 8)
        number = load(reference + 12, 4)
        if table is None or address != last:
            table = tables.get(address)
            if table is None:
                table = new_table(heap, address)
                if table is not None:
                    tables[address] = table
            last = address
        if table is not None:
            status = look_up(heap, address, number, table, &spots[i])
        else:
            with nogil:
                status = walk(heap, address, number, True, &examples[i])
        if status != FOUND:
            return i
    with nogil:
        return confirm(heap, examples, count, spots)


cdef Py_ssize_t confirm(const Heap *heap, Example *examples, Py_ssize_t count,
                        const Spot *spots) noexcept nogil:
    """Check the objects that tables led to; return the place of the first bad one, or -1."""
    cdef Py_ssize_t i
    cdef uint64_t number
    cdef Object found
    for i in range(count):
        if examples[i].source != NULL:
            continue
        number = load(heap.references + i * REFERENCE + 12, 4)
        if (not read_object(heap, spots[i].place, spots[i].limit, &found)
                or accept(heap, &found, spots[i].place, number, &examples[i]) != FOUND):
            return i
    return -1


def heap_arrays(cnp.ndarray file not None, base, cnp.ndarray references not None, dtype,
                shapes=None, dict tables=None, int threads=1):
    """Copy objects of a heap; see `fuel._kernels.reference.heap`."""
    cdef cnp.dtype of_values = numpy.dtype(dtype)
    _check_heap_arguments(file, base, references, of_values)
    cdef Py_ssize_t count = cnp.PyArray_SIZE(references), wrong, tabled = 0
    cdef cnp.ndarray sizes = checked_shapes(shapes, count)
    cdef const cnp.int64_t *first_shape = NULL
    cdef int axes = 1
    if shapes is not None:
        first_shape = <const cnp.int64_t *>cnp.PyArray_DATA(sizes)
        axes = cnp.PyArray_DIM(sizes, 1)
    references = numpy.ascontiguousarray(references)
    cdef Heap heap
    heap.file = <const unsigned char *>cnp.PyArray_DATA(file)
    heap.size = cnp.PyArray_SIZE(file)
    heap.base = base
    heap.references = <const unsigned char *>cnp.PyArray_DATA(references)
    heap.itemsize = cnp.PyDataType_ELSIZE(of_values)
    cdef cnp.ndarray result
    cdef Spot *spots = NULL
    cdef Example *examples = room_for(count)
    try:
        with nogil:
            wrong = find_some(&heap, examples, count, &tabled)
        if wrong < 0 and tabled:
            spots = <Spot *>calloc(count, sizeof(Spot))
            if spots == NULL:
                raise MemoryError(f'no memory for the places of {count} examples')
            wrong = find_rest(&heap, examples, count, spots, {} if tables is None else tables)
        if wrong >= 0:
            refuse(file, base, references, of_values, wrong)
        if shapes is not None:
            wrong = place_unfilled(examples, count, first_shape, axes, heap.itemsize)
            if wrong >= 0:
                _check_shape(wrong, shapes[wrong].tolist(), examples[wrong].count, heap.itemsize)
        result = new_arrays(examples, count, of_values, first_shape, axes)
        copy_all(examples, count, threads)
        return result
    finally:
        free(spots)
        free(examples)


cdef refuse(cnp.ndarray file, object base, cnp.ndarray references, object dtype,
            Py_ssize_t place):
    """Raise an error for the first reference that leads nowhere."""
    # The twin knows what to say.
    _heap_slowly(file, base, references[:place + 1], dtype)
    raise DamagedHeapError(place, 'cannot be read, for the file is damaged: it has been changed '
                                  'while it was read')


from fuel._kernels.reference.examples import _check_shape  # noqa: E402
from fuel._kernels.reference.heap import DamagedHeapError, _check_heap_arguments  # noqa: E402
from fuel._kernels.reference.heap import heap_arrays as _heap_slowly  # noqa: E402
