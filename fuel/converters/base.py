"""What converters are made of.

A converter is a function ``fill_subparser(subparser)`` that declares its arguments and returns a
function, which ``fuel-convert`` calls with the parsed arguments as keywords. That function reads
raw files in ``directory``, writes HDF5 files into ``output_directory`` and returns their paths.
"""
from __future__ import annotations

import errno
import functools
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy

from fuel.exceptions import MissingInputFiles
from fuel.utils.progress import format_amount, progress_bar

__all__ = ['MissingInputFiles', 'check_exists', 'fill_hdf5_file', 'progress_bar']

Result = TypeVar('Result')

#: Bytes to copy at a time, so that a source never has to be in memory as a whole.
_BLOCK = 16 << 20


def check_exists(required_files: Sequence[str]
                 ) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Make a decorator that looks for the input files of a converter before it runs.

    Parameters
    ----------
    required_files : sequence of str
        Their names, relative to the converter's first argument ``directory``. Looked at when
        the converter is called, so a list may be filled later.

    Returns
    -------
    callable
        The decorator. The decorated function raises `MissingInputFiles` if files are missing.
    """
    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.wraps(function)
        def checked(directory: str, *args: Any, **kwargs: Any) -> Result:
            names = [required_files] if isinstance(required_files, str) else required_files
            missing = [name for name in names
                       if not os.path.isfile(os.path.join(directory, name))]
            if missing:
                raise MissingInputFiles(f'{directory} lacks the required files '
                                        f'{", ".join(missing)}', missing)
            return function(directory, *args, **kwargs)
        return checked
    return decorate


class _Source:
    """The parts of one source, in the order in which they are written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: dict[str, list[Any]] = {}  # split to its arrays
        self.comments: dict[str, list[str]] = {}

    def add(self, split: str, array: Any, comment: str) -> None:
        """Take a part, after checking that it goes with the earlier ones."""
        if not (hasattr(array, 'shape') and hasattr(array, 'dtype')):
            array = numpy.asarray(array)
        if len(array.shape) == 0:
            raise ValueError(f'{split}/{self.name}: expected an array with a first axis for the '
                             f'examples; got the single value {array!r}')
        first = next(iter(self.arrays()), None)
        if first is not None:
            if array.dtype != first.dtype:
                raise ValueError(f'{split}/{self.name}: expected dtype {first.dtype}, as in the '
                                 f'parts before; got {array.dtype}')
            if tuple(array.shape[1:]) != tuple(first.shape[1:]):
                raise ValueError(f'{split}/{self.name}: expected examples of shape '
                                 f'{tuple(first.shape[1:])}, as in the parts before; got '
                                 f'{tuple(array.shape[1:])}')
        self.parts.setdefault(split, []).append(array)
        if comment:
            self.comments.setdefault(split, []).append(comment)

    def arrays(self) -> Iterable[Any]:
        """Give the arrays one after the other."""
        return (array for arrays in self.parts.values() for array in arrays)

    def length(self, split: str) -> int:
        """Return the number of examples in a split."""
        return sum(int(array.shape[0]) for array in self.parts[split])

    def total(self) -> int:
        """Return the number of examples in all splits."""
        return sum(map(self.length, self.parts))

    def comment(self, split: str) -> str:
        """Return what was said about a split."""
        return '; '.join(dict.fromkeys(self.comments.get(split, ())))


