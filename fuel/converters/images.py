"""Conversion of somebody's own folder of pictures."""
from __future__ import annotations

import logging
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.inputs import note_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, options_for_variable_length
from fuel.converters._conversion.workers import in_order
from fuel.converters._division.names import plural, shown, stored_text, write_names
from fuel.converters._division.options import check_lot, one_way, used_seed
from fuel.converters._division.shares import (
    EVALUATION_SPLITS,
    Rows,
    Shares,
    all_in_one,
    by_names,
    check_splits,
    divide,
    sizes_of,
)
from fuel.converters._pictures.files import find_pictures
from fuel.converters._pictures.fitting import LARGEST, RESIZES, Encoded, Fitting, Problem
from fuel.converters._pictures.labels import (
    Labels,
    class_folders,
    folders_are_splits,
    listed_labels,
    listed_splits,
)
from fuel.converters._pictures.lists import read_list
from fuel.converters._pictures.options import COLORS, SPLITS, add_options
from fuel.converters.base import Streamed, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError
from fuel.utils.progress import ProgressBar

__all__ = ['convert_images', 'fill_subparser']

logger = logging.getLogger(__name__)

IMAGE_LABELS = ('batch', 'channel', 'height', 'width')
AXIS_LABELS = {'encoded_images': ('batch', 'byte'), 'features': IMAGE_LABELS,
               'image_features': IMAGE_LABELS, 'targets': ('batch', 'index')}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of a folder of pictures.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert images``.

    Returns
    -------
    callable
        `convert_images`.
    """
    add_options(subparser)
    return convert_images


def convert_images(directory: str, output_directory: str, output_filename: str | None = None, *,
                   folder: str, labels: str | None = None, splits: str = 'auto',
                   split_file: str | None = None,
                   valid_fraction: Fraction | float = Fraction(0),
                   test_fraction: Fraction | float = Fraction(0), seed: int | None = None,
                   no_stratify: bool = False, no_shuffle: bool = False, encoded: bool = False,
                   size: tuple[int, int] | None = None, resize: str | None = None,
                   color: str | None = None, skip_bad: bool = False, encoding: str = 'utf-8',
                   **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert a folder of pictures to HDF5.

    Parameters
    ----------
    directory : str
        Where relative paths begin.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default like the folder, with ``.hdf5`` behind it.
    folder : str
        The folder of the pictures, which `find_pictures` searches.
    labels : str, optional
        A list of targets, see `read_list`. By default the folders are the classes.
    splits : {'auto', 'folders', 'none'}, optional
        Whether the first folders are splits. ``'auto'``, the default, looks at their names, unless
        another way to divide is given.
    split_file : str, optional
        A list of splits, see `read_list`.
    valid_fraction, test_fraction : Fraction or float, optional
        The parts of the pictures that become the splits ``valid`` and ``test``; the rest is
        ``train``. `fuel.converters._division.shares` says which pictures.
    seed : int, optional
        Of the division and of the order; ``config.default_seed`` by default.
    no_stratify : bool, optional
        Whether classes do not matter to the division. Otherwise each split gets the same part of
        every class if there is one column of classes.
    no_shuffle : bool, optional
        Whether all splits keep the order of the files. Otherwise splits are in an order by lot,
        but for those without targets and those with the names of `EVALUATION_SPLITS`.
    encoded : bool, optional
        Whether to store the files, which still are decoded once to see that they are pictures.
    size : tuple of int, optional
        Height and width of all pictures; by default each keeps its own.
    resize : {'stretch', 'crop', 'pad'}, optional
        How they are brought to it, see `fitted`.
    color : {'RGB', 'L'}, optional
        The mode of Pillow that they are converted to.
    skip_bad : bool, optional
        Whether files that are no pictures are left out. All are then decoded once beforehand.
    encoding : str, optional
        Of the lists.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. One of its sources is ``image_features``, uint8, with the axes
        (channel, height, width); or ``features``, shape (pictures, channels, height, width), with
        `size`; or ``encoded_images``, the bytes, with `encoded`. The other is ``targets``, shape
        (pictures, 1), or as many as the list has columns. Texts that are no sources:
        ``filenames``, in the order of the pictures; ``target_names``, the classes, in the order
        of their numbers; and for lists ``target_columns`` and ``categories``, as for a table.

    Raises
    ------
    DataFileNotFoundError
        The folder or a list is not there. A ``FileNotFoundError``.
    ConversionError
        A file with the ending of a picture is none, a list is not as it should be, or the options
        do not go together.
    """
    shares = Shares.of(valid_fraction, test_fraction)
    way = one_way({'--splits folders': splits == 'folders', '--split-file': split_file is not None,
                   '--valid-fraction or --test-fraction': bool(shares)})
    check_lot(shares, {'--no-stratify': no_stratify})
    source = _checked_source(splits, encoded, size, resize, color)
    options = _options(source, storage)
    root = os.path.join(directory, folder)
    name = output_filename or f'{os.path.basename(os.path.abspath(root)) or "images"}.hdf5'
    with new_file(output_directory, name) as h5file:
        pictures = find_pictures(root, strict=not skip_bad)
        if skip_bad:
            pictures = _good(root, pictures, Problem(Encoded() if encoded else
                                                     Fitting(color or COLORS[0])))
        by_folders = splits == 'folders' or (splits == 'auto' and way is None
                                             and folders_are_splits(pictures))
        split_of = None
        if by_folders:
            split_of = _first_folders(root, pictures)
        elif split_file is not None:
            found = read_list(directory, split_file, root, pictures, encoding)
            named = listed_splits(found)
            pictures = [path for path, split in zip(pictures, named, strict=True) if split]
            split_of = [split for split in named if split]
            _tell_left_out(len(named) - len(split_of), split_file)
        if labels is None:
            targets = class_folders(root, pictures, split_of if by_folders else None)
        else:
            targets = listed_labels(read_list(directory, labels, root, pictures, encoding))
            keep = targets.known | _without_any(targets.known, split_of)
            pictures = [path for path, kept in zip(pictures, keep, strict=True) if kept]
            if split_of is not None:
                split_of = [split for split, kept in zip(split_of, keep, strict=True) if kept]
            _tell_left_out(int((~keep).sum()), labels)
            targets = Labels(targets.known[keep], targets.targets[keep], targets.columns,
                             targets.classes, targets.categories)
        rows = _splits(len(pictures), split_of, shares, seed,
                       targets if not no_stratify and targets.classes else None)
        check_splits(h5file, list(rows), [source, *(['targets'] if targets.known.any() else [])])
        if not no_shuffle:
            rows = _shuffled(rows, targets, seed)
        _write(h5file, root, pictures, targets, rows, source,
               Encoded() if encoded else Fitting(color or COLORS[0], size, resize or RESIZES[0]),
               options)
        logger.info('%s: %s; %s', root, sizes_of(rows) + ' pictures',
                    f'{len(targets.classes)} classes: {shown(targets.classes)}'
                    if targets.classes else 'no classes' if not targets.known.any() else
                    f'targets {shown(targets.columns)}')
    return (os.path.join(output_directory, name),)


