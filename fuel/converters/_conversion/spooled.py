"""A workplace on disk for arrays that are found before there is a place for them."""
from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy

from fuel._types import AnyArray
from fuel.exceptions import DataFileError

__all__ = ['Spool', 'SpooledArray']


class SpooledArray:
    """An array in a file, in C order, of which rows are read when they are asked for.

    Parameters
    ----------
    stream : binary file
        The file, unbuffered.
    offset : int
        Where the array begins in it.
    shape : tuple of int
        Its shape.
    dtype : numpy.dtype
        Its dtype.
    """

    def __init__(self, stream: BinaryIO, offset: int, shape: tuple[int, ...],
                 dtype: numpy.dtype[Any]) -> None:
        self._stream, self._offset = stream, offset
        self.shape, self.dtype = shape, dtype

    def __len__(self) -> int:
        return self.shape[0]

    def reshape(self, *shape: int) -> SpooledArray:
        """Return the same values with other axes."""
        if math.prod(shape) != math.prod(self.shape):
            raise ValueError(f'expected a shape of {math.prod(self.shape)} values, as '
                             f'{self.shape} has; got {shape}')
        return SpooledArray(self._stream, self._offset, shape, self.dtype)

    def __getitem__(self, rows: slice) -> AnyArray:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f'expected rows that follow each other; got {rows}')
        found = numpy.empty((max(0, stop - start), *self.shape[1:]), self.dtype)
        if found.size:
            self._stream.seek(self._offset + start * (found.nbytes // len(found)))
            view = found.data.cast('B')
            while view:
                count = self._stream.readinto(view)  # type: ignore[attr-defined]
                if not count:
                    raise DataFileError(f'{len(view)} bytes are missing from a temporary file that '
                                        'was written a moment ago')
                view = view[count:]
        return found


class Spool:
    """A temporary file without a name, as a context manager.

    It takes no room any more when it is closed, or when the process ends in whatever way.

    Parameters
    ----------
    directory : str or path
        A folder with room for what is to be kept.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._stream: Any = tempfile.TemporaryFile(dir=directory, buffering=0)  # noqa: SIM115
        self._end = 0

    def append(self, pieces: Iterable[bytes | memoryview]) -> int:
        """Keep bytes, and return where they begin."""
        start = self._end
        self._stream.seek(start)
        for piece in pieces:
            view = memoryview(piece)
            self._end += len(view)
            while view:
                view = view[self._stream.write(view):]
        return start

    def array(self, offset: int, shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> SpooledArray:
        """Return what was kept as an array."""
        return SpooledArray(self._stream, offset, shape, dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._stream.close()
