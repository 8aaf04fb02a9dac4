"""Which way the rows of a data set are read: mapped, decoded, or by the HDF5 library.

*Mapped*: the bytes in the file are the rows, and are copied from where they lie. *Decoded*: chunks
are decoded by Fuel, several at a time. *Library*: everything else goes through h5py.
"""
from __future__ import annotations

import math
from typing import Any

import h5py
import numpy

from fuel._kernels import BlockTable
from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.exceptions import DataFileError
from fuel.storage.handles import OpenFile
from fuel.storage.mapping import FileMap
from fuel.storage.readers.block_rows import BlockRows, ChunkRows, MappedRows
from fuel.storage.readers.chunks import contiguous_offset, read_chunk_index, row_runs
from fuel.storage.readers.decoded_rows import DecodedRows
from fuel.storage.readers.filters import Undecodable, pipeline_of
from fuel.storage.readers.rows import LibraryRows, RowReader

__all__ = ['fixed_rows']

_LAYOUTS = {h5py.h5d.COMPACT: 'compact', h5py.h5d.CONTIGUOUS: 'contiguous',
            h5py.h5d.CHUNKED: 'chunked', h5py.h5d.VIRTUAL: 'virtual'}
# Of rows that were never written so many bytes are made; the same ones stand for all.
_FILL_BYTES = 2 ** 16


class _Library(Exception):
    """Says why a data set is left to the HDF5 library."""


def fixed_rows(dataset: h5py.Dataset, opened: OpenFile,
               dtype: numpy.dtype[Any] | None = None) -> RowReader:
    """Choose the fastest way to read the rows of a data set whose values have one size.

    Parameters
    ----------
    dataset : h5py.Dataset
        At least one axis.
    opened : OpenFile
        The file that it is in.
    dtype : numpy.dtype, optional
        Take the bytes in the file as values of this dtype, whatever they are.

    Returns
    -------
    RowReader

    Raises
    ------
    LookupError
        `dtype` was given, and only the library could read the data.
    DataFileError
        The file says of a chunk that it lies outside of it. An ``OSError``.
    """
    try:
        return _direct_rows(dataset, opened, dtype)
    except _Library as reason:
        if dtype is not None:
            raise LookupError(str(reason)) from None
        return LibraryRows(dataset, str(reason))


def _direct_rows(dataset: h5py.Dataset, opened: OpenFile,
                 dtype: numpy.dtype[Any] | None) -> RowReader:
    """Return what reads rows without the library, or raise `_Library`."""
    file_map = opened.file_map()
    if file_map is None:
        raise _Library(opened.why_not_mapped)
    if dtype is None:
        dtype = dataset.dtype
        _check_type(dataset)
    elif dataset.id.get_type().get_size() != dtype.itemsize:
        raise _Library(f'its values do not have {dtype.itemsize} bytes')
    layout = _LAYOUTS.get(dataset.id.get_create_plist().get_layout(), 'unknown')
    if layout == 'virtual':
        raise _Library('it is a virtual data set, put together from others')
    if dataset.external:
        raise _Library('its data lie in other files')
    if not dataset.size or not dtype.itemsize:
        raise _Library('it is empty')
    if dtype.subdtype is not None:
        raise _Library('each of its values is an array')
    if layout == 'chunked':
        _check_growth(dataset)
        return _chunked(dataset, file_map, dtype)
    if layout == 'contiguous':
        return _contiguous(dataset, file_map, dtype)
    if layout == 'compact':
        # At most 64 kB, in the middle of what describes the data set.
        rows = dataset[...] if dtype == dataset.dtype else None
        if rows is not None:
            return MappedRows(rows, 1, rows)
    raise _Library(f'its layout is {layout}')


def _check_type(dataset: h5py.Dataset) -> None:
    """Raise unless values are stored as numpy has them in memory."""
    dtype = dataset.dtype
    if dtype.hasobject:
        raise _Library('its values have sizes of their own')
    try:
        in_memory = h5py.h5t.py_create(dtype, logical=True)
    except TypeError as error:
        raise _Library(f'numpy has no type like that of its values: {error}') from None
    if not dataset.id.get_type().equal(in_memory):
        raise _Library('its values are stored in a form that must be converted')


def _check_growth(dataset: h5py.Dataset) -> None:
    """Raise where HDF5 may tell the places of chunks wrongly.

    Up to version 2.0 it mixes up the axes if one of them can grow, and is not the first.
    """
    growing = [axis for axis, size in enumerate(dataset.maxshape) if size is None]
    if len(growing) == 1 and growing[0]:
        raise _Library(f'it can grow along axis {growing[0]} alone')