def _checked_source(splits: str, encoded: bool, size: tuple[int, int] | None, resize: str | None,
                    color: str | None) -> str:
    """Return the source of the pictures, after checking that the options go together."""
    for what, value, known in (('splits', splits, SPLITS), ('resize', resize, RESIZES),
                               ('color', color, COLORS)):
        if value is not None and value not in known:
            raise ConversionError(f'expected {what} to be one of {", ".join(known)}; got '
                                  f'{value!r}')
    given = [option for option, value in (('--size', size), ('--resize', resize),
                                          ('--color', color)) if value is not None]
    if encoded and given:
        raise ConversionError('--encoded stores the files as they are; it does not go together '
                              f'with {shown(given)}')
    if resize is not None and size is None:
        raise ConversionError('expected --size with --resize')
    if size is not None and (len(size) != 2 or min(size) < 1):
        raise ConversionError(f'expected a size such as (48, 64), height and width; got {size!r}')
    if size is not None and size[0] * size[1] > LARGEST:
        raise ConversionError(f'expected a size of at most {LARGEST} pixels, such as 8192x8192; '
                              f'got {size[0]}x{size[1]}')
    return 'encoded_images' if encoded else 'image_features' if size is None else 'features'


def _options(source: str, storage: StorageArguments) -> dict[str, Any]:
    """Return how the file is stored, after checking that the layout allows it."""
    if source == 'features':
        return {name: value for name, value in storage.items() if name != 'layout'}
    options = options_for_variable_length(storage)
    return {'layout': {source: options.layout}, 'compression': options.compression,
            'chunk_examples': options.chunk_examples}


