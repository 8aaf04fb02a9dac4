"""Lines of text as numbers, in blocks, and what is known of them before they are written."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.converters._division.names import plural
from fuel.converters._texts.counts import TokenCounts
from fuel.converters._texts.lines import Part, lines_of
from fuel.datasets._text_file import TextFile
from fuel.exceptions import ConversionError
from fuel.utils.progress import progress_bar

__all__ = ['Manner', 'Size', 'Tally', 'blocks_of', 'measure']

#: Lines and tokens that are dealt with at a time.
_LINES, _TOKENS = 4096, 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a line becomes numbers; all is as for `TextFile`.

    Parameters
    ----------
    level : {'word', 'character'}
        What it is divided into.
    lower : bool
        Whether letters are made small before.
    encoding : str or None
        Of the files.
    bos, eos, unk : str or None
        The special tokens.

    Raises
    ------
    ConversionError
        There is no such level or encoding.
    """

    level: str
    lower: bool
    encoding: str | None
    bos: str | None
    eos: str | None
    unk: str | None

    def __post_init__(self) -> None:
        try:
            TextFile(['text'], {}, None, None, None, self.level, encoding=self.encoding)
        except ValueError as error:
            raise ConversionError(str(error).removeprefix('TextFile: ')) from None

    def tokens(self, line: str) -> Sequence[str]:
        """Return what a line is divided into; characters are left in one piece."""
        if self.lower:
            line = line.lower()
        return line.split() if self.level == 'word' else line.strip()

    def encoder(self, files: Sequence[str], dictionary: dict[str, int]) -> TextFile:
        """Return what gives numbers to lines."""
        return TextFile(files, dictionary, self.bos, self.eos, self.unk, self.level,
                        str.lower if self.lower else None, self.encoding)

    def attributes(self) -> dict[str, Any]:
        """Return what is kept in the file, so that more text can become numbers alike."""
        return {'bos_token': self.bos, 'eos_token': self.eos, 'unk_token': self.unk,
                'level': self.level, 'lower': self.lower}


@dataclass(frozen=True, slots=True)
class Size:
    """How many lines a split has, and how many numbers these become."""

    lines: int
    values: int


class Tally:
    """Counts how often numbers occur.

    Parameters
    ----------
    ids : array of int64, shape (tokens,)
        The numbers that there are, in ascending order. Two tokens may have the same.
    """

    def __init__(self, ids: AnyArray) -> None:
        self._kinds, positions = numpy.unique(ids, return_inverse=True)
        self._positions = positions.reshape(-1)
        self._totals = numpy.zeros(len(self._kinds), dtype='int64')

    def add(self, numbers: AnyArray) -> None:
        """Count some."""
        self._totals += numpy.bincount(numpy.searchsorted(self._kinds, numbers),
                                       minlength=len(self._kinds))

    def counts(self) -> AnyArray:
        """Return how often the number of every token occurred, int64, shape (tokens,)."""
        result: AnyArray = self._totals[self._positions]
        return result


def measure(part: Part, manner: Manner, counts: TokenCounts | None) -> Size:
    """Return the size of a split, and count its tokens.

    Raises
    ------
    ConversionError
        There are no lines; or as for `lines_of`.
    """
    lines = values = 0
    tokens: list[str] = []
    with progress_bar(f'the tokens of {part.split}', prefix='Counting', unit='lines') as bar:
        for line, _ in lines_of(part, manner.encoding):
            lines += 1
            found = manner.tokens(line)
            if len(found) >= _TOKENS:               # a long line is not copied
                values += _count(found, counts)
            else:
                tokens += found
            if len(tokens) >= _TOKENS or not lines % _LINES:
                values += _count(tokens, counts)
                tokens.clear()
                bar.update(lines)
        values += _count(tokens, counts)
        bar.update(lines)
    if not lines:
        raise ConversionError(f'expected lines of text for the split {part.split!r}; '
                              f'{", ".join(part.files)} {"is" if len(part.files) == 1 else "are"} '
                              'empty')
    return Size(lines, values + lines * sum(token is not None
                                            for token in (manner.bos, manner.eos)))


def _count(tokens: Sequence[str], counts: TokenCounts | None) -> int:
    """Count some tokens; return how many there are."""
    if counts is not None:
        counts.add(tokens)
    return len(tokens)


def blocks_of(part: Part, size: Size, encoder: TextFile
              ) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Yield the numbers of a split.

    Yields
    ------
    tuple
        The numbers of some lines one after the other, int64, shape (values,), and how many each
        line has, int64, shape (lines,).

    Raises
    ------
    ConversionError
        A token has no number, and there is none for unknown ones; or the files have changed.
    """
    numbers: list[int] = []
    lengths: list[int] = []
    lines = values = 0
    for line, reader in lines_of(part, encoder.encoding):
        try:
            example = encoder.encode(line, reader)
        except KeyError as error:
            raise ConversionError(
                f'{str(error.args[0]).rpartition(",")[0]}; choose a token for unknown ones with '
                '--unk, or a larger vocabulary') from None
        numbers += example
        lengths.append(len(example))
        if len(lengths) == _LINES or len(numbers) >= _TOKENS:
            lines, values = lines + len(lengths), values + len(numbers)
            if lines > size.lines or values > size.values:
                break
            yield numpy.array(numbers, dtype='int64'), numpy.array(lengths, dtype='int64')
            numbers, lengths = [], []
    else:
        lines, values = lines + len(lengths), values + len(numbers)
        if (lines, values) == (size.lines, size.values):
            if lengths:
                yield numpy.array(numbers, dtype='int64'), numpy.array(lengths, dtype='int64')
            return
    raise ConversionError(f'the split {part.split!r} had {plural(size.lines, "line")} when it was '
                          'counted, and has others now; leave its files alone while they are '
                          'converted')