def _contiguous(dataset: h5py.Dataset, file_map: FileMap, dtype: numpy.dtype[Any]) -> RowReader:
    offset = contiguous_offset(dataset)
    size = math.prod(dataset.shape) * dtype.itemsize
    if offset is None:
        return _never_written(dataset, dtype)
    if offset < 0 or size > file_map.size - offset:
        raise DataFileError(
            f'{_where(dataset)}: expected {size} bytes at {offset}; the file ends at '
            f'{file_map.size}. It is damaged or was cut off')
    rows = file_map.array[offset:offset + size].view(dtype).reshape(dataset.shape)
    return MappedRows(rows, config.num_threads, file_map)


def _never_written(dataset: h5py.Dataset, dtype: numpy.dtype[Any]) -> RowReader:
    row_bytes = math.prod(dataset.shape[1:]) * dtype.itemsize
    per_block = max(1, _FILL_BYTES // row_bytes)
    fill = _fill(dataset, (per_block, *dataset.shape[1:]), dtype)
    addresses = numpy.full(-(-len(dataset) // per_block), fill.ctypes.data, dtype=numpy.int64)
    table = BlockTable(addresses, len(dataset), per_block, row_bytes, row_bytes)
    return BlockRows(table, dataset.shape[1:], dtype, 1, fill)


def _chunked(dataset: h5py.Dataset, file_map: FileMap, dtype: numpy.dtype[Any]) -> RowReader:
    runs = row_runs(dataset.shape, dataset.chunks, dtype.itemsize)
    if runs is None:
        raise _Library(f'its chunks {dataset.chunks} cut each row into too many pieces')
    count = math.prod(-(-size // length)
                      for size, length in zip(dataset.shape, dataset.chunks, strict=True))
    if count > file_map.size:
        raise _Library(f'most of its {count} chunks were never written')
    pipeline = None
    if dataset.id.get_create_plist().get_nfilters():
        try:
            pipeline = pipeline_of(dataset)
        except Undecodable as reason:
            raise _Library(str(reason)) from None
    index = read_chunk_index(dataset, file_map.size)
    fill: AnyArray = numpy.empty(0, dtype=numpy.uint8)
    if not index.offsets.all():
        fill = _fill(dataset, dataset.chunks, dtype)
    row_shape, threads = dataset.shape[1:], config.num_threads
    if pipeline is not None:
        return DecodedRows(index, pipeline, file_map.base, fill, runs, len(dataset), row_shape,
                           dtype, threads, file_map, _where(dataset))
    chunk_bytes = math.prod(dataset.chunks) * dtype.itemsize
    wrong = numpy.flatnonzero((index.offsets != 0) & (index.sizes != chunk_bytes))
    if wrong.size:
        raise DataFileError(
            f'{_where(dataset)}: expected chunks of {chunk_bytes} bytes; got '
            f'{index.sizes[wrong[0]]} for chunk {wrong[0]}. The file is damaged')
    addresses = numpy.where(index.offsets == 0, fill.ctypes.data, file_map.base + index.offsets)
    table = BlockTable(addresses, len(dataset), dataset.chunks[0], runs.stride,
                       math.prod(row_shape) * dtype.itemsize, runs.runs)
    keep = file_map, fill
    if runs.runs is None:
        return ChunkRows(table, row_shape, dtype, threads, keep, dataset.chunks[0])
    return BlockRows(table, row_shape, dtype, threads, keep)


def _fill(dataset: h5py.Dataset, shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> AnyArray:
    """Return a block of the value that stands for what was never written."""
    creation = dataset.id.get_create_plist()
    if (creation.fill_value_defined() == h5py.h5d.FILL_VALUE_UNDEFINED
            or creation.get_fill_time() == h5py.h5d.FILL_TIME_NEVER):
        raise _Library('part of it was never written, and no value stands for that')
    if dtype != dataset.dtype:
        if creation.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED:
            raise _Library('part of it was never written')
        return numpy.zeros(shape, dtype=dtype)
    block: AnyArray = numpy.empty(shape, dtype=dtype)
    block[...] = dataset.fillvalue
    return block


def _where(dataset: h5py.Dataset) -> str:
    return f'{dataset.file.filename}: source {dataset.name.lstrip("/")!r}'
