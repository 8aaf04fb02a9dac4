"""The files of ``fuel-convert text``, and the splits that their lines belong to."""
from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence

from fuel.converters._conversion.inputs import input_path
from fuel.converters._division.options import used_seed
from fuel.converters._division.own_files import own_file
from fuel.converters._division.shares import Shares, in_usual_order
from fuel.converters._texts.lines import Lot, Part, count_lines
from fuel.exceptions import ConversionError

__all__ = ['existing', 'files_by_split', 'parts_of']

logger = logging.getLogger(__name__)

# How files of other kinds begin, and what to do about them.
_NO_TEXTS = {
    b'\x93NUMPY': "an array of NumPy, which 'fuel-convert arrays' takes",
    b'PK\x03\x04': 'a zip archive, as .npz, .docx and .xlsx files are',
    b'\x89HDF\r\n': "an HDF5 file, which needs no conversion: see 'fuel-info'",
    b'\x89PNG\r\n': "a picture, of which 'fuel-convert images' takes folders",
    b'\xff\xd8\xff': "a picture, of which 'fuel-convert images' takes folders",
    b'%PDF-': 'a PDF file; take the text out of it first',
    b'PAR1': "a Parquet file, which 'fuel-convert table' takes",
}


def existing(directory: str, name: str) -> str:
    """Return the path of an input file, after having it noted.

    Raises
    ------
    DataFileNotFoundError
        It is not there.
    ConversionError
        It is a folder, or something else that cannot be read twice.
    """
    path = os.path.join(directory, name)
    if os.path.isdir(path):
        raise ConversionError(f'{path} is a folder; name the files in it, as in '
                              f'{os.path.join(name, "*.txt")}')
    own_file(directory, name)
    return input_path(directory, name)


def _text(directory: str, name: str) -> str:
    """Return the path of a text, after a look at how it begins."""
    path = existing(directory, name)
    with open(path, 'rb') as stream:
        begins = stream.read(max(map(len, _NO_TEXTS)))
    for magic, kind in _NO_TEXTS.items():
        if begins.startswith(magic):
            raise ConversionError(f'{path}: expected a text; this is {kind}')
    return path


def files_by_split(directory: str, files: Sequence[str],
                   splits: Mapping[str, Sequence[str]], shares: Shares) -> dict[str, list[str]]:
    """Return the paths of the files of every split, in the order in which splits are written.

    Raises
    ------
    ConversionError
        There are no files, one is of another kind, or a split is made in two ways.
    DataFileNotFoundError
        A file is not there.
    """
    names = {name: list(of_split) for name, of_split in splits.items()}
    if files:
        if 'train' in names:
            raise ConversionError('expected the files of the split train in one place; got '
                                  f'{files[0]}, and {names["train"][0]} with --split train=')
        names['train'] = list(files)
    if not any(names.values()):
        raise ConversionError('expected texts, such as in fuel-convert text novel.txt; got none')
    if shares and not files:
        raise ConversionError('expected files to choose lines from by lot; got only those of '
                              '--split. Name the files before --split')
    for name in shares.parts():
        if name in names:
            raise ConversionError(f'expected the split {name} to be made in one way; got files '
                                  f'with --split {name}=, and --{name}-fraction')
    paths = {name: [_text(directory, file) for file in names[name]]
             for name in in_usual_order(list(names))}
    seen: dict[str, str] = {}
    for name, of_split in paths.items():
        for path in of_split:
            if seen.setdefault(path, name) != name:
                logger.warning('%s is in the splits %s and %s', path, seen[path], name)
    return paths


def parts_of(paths: Mapping[str, Sequence[str]], shares: Shares, encoding: str | None,
             seed: int | None) -> list[Part]:
    """Return the splits, in the order in which they are written.

    Parameters
    ----------
    paths : mapping
        From splits to the paths of their files.
    shares : Shares
        What is taken out of ``train`` by lot.
    encoding : str or None
        Of the files.
    seed : int or None
        Of the lot.

    Raises
    ------
    ConversionError
        There are too few lines; or as for `count_lines`.
    """
    if not shares:
        return [Part(name, of_split) for name, of_split in paths.items()]
    train = paths['train']
    lot = Lot.of_shares(count_lines(train, encoding), shares, used_seed(seed))
    return [Part(name, train, lot) if name == 'train' or name in shares.parts()
            else Part(name, paths[name])
            for name in in_usual_order([*paths, *shares.parts()])]
