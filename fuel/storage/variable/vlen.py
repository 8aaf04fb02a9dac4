"""Rows of the vlen layout: examples that HDF5 keeps as arrays of their own in a heap."""
from __future__ import annotations

import functools
from typing import Any

import h5py
import numpy

from fuel._kernels import DamagedHeapError, ExampleError, heap_arrays
from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.exceptions import DataFileError, DataLayoutError
from fuel.storage.handles import OpenFile
from fuel.storage.readers.reading import fixed_rows
from fuel.storage.readers.rows import LibraryRows, RowReader
from fuel.storage.variable.scales import place_of
from fuel.utils.indices import IndexArray, Positions

__all__ = ['HeapRows', 'RaggedRows', 'ShapeRows', 'as_array_positions', 'number_at', 'objects',
           'vlen_library', 'vlen_rows']

# What an example is in the data set: how many values, an address, the number of an object.
_REFERENCE = numpy.dtype('V16')


def vlen_rows(dataset: h5py.Dataset, shapes: h5py.Dataset | None, opened: OpenFile) -> RowReader:
    """Choose how to read a source of the vlen layout.

    Parameters
    ----------
    dataset : h5py.Dataset
        Arrays of variable length, in a single axis.
    shapes : h5py.Dataset, shape (n, axes), or None
        The shape of each example.
    opened : OpenFile
        The file that it is in.
    """
    try:
        return HeapRows(dataset, shapes, opened)
    except LookupError as error:
        return vlen_library(dataset, shapes, str(error))


def vlen_library(dataset: h5py.Dataset, shapes: h5py.Dataset | None, reason: str) -> RowReader:
    """Return what reads a source of the vlen layout through the library."""
    if shapes is None:
        return LibraryRows(_in_its_byte_order(dataset), reason)
    return RaggedRows(dataset, shapes, reason)


def _in_its_byte_order(dataset: h5py.Dataset) -> Any:
    """Return a data set whose arrays are what they are said to be."""
    dtype = h5py.check_vlen_dtype(dataset.dtype)
    if (not isinstance(dtype, numpy.dtype) or dtype.isnative or dtype.names is not None
            or not _mistakes_byte_order()):
        return dataset
    return _Swapped(dataset, dtype)


@functools.cache
def _mistakes_byte_order() -> bool:
    """Tell whether h5py takes numbers of a foreign byte order for those of the machine's own.

    It does in arrays of variable length, at least up to its version 3.16.
    """
    foreign = numpy.dtype(numpy.int16).newbyteorder('S')
    with h5py.File('byte order', 'w', driver='core', backing_store=False) as h5file:
        dataset = h5file.create_dataset('x', (1,), h5py.vlen_dtype(foreign))
        dataset[0] = numpy.ones(1, foreign)
        return bool(dataset[0][0] != 1)


class _Swapped:
    """A data set of arrays in a foreign byte order, which h5py mistakes."""

    def __init__(self, dataset: h5py.Dataset, dtype: numpy.dtype[Any]) -> None:
        self.shape, self.dtype = dataset.shape, dataset.dtype
        self._dataset = dataset
        self._of_values = dtype

    def __getitem__(self, positions: Any) -> Any:
        read = self._dataset[positions]
        if read.dtype != object:
            return read.view(self._of_values)
        for place, values in enumerate(read):
            read[place] = values.view(self._of_values)
        return read


class HeapRows:
    """Reads examples from where they lie in the heap.

    Parameters
    ----------
    dataset, shapes, opened
        As for `vlen_rows`.

    Raises
    ------
    LookupError
        Only the library can read the data; the message says why.
    """

    def __init__(self, dataset: h5py.Dataset, shapes: h5py.Dataset | None,
                 opened: OpenFile) -> None:
        self._dtype = _dtype_in_heap(dataset)
        sizes = dataset.file.id.get_create_plist().get_sizes()
        if sizes != (8, 8):
            raise LookupError(f'the file has addresses and lengths of {sizes} bytes')
        self._references = fixed_rows(dataset, opened, _REFERENCE)
        self._shapes = None if shapes is None else ShapeRows(shapes, opened)
        file_map = opened.file_map()
        if file_map is None:
            raise LookupError(opened.why_not_mapped)
        self._file = file_map.array
        self._base = dataset.file.userblock_size
        self._threads: int = config.num_threads
        self._tables: dict[int, AnyArray] = {}
        self._where = place_of(dataset)
        self.way, self.reason = self._references.way, self._references.reason

    def read(self, positions: Positions) -> Any:
        """Return one array for an integer, otherwise a one-dimensional array of arrays."""
        chosen = as_array_positions(positions)
        references = self._references.read(chosen)
        shapes = None if self._shapes is None else self._shapes.read(chosen)
        try:
            arrays = heap_arrays(self._file, self._base, references, self._dtype, shapes,
                                 self._tables, self._threads)
        except ExampleError as error:
            kind = DataFileError if isinstance(error, DamagedHeapError) else DataLayoutError
            raise kind(f'{self._where}: example {number_at(positions, error.place)} '
                       f'{error.problem}') from None
        return arrays[0] if isinstance(positions, int) else arrays


    def counts(self, positions: slice | AnyArray) -> AnyArray:
        """Return how many values the examples at the given positions have."""
        references = self._references.read(positions)
        lengths: AnyArray = references.view('<u4').reshape(len(references), 4)[:, 0]
        return lengths.astype(numpy.int64)


