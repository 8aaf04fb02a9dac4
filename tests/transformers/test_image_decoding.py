"""Images from bytes: every kind gives the right array, or an error that says which and why."""
import logging
import pickle
import subprocess
import sys
import types
import warnings

import numpy
import pytest
from PIL import Image, ImageOps

from fuel.datasets import IndexableDataset
from fuel.exceptions import ImageDecodingError
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import _decoding
from fuel.transformers.defaults import ToBytes, rgb_images_from_encoded_bytes
from fuel.transformers.image import ImagesFromBytes
from tests.transformers.pictures import (
    batches,
    encoded,
    every,
    examples,
    exif,
    first,
    objects,
    opened,
    pixels,
)


def double(data, colorspace='RGB', fastdct=True, fastupsample=True, min_height=0, min_width=0,
           strict=True):
    """Do what simplejpeg does, by way of Pillow."""
    assert not fastdct
    assert not fastupsample
    image = opened(data)
    if min_height:
        for by in (8, 4, 2):
            if -(-image.size[1] // by) >= min_height and -(-image.size[0] // by) >= min_width:
                image.draft(image.mode, (image.size[0] // by, image.size[1] // by))
                break
    try:
        image = image.convert('L' if colorspace == 'GRAY' else colorspace)
    except OSError as error:
        raise ValueError(*error.args) from error
    result = numpy.array(image)
    return result[:, :, None] if result.ndim == 2 else result


DECODERS = {'Pillow': None, 'double': types.SimpleNamespace(decode_jpeg=double)}
if _decoding.fast_decoder() is not None:
    DECODERS['simplejpeg'] = _decoding.fast_decoder()


@pytest.fixture(params=DECODERS)
def decoder(request, monkeypatch):
    monkeypatch.setattr(_decoding, 'fast_decoder', lambda: DECODERS[request.param])
    return request.param


def decode(data, color_mode='RGB'):
    """Return an image as an example, after checking that it is the same in a batch."""
    image = first(ImagesFromBytes(examples([data], None), color_mode))
    in_batch, = first(ImagesFromBytes(batches([data], None), color_mode))
    assert image.dtype == in_batch.dtype
    assert (image == in_batch).all()
    assert image.flags.writeable
    assert image.ndim == 3
    return image


def channels_first(image):
    image = numpy.asarray(image)
    return image[None] if image.ndim == 2 else image.transpose(2, 0, 1)


RGB, GREY = pixels(30, 40), pixels(30, 40, 1)[:, :, 0]
WIDE = (GREY.astype('uint16') * 257)


def test_lossless_images_keep_their_pixels(decoder):
    for kind in ('PNG', 'BMP', 'TIFF', 'GIF', 'PPM', 'TGA'):
        data = encoded(GREY, kind)
        assert (decode(data, 'L') == GREY[None]).all(), kind
        assert (decode(data) == GREY[None]).all(), kind
        assert decode(data).shape == (3, 30, 40)
        if kind != 'GIF':
            assert (decode(encoded(RGB, kind)) == RGB.transpose(2, 0, 1)).all(), kind


@pytest.mark.parametrize('mode', ['RGB', 'L', 'RGBA', 'CMYK', 'F', None])
@pytest.mark.parametrize('options', [{}, {'quality': 30, 'subsampling': 2}, {'progressive': True},
                                     {'subsampling': 0}, {'optimize': True}])
@pytest.mark.parametrize('image', [RGB, GREY], ids=['colour', 'grey'])
def test_jpeg_within_one_level_of_pillow(decoder, mode, options, image):
    data = encoded(image, 'JPEG', **options)
    expected = opened(data) if mode is None else opened(data).convert(mode)
    result = decode(data, mode)
    assert result.dtype == numpy.asarray(expected).dtype
    assert numpy.abs(result.astype(float) - channels_first(expected)).max() <= 1


def test_jpeg_in_cmyk(decoder):
    data = encoded(Image.fromarray(RGB).convert('CMYK'), 'JPEG')
    assert (decode(data) == channels_first(opened(data).convert('RGB'))).all()
    assert decode(data, None).shape == (4, 30, 40)
    assert numpy.abs(decode(data).astype(int) - RGB.transpose(2, 0, 1)).mean() < 6


def test_16_bit_is_scaled():
    data = encoded(WIDE, 'PNG')
    assert (decode(data, 'L') == GREY).all()
    assert (decode(data) == GREY).all()
    kept = decode(data, None)
    assert (kept == WIDE).all()
    assert kept.max() > 255
    assert (decode(data, 'I') == WIDE).all()
    assert (decode(encoded(WIDE, 'TIFF'), 'L') == GREY).all()
    assert (decode(encoded(WIDE.astype('>u2'), 'TIFF'), 'RGBA')[:3] == GREY).all()


def test_floats_and_32_bit():
    values = numpy.array([[0, 100], [200, 255]])
    for dtype in ('float32', 'int32'):
        data = encoded(values.astype(dtype), 'TIFF')
        assert (decode(data) == values).all()
        assert (decode(data, None) == values).all()
        assert decode(data, None).dtype == dtype
        data = encoded((values * 3 - 1).astype(dtype), 'TIFF')
        assert (decode(data, None) == values * 3 - 1).all()
        with pytest.raises(ImageDecodingError, match='between -1.* and 764.*take color_mode=None'):
            decode(data)


def test_palette():
    image = Image.fromarray(RGB).quantize(16)
    data = encoded(image)
    assert (decode(data) == channels_first(image.convert('RGB'))).all()
    assert (decode(data, None) == numpy.asarray(image)[None]).all()


def test_palette_with_transparency_warns_of_nothing():
    image = Image.fromarray(RGB).quantize(4)
    data = encoded(image, transparency=bytes([0, 128, 255, 255]))
    assert (decode(data) == channels_first(image.convert('RGB'))).all()
    assert set(numpy.unique(decode(data, 'RGBA')[3])) <= {0, 128, 255}


def test_alpha_and_bits():
    image = Image.merge('RGBA', [Image.fromarray(pixels(30, 40, 1, seed)[:, :, 0])
                                 for seed in range(4)])
    data = encoded(image)
    assert (decode(data) == channels_first(image)[:3]).all()
    assert (decode(data, None) == channels_first(image)).all()
    bits = Image.fromarray(GREY > 100)
    assert (decode(encoded(bits), None) == (GREY > 100)).all()
    assert (decode(encoded(bits)) == (GREY > 100) * 255).all()


def test_animated_gives_the_first():
    frames = [Image.fromarray(pixels(8, 9, 1, seed)[:, :, 0]) for seed in range(3)]
    for kind in ('GIF', 'PNG', 'TIFF'):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
        assert opened(data).n_frames == 3
        assert (decode(data, 'L') == numpy.asarray(frames[0])).all(), kind


@pytest.mark.parametrize('orientation', range(10))
@pytest.mark.parametrize('kind', ['JPEG', 'PNG', 'TIFF', 'WEBP'])
def test_turned_as_exif_says(decoder, orientation, kind):
    data = encoded(RGB, kind, exif=exif(orientation))
    upright = ImageOps.exif_transpose(opened(data))
    turned = orientation in (5, 6, 7, 8)
    result = decode(data)
    assert result.shape == ((3, 40, 30) if turned else (3, 30, 40))
    assert numpy.abs(result.astype(int) - channels_first(upright)).max() <= 1
    # By a computation of our own: 6 is to be turned by a quarter, clockwise.
    if orientation == 6:
        plain = decode(encoded(RGB, kind)).astype(int)
        assert numpy.abs(result - numpy.rot90(plain, -1, axes=(1, 2))).max() <= 1


def test_broken_exif_does_not_matter(decoder):
    data = encoded(RGB, 'JPEG', exif=b'Exif\x00\x00MM\x00*\x00\x00\x00\x08\xff\xff')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)
        assert numpy.abs(decode(data).astype(int) - RGB.transpose(2, 0, 1)).mean() < 6


@pytest.mark.parametrize('kind', ['JPEG', 'PNG', 'TIFF', 'WEBP', 'GIF'])
def test_cut_short(decoder, kind):
    data = encoded(RGB, kind)
    for left in (len(data) // 2, 30):
        with pytest.raises(ImageDecodingError, match="of source 'image', epoch 0, step 0") as info:
            decode(data[:left])
        assert f'It has {left} bytes and starts with {data[:16]!r}' in str(info.value)


@pytest.mark.parametrize('data', [b'', b'no image', b'\xff\xd8\xff', bytes(100)])
def test_no_image_at_all(decoder, data):
    with pytest.raises(ImageDecodingError, match='not an image in a format|header is broken'):
        decode(data)


@pytest.mark.parametrize('filters', ['error', 'ignore'])
def test_decompression_bomb(monkeypatch, decoder, filters):
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 1000)
    for kind in ('PNG', 'JPEG'):
        for height, accepted in ((25, True), (26, False), (51, False)):
            data = encoded(pixels(height, 40), kind)
            with warnings.catch_warnings():
                warnings.simplefilter(filters)
                if accepted:
                    assert decode(data).shape == (3, height, 40)
                    continue
                with pytest.raises(ImageDecodingError, match='limit of 1000 pixels that PIL.Image.'
                                   'MAX_IMAGE_PIXELS sets') as info:
                    decode(data)
            assert f'40 x {height} pixels' in str(info.value) or f'{height * 40} pi' in str(
                info.value)
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', None)
    assert decode(encoded(pixels(60, 40))).shape == (3, 60, 40)


def test_an_enormous_image_is_refused_from_its_header(decoder):
    data = bytearray(encoded(pixels(8, 8), 'JPEG'))
    place = data.index(b'\xff\xc0') + 5
    data[place:place + 4] = b'\xff\xff\xff\xff'
    with pytest.raises(ImageDecodingError, match='4294836225'):
        decode(bytes(data))


def test_error_says_where_and_survives_pickling():
    images = [encoded(GREY)] * 7
    images[4] = b'broken'
    stream = ImagesFromBytes(batches(images, None, size=3))
    for epoch in range(2):
        iterator = stream.get_epoch_iterator()
        next(iterator)
        with pytest.raises(ImageDecodingError) as info:
            next(iterator)
        error = pickle.loads(pickle.dumps(info.value))
        assert isinstance(error, OSError)
        assert str(error) == (
            f"ImagesFromBytes: the image of source 'image', epoch {epoch}, step 1, image 1 of the "
            'batch cannot be used: not an image in a format that Pillow knows. It has 6 bytes and '
            "starts with b'broken'.")
        assert len(next(iterator)[0]) == 1


@pytest.mark.parametrize('wrong', ['text', 5, numpy.zeros(3, 'uint8'), None])
def test_no_bytes(wrong):
    with pytest.raises(TypeError, match=r"source 'image' to hold the bytes .* got a .* ToBytes"):
        first(ImagesFromBytes(examples([wrong], None)))
    with pytest.raises(TypeError, match='to hold the bytes'):
        first(ImagesFromBytes(batches([wrong], None)))


def test_color_mode_is_checked():
    with pytest.raises(ValueError, match="color_mode to be a mode of Pillow, .* got 'RBG'"):
        ImagesFromBytes(examples([b''], None), color_mode='RBG')
    with pytest.raises(ImageDecodingError, match='conversion from'):
        decode(encoded(Image.fromarray(RGB).convert('LAB'), 'TIFF'), 'HSV')


def test_batches_become_lists():
    images = [encoded(pixels(5 + number, 6, seed=number)) for number in range(3)]
    for form in (images, objects(images)):
        result = first(ImagesFromBytes(batches(form, None)))
        assert type(result) is list
        assert [image.shape for image in result] == [(3, 5, 6), (3, 6, 6), (3, 7, 6)]


@pytest.mark.parametrize('labels', [None, {'picture': ('batch', 'byte'), 'other': ('batch',)}])
@pytest.mark.parametrize('transformer', [ToBytes, ImagesFromBytes])
def test_labels(labels, transformer):
    files = [numpy.frombuffer(encoded(GREY), 'uint8')] * 2
    dataset = IndexableDataset({'picture': files, 'other': [1, 2]}, axis_labels=labels)
    axes = ('bytes',) if transformer is ToBytes else ('channel', 'height', 'width')
    for scheme, batch in ((SequentialExampleScheme(2), ()), (SequentialScheme(2, 2), ('batch',))):
        below = DataStream(dataset, iteration_scheme=scheme)
        before = None if labels is None else dict(below.axis_labels)
        stream = transformer(below, which_sources=('picture',))
        assert stream.axis_labels['picture'] == (*batch, *axes)
        assert stream.axis_labels.get('other') == (labels and batch)
        assert below.axis_labels == before
        assert dataset.axis_labels == labels


def test_to_bytes():
    arrays = [numpy.arange(3, dtype='uint8'), numpy.arange(2, dtype='>u2'), b'abc']
    assert every(ToBytes(examples(arrays, None))) == [b'\0\1\2', b'\0\0\0\1', b'abc']
    assert first(ToBytes(batches(arrays, None))) == [b'\0\1\2', b'\0\0\0\1', b'abc']
    assert first(ToBytes(batches(objects(arrays), None))) == [b'\0\1\2', b'\0\0\0\1', b'abc']
    assert first(ToBytes(batches(numpy.ones((2, 2), 'uint8'), None))) == [b'\1\1'] * 2
    with pytest.raises(TypeError, match="source 'image' to hold arrays; got a str"):
        first(ToBytes(examples(['text'], None)))


def test_default_transformers_of_encoded_images(caplog):
    files = objects([numpy.frombuffer(encoded(RGB[:, :20 + number]), 'uint8')
                     for number in range(3)])
    dataset = IndexableDataset({'encoded_images': files, 'targets': [1, 2, 3]})
    dataset.default_transformers = rgb_images_from_encoded_bytes(('encoded_images',))
    with caplog.at_level(logging.WARNING):
        stream = DataStream.default_stream(dataset, iteration_scheme=SequentialScheme(3, 3))
        images, targets = next(stream.get_epoch_iterator())
    assert [image.shape for image in images] == [(3, 30, 20), (3, 30, 21), (3, 30, 22)]
    assert (images[1] == RGB[:, :21].transpose(2, 0, 1)).all()
    assert list(targets) == [1, 2, 3]
    assert not caplog.records


def test_simplejpeg_is_found_where_it_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'simplejpeg', None)  # makes an import fail
    _decoding.fast_decoder.cache_clear()
    assert _decoding.fast_decoder() is None
    found = types.ModuleType('simplejpeg')
    monkeypatch.setitem(sys.modules, 'simplejpeg', found)
    assert _decoding.fast_decoder() is None  # looked for once
    _decoding.fast_decoder.cache_clear()
    assert _decoding.fast_decoder() is found
    _decoding.fast_decoder.cache_clear()


def test_what_simplejpeg_refuses_pillow_decides(monkeypatch):
    def refuse(*args, **kwargs):
        raise ValueError('no')
    monkeypatch.setattr(_decoding, 'fast_decoder',
                        lambda: types.SimpleNamespace(decode_jpeg=refuse))
    data = encoded(RGB, 'JPEG')
    assert (decode(data) == channels_first(opened(data))).all()


def test_memory_errors_are_not_the_fault_of_the_image(monkeypatch):
    def exhausted(file):
        raise MemoryError
    monkeypatch.setattr(Image, 'open', exhausted)
    with pytest.raises(MemoryError):
        decode(encoded(RGB))




def test_pillow_is_not_loaded_before_it_is_needed():
    code = ('import sys, fuel.transformers.image, fuel.transformers.defaults; '
            'print([name for name in ("PIL", "simplejpeg") if name in sys.modules])')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '[]'