def _good(root: str, pictures: Sequence[str], problem_of: Problem) -> list[str]:
    """Return those that really are pictures."""
    good: list[str] = []
    bad: list[str] = []
    with progress_bar(root, len(pictures), 'Looking at', unit='pictures') as progress:
        problems = in_order(problem_of, (os.path.join(root, path) for path in pictures))
        for number, (path, problem) in enumerate(zip(pictures, problems, strict=True), start=1):
            (good if problem is None else bad).append(path)
            if problem is not None:
                logger.info('%s', problem)
            progress.update(number)
    if bad:
        logger.warning('%s: left out %s that cannot be used: %s', root,
                       plural(len(bad), 'file'), shown(bad))
    if not good:
        raise ConversionError(f'{root}: expected pictures; all files with the ending of one are '
                              'broken')
    return good


def _first_folders(root: str, pictures: Sequence[str]) -> list[str]:
    for path in pictures:
        if '/' not in path:
            raise ConversionError(f'{root}: expected every picture in the folder of its split; '
                                  f'{path} lies in none')
    return [stored_text(path.split('/')[0]) for path in pictures]


def _without_any(known: AnyArray, split_of: Sequence[str] | None) -> AnyArray:
    """Return which pictures are of splits in which none has targets; these are kept without."""
    if split_of is None:
        return numpy.zeros(len(known), dtype=bool)
    some = {split for split, has in zip(split_of, known.tolist(), strict=True) if has}
    return numpy.array([split not in some for split in split_of])


def _tell_left_out(count: int, path: str) -> None:
    if count:
        logger.warning('left out %s that %s does not name', plural(count, 'picture'), path)


def _splits(count: int, split_of: Sequence[str] | None, shares: Shares, seed: int | None,
            classes: Labels | None) -> dict[str, Rows]:
    if split_of is not None:
        return by_names(split_of)
    if not shares:
        return all_in_one(count)
    return divide(count, shares, used_seed(seed),
                  None if classes is None else classes.targets[:, 0])


def _shuffled(splits: dict[str, Rows], targets: Labels, seed: int | None) -> dict[str, Rows]:
    """Bring the examples that are learned from into an order by lot.

    Each split by ``RandomState(seed).permutation``, one state going on from split to split.
    """
    learned = [name for name, rows in splits.items()
               if name.lower() not in EVALUATION_SPLITS and targets.known[rows].all()]
    if not learned:
        return splits
    rng = numpy.random.RandomState(used_seed(seed))
    return {name: rows[rng.permutation(len(rows))] if name in learned else rows
            for name, rows in splits.items()}


def _write(h5file: Any, root: str, pictures: Sequence[str], targets: Labels,
           splits: dict[str, Rows], source: str, read: Callable[[str], AnyArray],
           options: dict[str, Any]) -> None:
    """Write the sources, and the names that belong to them."""
    def stream(rows: Rows, progress: ProgressBar, done: int) -> Iterator[AnyArray]:
        paths = (os.path.join(root, pictures[row]) for row in rows.tolist())
        for number, picture in enumerate(in_order(read, paths), start=done + 1):
            yield picture[None] if source == 'features' else picture
            progress.update(number)

    for path in pictures:
        note_input(os.path.join(root, path), path)
    done = 0
    data: list[tuple[str, str, Any]] = []
    with progress_bar(root, len(pictures), unit='pictures') as progress:
        for name, rows in splits.items():
            data.append((name, source, Streamed(stream(rows, progress, done), len(rows))))
            done += len(rows)
        data += [(name, 'targets', targets.targets[rows]) for name, rows in splits.items()
                 if targets.known[rows].all()]
        fill_hdf5_file(h5file, data, axis_labels={name: AXIS_LABELS[name] for name in
                                                  dict.fromkeys(entry[1] for entry in data)},
                       **options)
    write_names(h5file, 'filenames', [pictures[row] for rows in splits.values()
                                      for row in rows.tolist()], files=True)
    for name, texts in (('target_names', targets.classes), ('target_columns', targets.columns),
                        ('categories', targets.categories)):
        if texts:
            write_names(h5file, name, texts)
