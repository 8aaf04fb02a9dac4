# cython: language_level=3
"""A heap in memory that processes share; see `fuel._kernels.reference.arena`."""
cdef extern from *:
    """
    #define NPY_TARGET_VERSION NPY_1_22_API_VERSION
    """

cimport numpy as cnp
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release
from cpython.buffer cimport PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

import mmap
import os
import sys

cnp.import_array()

cdef extern from 'numpy/arrayobject.h':
    object PyDataMem_GetHandler()
    object PyDataMem_SetHandler(object handler)

cdef extern from 'numpy_memory.h':
    ctypedef struct fuel_arena:
        char *base
        size_t size, page, resident, in_use, high_water, blocks
    ctypedef struct fuel_memory:
        PyObject *kept
    fuel_arena *fuel_arena_new(char *base, size_t size, size_t page, int descriptor)
    void fuel_arena_free(fuel_arena *arena)
    char *fuel_arena_take(fuel_arena *arena, size_t nbytes, int zero) nogil
    int fuel_arena_give(fuel_arena *arena, size_t start)
    size_t fuel_arena_length(fuel_arena *arena, size_t start)
    size_t fuel_arena_trim(fuel_arena *arena, size_t keep) nogil
    void fuel_arena_forked(fuel_arena *arena, uint32_t child)
    void fuel_arena_settle(fuel_arena *arena, const uint32_t *living, size_t count)
    void fuel_arena_init()
    object fuel_memory_new(fuel_arena *arena, object owner, size_t threshold, object present)
    fuel_memory *fuel_memory_of(fuel_arena *arena, object capsule) except? NULL

cdef extern from *:
    """
    #if defined(_WIN32)
    static void *fuel_map(int descriptor, size_t nbytes) { return NULL; }
    static void fuel_unmap(void *address, size_t nbytes) {}
    static void fuel_close(int descriptor) {}
    #else
    static void *fuel_map(int descriptor, size_t nbytes)
    {
        int flags = MAP_SHARED;
    #if defined(MAP_NORESERVE)
        flags |= MAP_NORESERVE;
    #endif
        void *address = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
        return address == MAP_FAILED ? NULL : address;
    }
    static void fuel_unmap(void *address, size_t nbytes) { munmap(address, nbytes); }
    static void fuel_close(int descriptor) { close(descriptor); }
    #endif
    """
    void *fuel_map(int descriptor, size_t nbytes) nogil
    void fuel_unmap(void *address, size_t nbytes) nogil
    void fuel_close(int descriptor) nogil
    int errno
    Py_ssize_t Py_REFCNT(PyObject *thing)

fuel_arena_init()


cdef class Mapping:
    """A file in memory. It stays there until the last array that was made from it is gone."""

    cdef void *address
    cdef Py_ssize_t nbytes

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.address, self.nbytes, 0, flags)

    def __len__(self):
        return self.nbytes

    def __reduce__(self):
        raise TypeError('what is mapped cannot be pickled')

    def __dealloc__(self):
        if self.address:
            fuel_unmap(self.address, self.nbytes)


def map_shared(int descriptor, Py_ssize_t nbytes):
    """Map an open file for reading and writing; see `fuel._kernels.reference.arena`."""
    if sys.platform == 'win32':
        return mmap.mmap(descriptor, nbytes, access=mmap.ACCESS_WRITE)
    cdef Mapping mapping = Mapping.__new__(Mapping)
    if nbytes <= 0:
        raise ValueError(f'expected a number of bytes of at least 1; got {nbytes}')
    mapping.address = fuel_map(descriptor, nbytes)
    mapping.nbytes = nbytes
    if not mapping.address:
        raise OSError(errno, os.strerror(errno))
    return mapping


