"""Conversion of the Adult data set."""
from __future__ import annotations

import math
import os
from argparse import ArgumentParser
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy
import numpy.typing as npt

from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file
from fuel.exceptions import ConversionError

__all__ = ['convert_adult', 'fill_subparser']

#: For every split: its file, and how many examples without gaps the data set has.
SPLITS = {'train': ('adult.data', 30162), 'test': ('adult.test', 15060)}
ALL_FILES = [name for name, _ in SPLITS.values()]
#: The variables, in the order in which a line has them, and whether they are numbers.
VARIABLES = {'age': True, 'workclass': False, 'fnlwgt': True, 'education': False,
             'education-num': True, 'marital-status': False, 'occupation': False,
             'relationship': False, 'race': False, 'sex': False, 'capital-gain': True,
             'capital-loss': True, 'hours-per-week': True, 'native-country': False}
#: What stands at the end of a line; in the test file a full stop follows.
TARGETS = {'<=50K': False, '>50K': True}
AXIS_LABELS = {'features': ('batch', 'feature'), 'targets': ('batch', 'index')}

_BLOCK_ROWS = 2048


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of Adult.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert adult``.

    Returns
    -------
    callable
        `convert_adult`.
    """
    add_storage_options(subparser)
    return convert_adult


@check_exists(required_files=ALL_FILES)
def convert_adult(directory: str, output_directory: str, output_filename: str = 'adult.hdf5',
                  **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the Adult data set to HDF5.

    Parameters
    ----------
    directory : str
        Where ``adult.data`` and ``adult.test`` lie.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (45222, 104), float64, and
        ``targets``, shape (45222, 1), bool: whether somebody earns more than 50000 dollars a
        year. Split ``train`` has the 30162 complete lines of the first file, split ``test`` the
        15060 of the second.

    Raises
    ------
    MissingInputFiles
        A raw file is not there.
    ConversionError
        A line does not have the form expected, or a file has no complete line; the message names
        file and line.

    Notes
    -----
    Variables stand in the order in which a line has them. A numeric one is a column, as it is.
    Any other is a column for each of its values in either file, in the order of the alphabet,
    with 1 for that value and 0 for others. Lines with a question mark, which stands for an unknown
    value, are left out.

    The names of the columns, such as ``age`` or ``sex=Female``, are kept as the attribute
    ``feature_names`` of ``features``; what a target of 0 and of 1 means as the attribute
    ``target_names`` of ``targets``.
    """
    with new_file(output_directory, output_filename) as h5file:
        tables = {}
        for split, (name, known) in SPLITS.items():
            path = os.path.join(directory, name)
            tables[split] = _read(path)
            expect_count(path, f'complete examples for split {split!r}',
                         len(tables[split].targets), known)
        values = {name: sorted(set().union(*(table.codes[name] for table in tables.values())))
                  for name, numeric in VARIABLES.items() if not numeric}
        data: list[tuple[str, str, Any]] = []
        for split, table in tables.items():
            data += [(split, 'features', Streamed(table.blocks(values), len(table.targets))),
                     (split, 'targets', numpy.array(table.targets, dtype=bool)[:, None])]
        fill_hdf5_file(h5file, data, axis_labels=AXIS_LABELS, **storage)
        _keep_names(h5file, values)
    return (os.path.join(output_directory, output_filename),)


@dataclass(slots=True)
class _Table:
    """The complete lines of a file, by variable.

    Attributes
    ----------
    columns : dict
        Maps variables to numbers; for those that are no numbers, to the codes of their values.
    codes : dict
        Maps the other variables to their values and these to codes, in the order of the lines.
    targets : array
        Whether each earns more than 50000 dollars.
    """

    columns: dict[str, array[Any]] = field(default_factory=lambda: {
        name: array('d' if numeric else 'l') for name, numeric in VARIABLES.items()})
    codes: dict[str, dict[str, int]] = field(default_factory=lambda: {
        name: {} for name, numeric in VARIABLES.items() if not numeric})
    targets: array[int] = field(default_factory=lambda: array('b'))

    def blocks(self, values: Mapping[str, list[str]]) -> Iterator[npt.NDArray[numpy.float64]]:
        """Yield the features, with a column for each of the values given."""
        places = {name: numpy.array([values[name].index(value) for value in codes])
                  for name, codes in self.codes.items()}
        width = sum(len(values[name]) if name in values else 1 for name in VARIABLES)
        for start in range(0, len(self.targets), _BLOCK_ROWS):
            rows = slice(start, min(start + _BLOCK_ROWS, len(self.targets)))
            block = numpy.zeros((rows.stop - start, width))
            first = 0
            for name, column in self.columns.items():
                part = numpy.array(column[rows])
                if name in values:
                    block[numpy.arange(len(part)), first + places[name][part]] = 1
                    first += len(values[name])
                else:
                    block[:, first] = part
                    first += 1
            yield block


def _read(path: str) -> _Table:
    """Read the complete lines of a file."""
    table = _Table()
    with open_input(path) as stream:
        for number, content in enumerate(stream, start=1):
            line = content.decode('utf-8', 'replace').strip()
            # The test file has a heading, which begins with a stroke; both end in an empty line.
            if line and not line.startswith('|') and '?' not in line:
                _add(table, line, f'{path}, line {number}')
    if not table.targets:
        raise ConversionError(f'{path}: expected at least one line without unknown values; there '
                              'is none')
    return table


def _add(table: _Table, line: str, where: str) -> None:
    """Take a line into a table."""
    *texts, target = [text.strip() for text in line.split(',')]
    if len(texts) != len(VARIABLES) or target.removesuffix('.') not in TARGETS:
        raise ConversionError(f'{where}: expected {len(VARIABLES)} values and one of '
                              f'{", ".join(TARGETS)}, divided by commas; got {line[:80]!r}')
    for (name, numeric), text in zip(VARIABLES.items(), texts, strict=True):
        if numeric:
            table.columns[name].append(_number(text, f'{where}: expected {name}'))
        elif text:
            codes = table.codes[name]
            table.columns[name].append(codes.setdefault(text, len(codes)))
        else:
            raise ConversionError(f'{where}: expected {name}; got nothing')
    table.targets.append(TARGETS[target.removesuffix('.')])


def _number(text: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConversionError(f'{expected} to be a number; got {text[:40]!r}')
    return value


def _keep_names(h5file: Any, values: Mapping[str, list[str]]) -> None:
    """Note what the columns are called."""
    import h5py

    names = [f'{name}={value}' if name in values else name
             for name in VARIABLES for value in values.get(name, [''])]
    h5file['features'].attrs.create('feature_names', names, dtype=h5py.string_dtype())
    h5file['targets'].attrs.create('target_names', list(TARGETS), dtype=h5py.string_dtype())
