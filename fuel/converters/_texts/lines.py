"""Lines of texts, and the splits that they belong to."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy

from fuel.converters._division.shares import Shares
from fuel.datasets._lines import ENCODING_ADVICE, LineReader
from fuel.exceptions import ConversionError, DataFileError

__all__ = ['Lot', 'Part', 'count_lines', 'lines_of', 'naming_lines']

_DRAWN = 4096
#: Characters of a line. It is in memory as a whole, with all of its tokens.
_LONGEST_LINE = 1 << 24


@dataclass(frozen=True, slots=True)
class Lot:
    """Decides for each of some lines, in order, to which split it belongs.

    The splits have the sizes that were asked for. Line by line, a split is chosen with the
    probability that its places left have among the lines left; so every division is as likely as
    every other, and nothing has to be kept of it. (Selection sampling: Knuth, The Art of Computer
    Programming, 3.4.2, algorithm S.)

    Parameters
    ----------
    count : int
        The number of lines.
    sizes : tuple of (str, int)
        The splits besides ``train``, and how many lines each gets.
    seed : int
        Of ``numpy.random.RandomState``, of which every line takes one number.
    """

    count: int
    sizes: tuple[tuple[str, int], ...]
    seed: int

    @classmethod
    def of_shares(cls, count: int, shares: Shares, seed: int) -> Lot:
        """Return the lot that gives each split its share, to the nearest whole number.

        Raises
        ------
        ConversionError
            A split would have no lines.
        """
        sizes = {name: int(count * share + Fraction(1, 2))
                 for name, share in shares.parts().items()}
        for name, size in {**sizes, 'train': count - sum(sizes.values())}.items():
            if size < 1:
                raise ConversionError(f'expected enough lines for each split; of {count} none '
                                      f'would be in {name}. Change the fractions')
        return cls(count, tuple(sizes.items()), seed)

    def names(self) -> Iterator[str]:
        """Yield the split of every line."""
        rng = numpy.random.RandomState(self.seed)
        left = dict(self.sizes)
        for start in range(0, self.count, _DRAWN):
            drawn = rng.random_sample(min(_DRAWN, self.count - start)).tolist()
            for line, number in enumerate(drawn, start=start):
                place = int(number * (self.count - line))
                for name, places in left.items():
                    if place < places:
                        left[name] = places - 1
                        yield name
                        break
                    place -= places
                else:
                    yield 'train'


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one split.

    Parameters
    ----------
    split : str
        Its name.
    files : sequence of str
        Where its lines are.
    lot : Lot, optional
        Which of the lines of these files belong to it; by default all do.
    """

    split: str
    files: Sequence[str]
    lot: Lot | None = None


@contextmanager
def naming_lines() -> Iterator[None]:
    """Make errors of texts and their lines, inside a ``with`` block, those of a conversion."""
    try:
        yield
    except UnicodeError as error:
        text = str(error).removesuffix(ENCODING_ADVICE).rstrip('; ')
        raise ConversionError(f'{text}; name the encoding of the files, such as --encoding latin-1'
                              ) from None
    except DataFileError as error:
        raise ConversionError(str(error)) from error


def lines_of(part: Part, encoding: str | None) -> Iterator[tuple[str, LineReader]]:
    """Yield the lines of a split, each with the reader that knows where it stands.

    Raises
    ------
    ConversionError
        A file is damaged, or a line not encoded as expected, too long, or with a character NUL;
        the message names it.
    """
    names = itertools.repeat(part.split) if part.lot is None else part.lot.names()
    with closing(LineReader(part.files, encoding, limit=_LONGEST_LINE)) as reader, naming_lines():
        for name in names:
            try:
                line = reader.read()
            except StopIteration:
                return
            if '\0' in line:
                raise ConversionError(f'{reader.where}: expected a text; got a character NUL. If '
                                      'the file is in UTF-16, give --encoding utf-16')
            if name == part.split:
                yield line, reader


def count_lines(files: Sequence[str], encoding: str | None) -> int:
    """Return how many lines files have; errors are those of `lines_of`."""
    return sum(1 for _ in lines_of(Part('', files), encoding))
