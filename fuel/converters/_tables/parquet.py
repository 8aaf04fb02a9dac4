"""Tables in Parquet files, read by the package pyarrow."""
from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy

from fuel.converters._conversion.inputs import note_input
from fuel.converters._division.names import check_text
from fuel.converters._tables.reading import Block, Numbers, Values
from fuel.exceptions import ConversionError

__all__ = ['ParquetTable']

# Values that are taken into memory at a time.
_BLOCK_VALUES = 1 << 17


class ParquetTable:
    """A table in a Parquet file.

    Parameters
    ----------
    path : str
        The file. It is noted as an input of the conversion.

    Raises
    ------
    ConversionError
        It is no Parquet file, two columns have the same name, or pyarrow is not installed.
    """

    place = 'row'

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._parquet = importlib.import_module('pyarrow.parquet')
        except ImportError:
            raise ConversionError(f'{path}: Parquet files are read by the package pyarrow, which '
                                  "is not installed: pip install 'fuel[parquet]'") from None
        note_input(path)
        with self._opened() as file:
            try:
                self.names = list(file.schema_arrow.names)
            except Exception as error:
                raise self._problem(error) from error
        for name in self.names:
            check_text(name, f'{path}: the name of a column')
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise ConversionError(f'{path}: expected names of columns that differ; got '
                                  f'{", ".join(map(repr, twice))} more than once')

    def _opened(self) -> Any:
        try:
            return self._parquet.ParquetFile(self.path)
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._problem(error) from error

    def _problem(self, error: Exception) -> ConversionError:
        return ConversionError(f'{self.path} cannot be read as a Parquet file: {error}')

    def blocks(self) -> Iterator[Block]:
        """Read the table from its first row to its last.

        Raises
        ------
        ConversionError
            The file is damaged.
        """
        first = 1
        with self._opened() as file:
            batches = file.iter_batches(batch_size=max(1, _BLOCK_VALUES // max(1, len(self.names))))
            while True:
                try:
                    batch = next(batches, None)
                except Exception as error:
                    raise self._problem(error) from error
                if batch is None:
                    return
                rows = batch.num_rows
                try:
                    columns = [_values(column) for column in batch.columns]
                except Exception as error:
                    raise self._problem(error) from error
                yield Block(range(first, first + rows), columns)
                first += rows


def _values(column: Any) -> Values:
    """Return the values of a column; those of other types than numbers as texts."""
    types = importlib.import_module('pyarrow').types
    kind = column.type
    missing = numpy.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    whole = types.is_integer(kind) or types.is_boolean(kind)
    if whole or types.is_floating(kind):
        if types.is_boolean(kind):
            column = column.cast('int8')
        numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
        # As a column, so that all blocks have the same: only the largest numbers need uint64.
        numbers = numbers.astype(numpy.float64 if not whole else
                                 numbers.dtype if numbers.dtype == 'uint64' else numpy.int64)
        if numbers.dtype.kind == 'f':
            missing |= numpy.isnan(numbers)
        return Numbers(numbers, missing)
    return ['' if value is None else str(value).strip() for value in column.to_pylist()]
