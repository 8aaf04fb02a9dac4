"""Draws what streams give, as SVG; needs nothing but numpy, Pillow and the library.

Time goes from left to right. What comes in one step has a frame; the examples of a batch lie above
each other. A number has the same colour wherever it shows up.
"""
import base64
import html
import io
import re

import numpy

__all__ = ['Colours', 'flow', 'gallery']

FONT = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace"'
CELL, CHARACTER, TINY = 20, 7.3, 6.1
GAP, FRAME, MARGIN = 10, 5, 12
WIDTH = 720
GREY = '#eeeeee'
PALETTE = ['#cfe3f6', '#fbdcb8', '#cdeac9', '#f6cfd2', '#ddd2ee', '#f7f0b5', '#c9ece8', '#f3d3ea',
           '#e3d9cc', '#d5dbe8']
ROUND = 'rx="3" stroke="#666"'


class Colours:
    """Gives the same colour to the same value, or to what a function says is alike."""

    def __init__(self, alike=None):
        self.alike = alike or (lambda value: value)
        self.known = {}

    def __call__(self, value):
        """Return the colour of a value; grey for what was padded."""
        key = self.alike(value)
        if key is None:
            return GREY
        return self.known.setdefault(str(key), PALETTE[len(self.known) % len(PALETTE)])


class Block:
    """Something to draw, of a known size; `draw` takes the place of its upper left corner."""

    def __init__(self, width, height, draw):
        self.width, self.height, self.draw = width, height, draw


