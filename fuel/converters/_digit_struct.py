"""Bounding boxes of the Street View House Numbers, as a file ``digitStruct.mat`` has them.

It is a MATLAB file of version 7.3, which is HDF5. ``/digitStruct/name`` and ``/digitStruct/bbox``
have a reference for each picture: to its name, in the codes of its letters, and to a group. That
has the data sets ``label``, ``height``, ``width``, ``left`` and ``top``. For one digit each of
them is a number; for several ones it has a reference to a number for each.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.exceptions import ConversionError

__all__ = ['ATTRIBUTES', 'Boxes', 'Part', 'count_pictures', 'read_boxes']

#: What a bounding box has, in the order of the rows of `Boxes.values`.
ATTRIBUTES = ('label', 'height', 'width', 'left', 'top')
_LONGEST_NAME, _MOST_BOXES = 256, 4096
_LARGEST = 65535            # they are kept in two bytes


@dataclass(frozen=True, slots=True)
class Boxes:
    """The digits of one picture.

    Attributes
    ----------
    name : str
        That of the picture.
    values : numpy.ndarray, shape (5, digits), uint16
        The digit, and height, width, left and top edge of its bounding box in pixels.
    """

    name: str
    values: AnyArray


@dataclass(frozen=True, slots=True)
class Part:
    """Pictures that follow each other in a file.

    Parameters
    ----------
    path : str
        The file.
    where : str
        What to call it in messages.
    start, stop : int
        Its pictures from `start` on, up to the one before `stop`.
    """

    path: str
    where: str
    start: int
    stop: int


def _open(path: str, where: str) -> Any:
    import h5py

    try:
        return h5py.File(path, 'r', locking=False)
    except OSError as error:
        raise ConversionError(f'{where}: expected a MATLAB file of version 7.3, which is HDF5; '
                              f'it cannot be read: {error}. Download the archive again') from error


def count_pictures(path: str, where: str) -> int:
    """Return how many pictures a file describes.

    Parameters
    ----------
    path : str
        The file.
    where : str
        What to call it in messages.

    Raises
    ------
    ConversionError
        It is no HDF5 file, or does not describe pictures.
    """
    with _open(path, where) as h5file:
        shapes = {name: getattr(h5file.get(f'digitStruct/{name}'), 'shape', None)
                  for name in ('name', 'bbox')}
        shape = shapes['name']
        if shape is None or shapes['bbox'] != shape or len(shape) != 2 or shape[1] != 1:
            raise ConversionError(
                f'{where}: expected the data sets /digitStruct/name and /digitStruct/bbox, with a '
                f'row for each picture; their shapes are {shape} and {shapes["bbox"]}')
        return int(shape[0])


def read_boxes(part: Part) -> list[Boxes]:
    """Read the bounding boxes of some pictures; in a worker process.

    Parameters
    ----------
    part : Part
        Which ones.

    Raises
    ------
    ConversionError
        One of them is not described as expected; the message says which.
    """
    with _open(part.path, part.where) as h5file:
        reader = _Reader(h5file)
        found: list[Boxes] = []
        try:
            names, boxes = (h5file[f'digitStruct/{name}'][part.start:part.stop, 0]
                            for name in ('name', 'bbox'))
            for name, of_picture in zip(names, boxes, strict=True):
                found.append(Boxes(reader.name(name), reader.boxes(of_picture)))
        # Whatever h5py raises for references that lead nowhere or to something else.
        except (ValueError, TypeError, KeyError, AttributeError, OSError, RuntimeError) as error:
            raise ConversionError(f'{part.where}, picture {part.start + len(found) + 1}: {error}'
                                  ) from error
        return found


class _Reader:
    """Follows references.

    Millions of them have to be followed, so that this asks HDF5 for no more than it must: h5py's
    objects for data sets, or only their dtypes, would take several times as long.

    Parameters
    ----------
    h5file : h5py.File
        The file.
    """

    def __init__(self, h5file: Any) -> None:
        from h5py import h5d, h5r, h5s, h5t, ref_dtype

        self._file = h5file.id
        self._dereference, self._open = h5r.dereference, h5d.open
        self._everything, self._one = h5s.ALL, h5s.create_simple((1, 1))
        self._plane = h5s.create_simple
        self._number_type, self._reference_dtype = h5t.NATIVE_DOUBLE, ref_dtype
        self._number = numpy.empty((1, 1))

    def name(self, reference: Any) -> str:
        """Return the name of a picture."""
        dataset = self._dereference(reference, self._file)
        codes = numpy.empty((_rows(dataset, _LONGEST_NAME, 'a name'), 1), 'uint16')
        dataset.read(self._everything, self._everything, codes)
        return ''.join(map(chr, codes[:, 0].tolist()))

    def boxes(self, reference: Any) -> AnyArray:
        """Return the digits of a picture, as in `Boxes`."""
        group = self._dereference(reference, self._file)
        columns = [self._open(group, name.encode()) for name in ATTRIBUTES]
        count = _rows(columns[0], _MOST_BOXES, 'labels')
        values = numpy.empty((len(columns), count))
        for name, row, column in zip(ATTRIBUTES, values, columns, strict=True):
            # HDF5 would fill the room that there is from the beginning of a longer column.
            if column.shape != (count, 1):
                raise ConversionError(f'expected {count} values of {name}, one for each label; got '
                                      f'the shape {column.shape}')
            if count == 1:
                row[0] = self._value(column)
                continue
            references = numpy.empty((count, 1), self._reference_dtype)
            column.read(self._plane(references.shape), self._everything, references)
            for place, of_value in enumerate(references[:, 0].tolist()):
                row[place] = self._value(self._dereference(of_value, self._file))
        return _checked(values)

    def _value(self, dataset: Any) -> float:
        """Return the one number in a data set."""
        dataset.read(self._one, self._everything, self._number, self._number_type)
        return float(self._number[0, 0])


def _rows(dataset: Any, most: int, what: str) -> int:
    """Return how many rows a data set has, which should have one column."""
    shape = dataset.shape
    if len(shape) != 2 or shape[1] != 1 or not 0 < shape[0] <= most:
        raise ConversionError(f'expected {what} in a column of at most {most} rows; got the shape '
                              f'{shape}')
    return int(shape[0])


def _checked(values: AnyArray) -> AnyArray:
    """Return the values of bounding boxes as they are stored."""
    labels = values[0]
    if labels.min() < 1 or labels.max() > 10 or (labels % 1).any():
        raise ConversionError('expected labels from 1 to 10, which stands for the digit 0; got '
                              f'{labels.tolist()}')
    # Also where one is not a number.
    if not (abs(values) <= _LARGEST).all() or (values % 1).any():
        for name, row in zip(ATTRIBUTES, values, strict=True):
            for value in row.tolist():
                if not abs(value) <= _LARGEST or value % 1:
                    raise ConversionError(f'expected whole numbers up to {_LARGEST} for {name}; '
                                          f'got {value:g}')
    labels[labels == 10] = 0
    # Some boxes begin left of the picture or above it.
    return values.clip(0).astype('uint16')
