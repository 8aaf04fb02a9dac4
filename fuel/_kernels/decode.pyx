# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Chunks of HDF5 files, with their filters undone, by several threads."""
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from fuel._kernels.frame cimport make_blosc2, unblosc2
from fuel._kernels.inflate cimport inflate, inflate_fast, unbitshuffle, unblosc, unlz4, unzstd
from fuel._kernels.team cimport run_team
from fuel._kernels.unfilter cimport (
    CHECKSUM, DAMAGED, LONGER, NO_MEMORY, fletcher32, little_endian, reserve, scratch_t, unlzf,
    unshuffle)

cnp.import_array()

cdef extern from * nogil:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FUEL_TAKE(next) __atomic_fetch_add(&(next), 1, __ATOMIC_RELAXED)
    #define FUEL_RAISE(flag) __atomic_store_n(&(flag), 1, __ATOMIC_RELAXED)
    #define FUEL_RAISED(flag) __atomic_load_n(&(flag), __ATOMIC_RELAXED)
    #else  /* the team has one member */
    #define FUEL_TAKE(next) ((next)++)
    #define FUEL_RAISE(flag) ((flag) = 1)
    #define FUEL_RAISED(flag) (flag)
    #endif
    """
    Py_ssize_t FUEL_TAKE(Py_ssize_t &next)
    void FUEL_RAISE(int &flag)
    int FUEL_RAISED(int &flag)

# The numbers that HDF5 knows filters by.
cdef enum:
    DEFLATE = 1
    SHUFFLE = 2
    FLETCHER32 = 3
    LZF = 32000
    BLOSC = 32001
    LZ4 = 32004
    BITSHUFFLE = 32008
    ZSTD = 32015
    BLOSC2 = 32026
    MOST_STEPS = 32         # as many filters as a mask has bits
    COLUMNS = 6
    # A wrong length, in place of the reasons of `unfilter`.
    LENGTH = -5

ctypedef void *(*make_t)() noexcept nogil
ctypedef void (*free_t)(void *) noexcept nogil

# Of a row of steps, the numbers in their columns.
ctypedef struct step_t:
    int64_t code
    int64_t size
    int64_t block
    int64_t function
    int64_t make
    int64_t release

ctypedef struct failure_t:
    Py_ssize_t place        # -1: none
    Py_ssize_t step
    Py_ssize_t why
    Py_ssize_t expected
    Py_ssize_t got

# What one member of the team works with.
ctypedef struct worker_t:
    void *states[MOST_STEPS]
    scratch_t buffers[3]
    failure_t failure

ctypedef struct job_t:
    const int64_t *sources
    const int64_t *sizes
    const uint32_t *masks
    const int64_t *targets
    Py_ssize_t chunks
    size_t chunk_bytes
    const step_t *steps
    int count
    uint32_t idle           # a bit for each filter that changes nothing
    worker_t *workers
    Py_ssize_t next
    int failed


cdef size_t largest(const step_t *step, size_t size) noexcept nogil:
    """Return how long a filter may make so many bytes: compressors write what does not compress."""
    if step.code == SHUFFLE:
        return size
    if step.code == FLETCHER32:
        return size + 4
    # A block of LZ4 may hold a single byte, after four that tell its length.
    return 5 * size + 64 if step.code == LZ4 else 2 * size + 65536


cdef Py_ssize_t undo(const step_t *step, worker_t *worker, int i, const uint8_t *source,
                     size_t size, uint8_t *out, size_t room) noexcept nogil:
    """Undo one filter; return as those of `unfilter` do."""
    cdef void *function = <void *><size_t>step.function
    cdef uint8_t *scratch
    if step.make and worker.states[i] == NULL:
        if step.code == BLOSC2:
            worker.states[i] = make_blosc2(<void *><size_t>step.make)
        else:
            worker.states[i] = (<make_t><void *><size_t>step.make)()
        if worker.states[i] == NULL:
            return NO_MEMORY
    if step.code == DEFLATE:
        if step.make:
            return inflate_fast(function, worker.states[i], source, size, out, room)
        return inflate(function, source, size, out, room)
    if step.code == SHUFFLE:
        if step.size < 1:
            return DAMAGED
        return unshuffle(source, size, out, room, <size_t>step.size)
    if step.code == LZF:
        return unlzf(source, size, out, room)
    if step.code == ZSTD:
        return unzstd(function, worker.states[i], source, size, out, room)
    if step.code == LZ4:
        return unlz4(function, source, size, out, room)
    if step.code == BLOSC:
        return unblosc(function, source, size, out, room)
    if step.code == BLOSC2:
        return unblosc2(function, worker.states[i], source, size, out, room, &worker.buffers[2])
    scratch = reserve(&worker.buffers[2], room)
    if scratch == NULL:
        return NO_MEMORY
    return unbitshuffle(function, worker.states[i], source, size, out, room, scratch,
                        <size_t>step.size, <size_t>step.block)


cdef bint fail(failure_t *failure, int step, Py_ssize_t why, Py_ssize_t expected,
               Py_ssize_t got) noexcept nogil:
    failure.step, failure.why, failure.expected, failure.got = step, why, expected, got
    return False


cdef bint decode(job_t *job, worker_t *worker, Py_ssize_t place) noexcept nogil:
    """Undo the filters of one chunk; return whether all went well."""
    cdef const uint8_t *data = <const uint8_t *><size_t>job.sources[place]
    cdef uint8_t *target = <uint8_t *><size_t>job.targets[place]
    cdef uint8_t *out
    cdef size_t size = <size_t>job.sizes[place]
    cdef uint32_t mask = job.masks[place] | job.idle, stored, sums
    cdef failure_t *failure = &worker.failure
    cdef size_t lengths[MOST_STEPS + 1]
    cdef bint known[MOST_STEPS + 1]
    cdef Py_ssize_t done
    cdef int i, buffer = 0, last = -1
    # How many bytes there were before each filter: exactly, up to the first that compresses.
    lengths[0] = job.chunk_bytes
    known[0] = True
    for i in range(job.count):
        if mask >> i & 1:
            lengths[i + 1], known[i + 1] = lengths[i], known[i]
        else:
            lengths[i + 1] = largest(&job.steps[i], lengths[i])
            known[i + 1] = known[i] and job.steps[i].code in (SHUFFLE, FLETCHER32)
            if last < 0 and job.steps[i].code != FLETCHER32:
                last = i
    for i in range(job.count - 1, -1, -1):
        if mask >> i & 1:
            continue
        if job.steps[i].code == FLETCHER32:
            if size < 4:
                return fail(failure, i, LENGTH, <Py_ssize_t>lengths[i + 1], <Py_ssize_t>size)
            size -= 4
            stored, sums = little_endian(data + size), fletcher32(data, size)
            # Early versions of HDF5 stored the bytes of each half the other way round.
            if sums != stored and sums != ((stored & 0x00ff00ff) << 8 | (stored >> 8 & 0x00ff00ff)):
                return fail(failure, i, CHECKSUM, stored, sums)
            done = <Py_ssize_t>size
        else:
            if i == last and lengths[i] == job.chunk_bytes:
                out = target
            else:
                out = reserve(&worker.buffers[buffer], lengths[i])
                buffer ^= 1
                if out == NULL:
                    return fail(failure, i, NO_MEMORY, 0, 0)
            done = undo(&job.steps[i], worker, i, data, size, out, lengths[i])
            data = out
        if done == LONGER or (done >= 0 and <size_t>done > lengths[i]):
            return fail(failure, i, LENGTH, <Py_ssize_t>lengths[i], -1)
        if done < 0:
            return fail(failure, i, done, 0, 0)
        if known[i] and <size_t>done != lengths[i]:
            return fail(failure, i, LENGTH, <Py_ssize_t>lengths[i], done)
        size = <size_t>done
    if data != target:
        if size != job.chunk_bytes:
            return fail(failure, -1, LENGTH, <Py_ssize_t>job.chunk_bytes, <Py_ssize_t>size)
        memcpy(target, data, size)
    return True


cdef void work(void *arg, Py_ssize_t piece) noexcept nogil:
    """Decode one chunk after another, until none is left or one is not sound."""
    cdef job_t *job = <job_t *>arg
    cdef worker_t *worker = &job.workers[piece]
    cdef Py_ssize_t place
    cdef int i
    worker.failure.place = -1
    # Places are handed out in order. So all before the first that fails are dealt with.
    while not FUEL_RAISED(job.failed):
        place = FUEL_TAKE(job.next)
        if place >= job.chunks:
            break
        if not decode(job, worker, place):
            worker.failure.place = place
            FUEL_RAISE(job.failed)
    for i in range(job.count):
        if worker.states[i] != NULL:
            (<free_t><void *><size_t>job.steps[i].release)(worker.states[i])
    for i in range(3):
        free(worker.buffers[i].bytes)


cdef bint fits(cnp.ndarray array, Py_ssize_t length, Py_ssize_t width):
    """Tell whether an array is a vector of so many integers, lying in one piece."""
    return (cnp.PyArray_NDIM(array) == 1 and cnp.PyArray_DIM(array, 0) == length
            and cnp.PyArray_ISINTEGER(array) and cnp.PyArray_ITEMSIZE(array) == width
            and cnp.PyArray_ISNOTSWAPPED(array) and cnp.PyArray_IS_C_CONTIGUOUS(array))


def decode_chunks(cnp.ndarray sources not None, cnp.ndarray sizes not None,
                  cnp.ndarray masks not None, cnp.ndarray targets not None,
                  Py_ssize_t chunk_bytes, cnp.ndarray steps not None, int threads):
    """Undo the filters of chunks; see `fuel._kernels.reference.decode`."""
    cdef Py_ssize_t count = cnp.PyArray_DIM(sources, 0) if cnp.PyArray_NDIM(sources) else 0
    cdef job_t job
    cdef Py_ssize_t workers, i
    cdef failure_t *first = NULL
    cdef bint sound = (
        fits(sources, count, 8) and fits(sizes, count, 8) and fits(masks, count, 4)
        and fits(targets, count, 8) and cnp.PyArray_TYPE(sizes) == cnp.NPY_INT64
        and cnp.PyArray_TYPE(masks) == cnp.NPY_UINT32 and cnp.PyArray_NDIM(steps) == 2
        and cnp.PyArray_TYPE(steps) == cnp.NPY_INT64 and cnp.PyArray_DIM(steps, 1) == COLUMNS
        and cnp.PyArray_DIM(steps, 0) <= MOST_STEPS and cnp.PyArray_IS_C_CONTIGUOUS(steps)
        and cnp.PyArray_ISNOTSWAPPED(steps) and chunk_bytes > 0)
    if sound:
        job.sizes = <const int64_t *>cnp.PyArray_DATA(sizes)
        for i in range(count):
            sound = sound and job.sizes[i] >= 0
    if not sound:
        # It says what is wrong, or puts in order what is right but lies strewn about.
        sources, sizes, masks, targets, steps = _checked(sources, sizes, masks, targets,
                                                         chunk_bytes, steps)
    if count == 0:
        return None
    job.chunks = count
    job.sources = <const int64_t *>cnp.PyArray_DATA(sources)
    job.sizes = <const int64_t *>cnp.PyArray_DATA(sizes)
    job.masks = <const uint32_t *>cnp.PyArray_DATA(masks)
    job.targets = <const int64_t *>cnp.PyArray_DATA(targets)
    job.chunk_bytes = <size_t>chunk_bytes
    job.count = <int>cnp.PyArray_DIM(steps, 0)
    job.steps = <const step_t *>cnp.PyArray_DATA(steps)
    job.idle = 0
    for i in range(job.count):
        if job.steps[i].code == SHUFFLE and job.steps[i].size == 1:
            job.idle |= <uint32_t>1 << i
    job.next, job.failed = 0, 0
    workers = min(max(threads, 1), job.chunks)
    job.workers = <worker_t *>calloc(workers, sizeof(worker_t))
    if job.workers == NULL:
        raise MemoryError
    try:
        with nogil:
            run_team(work, &job, workers, threads)
        for i in range(workers):
            if job.workers[i].failure.place >= 0 and (
                    first == NULL or job.workers[i].failure.place < first.place):
                first = &job.workers[i].failure
        if first == NULL:
            return None
        if first.why == NO_MEMORY:
            raise MemoryError(f'no memory to decode chunks of {chunk_bytes} bytes')
        why = ('checksum' if first.why == CHECKSUM else 'length' if first.why == LENGTH
               else 'damaged')
        return first.place, first.step, why, first.expected, first.got
    finally:
        free(job.workers)


from fuel._kernels.reference.decode import checked as _checked  # noqa: E402
