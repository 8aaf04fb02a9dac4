"""Words on a page: how wide they are, and how they are cut and divided into lines."""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

__all__ = ['DPI', 'arranged', 'clean', 'fitted', 'measure', 'wrapped']

#: Dots of the page to an inch; sizes of letters are in points, of which an inch has 72.
DPI = 100
_MOST_LETTERS = 2000
# So many pieces of a caption are tried whether they have room.
_MOST_PIECES = 20
_BETWEEN = ' · '


def clean(words: object) -> str:
    """Return words without what cannot be printed in one line."""
    return ''.join(letter if unicodedata.category(letter)[0] != 'C' else ' '
                   for letter in str(words)).strip()


@lru_cache(maxsize=1)
def _renderer() -> Any:
    from matplotlib.backends import backend_agg

    make: Any = backend_agg.RendererAgg
    return make(1, 1, DPI)


@lru_cache(maxsize=4096)
def measure(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line in pixels."""
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family='DejaVu Sans', size=size, weight='bold' if bold else 'normal')
    width, _, _ = _renderer().get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def fitted(words: object, width: float, size: float, bold: bool = False) -> str:
    """Return as much of a line as fits into a width."""
    text = clean(words)[:_MOST_LETTERS]
    if measure(text, size, bold) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle].rstrip() + '…', size, bold) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + '…' if low else ''


def wrapped(words: object, width: float, size: float, most: int) -> list[str]:
    """Return words in lines that fit into a width; only the last one that may be is cut off."""
    # Names of classes often have other marks than spaces between their words.
    parts = re.findall(r'\s*[^\s_,;/-]+[_,;/-]*|\s*[_,;/-]+', clean(words)[:_MOST_LETTERS])
    lines: list[str] = []
    for number, part in enumerate(parts):
        if lines and measure(lines[-1] + part, size) <= width:
            lines[-1] += part
        elif len(lines) < most:
            lines.append(part.lstrip())
        else:
            lines[-1] += ''.join(parts[number:])
            break
    return [fitted(line, width, size) for line in lines]


def arranged(pieces: Sequence[str], width: float, size: float, most: int, *,
             counted: bool = False) -> list[str]:
    """Return the pieces of a caption in lines.

    Parameters
    ----------
    pieces : sequence of str
        The pieces, the first one being the most important.
    width, size : float
        Of the lines in pixels, and of the letters in points.
    most : int
        How many lines there may be.
    counted : bool, optional
        Whether pieces may be left out that have no room; then their number is told. By default all
        are told, and cut off where there is no room.
    """
    pieces = [clean(piece) for piece in pieces if clean(piece)]
    if counted and len(pieces) > 1:
        return _some_of(pieces, width, size, most)
    lines = _filled(pieces, '', width, size)
    if len(lines) <= most:
        return lines
    if len(pieces) > most:
        return wrapped(_BETWEEN.join(pieces), width, size, most)
    lines = []
    for after, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
        lines += wrapped(piece, width, size, most - len(lines) - after)
    return lines


def _some_of(pieces: Sequence[str], width: float, size: float, most: int) -> list[str]:
    """Return those pieces that have room as they are, and the number of the others."""
    chosen: list[str] = []
    best: list[str] = []
    for piece in pieces[:_MOST_PIECES]:
        left = len(pieces) - len(chosen) - 1
        lines = _filled([*chosen, piece], f'+{left}' if left else '', width, size)
        if len(lines) <= most and measure(piece, size) <= width:
            chosen.append(piece)
            best = lines
    if best:
        return best
    more = f' +{len(pieces) - 1}'
    *before, last = wrapped(pieces[0], width - measure(more, size), size, most)
    return [*before, last + more]


def _filled(pieces: Sequence[str], more: str, width: float, size: float) -> list[str]:
    """Return whole pieces in as few lines as they need, and what is to be said of others."""
    lines: list[str] = []
    for piece in pieces:
        if lines and measure(lines[-1] + _BETWEEN + piece, size) <= width:
            lines[-1] += _BETWEEN + piece
        else:
            lines += wrapped(piece, width, size, 9)
    if more:
        if measure(f'{lines[-1]} {more}', size) <= width:
            lines[-1] += f' {more}'
        else:
            lines.append(more)
    return lines
