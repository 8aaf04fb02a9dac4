"""Blocks of memory that one process fills, and all processes of this user can read."""
from __future__ import annotations

import errno
import math
import mmap
import os
import weakref
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import JSON, AnyArray
from fuel.storage.sharing.available import readable_size
from fuel.storage.sharing.file_segments import FileSegment
from fuel.storage.sharing.memory_segments import MemorySegment
from fuel.storage.sharing.segments import Segment

__all__ = ['SharedBlock']

_KINDS: dict[str, type[Segment]] = {cls.kind: cls for cls in (MemorySegment, FileSegment)}


class SharedBlock:
    """Memory of one process that others map too.

    The process that makes a block fills it and seals it. Then its token, which is plain data, lets
    another process of the same user on the same machine map it, for reading only. A child made by
    ``fork`` has it anyway. A block is closed by `close` or when it is collected as garbage; arrays
    made from it keep the memory as long as they live, in every process.

    Made by `create` and `attach`.
    """

    def __init__(self, segment: Segment, nbytes: int, whole: AnyArray,
                 token: dict[str, JSON] | None) -> None:
        self._segment = segment
        self._nbytes = nbytes
        self._whole: AnyArray | None = whole
        self._token = token                         # of who is asked first; set by `seal`
        self._pid = os.getpid()
        self._views: list[weakref.ref[AnyArray]] = []
        self._release = weakref.finalize(self, segment.release)

    @classmethod
    def create(cls, nbytes: int, kind: str | None = None,
               purpose: str = 'Sharing data with other processes') -> SharedBlock:
        """Make a block that is filled with zeros. All of its memory is taken at once.

        Parameters
        ----------
        nbytes : int
            Its size.
        kind : {'memory', 'file'}, optional
            Memory without a name, for Linux, or a temporary file. By default the first where it
            can be had.
        purpose : str, optional
            What for; it begins the message of an error.

        Returns
        -------
        SharedBlock
            This process may write into it until it calls `seal`.

        Raises
        ------
        MemoryError
            There is not so much memory. The message says how much is needed, and how much is left.
        ValueError
            There is no such kind, or not on this system.
        """
        if kind not in (None, *_KINDS):
            raise ValueError(f'expected kind to be one of {", ".join(map(repr, _KINDS))}; got '
                             f'{kind!r}')
        if nbytes < 0:
            raise ValueError(f'expected a number of bytes of at least 0; got {nbytes}')
        segment = None if kind == FileSegment.kind else MemorySegment.make()
        if segment is None and kind == MemorySegment.kind:
            raise ValueError(f'{kind=} is for Linux: this system has no memory without a name')
        made: Segment = segment or FileSegment.make(nbytes)
        try:
            made.allocate(max(1, nbytes), purpose)
            whole = _mapped(made.descriptor, max(1, nbytes), mmap.ACCESS_WRITE)
        except BaseException:
            made.release()
            raise
        return cls(made, nbytes, whole, None)

    @classmethod
    def attach(cls, token: JSON) -> SharedBlock | None:
        """Map the block of another process.

        Parameters
        ----------
        token : dict
            What `token` returned there.

        Returns
        -------
        SharedBlock or None
            For reading only. `None` if the block is gone, as when its owner has ended, or if the
            token is from another machine or of another version: load the data instead.

        Raises
        ------
        OSError, MemoryError
            The block is there, but this process may not open or map any more files.
        """
        try:
            segment = _KINDS[token['kind']].find(token)
            nbytes = token['nbytes']
        except (KeyError, TypeError, ValueError):
            return None
        if segment is None:
            return None
        try:
            whole = _mapped(segment.descriptor, max(1, nbytes), mmap.ACCESS_READ)
        except BaseException:
            segment.release()
            raise
        return cls(segment, nbytes, whole, token)

    @property
    def nbytes(self) -> int:
        """The size, as it was asked for."""
        return self._nbytes

    @property
    def kind(self) -> str:
        """What the block is made of: ``'memory'`` or ``'file'``."""
        return self._segment.kind

    @property
    def sealed(self) -> bool:
        """Whether nobody may write any more."""
        return self._token is not None

    @property
    def closed(self) -> bool:
        """Whether it has been closed in this process."""
        return self._whole is None

    def array(self, dtype: npt.DTypeLike, shape: int | tuple[int, ...],
              offset: int = 0) -> AnyArray:
        """Return an array that lies in the block.

        Parameters
        ----------
        dtype : dtype
            Without objects.
        shape : int or tuple of int
            The shape.
        offset : int, optional
            The byte where it begins. By default 0.

        Returns
        -------
        numpy.ndarray, shape `shape`
            It can be written to by the process that made the block, until the block is sealed.

        Raises
        ------
        ValueError
            It does not fit into the block, or the block is closed.
        TypeError
            The dtype has objects, which are addresses in the memory of one process.
        """
        whole = self._opened()
        dtype = numpy.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if dtype.hasobject:
            raise TypeError(f'expected a dtype without objects, for other processes cannot follow '
                            f'the addresses they consist of; got {dtype}')
        needed = dtype.itemsize * math.prod(shape)
        if min(offset, *shape, 0) < 0 or offset + needed > self._nbytes:
            raise ValueError(f'expected an array within the {self._nbytes} bytes of the block; got '
                             f'{dtype} of shape {shape} at byte {offset}, which takes {needed}')
        array: AnyArray = numpy.ndarray(shape, dtype, whole, offset)
        if not self.sealed:
            if self._pid == os.getpid():
                self._views.append(weakref.ref(array))
            else:
                array.flags.writeable = False
        return array

    def seal(self) -> None:
        """End the writing: what has been filled is now as others see it.

        Arrays returned before become read-only; what was derived from them must not be written to.
        Nothing happens to a block that is sealed already.

        Raises
        ------
        ValueError
            The block is closed, or belongs to another process.
        """
        self._opened()
        if self.sealed:
            return
        if self._pid != os.getpid():
            raise ValueError('expected to seal a block in the process that made it; this one was '
                             'inherited by fork before it was sealed')
        for view in self._views:
            array = view()
            if array is not None:
                array.flags.writeable = False
            del array
        self._views.clear()
        # An array cannot be made writable again if the memory itself is not.
        descriptor = self._segment.reopen()
        try:
            self._whole = _mapped(descriptor, max(1, self._nbytes), mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
        self._segment.forbid_writing()
        self._token = self._own_token()

    def token(self) -> dict[str, JSON]:
        """Return plain data with which other processes find the block.

        Returns
        -------
        dict
            For `attach`, can be pickled and written as JSON. It names the process that made the
            block, and if that has ended or closed it, this process.

        Raises
        ------
        ValueError
            The block is closed, or not sealed yet.
        """
        self._opened()
        if self._token is None:
            raise ValueError('expected a block that has been filled; call seal before others are '
                             'told where it is')
        found = _KINDS[self.kind].find(self._token)
        if found is None:
            self._token = self._own_token()
        else:
            found.release()
        return dict(self._token)

    def _own_token(self) -> dict[str, JSON]:
        return {**self._segment.token(), 'nbytes': self._nbytes}

    def _opened(self) -> AnyArray:
        if self._whole is None:
            raise ValueError('expected a block that is open; this one has been closed')
        return self._whole

    def close(self) -> None:
        """Let go of the block; new processes do not find it through this one any more.

        Arrays that were made from it stay valid. To close it again does nothing.
        """
        self._whole = None
        self._views.clear()
        self._release()


def _mapped(descriptor: int, nbytes: int, access: int) -> AnyArray:
    """Return the bytes of an open file, mapped as long as any array of them lives."""
    try:
        mapping: Any = mmap.mmap(descriptor, nbytes, access=access)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise MemoryError(f'{readable_size(nbytes)} of shared memory cannot be mapped: the '
                          'address space of this process is limited (ulimit -v)') from None
    return numpy.frombuffer(mapping, numpy.uint8)
