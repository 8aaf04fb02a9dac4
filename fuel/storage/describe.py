"""What is known about how the sources of a file are stored and read."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy

from fuel.storage import layout
from fuel.storage.handles import OpenFile
from fuel.storage.readers.rows import RowReader

__all__ = ['Description', 'SourceDescription', 'describe_dataset', 'describe_source',
           'example_chunks', 'rows_in_chunk']

# What stands for a chunk where rows lie one after another.
_BLOCK_BYTES = 2 ** 18


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """How one source is stored in its file, and how it is read.

    Attributes
    ----------
    name : str
        The source.
    shape : tuple
        Of the whole source in the file, beginning with the number of examples; `None` for lengths
        that vary.
    dtype : numpy.dtype
        Of the values.
    layout : str
        ``'contiguous'``, ``'chunked'``, ``'compact'``, ``'virtual'`` or ``'external'``; ``'vlen'``
        or ``'ragged'`` for examples with shapes of their own.
    chunks : tuple of int or None
        The shape of a chunk.
    filters : tuple of str
        What was done to each chunk when it was written, in order.
    stored_bytes : int
        What the data take up in the file. Of the layout ``'vlen'`` that is only the list of
        references to the examples.
    way : str
        How rows are read: ``'mapped'``, ``'decoded'``, ``'library'`` or ``'memory'``.
    reason : str
        Why they are not read in a faster way; empty if they are mapped.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: numpy.dtype[Any]
    layout: str
    chunks: tuple[int, ...] | None
    filters: tuple[str, ...]
    stored_bytes: int
    way: str
    reason: str

    def __str__(self) -> str:
        shape = ' x '.join('?' if size is None else str(size) for size in self.shape)
        stored = self.layout
        if self.chunks is not None:
            stored += f' in chunks of {" x ".join(map(str, self.chunks))}'
        if self.filters:
            stored += f' with {", ".join(self.filters)}'
        read = f'{self.way}: {self.reason}' if self.reason else self.way
        return f'{self.name}: {shape} {self.dtype}, {stored}, {read}'


class Description(dict[str, SourceDescription]):
    """Descriptions of the sources of a data set, by name; printed with a line for each."""

    def __str__(self) -> str:
        return '\n'.join(map(str, self.values()))


_FILTERS = {h5py.h5z.FILTER_DEFLATE: 'deflate', h5py.h5z.FILTER_SHUFFLE: 'shuffle',
            h5py.h5z.FILTER_FLETCHER32: 'fletcher32', h5py.h5z.FILTER_SZIP: 'szip',
            h5py.h5z.FILTER_NBIT: 'nbit', h5py.h5z.FILTER_SCALEOFFSET: 'scaleoffset',
            h5py.h5z.FILTER_LZF: 'lzf', 305: 'lzo', 307: 'bzip2', 32001: 'blosc', 32004: 'lz4',
            32008: 'bitshuffle', 32013: 'zfp', 32015: 'zstd', 32017: 'sz', 32024: 'sz3',
            32026: 'blosc2', 32028: 'sperr'}


def _filter_names(dataset: h5py.Dataset) -> tuple[str, ...]:
    creation = dataset.id.get_create_plist()
    numbers = [creation.get_filter(place)[0] for place in range(creation.get_nfilters())]
    return tuple(_FILTERS.get(number, f'filter {number}') for number in numbers)


_LAYOUTS: Mapping[int, str] = {h5py.h5d.COMPACT: 'compact', h5py.h5d.CONTIGUOUS: 'contiguous',
                               h5py.h5d.CHUNKED: 'chunked', h5py.h5d.VIRTUAL: 'virtual'}


def describe_source(opened: OpenFile, source: str, reader: RowReader) -> SourceDescription:
    """Describe a source of an open file.

    Parameters
    ----------
    opened : OpenFile
        The file.
    source : str
        The name of the source.
    reader : RowReader
        What reads it.
    """
    h5file = opened.file
    dataset = layout.source_dataset(h5file, source)
    return describe_dataset(
        dataset, source,
        (layout.num_examples(h5file, source), *layout.example_shape(h5file, source)),
        numpy.dtype(layout.example_dtype(h5file, source)), reader, layout.ragged_kind(dataset))


def describe_dataset(dataset: h5py.Dataset, name: str, shape: tuple[int | None, ...],
                     dtype: numpy.dtype[Any], reader: RowReader, ragged: str = ''
                     ) -> SourceDescription:
    """Describe a data set of which the shape and dtype that examples have are known.

    Parameters
    ----------
    dataset : h5py.Dataset
        Where it is stored.
    name : str
        What it is called.
    shape : tuple
        Of the whole source, beginning with the number of examples.
    dtype : numpy.dtype
        Of the values.
    reader : RowReader
        What reads it.
    ragged : str, optional
        The layout, if examples have shapes of their own.
    """
    kind = _LAYOUTS.get(dataset.id.get_create_plist().get_layout(), 'unknown')
    if dataset.external:
        kind = 'external'
    return SourceDescription(name, shape, dtype, ragged or kind, dataset.chunks,
                             _filter_names(dataset), int(dataset.id.get_storage_size()),
                             reader.way, reader.reason)


def example_chunks(h5file: h5py.File, sources: tuple[str, ...]) -> tuple[str, int]:
    """Return the source whose chunks matter most for the speed, and how many rows they have.

    The source is the one that takes up most space in the file. Where it has no chunks, as many
    rows as make up 256 kB stand for one.
    """
    datasets = {source: layout.source_dataset(h5file, source) for source in sources}
    largest = max(datasets, key=lambda source: datasets[source].id.get_storage_size())
    dataset = datasets[largest]
    return largest, rows_in_chunk(dataset, layout.num_examples(h5file, largest),
                                  layout.ragged_kind(dataset) != 'ragged')


def rows_in_chunk(dataset: h5py.Dataset, count: int, are_chunked: bool = True) -> int:
    """Return how many examples, of a number of them, are in a chunk or what stands for one."""
    if dataset.chunks is not None and are_chunked:
        return int(dataset.chunks[0])
    stored_bytes = int(dataset.id.get_storage_size())
    return max(1, _BLOCK_BYTES * max(1, count) // max(1, stored_bytes))
