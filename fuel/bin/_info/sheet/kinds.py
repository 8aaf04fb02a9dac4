"""What the sources of a file are: pictures, sounds, classes, sentences, numbers."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import h5py
import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Source

__all__ = ['IMAGE_MAGIC', 'kind_of', 'names_of', 'vocabulary_of']

#: How files of pictures begin.
IMAGE_MAGIC = (b'\xff\xd8\xff', b'\x89PNG\r\n', b'GIF8', b'BM', b'RIFF', b'II*\0', b'MM\0*')
_TARGETS = ('target', 'label', 'class')
# Numbers with no more values than this are taken for classes.
_MOST_CLASSES = 1000
_MOST_NUMBERED = 10000
_MOST_WORDS = 5 * 10 ** 6


def kind_of(source: Source, values: Any, names: Sequence[str], has_vocabulary: bool) -> str:
    """Say what a source is.

    Parameters
    ----------
    source : Source
        The source.
    values : ndarray
        Some of its rows, at least one.
    names : sequence of str
        Of classes or columns; empty if the file has none for it.
    has_vocabulary : bool
        Whether the file has a vocabulary.

    Returns
    -------
    str
        ``'picture'``, ``'encoded picture'``, ``'sound'``, ``'class'``, ``'marks'`` (several
        yes or no), ``'number'``, ``'vector'``, ``'list'`` (of numbers), ``'sentence'`` (ids of
        words, or of anything), ``'string'``, or ``'other'``.
    """
    if source.dtype.kind in 'SUO' or source.dtype.hasobject:
        return 'string'
    if source.dtype.kind not in 'biuf':
        return 'other'
    if {'height', 'width'} <= set(source.labels):
        return 'picture'
    if source.has_own_shapes:
        return _own_shapes(source, values, has_vocabulary)
    if 'time' in source.labels:
        return 'sentence' if _is_text(source, has_vocabulary) else 'sound'
    if source.size == 1:
        return 'class' if _are_classes(source, values, bool(names)) else 'number'
    if _looks_like_picture(source.shape):
        return 'picture'
    if len(source.shape) == 1 and _are_marks(source, values):
        return 'marks'
    if _is_text(source, has_vocabulary):
        return 'sentence'
    return 'vector' if source.size else 'other'


def _own_shapes(source: Source, values: Any, has_vocabulary: bool) -> str:
    if len(source.shape) == 1:
        if source.dtype == numpy.uint8 and any(
                value[:8].tobytes().startswith(IMAGE_MAGIC) for value in values[:8]):
            return 'encoded picture'
        if source.dtype.kind == 'f':
            return 'sound'
        # Samples of sound; numbers of words would have a vocabulary, or be wider.
        return 'sound' if source.dtype == numpy.int16 and 'time' in source.labels and (
            not has_vocabulary) else 'sentence'
    if 'time' in source.labels:
        return 'sound'
    if len(source.shape) == 2 and all(value.shape[1] == 1 for value in values[:8]):
        return 'list'
    return 'picture' if all(_looks_like_picture(value.shape) for value in values[:8]
                            if value.size) else 'other'


def _is_text(source: Source, has_vocabulary: bool) -> bool:
    return has_vocabulary and source.dtype.kind in 'iu' and len(source.shape) == 1


def _looks_like_picture(shape: Sequence[int | None]) -> bool:
    """Tell whether examples of a shape can be pictures, with channels first or last or without."""
    sizes = [size or 0 for size in shape]
    if len(sizes) == 2:
        return min(sizes) >= 8 and max(sizes) <= 16 * min(sizes)
    if len(sizes) == 4:             # the first picture of a film
        return 0 < sizes[0] <= 1000 and _looks_like_picture(sizes[1:])
    if len(sizes) == 3:
        return (sizes[0] in (1, 3, 4) and min(sizes[1:]) >= 4) or (
            sizes[2] in (1, 3, 4) and min(sizes[:2]) >= 4)
    return False


def _are_classes(source: Source, values: Any, have_names: bool) -> bool:
    flat = numpy.asarray(values).reshape(-1)
    called = any(word in source.name.lower() for word in _TARGETS) or source.labels == ('index',)
    if source.dtype.kind == 'f':
        return (called and bool(numpy.isfinite(flat).all()) and bool((flat == flat.round()).all())
                and len(numpy.unique(flat)) <= 100 and bool((abs(flat) < _MOST_NUMBERED).all()))
    if source.dtype.kind == 'b' or have_names:
        return True
    if flat.min() < 0 and not called:
        return False
    # Without a name that says so, there must be many examples of each.
    different = len(numpy.unique(flat))
    return bool(abs(flat.astype(numpy.float64)).max() < _MOST_NUMBERED) and (
        different <= _MOST_CLASSES if called else different <= min(60, max(2, len(flat) // 8)))


def _are_marks(source: Source, values: Any) -> bool:
    if source.dtype.kind == 'f' or source.size > 200:
        return False
    called = any(word in source.name.lower() for word in _TARGETS) or source.labels == ('target',)
    return (called or source.dtype.kind == 'b') and bool(numpy.isin(values, (0, 1)).all())


def names_of(h5file: h5py.File, source: str, is_only_target: bool = True) -> tuple[str, ...]:
    """Return the names of the classes or columns of a source; empty if the file has none.

    Parameters
    ----------
    h5file : h5py.File
        The file.
    source : str
        The name of the source.
    is_only_target : bool, optional
        Whether names that the file has for targets in general are meant for this source.
    """
    places: list[tuple[Any, Iterable[str]]] = [
        (h5file.get(source), ('target_names', 'class_names', 'category_names', 'categories',
                              'names', 'feature_names', 'column_names', 'columns', 'levels'))]
    roots = [f'{source}_names', f'{source}_categories', f'{source}_columns',
             f'{source.rstrip("s")}_names']
    if is_only_target:
        roots += ['target_names', 'class_names', 'label_names']
    for place, keys in places:
        if place is not None:
            for key in keys:
                found = _strings(place.attrs.get(key))
                if found:
                    return found
    for key in roots:
        found = _strings(h5file.get(key)) or _strings(h5file.attrs.get(key))
        if found:
            return found
    return ()


def vocabulary_of(h5file: h5py.File, source: str) -> tuple[str, ...]:
    """Return the words that the ids of a source stand for; empty if the file has none."""
    found = h5file.get(source)
    own = () if found is None else _strings(found.attrs.get('vocabulary'))
    words = own or _strings(h5file.get(f'{source}_vocabulary')) or _strings(
        h5file.get('vocabulary')) or _strings(h5file.attrs.get('vocabulary'))
    ids = h5file.get('vocabulary_ids')
    if not isinstance(ids, h5py.Dataset) or ids.shape != (len(words),) or not words:
        return words
    numbers = ids[...].tolist()
    if min(numbers) < 0 or max(numbers) > _MOST_WORDS:
        return words
    spaced = list(map(str, range(max(numbers) + 1)))
    for number, word in zip(numbers, words, strict=True):
        spaced[number] = word
    return tuple(spaced)


def _strings(stored: Any) -> tuple[str, ...]:
    """Return strings that are stored in a single axis; empty for everything else."""
    if isinstance(stored, h5py.Reference):
        return ()
    if isinstance(stored, h5py.Dataset):
        if stored.ndim != 1 or stored.dtype.kind not in 'SO' or stored.size > _MOST_WORDS:
            return ()
        stored = stored[...]
    if stored is None or isinstance(stored, (str, bytes, h5py.Group)):
        return ()
    array: AnyArray = numpy.asarray(stored)
    if array.ndim != 1 or array.dtype.kind not in 'SUO':
        return ()
    return tuple(value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)
                 for value in array.tolist())
