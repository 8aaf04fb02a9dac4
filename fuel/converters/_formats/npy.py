"""Reads arrays of NumPy's files ``.npy`` and ``.npz`` block by block, and unpickles nothing.

The format is the one of the documentation of ``numpy.lib.format``. An ``.npz`` file is a zip
archive of ``.npy`` files.
"""
from __future__ import annotations

import io
import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.inputs import open_input
from fuel.converters._formats.archives import Zip
from fuel.exceptions import ConversionError
from fuel.storage.writing.rows import BLOCK_BYTES

__all__ = ['StoredArray', 'arrays_of', 'kind_of']

_NPY, _ZIP = b'\x93NUMPY', (b'PK\x03\x04', b'PK\x05\x06')
# What is announced is compared with the size of the array; there is no other limit.
_LIMIT = 1 << 62
# NumPy reads none of more than 10000 characters.
_LONGEST_HEADER = 1 << 16
# HDF5 has no more.
_MOST_AXES = 32


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a file.

    Attributes
    ----------
    name : str
        Its name.
    path : str
        The file.
    member : str or None
        The file in the archive, if the file is one.
    shape : tuple of int
        Of the array.
    dtype : numpy.dtype
        Of its values.
    by_columns : bool
        Whether the last axis, rather than the first, is the one that changes slowest.
    offset : int
        The bytes before the values.
    workplace : str or None
        A folder with room for the array if its rows have to be gathered out of an archive; by
        default that of the system for temporary files.
    """

    name: str
    path: str
    member: str | None
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    by_columns: bool
    offset: int
    workplace: str | None = None

    @property
    def where(self) -> str:
        """The array, for messages."""
        return _place(self.path, self.member)

    def blocks(self) -> Iterator[AnyArray]:
        """Read the array from its first row to its last.

        Yields
        ------
        ndarray
            Some rows, which have about 4 MB.

        Raises
        ------
        ConversionError
            The file is damaged, or was changed meanwhile.
        """
        step = max(1, BLOCK_BYTES // max(1, math.prod(self.shape[1:]) * self.dtype.itemsize))
        with _opened(self.path, self.member) as stream:
            if self.by_columns:
                yield from self._by_columns(stream, step)
                return
            _skip(stream, self.offset)
            for start in range(0, self.shape[0], step):
                block = numpy.empty((min(step, self.shape[0] - start), *self.shape[1:]),
                                    dtype=self.dtype)
                if block.size:
                    self._fill(stream, memoryview(block.reshape(-1).view(numpy.uint8).data))
                yield block
            stream.read(1)                      # the checksum of an archive is looked at here

    def _fill(self, stream: BinaryIO, view: memoryview) -> None:
        done = 0
        while done < len(view):
            count = stream.readinto(view[done:])    # type: ignore[attr-defined]
            if not count:
                raise ConversionError(f'{self.where}: the file ends too early; has it been '
                                      'changed meanwhile?')
            done += count

    def _by_columns(self, stream: BinaryIO, step: int) -> Iterator[AnyArray]:
        """Yield rows of an array whose rows are not in one piece.

        The file is mapped anew for every block, so that what was read does not count as used.
        """
        with ExitStack() as stack:
            file: Any = self.path
            if self.member is not None:
                file = stack.enter_context(tempfile.TemporaryFile(dir=self.workplace))
                shutil.copyfileobj(stream, file, 1 << 20)
                file.flush()
            for start in range(0, self.shape[0], step):
                mapped = numpy.memmap(file, self.dtype, 'r', self.offset, self.shape, 'F')
                block = numpy.ascontiguousarray(mapped[start:start + step])
                del mapped
                yield block


def _place(path: str, member: str | None) -> str:
    return path if member is None else f'{path}, array {member.removesuffix(".npy")!r}'


@contextmanager
def _opened(path: str, member: str | None) -> Iterator[BinaryIO]:
    """Open the content of a ``.npy`` file."""
    if member is None:
        with open_input(path) as stream:
            yield stream
    else:
        with Zip(path) as archive, archive.open(member, limit=_LIMIT) as stream:
            yield stream


def _skip(stream: BinaryIO, count: int) -> None:
    while count:
        count -= len(stream.read(count)) or count


def kind_of(path: str) -> str:
    """Return ``'npy'`` or ``'npz'``, by the first bytes of a file.

    Raises
    ------
    ConversionError
        It is neither.
    """
    with open(path, 'rb') as stream:
        start = stream.read(len(_NPY))
    if start == _NPY:
        return 'npy'
    if start.startswith(_ZIP):
        return 'npz'
    raise ConversionError(f'{path}: expected a file that numpy.save or numpy.savez wrote; it '
                          + (f'begins with {start!r}' if start else 'is empty')
                          + ". For a table of text use 'fuel-convert table'")


def arrays_of(path: str, name: str | None = None, workplace: str | None = None
              ) -> list[StoredArray]:
    """Return the arrays of a file, of which only the headers are read.

    Parameters
    ----------
    path : str
        A ``.npy`` or ``.npz`` file.
    name : str, optional
        What to call the array of a ``.npy`` file; by default like the file. Those of an ``.npz``
        file have names.
    workplace : str, optional
        As for `StoredArray`.

    Raises
    ------
    ConversionError
        It is not such a file, is cut off, or has an array of Python objects, or one that HDF5
        cannot have.
    """
    if kind_of(path) == 'npy':
        name = name or os.path.splitext(os.path.basename(path))[0]
        return [_stored(name, path, None, os.path.getsize(path), workplace)]
    if name is not None:
        raise ConversionError(f'{path}: expected NAME=FILE.npy with a file of one array; this is '
                              'an archive, whose arrays have names. Give it without a name')
    with Zip(path) as archive:
        sizes = {member: archive.size(member) for member in archive.names}
    if not sizes:
        raise ConversionError(f'{path}: expected an archive with arrays; there are none in it')
    strange = [member for member in sizes if not member.endswith('.npy')]
    if strange:
        raise ConversionError(f'{path}: expected an archive of arrays, as numpy.savez writes it; '
                              f'got the member {strange[0]!r}')
    return [_stored(member.removesuffix('.npy'), path, member, size, workplace)
            for member, size in sizes.items()]


def _stored(name: str, path: str, member: str | None, size: int,
            workplace: str | None) -> StoredArray:
    where = _place(path, member)
    with _opened(path, member) as stream:
        # Not all of such files can be asked where they stand.
        start = io.BytesIO(stream.read(_LONGEST_HEADER))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')     # of headers that Python 2 wrote
                version = numpy.lib.format.read_magic(start)
                if version == (1, 0):
                    shape, by_columns, dtype = numpy.lib.format.read_array_header_1_0(start)
                elif version == (2, 0):
                    shape, by_columns, dtype = numpy.lib.format.read_array_header_2_0(start)
                else:
                    raise ValueError(f'it has the version {version[0]}.{version[1]} of the format')
        except ConversionError:
            raise
        except (ValueError, TypeError, SyntaxError, EOFError) as error:
            raise ConversionError(f'{where}: expected an array as numpy.save writes it: {error}'
                                  ) from error
        offset = start.tell()
    if dtype.hasobject:
        raise ConversionError(
            f'{where}: expected numbers; it holds Python objects, which could run any program when '
            'they are loaded, and so never are. For examples of different lengths write the HDF5 '
            "file with fill_hdf5_file; for texts use 'fuel-convert text'")
    if len(shape) > _MOST_AXES:
        raise ConversionError(f'{where}: expected at most {_MOST_AXES} axes, as HDF5 has; got '
                              f'{len(shape)}')
    if min(shape, default=0) < 0:
        raise ConversionError(f'{where}: expected an array as numpy.save writes it; got the shape '
                              f'{shape}')
    if not dtype.itemsize or dtype.subdtype is not None:
        raise ConversionError(f'{where}: expected numbers or texts; got the dtype {dtype}')
    wanted = offset + math.prod(shape) * dtype.itemsize
    if size != wanted:
        raise ConversionError(
            f'{where}: expected {wanted} bytes for an array of shape {shape} and dtype {dtype}; '
            f'there are {size}. ' + ('It is cut off' if size < wanted else
                                     'Is there another array behind it? Write each into a file of '
                                     'its own'))
    return StoredArray(name, path, member, shape, dtype, by_columns and len(shape) > 1, offset,
                       workplace)
