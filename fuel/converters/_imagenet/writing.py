"""Writes the pictures of a challenge into a file."""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._conversion.workers import in_order
from fuel.converters._imagenet.archives import Pictures
from fuel.converters._imagenet.devkit import Classes
from fuel.converters._imagenet.pictures import BadPicture, check_decodes, check_picture
from fuel.converters._imagenet.reading import Content, Places, in_rows, in_sequence
from fuel.converters.base import SourceOptions, SourceWriter, create_source, progress_bar
from fuel.exceptions import ConversionError
from fuel.storage.provenance.digests import RowDigests
from fuel.storage.writing.placed import PlacedWriter, can_be_placed, create_placed_source
from fuel.storage.writing.split_table import write_split
from fuel.utils.progress import ProgressBar

__all__ = ['rows_of', 'write_file']

Rows: TypeAlias = npt.NDArray[numpy.int64]
Table: TypeAlias = dict[str, dict[str, tuple[int, int]]]

_IMAGES, _TARGETS, _NAMES = 'encoded_images', 'targets', 'filenames'
_BYTES = numpy.dtype('uint8')
#: Characters of a file name, if none has more.
_NAME_BYTES = 32
# Pictures that are written together: so many, or so many bytes.
_GROUP, _GROUP_BYTES = 256, 4 << 20


def rows_of(sets: Sequence[Pictures], seed: int) -> list[Rows]:
    """Return which example of the file each picture is to be.

    Parameters
    ----------
    sets : sequence of Pictures
        Those of the splits, the training pictures first.
    seed : int
        The training picture with rank r becomes example ``RandomState(seed).permutation(n)[r]``.
        The others follow by rank.

    Returns
    -------
    list of ndarray of int64
        For each of `sets`.
    """
    order = numpy.random.RandomState(seed).permutation(len(sets[0]))
    rows, start = [order[sets[0].ranks].astype('int64', copy=False)], len(sets[0])
    for pictures in sets[1:]:
        rows.append(start + pictures.ranks)
        start += len(pictures)
    return rows


def write_file(h5file: Any, find: Callable[[], tuple[Mapping[str, Pictures], Classes]], *,
               seed: int, check: str, options: SourceOptions, name: str) -> None:
    """Write the sources and the splits.

    Pictures are read in the order of the archives, and each is written at its place, which is
    another. With 5800 JPEGs of 81 kB on a solid-state disk, nothing of them in memory, this read
    them in 0.4 s; in the order of the file, with what comes next announced to the system, it was
    no more. But archives that are read like that are read twice, once more for their checksums;
    and on a rotating disk each picture would cost a seek, so that the whole set took hours. Only
    compressed chunks have to be written one after the other, and so are read in their order.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    find : callable
        Returns the pictures of 'train', 'valid' and 'test', those without labels last, and what
        the labels mean. It is called here because what it returns is large, and not needed to the
        end.
    seed : int
        See `rows_of`.
    check : {'header', 'decode', 'none'}
        How to look at the pictures; see `fuel.converters._imagenet.pictures`.
    options : SourceOptions
        How to store the pictures; compression and chunks are for the other sources too.
    name : str
        What is converted, for the display of progress.

    Raises
    ------
    ConversionError
        A picture is none.
    """
    places, lengths, table = _write_columns(h5file, *find(), seed, options)
    with progress_bar(name, len(lengths), unit='examples') as bar:
        try:
            _write_pictures(h5file, places, lengths, options, check, bar)
        except BadPicture as error:
            archive, row, problem = error.args
            # The names of more than a million pictures are in the file only by now.
            picture = bytes(h5file[_NAMES][row, 0]).decode('utf-8', 'replace')
            raise ConversionError(
                f'{archive}: the member {picture!r} is no picture that can be used: {problem}. '
                'Download the archive again; to convert it as it is, give --check none') from error
    write_split(h5file, table)


