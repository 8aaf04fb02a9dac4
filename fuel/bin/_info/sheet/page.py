"""A page on which bands of drawings stand below each other; places and sizes are in pixels."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuel.bin._info.sheet.words import DPI, fitted, measure
from fuel.exceptions import FuelError

__all__ = ['COLOURS', 'DARK', 'GREY', 'MARGIN', 'WIDTH', 'Area', 'Band', 'Page', 'PlotExtraMissing',
           'line_of_words', 'plain_style', 'short_numbers']

Figure: TypeAlias = Any
Axes: TypeAlias = Any

WIDTH = 1200
MARGIN = 36
_GAP = 22
DARK, GREY = '#222222', '#777777'
COLOURS = ('#4c72b0', '#dd8452', '#55a868', '#c44e52', '#8172b3', '#937860', '#da8bc3', '#8c8c8c',
           '#b5a642', '#64b5cd')


class PlotExtraMissing(FuelError, ImportError):
    """There is no matplotlib to draw with."""


def short_numbers(axis: Any, least: float = 1e3) -> None:
    """Have an axis tell large numbers in few letters: 20k instead of 20000.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        The axis.
    least : float, optional
        Numbers from here on are told in this way.
    """
    axis.set_major_formatter(lambda number, _: _short(number, least))


def _short(number: float, least: float) -> str:
    for unit, letter in ((1e9, 'G'), (1e6, 'M'), (1e3, 'k')):
        if abs(number) >= max(unit, least):
            return f'{number / unit:.4g}{letter}' if abs(number) < 1e14 else f'{number:.4g}'
    return f'{number:.6g}'


@dataclass(frozen=True, slots=True)
class Band:
    """Something to draw over the whole width of the page.

    Attributes
    ----------
    height : int
        In pixels.
    draw : callable
        Takes the area of the band.
    """

    height: int
    draw: Callable[[Area], None]


class Area:
    """A part of the page.

    Parameters
    ----------
    page : Page
        The page.
    left, top, width, height : float
        In pixels, from the upper left corner of the page.
    """

    def __init__(self, page: Page, left: float, top: float, width: float, height: float) -> None:
        self.page, self.left, self.top, self.width, self.height = page, left, top, width, height

    def part(self, left: float, top: float, width: float, height: float) -> Area:
        """Return a part of this area; the place is relative to its upper left corner."""
        return Area(self.page, self.left + left, self.top + top, width, height)

    def axes(self, left: float = 0, top: float = 0, width: float | None = None,
             height: float | None = None) -> Axes:
        """Return axes at a place in this area, by default over all of it."""
        width = self.width - left if width is None else width
        height = self.height - top if height is None else height
        total = self.page.height
        axes = self.page.figure.add_axes((
            (self.left + left) / WIDTH, 1 - (self.top + top + height) / total, width / WIDTH,
            height / total))
        axes.tick_params(labelsize=7, colors=GREY, length=2, width=.6, pad=2)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ('bottom', 'left'))
            spine.set_color('#aaaaaa')
            spine.set_linewidth(.6)
        return axes

    def canvas(self) -> Axes:
        """Return axes over the whole area whose units are its pixels, from the upper left."""
        axes = self.axes()
        axes.set_axis_off()
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        return axes

    def write(self, left: float, top: float, words: object, *, size: float = 8,
              colour: str = DARK, width: float | None = None, bold: bool = False,
              align: str = 'left') -> float:
        """Write a line of words, cut off where it does not fit; return its width.

        The place is that of the upper left corner of the line, for another alignment that of the
        middle or of the right end.
        """
        text = fitted(words, self.width - left if width is None else width, size, bold)
        self.page.figure.text(
            (self.left + left) / WIDTH, 1 - (self.top + top) / self.page.height, text,
            fontsize=size, color=colour, ha=align, va='top',
            fontweight='bold' if bold else 'normal')
        return measure(text, size, bold)


class Page:
    """Collects bands, and draws them.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        What is drawn on.
    height : int
        Of the whole page, in pixels.

    Raises
    ------
    PlotExtraMissing
        matplotlib is not installed. An ``ImportError``.
    """

    def __init__(self) -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure as NewFigure
        except ImportError as error:
            raise PlotExtraMissing(
                f'drawing needs the package matplotlib, which cannot be imported ({error}); '
                'pip install fuel[plot] brings it') from error
        self.bands: list[Band] = []
        self.figure: Figure = NewFigure(figsize=(WIDTH / DPI, 1), dpi=DPI, facecolor='white')
        FigureCanvasAgg(self.figure)
        self.height = 1

    def save(self, path: str) -> None:
        """Draw all bands, and write the page as a PNG file, with the same bytes each time."""
        self.height = 2 * MARGIN + sum(band.height + _GAP for band in self.bands)
        self.figure.set_size_inches(WIDTH / DPI, self.height / DPI)
        top = float(MARGIN)
        for band in self.bands:
            band.draw(Area(self, MARGIN, top, WIDTH - 2 * MARGIN, band.height))
            top += band.height + _GAP
        # By default the picture would tell the version of matplotlib.
        self.figure.savefig(path, format='png', dpi=DPI, metadata={'Software': None})


def line_of_words(words: str, colour: str = GREY) -> Band:
    """Return a band with a line of words."""
    def draw(area: Area) -> None:
        area.write(0, 0, words, size=8.5, colour=colour)
    return Band(16, draw)


@contextmanager
def plain_style() -> Iterator[None]:
    """Draw in the style of this module, whatever the user has set, while a ``with`` block runs."""
    import warnings

    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Letters that the font lacks are drawn as boxes.
        warnings.simplefilter('ignore')
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({'text.parse_math': False, 'axes.titlelocation': 'left',
                                    'axes.titlesize': 8, 'axes.titlecolor': DARK,
                                    'axes.formatter.useoffset': False})
        yield