cdef class Arena:
    """Blocks of one piece of memory; see `fuel._kernels.reference.arena`."""

    cdef fuel_arena *arena
    cdef Py_buffer view
    cdef int descriptor
    cdef readonly object memory

    def __cinit__(self, memory, int descriptor=-1):
        self.descriptor = -1
        PyObject_GetBuffer(memory, &self.view, PyBUF_SIMPLE)
        if self.view.readonly:
            raise ValueError('expected memory that can be written to')
        self.memory = memory
        if descriptor >= 0:
            self.descriptor = os.dup(descriptor)
        self.arena = fuel_arena_new(<char *>self.view.buf, self.view.len, mmap.PAGESIZE,
                                    self.descriptor)
        if self.arena is NULL:
            raise MemoryError('there is no memory for keeping book of blocks')

    def __dealloc__(self):
        if self.arena:
            fuel_arena_free(self.arena)
        if self.descriptor >= 0:
            fuel_close(self.descriptor)
        PyBuffer_Release(&self.view)

    def __reduce__(self):
        raise TypeError('an arena belongs to one process, and cannot be pickled')

    @property
    def nbytes(self):
        """The size of the memory."""
        return self.view.len

    @property
    def in_use(self):
        """How many bytes are taken now."""
        return self.arena.in_use

    @property
    def high_water(self):
        """How many have been, at most, since the last call of `trim`."""
        return self.arena.high_water

    @property
    def resident(self):
        """How many bytes may have memory of the system behind them now."""
        return self.arena.resident * self.arena.page

    @property
    def blocks(self):
        """How many blocks are taken."""
        return self.arena.blocks

    def allocate(self, Py_ssize_t nbytes):
        """Take a block; return its offset, or -1 if there is no room."""
        cdef char *address
        if nbytes < 0:
            raise ValueError(f'expected a number of bytes of at least 0; got {nbytes}')
        address = fuel_arena_take(self.arena, nbytes, 0)
        return -1 if address is NULL else address - self.arena.base

    def free(self, Py_ssize_t offset):
        """Give a block back."""
        if offset < 0 or fuel_arena_give(self.arena, offset):
            raise ValueError(f'no block that is taken begins at {offset}')

    def trim(self, Py_ssize_t keep=0):
        """Give memory behind free blocks back to the system, the highest first."""
        cdef size_t given
        if keep < 0:
            raise ValueError(f'expected a number of bytes of at least 0; got {keep}')
        with nogil:
            given = fuel_arena_trim(self.arena, keep)
        return given

    cdef Py_ssize_t offset(self, cnp.ndarray array) noexcept:
        cdef size_t offset = cnp.PyArray_BYTES(array) - self.arena.base
        return offset if offset < <size_t>self.view.len else -1

    def offset_of(self, cnp.ndarray array not None):
        """Return the offset of the first item of an array; -1 if that is elsewhere."""
        return self.offset(array)

    def owner_of(self, cnp.ndarray array not None):
        """Tell whether an array is in a block that numpy took, and who knows of that."""
        cdef Py_ssize_t offset = self.offset(array), block
        cdef PyObject *owner
        cdef cnp.ndarray whole
        if offset < 0:
            return None
        if cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA):
            if not fuel_arena_length(self.arena, offset):
                return None
            return offset, offset, 0
        owner = cnp.PyArray_BASE(array)
        if owner is NULL or not cnp.PyArray_Check(<object>owner):
            return None
        # Counted before there is one more here.
        references = Py_REFCNT(owner)
        whole = <cnp.ndarray>owner
        block = self.offset(whole)
        if (block < 0 or not cnp.PyArray_CHKFLAGS(whole, cnp.NPY_ARRAY_OWNDATA)
                or not fuel_arena_length(self.arena, block)):
            return None
        return offset, block, references

    def install(self, Py_ssize_t threshold=32768):
        """Let numpy take the data of new arrays from here, in the thread that calls."""
        self.uninstall()
        PyDataMem_SetHandler(fuel_memory_new(self.arena, self, max(threshold, 1),
                                             PyDataMem_GetHandler()))

    def uninstall(self):
        """Let numpy take memory again as it did before, in the thread that calls."""
        cdef fuel_memory *found = fuel_memory_of(self.arena, PyDataMem_GetHandler())
        if found:
            PyDataMem_SetHandler(<object>found.kept)

    def forked(self, uint32_t child):
        """Note that a child is being made that will see the blocks taken now."""
        fuel_arena_forked(self.arena, child)

    def settle(self, living):
        """Use blocks again that no child can see any more."""
        numbers = tuple(living)
        cdef size_t count = len(numbers), k
        cdef uint32_t *children = <uint32_t *>malloc((count or 1) * sizeof(uint32_t))
        if children is NULL:
            raise MemoryError('there is no memory for a list of children')
        try:
            for k in range(count):
                children[k] = numbers[k]
            fuel_arena_settle(self.arena, children, count)
        finally:
            free(children)