def text(x, y, words, size=12, colour='#222', anchor='start', weight='normal'):
    """Return words at a place."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}" font-weight="{weight}">'
            f'{html.escape(str(words), quote=False)}</text>')


def said(value):
    """Return a value in a few characters."""
    if isinstance(value, (bool, numpy.bool_)):
        return str(bool(value))
    if isinstance(value, (float, numpy.floating)):
        short = f'{value:.3g}'
        return short + '.' if short.lstrip('-').isdigit() else short
    if isinstance(value, bytes):
        return f'{value[:4]!r}'[:-1] + '…'
    return str(value)


def is_sequence(value):
    """Tell whether a value has values in it."""
    return isinstance(value, (list, tuple)) or (isinstance(value, numpy.ndarray) and value.ndim > 0)


def is_image(value):
    """Tell whether a value is an image, channels first."""
    return (isinstance(value, numpy.ndarray) and value.dtype == numpy.uint8 and value.ndim == 3
            and min(value.shape[1:]) > 8)


def leaves(value):
    """Yield the single values in a value."""
    if is_sequence(value):
        for entry in value:
            yield from leaves(entry)
    else:
        yield value


def beside(blocks, gap=0.):
    """Put blocks side by side."""
    width = sum(block.width for block in blocks) + gap * max(len(blocks) - 1, 0)
    height = max((block.height for block in blocks), default=CELL)

    def draw(x, y):
        drawn = []
        for block in blocks:
            drawn.append(block.draw(x, y))
            x += block.width + gap
        return ''.join(drawn)
    return Block(width, height, draw)


def above(blocks, gap=0.):
    """Put blocks above each other."""
    def draw(x, y):
        drawn = []
        for block in blocks:
            drawn.append(block.draw(x, y))
            y += block.height + gap
        return ''.join(drawn)
    return Block(max((block.width for block in blocks), default=CELL),
                 sum(block.height for block in blocks) + gap * max(len(blocks) - 1, 0), draw)


def cell(value, width, colour):
    """Draw a single value."""
    return Block(width, CELL, lambda x, y: (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{CELL}" fill="{colour}" '
        f'{ROUND}/>' + text(x + width / 2, y + 14.5, said(value), anchor='middle')))


def picture(pixels, scale=1):
    """Draw an image, channels first."""
    from PIL import Image
    array = numpy.ascontiguousarray(pixels.transpose(1, 2, 0))
    image = Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)
    file = io.BytesIO()
    image.save(file, 'PNG', optimize=True)
    data = base64.b64encode(file.getvalue()).decode()
    width, height = image.width * scale, image.height * scale
    return Block(width, height, lambda x, y: (
        f'<image x="{x:.1f}" y="{y:.1f}" width="{width}" height="{height}" '
        f'href="data:image/png;base64,{data}"/><rect x="{x:.1f}" y="{y:.1f}" width="{width}" '
        f'height="{height}" fill="none" stroke="#888" stroke-width="0.8"/>'))


def content(value, colours, width=None):
    """Draw what is in one source of one step."""
    if is_image(value):
        return picture(value)
    if width is None:
        width = max([24., *(CHARACTER * len(said(leaf)) + 9 for leaf in leaves(value)
                            if not is_image(leaf))])
    if not is_sequence(value):
        return cell(value, width, colours(value))
    if not len(value):
        return Block(CHARACTER * 7, CELL, lambda x, y: text(x, y + 14, '(empty)', 11, '#888'))
    blocks = [content(entry, colours, width) for entry in value]
    return above(blocks) if any(map(is_sequence, value)) else beside(blocks)


def examples_of(batch, colours):
    """Draw the examples of a batch above each other; apart, where they are no array."""
    if isinstance(batch, numpy.ndarray) and batch.dtype != object and not is_image(batch[0]):
        width = max([24., *(CHARACTER * len(said(leaf)) + 9 for leaf in leaves(batch))])
        return above([content(example, colours, width) for example in batch],
                     gap=4 * (batch.ndim > 2))
    return above([content(example, colours) for example in batch], gap=4)


def form(value):
    """Return what kind of thing the data of a source are, in a few words."""
    if isinstance(value, numpy.ndarray):
        if value.dtype == object:
            return f'{len(value)} objects'
        return f'{" x ".join(map(str, value.shape))} {value.dtype}'
    return type(value).__name__


def framed(data, sources, is_batch, colours, with_form):
    """Draw the data of a step."""
    columns = []
    for name, item in zip(sources, data, strict=True):
        lines = [examples_of(item, colours) if is_batch else content(item, colours)]
        if len(sources) > 1:
            lines.insert(0, label(name, '#777'))
        if with_form:
            lines.append(label(form(item), '#36648b'))
        columns.append(above(lines, gap=2))
    inner = beside(columns, gap=8)
    width, height = inner.width + 2 * FRAME, inner.height + 2 * FRAME
    fill = '#fafafa' if is_batch else 'none'

    def draw(x, y):
        return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" '
                f'fill="{fill}" stroke="#999"/>' + inner.draw(x + FRAME, y + FRAME))
    return Block(width, height, draw)


def label(words, colour):
    """Draw a line of small print."""
    return Block(TINY * len(words), 13, lambda x, y: text(x, y + 10, words, 10, colour))


def wrapped(blocks):
    """Put blocks side by side, in as many lines as are needed."""
    lines = [[]]
    taken = 0.
    for block in blocks:
        if lines[-1] and taken + block.width > WIDTH - 2 * MARGIN:
            lines.append([])
            taken = 0.
        lines[-1].append(block)
        taken += block.width + GAP
    return above([beside(line, GAP) for line in lines], GAP)


def heading(code, kind, has_arrow):
    """Draw the line of code that makes a stream, and an arrow that leads to it."""
    def draw(x, y):
        drawn = ''
        if has_arrow:
            drawn = (f'<path d="M{x + 8:.1f} {y:.1f} v14 m-4 -5 l4 5 l4 -5" fill="none" '
                     'stroke="#666" stroke-width="1.4"/>')
        return (drawn + text(x + 24 * has_arrow, y + 12, code, 12, weight='bold')
                + text(WIDTH - 2 * MARGIN, y + 12, kind, 11, '#777', anchor='end'))
    return Block(WIDTH - 2 * MARGIN, 20, draw)


def document(blocks):
    """Return blocks above each other as an SVG document."""
    inner = above(blocks, gap=8)
    width, height = max(WIDTH, inner.width + 2 * MARGIN), inner.height + 2 * MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" {FONT} width="{width:.0f}" '
            f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
            f'<rect width="100%" height="100%" '
            f'fill="white"/>{inner.draw(MARGIN, MARGIN)}</svg>\n')


def flow(names, *lines, epochs=1, alike=None, with_form=False):
    """Draw the streams of a chain, each with what it gives.

    Parameters
    ----------
    names : dict
        What the lines of code use.
    *lines : str
        Expressions. The first makes a stream; each of the others wraps the one before, which it
        calls ``stream``. They are run, and they are what the picture shows.
    epochs : int, optional
        How many epochs to show.
    alike : callable, optional
        Takes a value, returns what its colour stands for; `None` stands for padding.
    with_form : bool, optional
        Write shape and dtype below the data.

    Returns
    -------
    str
        An SVG document.
    """
    colours = Colours(alike)
    blocks = []
    for end in range(1, len(lines) + 1):
        # Each stream is made from the bottom, so that all of them are in their first epoch.
        stream = None
        for line in lines[:end]:
            stream = eval(line, {**names, 'stream': stream})
        is_batch = not stream.produces_examples
        code = lines[end - 1]
        wraps = end > 1 and ('stream' in re.findall(r'\w+', code) or code.startswith('Merge'))
        blocks.append(heading(code, 'batches' if is_batch else 'examples', wraps))
        for epoch in range(epochs):
            steps = [framed(data, stream.sources, is_batch, colours, with_form)
                     for data in stream.get_epoch_iterator()]
            if epochs > 1:
                steps.insert(0, label(f'epoch {epoch}', '#777'))
            blocks.append(wrapped(steps))
    return document(blocks)


def gallery(names, rows):
    """Draw images before and after transformers.

    Parameters
    ----------
    names : dict
        What the lines of code use, among them 'stream'.
    rows : list of (str, int)
        An expression that makes a stream of images, and how many epochs of it to show, one
        example of each.

    Returns
    -------
    str
        An SVG document.
    """
    blocks = []
    for code, epochs in rows:
        pictures = []
        stream = eval(code, dict(names))
        for _ in range(epochs):
            image = next(stream.get_epoch_iterator())[0]
            pictures.append(above([picture(image), label(form(image), '#36648b')], 2))
        blocks += [heading(code, '', False), wrapped(pictures)]
    return document(blocks)
