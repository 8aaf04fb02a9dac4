"""The pictures of the archives: where each lies, and which label it has."""
from __future__ import annotations

import logging
import posixpath
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy
import numpy.typing as npt

from fuel.converters._imagenet.devkit import Classes
from fuel.converters._imagenet.tar_index import Entry, entries
from fuel.exceptions import ConversionError

__all__ = ['Pictures', 'find_patches', 'find_pictures', 'find_training_pictures', 'patched']

logger = logging.getLogger(__name__)

_PICTURES = ('.jpeg', '.jpg', '.png')
# Pictures are held in memory one by one; the largest of ImageNet has 15 MB.
_LARGEST = 1 << 28
# All names have the room of the longest, which is less than this on every disk.
_LONGEST_NAME = 255
# Folders in the archive of patches.
_FOLDERS = {'train': 'train', 'val': 'valid', 'valid': 'valid', 'test': 'test'}


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of an archive, in the order in which they lie in it.

    Attributes
    ----------
    archive : str
        The path of the archive.
    names : ndarray of bytes, shape (n,)
        Their names, without folders.
    offsets, sizes : ndarray of int64, shape (n,)
        Where their bytes are.
    ranks : ndarray of int64, shape (n,)
        Which place each has by its name, among all of them or among those of its class.
    labels : ndarray of int16, shape (n,), or None
        Their classes, from 0; `None` where they are not known.
    patches : mapping
        Pictures whose bytes are elsewhere: maps places in the arrays to offsets in `patch_archive`.
    patch_archive : str
        Where those are.
    """

    archive: str
    names: npt.NDArray[numpy.bytes_]
    offsets: npt.NDArray[numpy.int64]
    sizes: npt.NDArray[numpy.int64]
    ranks: npt.NDArray[numpy.int64]
    labels: npt.NDArray[numpy.int16] | None = None
    patches: Mapping[int, int] | None = None
    patch_archive: str = ''

    def __len__(self) -> int:
        return len(self.names)


def _only_pictures(archive: str, found: Iterable[Entry]) -> Iterator[Entry]:
    """Leave out what by its name is no picture, and say so once."""
    others = []
    for entry in found:
        if not entry.name.lower().endswith(_PICTURES):
            others.append(entry.name)
        elif entry.size > _LARGEST:
            raise ConversionError(f'{archive}: expected pictures of at most {_LARGEST} bytes; the '
                                  f'member {entry.name!r} has {entry.size}')
        elif len(posixpath.basename(entry.name)) > _LONGEST_NAME:
            raise ConversionError(f'{archive}: expected names of pictures of at most '
                                  f'{_LONGEST_NAME} letters; got one of {len(entry.name)}, '
                                  f'{entry.name[:80]!r}')
        else:
            yield entry
    _warn_of_others(archive, others, 'pictures')


def _warn_of_others(archive: str, others: list[str], expected: str) -> None:
    if others:
        logger.warning('%s: left out %d members that are no %s, such as %r', archive, len(others),
                       expected, others[0])


class _Collected:
    """Names and places of pictures, while they become known.

    They lie in a few pieces of memory that grow. Many small ones would leave gaps between them,
    which for a million pictures take as much once more.
    """

    def __init__(self) -> None:
        self._width = 32
        self._names = bytearray()
        self._offsets, self._sizes, self._ranks = array('q'), array('q'), array('q')

    def __len__(self) -> int:
        return len(self._ranks)

    def add(self, archive: str, found: Iterable[Entry]) -> int:
        """Take the pictures of an archive; return how many there are.

        Raises
        ------
        ConversionError
            Two have the same name.
        """
        start = len(self)
        names: list[bytes] = []
        for entry in found:
            names.append(posixpath.basename(entry.name).encode('utf-8', 'surrogateescape'))
            self._offsets.append(entry.offset)
            self._sizes.append(entry.size)
        if not names:
            return 0
        column = numpy.array(names)
        order = numpy.argsort(column, kind='stable')
        twice = numpy.flatnonzero(column[order[1:]] == column[order[:-1]])
        if len(twice):
            raise ConversionError(f'{archive}: expected every picture once; got the name '
                                  f'{names[order[twice[0]]].decode("utf-8", "replace")!r} twice')
        ranks = numpy.empty(len(names), dtype='int64')
        ranks[order] = numpy.arange(start, start + len(names))
        self._ranks.frombytes(ranks.tobytes())
        if column.dtype.itemsize > self._width:
            wider = self._column().astype(column.dtype)
            self._names, self._width = bytearray(wider.tobytes()), wider.dtype.itemsize
        self._names += column.astype(f'S{self._width}').tobytes()
        return len(names)

    def _column(self) -> npt.NDArray[numpy.bytes_]:
        return numpy.frombuffer(self._names, dtype=f'S{self._width}')

    def pictures(self, archive: str, labels: npt.NDArray[numpy.int16] | None = None) -> Pictures:
        """Return what was collected.

        Raises
        ------
        ConversionError
            That is nothing.
        """
        if not len(self):
            raise ConversionError(f'{archive}: expected pictures, with names that end in '
                                  f'{", ".join(_PICTURES)}; the archive has none')
        offsets, sizes, ranks = (numpy.frombuffer(column, dtype='int64')
                                 for column in (self._offsets, self._sizes, self._ranks))
        return Pictures(archive, self._column(), offsets, sizes, ranks, labels)


def find_training_pictures(path: str, classes: Classes) -> Pictures:
    """Find the pictures of the archive that holds an archive for each class.

    Parameters
    ----------
    path : str
        The archive. Its members are called after the classes, such as ``n01440764.tar``.
    classes : Classes
        The classes that there are.

    Returns
    -------
    Pictures
        Ranked by the place of the class in the archive, then by name. A warning is logged if there
        are more or less pictures than the classes are said to have.

    Raises
    ------
    ConversionError
        An archive is damaged, has no pictures, or is not that of a class.
    """
    of_class = classes.labels()
    collected = _Collected()
    labels: list[npt.NDArray[numpy.int16]] = []
    seen: dict[str, str] = {}
    others = []
    with open(path, 'rb', buffering=0) as stream:
        for member in entries(stream, path, 0, stream.seek(0, 2)):
            wnid, kind = posixpath.splitext(posixpath.basename(member.name))
            if kind != '.tar':
                others.append(member.name)
                continue
            if wnid not in of_class or wnid in seen:
                raise ConversionError(
                    f'{path}: the member {member.name!r} is '
                    + ('there twice' if wnid in seen else 'that of no class: expected the WNID of '
                       f'one of the {len(of_class)} classes of the development kit, such as '
                       f'{classes.wnids[0]}.tar'))
            inner = seen[wnid] = f'{path}: {member.name}'
            found = entries(stream, inner, member.offset, member.offset + member.size)
            count = collected.add(inner, _only_pictures(inner, found))
            labels.append(numpy.full(count, of_class[wnid], dtype='int16'))
    _warn_of_others(path, others, 'archives of a class')
    pictures = collected.pictures(path, numpy.concatenate([*labels, numpy.empty(0, dtype='int16')]))
    if (len(seen), len(pictures)) != (len(of_class), classes.num_train_images):
        logger.warning('%s: by the development kit there are %d training pictures of %d classes; '
                       'this archive has %d of %d', path, classes.num_train_images, len(of_class),
                       len(pictures), len(seen))
    return pictures


def find_pictures(path: str, labels: npt.NDArray[numpy.int16] | None = None, truth: str = ''
                  ) -> Pictures:
    """Find the pictures of an archive that has nothing else.

    Parameters
    ----------
    path : str
        The archive.
    labels : ndarray of int16, optional
        The labels of the pictures in the order of their names.
    truth : str, optional
        Where those were read.

    Raises
    ------
    ConversionError
        The archive is damaged, has no pictures, or not as many as there are labels.
    """
    collected = _Collected()
    with open(path, 'rb', buffering=0) as stream:
        collected.add(path, _only_pictures(path, entries(stream, path, 0, stream.seek(0, 2))))
    pictures = collected.pictures(path)
    if labels is None:
        return pictures
    if len(labels) != len(pictures):
        raise ConversionError(f'{truth}: expected a line for each of the {len(pictures)} pictures '
                              f'of {path}; got {len(labels)}. They are not of one challenge, or '
                              'one of them is cut off')
    return replace(pictures, labels=labels[pictures.ranks])


def find_patches(path: str) -> dict[str, dict[bytes, Entry]]:
    """Find the pictures of an archive that are to replace damaged ones.

    Parameters
    ----------
    path : str
        The archive. Its pictures lie in folders ``train``, ``val`` and ``test``.

    Returns
    -------
    dict
        Maps 'train', 'valid' and 'test' to dictionaries from the names of pictures to their
        places.

    Raises
    ------
    ConversionError
        The archive is damaged.
    """
    found: dict[str, dict[bytes, Entry]] = {'train': {}, 'valid': {}, 'test': {}}
    others = []
    with open(path, 'rb', buffering=0) as stream:
        for entry in _only_pictures(path, entries(stream, path, 0, stream.seek(0, 2))):
            folder, name = posixpath.split(entry.name)
            split = _FOLDERS.get(posixpath.basename(folder))
            if split is None:
                others.append(entry.name)
            else:
                found[split][name.encode('utf-8', 'surrogateescape')] = entry
    _warn_of_others(path, others, f'pictures in one of the folders {", ".join(_FOLDERS)}')
    return found


def patched(pictures: Pictures, patches: Mapping[bytes, Entry], archive: str) -> Pictures:
    """Return pictures with those replaced of which there is a better one.

    Parameters
    ----------
    pictures : Pictures
        The pictures of a split.
    patches : mapping
        Maps names to places in `archive`.
    archive : str
        The archive of the better ones.
    """
    names = numpy.array(sorted(patches), dtype=bytes)
    places: dict[int, int] = {}
    sizes = pictures.sizes.copy()
    for place in numpy.flatnonzero(numpy.isin(pictures.names, names)).tolist():
        entry = patches[bytes(pictures.names[place])]
        places[place] = entry.offset
        sizes[place] = entry.size
    unused = set(patches) - {bytes(pictures.names[place]) for place in places}
    if unused:
        logger.warning('%s: %d pictures replace none of %s, such as %r', archive, len(unused),
                       pictures.archive, min(unused).decode('utf-8', 'replace'))
    return replace(pictures, sizes=sizes, patches=places, patch_archive=archive)