def _dtype_in_heap(dataset: h5py.Dataset) -> numpy.dtype[Any]:
    """Return the dtype of values which are stored as numpy has them in memory."""
    stored = dataset.id.get_type()
    if not isinstance(stored, h5py.h5t.TypeVlenID):
        raise LookupError('its values are no arrays of variable length')
    dtype: numpy.dtype[Any] = numpy.dtype(h5py.check_vlen_dtype(dataset.dtype))
    if dtype.hasobject or dtype.subdtype is not None or not dtype.itemsize:
        raise LookupError('the values of an example are not of one size')
    try:
        in_memory = h5py.h5t.py_create(dtype, logical=True)
    except TypeError as error:
        raise LookupError(f'numpy has no type like that of its values: {error}') from None
    if not stored.get_super().equal(in_memory):
        raise LookupError('its values are stored in a form that must be converted')
    return dtype


class ShapeRows:
    """Reads the shapes of examples, whatever integers they are.

    Parameters
    ----------
    shapes : h5py.Dataset, shape (n, axes)
        The shape of each example.
    opened : OpenFile
        The file that it is in.
    """

    def __init__(self, shapes: h5py.Dataset, opened: OpenFile) -> None:
        self._rows = fixed_rows(shapes, opened)

    def read(self, positions: Positions) -> AnyArray:
        """Return shapes as int64; what does not fit comes out negative."""
        shapes: AnyArray = self._rows.read(positions)
        return shapes.astype(numpy.int64)


def as_array_positions(positions: Positions) -> slice | IndexArray:
    """Return positions for which rows come as an array, also if there is only one of them."""
    return slice(positions, positions + 1, 1) if isinstance(positions, int) else positions


def number_at(positions: Positions, place: int) -> int:
    """Return which example stands at a place in a request."""
    if isinstance(positions, int):
        return positions
    if isinstance(positions, slice):
        return int(positions.start + place * positions.step)
    return int(positions[place])


def objects(values: list[Any]) -> AnyArray:
    """Return a one-dimensional array of objects, whatever their lengths are."""
    array = numpy.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        array[position] = value
    return array


class RaggedRows:
    """Reads examples of the vlen layout through the library, and gives them back their shapes.

    Parameters
    ----------
    dataset : h5py.Dataset
        The flat data.
    shapes : h5py.Dataset, shape (n, axes)
        The shape of each example.
    reason : str, optional
        Why they are not read in a faster way.
    """

    way = 'library'

    def __init__(self, dataset: h5py.Dataset, shapes: h5py.Dataset, reason: str = '') -> None:
        self._rows = LibraryRows(_in_its_byte_order(dataset))
        self._shapes = LibraryRows(shapes)
        self._where = place_of(dataset)
        self.reason = reason

    def read(self, positions: Positions) -> Any:
        """Return one array for an integer, otherwise a one-dimensional array of arrays."""
        flat = self._rows.read(positions)
        shapes = self._shapes.read(positions).tolist()
        if isinstance(positions, int):
            return self._shaped(flat, shapes, positions)
        return objects([self._shaped(values, shape, number_at(positions, place))
                        for place, (values, shape) in enumerate(zip(flat, shapes, strict=True))])

    def counts(self, positions: slice | AnyArray) -> AnyArray:
        """Return how many values the examples at the given positions have."""
        counts: AnyArray = self._shapes.read(positions).astype(numpy.int64).prod(axis=1)
        return counts

    def _shaped(self, values: AnyArray, shape: list[int], number: int) -> AnyArray:
        try:
            # A negative length would stand for whatever is left.
            if min(shape, default=0) < 0:
                raise ValueError
            return values.reshape(shape)
        except ValueError:
            raise DataLayoutError(
                f'{self._where}: example {number} has {values.size} values, which do not fill '
                f'the shape {tuple(shape)} that is stored for it') from None
