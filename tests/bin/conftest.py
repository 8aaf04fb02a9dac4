"""What draws contact sheets, for the tests of them."""
from __future__ import annotations

import numpy
import pytest
from PIL import Image

from fuel.bin.fuel_info import main


@pytest.fixture
def draw(tmp_path, capsys, monkeypatch):
    """Return what draws a file, and returns the words on the page and its pixels."""
    import matplotlib.figure
    import matplotlib.text

    figures = []
    save = matplotlib.figure.Figure.savefig

    def savefig(figure, *args, **kwargs):
        figures.append(figure)
        return save(figure, *args, **kwargs)
    monkeypatch.setattr(matplotlib.figure.Figure, 'savefig', savefig)

    def drawn(path, out='out.png'):
        assert main(['--sheet', str(tmp_path / out), str(path)]) is None
        assert capsys.readouterr() == (f'wrote {tmp_path / out}\n', '')
        with Image.open(tmp_path / out) as image:
            pixels = numpy.asarray(image.convert('RGB'))
        (figure,) = figures
        figures.clear()
        _check_words(figure)
        return [text.get_text() for text in figure.findobj(matplotlib.text.Text)
                if text.get_text()], pixels
    return drawn


def _check_words(figure):
    """Check that no line lies over another one, or over the edge of the page."""
    renderer = figure.canvas.get_renderer()
    width, height = figure.get_size_inches() * figure.dpi
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in figure.texts
             if text.get_text().strip()]
    for words, box in boxes:
        assert box.x0 >= -1 and box.x1 <= width + 1, words
        assert box.y0 >= -1 and box.y1 <= height + 1, words
    boxes.sort(key=lambda entry: entry[1].y0)
    for number, (words, box) in enumerate(boxes):
        for others, other in boxes[number + 1:]:
            if other.y0 >= box.y1 - 1:
                break
            assert (min(box.x1, other.x1) - max(box.x0, other.x0) <= 1
                    or min(box.y1, other.y1) - max(box.y0, other.y0) <= 1), (words, others)