def fill_hdf5_file(h5file: Any, data: Iterable[Sequence[Any]]) -> None:
    """Write arrays into an HDF5 file, one data set for each source, and say where splits lie.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    data : iterable
        Tuples (split, source, array) or (split, source, array, comment). An array is anything
        with ``shape`` and ``dtype`` that can be sliced: in memory, mapped, in another file. The
        splits of a source follow each other as they do in `data`. Several parts of one split
        and source are joined in the order given.

    Raises
    ------
    ValueError
        The parts of a source differ in dtype or in the shape of examples, or the sources of a
        split in the number of examples, or HDF5 has no such dtype. Nothing has been written then.
    OSError
        The disk has no room for the data. Nothing has been written then.

    Notes
    -----
    Every array is copied block by block; none is needed in memory as a whole.
    """
    # Only now: the tools import converters to list them, and h5py is slow to import.
    from fuel.storage.splits import create_split_array

    sources: dict[str, _Source] = {}
    splits: dict[str, None] = {}
    for entry in data:
        if len(entry) not in (3, 4) or not all(isinstance(name, str) for name in entry[:2]):
            raise ValueError('expected tuples (split, source, array) or (split, source, array, '
                             f'comment); got one of {len(entry)} entries that begins with '
                             f'{entry[:1]!r}')
        split, name, array = entry[:3]
        splits.setdefault(split)
        sources.setdefault(name, _Source(name)).add(split, array,
                                                    entry[3] if len(entry) == 4 else '')
    if not sources:
        raise ValueError('expected tuples (split, source, array); got none')
    where: dict[str, dict[str, tuple[Any, ...]]] = {}
    for split in splits:
        lengths = {name: source.length(split) for name, source in sources.items()
                   if split in source.parts}
        if len(set(lengths.values())) > 1:
            raise ValueError(f'the sources of split {split!r} differ in their numbers of '
                             'examples: ' + ', '.join(f'{name} has {length}' for name, length
                                                      in lengths.items()))
        where[split] = {}
    for name, source in sources.items():
        _check_storable(name, next(iter(source.arrays())).dtype)
    _check_space(h5file, sources.values())
    taken = [name for name in sources if name in h5file]
    if taken:
        raise ValueError(f'the file has something of the name {", ".join(taken)} already')
    for name, source in sources.items():
        # The same order of splits for every source: then rows of several sources still belong
        # together when splits are read as one.
        start = 0
        for split in splits:
            if split in source.parts:
                stop = start + source.length(split)
                where[split][name] = (start, stop, None, source.comment(split))
                start = stop
        _write(h5file, source, list(splits), start)
    h5file.attrs['split'] = create_split_array(where)


def _check_storable(name: str, dtype: Any) -> None:
    """Raise if HDF5 has nothing for a dtype."""
    import h5py

    try:
        h5py.h5t.py_create(dtype, logical=True)
    except TypeError:
        advice = ''
        if dtype.kind == 'U':
            advice = "; encode the strings first, as in numpy.char.encode(array, 'utf8')"
        elif dtype.kind == 'O':
            advice = '; store ragged data with h5py.vlen_dtype'
        raise ValueError(f'{name}: HDF5 cannot store arrays of dtype {dtype}{advice}') from None


def _bytes_per_example(source: _Source) -> int:
    first = next(iter(source.arrays()))
    return int(first.dtype.itemsize) * int(numpy.prod(first.shape[1:], dtype=numpy.int64))


def _check_space(h5file: Any, sources: Iterable[_Source]) -> None:
    """Raise if the disk has no room; HDF5 can crash on a disk that gets full."""
    if h5file.driver != 'sec2':
        return
    needed = sum(_bytes_per_example(source) * source.total()
                 for source in sources)
    folder = os.path.dirname(os.path.abspath(h5file.filename))
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(errno.ENOSPC, f'{os.strerror(errno.ENOSPC)}: {format_amount(needed, "B")} '
                      f'are needed, {format_amount(free, "B")} are free', folder)


def _write(h5file: Any, source: _Source, splits: list[str], length: int) -> None:
    """Write one source."""
    first = next(iter(source.arrays()))
    target = h5file.create_dataset(source.name, (length, *first.shape[1:]), dtype=first.dtype)
    # An element of an object array stands for data of a size that is not known here.
    row = 1 << 16 if first.dtype.kind == 'O' else max(1, _bytes_per_example(source))
    step = max(1, _BLOCK // row)
    start = 0
    for split in splits:
        for array in source.parts.get(split, ()):
            for offset in range(0, int(array.shape[0]), step):
                block = array[offset:offset + step]
                target[start:start + len(block)] = block
                start += len(block)
