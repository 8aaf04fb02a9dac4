"""Bands with pictures: examples in a grid, each with its target and the number of its row."""
from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Contents, Source
from fuel.bin._info.sheet.page import DARK, GREY, MARGIN, WIDTH, Area, Band
from fuel.bin._info.sheet.targets import Caption, Targets
from fuel.bin._info.sheet.words import arranged

__all__ = ['as_pixels', 'decoded', 'picture_bands', 'value_range']

_WIDTH = WIDTH - 2 * MARGIN
# No picture is shown with more pixels than this along an axis.
_MOST_PIXELS = 300
_LINE, _NUMBER = 11, 18
# Sizes of the letters of captions, and how many lines there may be of each. Sizes between these are
# no narrower than the larger one: letters are drawn in whole pixels.
_LETTERS = ((7.5, 2), (6, 3))
# Bytes that go no higher are no brightness out of 255: mostly they are 0 and 1.
_DARK = 15
_MOST_DECODED = 5 * 10 ** 7
_NAN = (1., .35, .65)


def picture_bands(contents: Contents, source: Source, kind: str,
                  targets: Targets) -> list[Band]:
    """Return bands with pictures of each split.

    Parameters
    ----------
    contents : Contents
        The file.
    source : Source
        What to show.
    kind : str
        ``'picture'`` or ``'encoded picture'``.
    targets : Targets
        For the captions.
    """
    bands = []
    splits = contents.shown_splits(source.name)
    for split in splits:
        columns = _columns(source, targets, split, len(contents.splits[split][source.name]))
        rows = 2 if len(splits) > 1 else 4
        while rows > 1 and (rows - 1) * columns >= len(contents.splits[split][source.name]):
            rows -= 1
        places, classes = _small_enough(source, *targets.pick(split, source.name, rows * columns))
        examples = contents.values(split, source.name, places)
        if kind == 'encoded picture':
            arrays: list[AnyArray | None] = [decoded(example) for example in examples]
            labels: Sequence[str] = ('channel', 'height', 'width')
        else:
            arrays, labels = list(examples), source.labels
        numbers = contents.splits[split][source.name].at(places)
        bands.append(_grid(f'{source.name} of {split}', arrays, labels,
                           targets.captions(split, places), numbers.tolist(), columns,
                           _cells(len(places), classes, columns)))
    return bands


def _columns(source: Source, targets: Targets, split: str, count: int) -> int:
    """Return how many pictures stand side by side; one for each class, if there are about ten."""
    found = targets.of_split(split)
    if found is not None:
        classes = len(numpy.unique(targets.class_values(split, found).values))
        if 5 <= classes <= 12:
            return classes
    if 9 <= count <= 12:
        return count
    sizes = [size for size in source.shape if size is not None]
    return 12 if sizes and max(sizes) <= 64 else 9


