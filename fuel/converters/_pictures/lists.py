"""Lists that belong to a folder of pictures: text files of names and what is said of each."""
from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from fuel.converters._division.names import stored_text
from fuel.converters._division.own_files import own_file
from fuel.converters._tables.delimited import delimiter_of, rows_of, unnamed
from fuel.converters._tables.survey import MISSING_WORDS
from fuel.exceptions import ConversionError

__all__ = ['PictureList', 'read_list']

_AMBIGUOUS = -1


@dataclass(frozen=True, slots=True)
class PictureList:
    """What a list says of pictures.

    Attributes
    ----------
    path : str
        The list.
    columns : list of str
        The names of the columns, without the first one, of the file names.
    values : list
        What stands in these columns for each picture; `None` for those that are not in the list.
    lines : list of int
        The number of its line for each of them; 0 for those that are not.
    """

    path: str
    columns: list[str]
    values: list[list[str] | None]
    lines: list[int]


def _key(name: str) -> str:
    """Return a name as it is compared: the same letter can be written in two ways."""
    plain = unicodedata.normalize('NFC', stored_text(name)).replace('\\', '/')
    return plain.removeprefix('./')


def _names(pictures: Sequence[str]) -> dict[str, int]:
    """Map what a picture can be called to its number, or to `_AMBIGUOUS`."""
    numbers: dict[str, int] = {}
    # A full path is never taken for the short name of another picture.
    for with_folders, with_ending in ((True, True), (True, False), (False, True), (False, False)):
        found: dict[str, int] = {}
        for number, path in enumerate(pictures):
            name = path if with_folders else os.path.basename(path)
            key = _key(name if with_ending else os.path.splitext(name)[0])
            found[key] = number if found.get(key, number) == number else _AMBIGUOUS
        numbers = {**found, **numbers}
    return numbers


def read_list(directory: str, name: str, folder: str, pictures: Sequence[str],
              encoding: str = 'utf-8') -> PictureList:
    """Read a list of pictures.

    Parameters
    ----------
    directory, name : str
        Where to find a text file as `rows_of` reads it. The first line has the names of the
        columns. The first column has file names: paths from the folder on, or less of them where
        that tells which picture is meant: the ending and the folders may be missing.
    folder : str
        The folder of the pictures, for messages.
    pictures : sequence of str
        The paths of the pictures from the folder on.
    encoding : str, optional
        Of the text.

    Raises
    ------
    DataFileNotFoundError
        There is no such file. A ``FileNotFoundError``.
    ConversionError
        It is not like that, names what is no picture of the folder, or a picture twice; or one
        of `MISSING_WORDS` stands in place of a value. The message names file and line.
    """
    path = own_file(directory, name)
    rows = rows_of(path, delimiter_of(path, encoding), encoding)
    header = next(rows, None)
    if header is None or len(header[1]) < 2:
        raise ConversionError(f'{path}, line 1: expected at least two columns, the first for file '
                              'names, with their names in the first line; got '
                              + ('nothing' if header is None else repr(header[1][0])))
    names = unnamed(path, header[1])
    numbers = _names(pictures)
    if _key(header[1][0]) in numbers:
        raise ConversionError(f'{path}, line 1: expected the names of the columns, such as '
                              f'file,label; got the picture {header[1][0]!r}')
    result = PictureList(path, names[1:], [None] * len(pictures), [0] * len(pictures))
    for line, (picture, *values) in rows:
        number = numbers.get(_key(picture))
        if number is None or number == _AMBIGUOUS:
            raise ConversionError(
                f'{path}, line {line}: expected the name of a picture in {folder}, such as '
                f'{pictures[0]!r}; ' + (f'there is no {picture!r}' if number is None else
                                        f'{picture!r} can be several: name its folder and ending'))
        if result.lines[number]:
            raise ConversionError(f'{path}, line {line}: expected each picture once; {picture!r} '
                                  f'is in line {result.lines[number]} too')
        for column, value in zip(names[1:], values, strict=True):
            if value in MISSING_WORDS:
                raise ConversionError(
                    f'{path}, line {line}: the value of the column {column!r} is missing: '
                    f'{value!r}. Remove the line to leave the picture {picture!r} out')
        result.values[number], result.lines[number] = values, line
    return result
