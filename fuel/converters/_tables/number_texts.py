"""Texts that are numbers, with a decimal point or a decimal comma, and texts that only look so."""
from __future__ import annotations

import re
from collections.abc import Sequence

import numpy
import numpy.typing as npt

__all__ = ['DECIMALS', 'floats', 'integers', 'is_exact', 'is_foreign', 'is_infinite', 'pointed',
           'read']

#: What stands before the decimals of a number.
DECIMALS = ('.', ',')


def _foreign(mark: str, other: str) -> re.Pattern[str]:
    mark, other = re.escape(mark), re.escape(other)
    return re.compile(rf'[+-]?(?:\d*{other}\d+(?:[eE][+-]?\d+)?'            # 1234,5
                      rf'|\d{{1,3}}(?:{other}\d{{3}})+(?:{mark}\d*)?'       # 1,234.5
                      rf'|\d{{1,3}}(?:{mark}\d{{3}})+{other}\d+)')          # 1.234,5


_FOREIGN = {'.': _foreign('.', ','), ',': _foreign(',', '.')}


def integers(texts: Sequence[str]) -> list[int] | None:
    """Return texts as whole numbers; `None` if one is none."""
    try:
        return list(map(int, texts))
    except ValueError:
        return None


def pointed(texts: Sequence[str], decimal: str) -> Sequence[str] | None:
    """Return texts with a point before the decimals; `None` if one cannot be a number.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    decimal : {'.', ','}
        What stands before the decimals. With a comma there, a point does not belong into a number.
    """
    together = ' '.join(texts)
    # Python takes 1_000 for a number; elsewhere it is the name of something.
    if '_' in together or (decimal == ',' and '.' in together):
        return None
    return [text.replace(',', '.') for text in texts] if decimal == ',' else texts


def floats(texts: Sequence[str], decimal: str = '.') -> npt.NDArray[numpy.float64] | None:
    """Return texts as numbers; `None` if one is none. The text 'nan' is none."""
    readable = pointed(texts, decimal)
    return None if readable is None else read(readable)


def read(readable: Sequence[str]) -> npt.NDArray[numpy.float64] | None:
    """Return texts that `pointed` returned as numbers; as `floats`."""
    try:
        numbers = numpy.array(list(map(float, readable)), dtype=numpy.float64)
    except ValueError:
        return None
    # The text 'nan' is a number to Python, but here it means that one is missing, or is a text.
    return None if numpy.isnan(numbers).any() else numbers


def is_foreign(text: str, decimal: str) -> bool:
    """Tell whether a text is a number with the other decimal mark, or thousands separators.

    >>> [is_foreign(text, '.') for text in ('3,5', '1,234.5', '1.234,5', '3.5', '1,2,3')]
    [True, True, True, False, False]
    """
    return _FOREIGN[decimal].fullmatch(text) is not None


def is_exact(value: int | str, number: float) -> bool:
    """Tell whether a whole number, or the text of any number, is that very float."""
    try:
        return int(value) == int(number)
    except ValueError:              # a text such as 1e20, of which nobody expects every digit
        return True


def is_infinite(text: str) -> bool:
    """Tell whether a text that is a number says infinity."""
    return text.lstrip('+-').lower() in ('inf', 'infinity')