def _write_columns(h5file: Any, splits: Mapping[str, Pictures], classes: Classes, seed: int,
                   options: SourceOptions) -> tuple[list[Places], Rows, Table]:
    """Write the sources that are known beforehand; return what is needed for the others."""
    sets = list(splits.values())
    rows = rows_of(sets, seed)
    total = sum(map(len, sets))
    known = sum(len(pictures) for pictures in sets if pictures.labels is not None)
    plain = SourceOptions(compression=options.compression, chunk_examples=options.chunk_examples)
    longest = max(pictures.names.dtype.itemsize for pictures in sets)

    def column(count: int, dtype: str, values: Iterable[AnyArray | None]) -> AnyArray:
        result = numpy.zeros(count, dtype=dtype)
        for places, of_set in zip(rows, values, strict=True):
            if of_set is not None:
                result[places] = of_set
        return result

    _write_column(h5file, _NAMES, column(total, f'S{max(_NAME_BYTES, longest)}',
                                         (pictures.names for pictures in sets)), plain)
    _write_column(h5file, _TARGETS, column(known, 'int16',
                                           (pictures.labels for pictures in sets)), plain)
    _write_names(h5file, 'class_names', classes.words)
    _write_names(h5file, 'wnids', classes.wnids)
    places = [Places(pictures.archive, pictures.offsets, pictures.sizes, of_set,
                     pictures.patches or {}, pictures.patch_archive)
              for pictures, of_set in zip(sets, rows, strict=True)]
    return places, column(total, 'int64', (pictures.sizes for pictures in sets)), _table(splits)


def _write_names(h5file: Any, name: str, names: Sequence[str]) -> None:
    """Write what the labels stand for, beside the sources: they would not go into an attribute."""
    import h5py

    encoded = [text.encode('utf-8', 'replace') for text in names]
    longest = max(1, *map(len, encoded))
    h5file.create_dataset(name, data=numpy.array(
        encoded, dtype=h5py.string_dtype('utf-8', longest)))


def _write_column(h5file: Any, name: str, column: npt.NDArray[Any],
                  options: SourceOptions) -> None:
    with create_source(h5file, name, (1,), column.dtype, num_examples=len(column),
                       options=options, axis_labels=('batch', 'index')) as writer:
        writer.append(column[:, None])


def _write_pictures(h5file: Any, places: Sequence[Places], lengths: Rows,
                    options: SourceOptions, check: str, bar: ProgressBar) -> None:
    labels = ('batch', 'bytes')
    placed = can_be_placed(options)
    writer: PlacedWriter | SourceWriter
    if placed:
        writer = create_placed_source(h5file, _IMAGES, _BYTES, lengths, options=options,
                                      axis_labels=labels)
    else:
        writer = create_source(h5file, _IMAGES, (None,), _BYTES, num_examples=len(lengths),
                               options=options, axis_labels=labels,
                               num_values=int(lengths.sum()))
        if writer.digests is not None:
            # As `PlacedWriter` does: the same checksums in any layout.
            writer.digests = RowDigests(len(lengths))
    contents = itertools.chain.from_iterable(map(in_sequence if placed else in_rows, places))
    with writer:
        written = _written(contents, writer, bar)
        if check == 'decode':
            deque(in_order(check_decodes, written), maxlen=0)
        elif check == 'header':
            deque(map(check_picture, written), maxlen=0)
        else:
            deque(written, maxlen=0)


def _written(contents: Iterable[Content], writer: PlacedWriter | SourceWriter, bar: ProgressBar
             ) -> Iterator[tuple[str, int, bytes]]:
    """Write pictures in groups, and yield each of them to be checked.

    What fails the check later does no harm where it was written: the file is given up.
    """
    done = 0
    for group in _groups(contents):
        yield from map(tuple, group)
        arrays = [numpy.frombuffer(content.data, dtype=_BYTES) for content in group]
        if isinstance(writer, PlacedWriter):
            writer.place([content.row for content in group], arrays)
        else:
            writer.append(arrays)
        done += len(group)
        bar.update(done)


def _groups(contents: Iterable[Content]) -> Iterator[list[Content]]:
    group: list[Content] = []
    size = 0
    for content in contents:
        group.append(content)
        size += len(content.data)
        if len(group) == _GROUP or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _table(splits: Mapping[str, Pictures]) -> Table:
    """Return where the splits are."""
    table: Table = {}
    start = 0
    for split, pictures in splits.items():
        stop = start + len(pictures)
        sources = (_IMAGES, _NAMES) if pictures.labels is None else (_IMAGES, _NAMES, _TARGETS)
        table[split] = dict.fromkeys(sources, (start, stop))
        start = stop
    return table
