"""Writes HDF5 files out of pieces of data, and says in them where splits lie."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fuel.storage.writing.checks import check_file, checked_entry
from fuel.storage.writing.options import (
    LAYOUTS,
    SourceOptions,
    check_options,
    labels_by_source,
    options_by_source,
)
from fuel.storage.writing.parts import SourceParts
from fuel.storage.writing.ragged import extra_names
from fuel.storage.writing.rows import check_storable
from fuel.storage.writing.sources import create_source
from fuel.storage.writing.space import Disk, DiskError, writing
from fuel.storage.writing.split_table import check_split, write_split

__all__ = ['fill_hdf5_file']


def fill_hdf5_file(h5file: Any, data: Iterable[Sequence[Any]], *, compression: Any = None,
                   shuffle: Any = None, checksum: Any = None, chunk_examples: Any = None,
                   layout: Any = None,
                   axis_labels: Mapping[str, Sequence[str] | None] | None = None) -> None:
    """Write data into an HDF5 file, one data set for each source, and say where splits lie.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing, without splits.
    data : iterable
        Tuples (split, source, array) or (split, source, array, comment). The splits of a source
        follow each other as they do in `data`. Several parts of one split and source are joined
        in the order given. An array is one of these:

        * anything with ``shape`` and ``dtype`` that can be sliced, in memory, mapped, or in
          another file, and what numpy can make an array of;
        * for examples that differ in shape, a list or a one-dimensional array of arrays that have
          one dtype and one number of axes, or a source of another file that has such examples;
        * an iterable of arrays, which are blocks of examples, or single examples if `layout` names
          the source. Their number need not be known; `Streamed` declares it. Each is asked for
          when its turn comes: source by source, and split by split for each.
    compression : optional
        `None` (the default), ``'gzip'``, ``('gzip', level)`` with a level from 0 to 9 (4 if not
        given), ``'lzf'``, a filter of the package hdf5plugin such as ``hdf5plugin.Zstd()``, or
        the registered number of a filter, alone or in a pair with its options.
    shuffle : bool, optional
        Whether to order bytes by their place in the items before they are compressed. By default
        this is done for compressed items wider than one byte, unless the filter does so itself.
    checksum : bool, optional
        Whether to keep a checksum (Fletcher-32) of every chunk, so that damage is noticed when
        the chunk is read. Default `False`.
    chunk_examples : int, optional
        Examples in a chunk. By default data are in chunks only if they are compressed, have
        checksums, or come without their number being known; a chunk then is made of as many whole
        examples as have about 64 kB.
    layout : {'vlen', 'ragged'}, optional
        How to store sources whose examples differ in shape. ``'vlen'`` (the default) keeps one
        array of variable length for each example, and its shape beside it, as the old library
        reads it. ``'ragged'`` keeps one array of all values, which is faster to read and can be
        compressed, and the offsets of the examples.
    axis_labels : mapping, optional
        Maps sources to labels for the axes of a batch, such as ``('batch', 'feature')``. By
        default there are none; but the first axis of examples that differ in shape is 'batch'.

    Raises
    ------
    ValueError
        The parts of a source differ in dtype or in the shape of examples, or the sources of a
        split in the number of examples; HDF5 has no such dtype; an option has none of the values
        above, or the filter is not available. The file has splits already, or cannot hold those
        of the data. Nothing has been written then; what an iterable is found to have while it is
        written is taken out of the file again, and so it is after an error of the iterable itself.
    OSError
        The disk has no room for the data. Nothing has been written if that could be known before;
        otherwise there is no attribute ``split``, which is written last.

    Notes
    -----
    `compression`, `shuffle`, `checksum`, `chunk_examples` and `layout` can also be mappings from
    sources to values. Sources that are not named get the default. A source that `layout` names is
    written in this way whatever the shapes of its examples are; one that is given for all sources
    is for those that have a list or array of arrays of different shapes.

    Every array is copied block by block; none is needed in memory as a whole. The same data give
    the same bytes.

    Examples
    --------
    >>> import h5py, numpy
    >>> pixels = numpy.zeros((1000, 28, 28), dtype='uint8')
    >>> with h5py.File('digits', 'w', driver='core', backing_store=False) as h5file:
    ...     fill_hdf5_file(h5file, [('train', 'pixels', pixels), ('test', 'pixels', pixels[:10])],
    ...                    compression='gzip', checksum=True,
    ...                    axis_labels={'pixels': ('batch', 'height', 'width')})
    ...     h5file['pixels'].shape, h5file['pixels'].chunks, h5file['pixels'].compression
    ((1010, 28, 28), (83, 28, 28), 'gzip')
    """
    check_file(h5file)
    sources, splits = _collect(data)
    options = options_by_source(list(sources), compression=compression, shuffle=shuffle,
                                checksum=checksum, chunk_examples=chunk_examples, layout=layout)
    labels = labels_by_source(list(sources), axis_labels)
    for name, source in sources.items():
        named = isinstance(layout, Mapping)
        source.settle(options[name].layout, named)
        kind = (options[name].layout or LAYOUTS[0]) if source.ragged else None
        options[name] = check_options(name, options[name], kind, source.dtype)
        if source.dtype is not None:
            check_storable(name, source.dtype)
    _check_lengths(splits, {split: {name: source.length(split) for name, source in sources.items()
                                    if split in source.splits} for split in splits})
    _check_names(h5file, sources, options)
    check_split(h5file, {split: {name: source.comment(split) for name, source in sources.items()
                                 if split in source.splits} for split in splits})
    # What is left of compressed data cannot be known.
    Disk(h5file).check(sum(source.num_bytes(options[name].layout)
                           for name, source in sources.items()
                           if options[name].compression is None))
    before = set(h5file)
    try:
        write_split(h5file, _write(h5file, sources, splits, options, labels))
    except DiskError:
        raise                                   # a full disk; HDF5 is better left alone
    except BaseException:
        with suppress(Exception):
            for name in set(h5file) - before:
                del h5file[name]
        raise


def _collect(data: Iterable[Sequence[Any]]) -> tuple[dict[str, SourceParts], list[str]]:
    """Return the sources, and the names of the splits."""
    sources: dict[str, SourceParts] = {}
    splits: dict[str, None] = {}
    for entry in data:
        split, name, array, comment = checked_entry(entry)
        splits.setdefault(split)
        sources.setdefault(name, SourceParts(name)).add(split, array, comment)
    if not sources:
        raise ValueError('expected tuples (split, source, array); got none')
    return sources, list(splits)


def _check_lengths(splits: Iterable[str],
                   lengths: Mapping[str, Mapping[str, int | None]]) -> None:
    """Raise if sources of a split have different numbers of examples, as far as these are known."""
    for split in splits:
        known = {name: length for name, length in lengths[split].items() if length is not None}
        if len(set(known.values())) > 1:
            raise ValueError(f'the sources of split {split!r} differ in their numbers of '
                             'examples: ' + ', '.join(f'{name} has {length}' for name, length
                                                      in known.items()))


def _check_names(h5file: Any, sources: Mapping[str, SourceParts],
                 options: Mapping[str, SourceOptions]) -> None:
    """Raise if a name is taken, in the file or by two data sets that are to be written."""
    names = list(sources)
    for name, source in sources.items():
        if source.ragged:
            axes = None if source.row is None else len(source.row)
            names += extra_names(name, options[name].layout or LAYOUTS[0], axes)
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f'{", ".join(twice)}: the data set beside a source of examples of '
                         'different shapes would have this name; give the source another one')
    taken = [name for name in names if name in h5file]
    if taken:
        raise ValueError(f'the file has something of the name {", ".join(taken)} already')


def _write(h5file: Any, sources: Mapping[str, SourceParts], splits: Sequence[str],
           options: Mapping[str, SourceOptions], labels: Mapping[str, tuple[str, ...]]
           ) -> dict[str, dict[str, tuple[Any, ...]]]:
    """Write the sources, and return where their splits are."""
    where: dict[str, dict[str, tuple[Any, ...]]] = {split: {} for split in splits}
    lengths: dict[str, dict[str, int | None]] = {split: {} for split in splits}
    for name, source in sources.items():
        row, dtype = source.look(splits)
        with writing():
            writer = create_source(
                h5file, name, row, dtype, num_examples=source.num_examples,
                options=options[name], axis_labels=labels.get(name),
                num_values=source.num_values if options[name].layout == 'ragged' else None)
        with writer:
            # The same order of splits for every source: then rows of several sources still belong
            # together when splits are read as one.
            for split in splits:
                if split in source.splits:
                    start = writer.num_examples
                    for block in source.blocks(split):
                        writer.append(block)
                    lengths[split][name] = writer.num_examples - start
                    where[split][name] = (start, writer.num_examples, None, source.comment(split))
    _check_lengths(splits, lengths)
    return where