def _small_enough(source: Source, places: AnyArray,
                  classes: AnyArray | None) -> tuple[AnyArray, AnyArray | None]:
    """Return as many places as may be read."""
    most = max(4, 2 ** 27 // max(1, source.row_bytes))
    if len(places) <= most:
        return places, classes
    kept = numpy.linspace(0, len(places) - 1, most).astype(int)
    return places[kept], None if classes is None else classes[kept]


def _cells(count: int, classes: AnyArray | None, columns: int) -> list[tuple[int, int]]:
    """Return row and column of each picture; each class in a column, if there are as many."""
    if classes is not None and len(numpy.unique(classes)) == columns:
        _, begins, column = numpy.unique(classes, return_index=True, return_inverse=True)
        return [(int(place - begins[which]), int(which)) for place, which in enumerate(column)]
    return [divmod(number, columns) for number in range(count)]


def decoded(content: AnyArray) -> AnyArray | None:
    """Return the pixels of the file of a picture, channels first; `None` if it is none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(numpy.asarray(content).tobytes())) as image:
            if image.width * image.height > _MOST_DECODED:
                return None
            image.draft('RGB', (_MOST_PIXELS, _MOST_PIXELS))
            image.thumbnail((_MOST_PIXELS, _MOST_PIXELS))
            return numpy.asarray(image.convert('RGB')).transpose(2, 0, 1)
    except Exception:       # Pillow raises nearly anything for files that are broken
        return None


def as_pixels(example: AnyArray, labels: Sequence[str]) -> AnyArray:
    """Return the pixels of an example: (height, width), or (height, width, 3).

    Parameters
    ----------
    example : ndarray
        Two axes or more.
    labels : sequence of str
        Their labels. Without any, channels are where one, three or four of them can be.
    """
    labels = list(labels) if {'height', 'width'} <= set(labels) and (
        len(labels) == example.ndim) else _guessed(example.shape)
    while example.ndim > 3 or (example.ndim == 3 and 'channel' not in labels):
        # Of a film the first picture; of channels that are not called so, the first.
        other = next(axis for axis, label in enumerate(labels)
                     if label not in ('channel', 'height', 'width'))
        example = example.take(0, axis=other)
        del labels[other]
    order = [labels.index(label) for label in ('height', 'width', 'channel') if label in labels]
    pixels = example.transpose(order)
    step = max(1, -(-max(pixels.shape[:2]) // _MOST_PIXELS)) if pixels.size else 1
    pixels = pixels[::step, ::step]
    if pixels.ndim == 3:
        pixels = pixels[:, :, :3] if pixels.shape[2] >= 3 else pixels[:, :, 0]
    return pixels


def _guessed(shape: Sequence[int]) -> list[str]:
    if len(shape) == 2:
        return ['height', 'width']
    last = shape[-1] in (1, 3, 4) and shape[-3] not in (1, 3, 4)
    axes = ['height', 'width', 'channel'] if last else ['channel', 'height', 'width']
    return [''] * (len(shape) - 3) + axes


def value_range(arrays: Sequence[AnyArray]) -> tuple[float, float]:
    """Return the values that are drawn black and white."""
    low, high = numpy.inf, -numpy.inf
    for array in arrays:
        if array.dtype == numpy.uint8 and array.size and array.max() > _DARK:
            return 0, 255
        if array.dtype == bool:
            return 0, 1
        finite = array[numpy.isfinite(array)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:
        return 0, 1
    for bounds in ((0., 1.), (-1., 1.), (0., 255.), (0., 65535.)):
        if bounds[0] <= low and high <= bounds[1] and high > bounds[1] / 4:
            return bounds
    return (low, high) if high > low else (low - .5, low + .5)


def _scaled(pixels: AnyArray, low: float, high: float) -> AnyArray:
    """Return pixels from 0 to 1 in three channels; those that are no numbers stand out."""
    values = (pixels.astype(numpy.float64) - low) / (high - low)
    wrong = ~numpy.isfinite(values)
    values = numpy.clip(numpy.where(wrong, 0, values), 0, 1)
    if values.ndim == 2:
        values, wrong = values[:, :, None].repeat(3, axis=2), wrong[:, :, None]
    values[wrong.any(axis=2)] = _NAN
    return values


def _grid(title: str, arrays: Sequence[AnyArray | None], labels: Sequence[str],
          captions: Sequence[Caption], numbers: Sequence[int], columns: int,
          cells: Sequence[tuple[int, int]]) -> Band:
    """Return a band with pictures."""
    found = [None if array is None else as_pixels(array, labels) for array in arrays]
    low, high = value_range([pixels for pixels in found if pixels is not None])
    wrong = any(pixels is not None and not numpy.isfinite(pixels).all() for pixels in found)
    cell = min(110, (_WIDTH + 10) // columns - 10)
    pitch = _WIDTH / columns if columns >= 8 else cell + 26
    rows = 1 + max((row for row, _ in cells), default=0)
    size, said = _said(captions, pitch - 4)
    below = _LINE * max(map(len, said), default=0)
    line = cell + 2 + below + _NUMBER

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        if wrong:
            area.write(400, 3, 'pink: NaN or infinite', size=7.5, colour='#d6336c')
        board = area.part(0, 24, area.width, area.height - 24)
        canvas = board.canvas()
        for pixels, words, number, (row, column) in zip(found, said, numbers, cells,
                                                        strict=True):
            left, top = column * pitch, row * line
            if pixels is None or not pixels.size:
                board.write(left + cell / 2, top + cell / 2 - 6,
                            'no picture' if pixels is None else 'empty', size=7, colour='#c44e52',
                            width=cell, align='center')
            else:
                _show(canvas, _scaled(pixels, low, high), left, top, cell)
            for place, part in enumerate((*words, f'row {number}')):
                is_number = place == len(words)
                board.write(left + cell / 2, top + cell + 2 + _LINE * place, part,
                            size=6 if is_number else size, colour=GREY if is_number else DARK,
                            width=pitch - 4, align='center')
        canvas.set_xlim(0, board.width)
        canvas.set_ylim(board.height, 0)
    return Band(24 + rows * line, draw)


def _said(captions: Sequence[Caption], width: float) -> tuple[float, list[list[str]]]:
    """Return the size of letters, and captions in lines; letters are small where words are many."""
    for size, most in _LETTERS:
        said = [arranged(caption.pieces, width, size, most, counted=caption.counted)
                for caption in captions]
        if not any('…' in line for words in said for line in words):
            break
    return size, said


def _show(canvas: Any, pixels: AnyArray, left: float, top: float, cell: float) -> None:
    """Draw a picture as large as it fits into a cell, in the middle of it."""
    height, width = pixels.shape[:2]
    scale = cell / max(height, width)
    shown = width * scale, height * scale
    x, y = left + (cell - shown[0]) / 2, top + (cell - shown[1]) / 2
    canvas.imshow(pixels, extent=(x, x + shown[0], y + shown[1], y), aspect='auto',
                  interpolation='nearest' if scale >= 2 else 'antialiased')
