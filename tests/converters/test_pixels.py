"""Pictures as arrays, and what is no picture."""
import io
import struct
import zlib

import numpy
import pytest
from PIL import Image

from fuel.converters._pictures.pixels import decoded
from fuel.exceptions import ConversionError

RNG = numpy.random.default_rng(3)
COLOUR = RNG.integers(0, 256, (5, 7, 3), dtype='uint8')
GREY = RNG.integers(0, 256, (5, 7), dtype='uint8')


def file_of(image, kind='PNG', **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def smooth(size=(40, 30)):
    ramp = numpy.add.outer(numpy.arange(size[1]), numpy.arange(size[0])) * 3 % 256
    return Image.fromarray(ramp.astype('uint8')).convert('RGB')


def test_colour():
    pixels = decoded(file_of(Image.fromarray(COLOUR)), 'x')
    assert (pixels.dtype, pixels.shape) == ('uint8', (3, 5, 7))
    assert pixels.flags.c_contiguous and pixels.flags.writeable
    assert numpy.array_equal(pixels, COLOUR.transpose(2, 0, 1))


def test_grey_becomes_colour():
    pixels = decoded(file_of(Image.fromarray(GREY)), 'x')
    assert numpy.array_equal(pixels, numpy.stack([GREY] * 3))


def test_colour_becomes_grey():
    image = Image.fromarray(COLOUR)
    pixels = decoded(file_of(image), 'x', 'L')
    assert pixels.shape == (1, 5, 7)
    assert numpy.array_equal(pixels[0], numpy.asarray(image.convert('L')))
    assert pixels.flags.writeable


@pytest.mark.parametrize('mode', ['P', 'CMYK', 'RGBA', '1', 'LA'])
def test_other_modes_become_colour(mode):
    image = Image.fromarray(COLOUR).convert(mode)
    pixels = decoded(file_of(image, 'TIFF'), 'x')
    assert numpy.array_equal(pixels, numpy.asarray(image.convert('RGB')).transpose(2, 0, 1))


def test_sixteen_bits_are_scaled():
    values = numpy.array([[0, 257, 65535]], dtype='uint16')
    assert decoded(file_of(Image.fromarray(values)), 'x', 'L').tolist() == [[[0, 1, 255]]]


def test_jpeg_pixels_are_those_of_pillow():
    content = file_of(smooth(), 'JPEG', quality=60)
    expected = numpy.asarray(Image.open(io.BytesIO(content))).transpose(2, 0, 1)
    assert numpy.array_equal(decoded(content, 'x'), expected)


def test_a_picture_taken_sideways_stays_so():
    exif = Image.Exif()
    exif[0x0112] = 6
    content = file_of(smooth(), 'JPEG', exif=exif)
    assert decoded(content, 'x').shape == (3, 30, 40)


def a_bomb():
    """Return a PNG file of some bytes that announces 900 million pixels."""
    def chunk(kind, content):
        return (struct.pack('>I', len(content)) + kind + content
                + struct.pack('>I', zlib.crc32(kind + content)))
    return b''.join((b'\x89PNG\r\n\x1a\n',
                     chunk(b'IHDR', struct.pack('>IIBBBBB', 30000, 30000, 8, 2, 0, 0, 0)),
                     chunk(b'IDAT', zlib.compress(bytes(1000))), chunk(b'IEND', b'')))


JPEG = file_of(smooth(), 'JPEG')
PNG = file_of(Image.fromarray(RNG.integers(0, 256, (50, 50, 3), dtype='uint8')))


@pytest.mark.parametrize(('content', 'problem'), [
    (b'', 'not an image in a format that Pillow knows'),
    (b'<html>not found</html>', 'not an image'),
    (JPEG[:-20], 'truncated'),
    (JPEG[:100], 'broken|truncated|not an image'),
    (PNG[:len(PNG) // 2], 'truncated'),
    (PNG[:-200] + bytes(200), 'cannot be decoded'),
    (a_bomb(), 'made to exhaust the memory')])
def test_what_is_no_picture(content, problem):
    with pytest.raises(ConversionError, match=problem) as caught:
        decoded(content, 'a.zip, member b.jpg')
    text = str(caught.value)
    assert text.startswith('a.zip, member b.jpg: expected a picture; ')
    assert text.endswith(f'It has {len(content)} bytes and begins with {content[:16]!r}')
    assert '\n' not in text


def test_the_limit_of_pillow_holds(monkeypatch):
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 34)
    with pytest.raises(ConversionError, match='7 x 5 pixels'):
        decoded(file_of(Image.fromarray(COLOUR)), 'x')
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 35)
    decoded(file_of(Image.fromarray(COLOUR)), 'x')
