"""The whole pictures of the Street View House Numbers, with the digits in them."""
from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.storage import StorageArguments, options_for_variable_length
from fuel.converters._conversion.workers import in_order
from fuel.converters._digit_struct import ATTRIBUTES, Boxes, Part, count_pictures, read_boxes
from fuel.converters._pictures.spools import PictureSpool, SpooledPicture, decode, spool_pictures
from fuel.converters.base import SourceOptions, SourceWriter, create_source, progress_bar
from fuel.storage.writing.split_table import write_split
from fuel.utils.atomic import temporary_directory

__all__ = ['write_house_numbers']

logger = logging.getLogger(__name__)

COUNTS = {'train': 33402, 'test': 13068, 'extra': 202353}
DESCRIPTION = 'digitStruct.mat'
#: Sources of bounding boxes: for each attribute its dtype and the name of an axis.
BOXES = {'label': ('uint8', 'index'), 'height': ('uint16', 'height'), 'width': ('uint16', 'width'),
         'left': ('uint16', 'x'), 'top': ('uint16', 'y')}
# Pictures described by one task of a worker, and those written at a time.
_DESCRIBED, _GROUP, _GROUP_BYTES = 64, 64, 4 << 20


def write_house_numbers(h5file: Any, archives: Mapping[str, str], directory: str,
                        storage: StorageArguments) -> None:
    """Write all sources and splits.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    archives : mapping
        Maps splits to the paths of their archives.
    directory : str
        A folder in which there is room for what is in the archives.
    storage : mapping
        How sources are stored.

    Raises
    ------
    ConversionError
        An archive is not as expected.
    """
    options = options_for_variable_length(storage)
    with temporary_directory(directory) as folder:
        spools: dict[str, PictureSpool] = {}
        counts: dict[str, int] = {}
        for split, path in archives.items():
            os.mkdir(os.path.join(folder, split))
            spool = spools[split] = spool_pictures(path, os.path.join(folder, split), DESCRIPTION)
            counts[split] = count_pictures(spool.described, f'{path}: {DESCRIPTION}')
            expect_count(path, 'pictures', counts[split], COUNTS[split])
            if len(spool) > counts[split]:
                logger.warning('%s: %s describes %d of the %d pictures; the others are left out',
                               path, DESCRIPTION, counts[split], len(spool))
        total = sum(counts.values())
        with ExitStack() as stack:
            writers = [stack.enter_context(writer)
                       for writer in _create(h5file, total, options)]
            progress = stack.enter_context(progress_bar('svhn', total, unit='examples'))
            for group in _groups(spools, counts):
                _write(writers, group)
                progress.update(writers[0].num_examples)
    stops, start = {}, 0
    for split, count in counts.items():
        stops[split] = {writer.name: (start, start + count) for writer in writers}
        start += count
    write_split(h5file, stops)


def _create(h5file: Any, total: int, options: SourceOptions) -> Iterator[SourceWriter]:
    """Yield the writers of the sources."""
    yield create_source(h5file, 'features', (3, None, None), 'uint8', num_examples=total,
                        options=options, axis_labels=('batch', 'channel', 'height', 'width'))
    for attribute in ATTRIBUTES:
        dtype, axis = BOXES[attribute]
        yield create_source(h5file, f'bbox_{attribute}s', (None, 1), dtype, num_examples=total,
                            options=options, axis_labels=('batch', 'bounding_box', axis))


def _groups(spools: Mapping[str, PictureSpool], counts: Mapping[str, int]
            ) -> Iterator[list[tuple[AnyArray, Boxes]]]:
    """Yield the pictures of all splits with their boxes, a few at a time."""
    waiting: deque[Boxes] = deque()
    # Where the names that one task of a worker reads are to be looked for.
    asked: deque[PictureSpool] = deque()

    def parts() -> Iterator[Part]:
        for split, spool in spools.items():
            where = f'{spool.archive}: {DESCRIPTION}'
            for start in range(0, counts[split], _DESCRIBED):
                asked.append(spool)
                yield Part(spool.described, where, start, min(start + _DESCRIBED, counts[split]))

    def pictures() -> Iterator[SpooledPicture]:
        with closing(in_order(read_boxes, parts(), group=4)) as described:
            for boxes in described:
                spool = asked.popleft()
                for of_picture in boxes:
                    waiting.append(of_picture)
                    yield spool.take(of_picture.name)

    group: list[tuple[AnyArray, Boxes]] = []
    size = 0
    with closing(in_order(decode, pictures())) as images:
        for image in images:
            group.append((image, waiting.popleft()))
            size += image.nbytes
            if len(group) == _GROUP or size >= _GROUP_BYTES:
                yield group
                group, size = [], 0
    if group:
        yield group


def _write(writers: list[SourceWriter], group: list[tuple[AnyArray, Boxes]]) -> None:
    """Write pictures and their boxes."""
    features, *boxes = writers
    features.append([image for image, _ in group])
    for row, writer in enumerate(boxes):
        dtype = BOXES[ATTRIBUTES[row]][0]
        writer.append([of_picture.values[row].astype(dtype)[:, None] for _, of_picture in group])
