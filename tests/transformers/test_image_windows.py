"""Decoding only what a window needs: the same pixels, or nearly, as from the whole image."""
import numpy
import pytest
from PIL import Image

from fuel.exceptions import ImageDecodingError
from fuel.transformers import _decoding, _jpeg
from fuel.transformers._pixels import resized
from fuel.transformers.image import (
    ImagesFromBytes,
    RandomResizedCrop,
    RandomResizedCropFromBytes,
)
from tests.transformers.pictures import (
    LABELS,
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
from tests.transformers.test_image_decoding import DECODERS


@pytest.fixture(params=DECODERS)
def decoder(request, monkeypatch):
    monkeypatch.setattr(_decoding, 'fast_decoder', lambda: DECODERS[request.param])
    return request.param


def pictures(kind='JPEG', size=(90, 120), channels=3, **options):
    images = [pixels(*size, channels, seed) for seed in range(6)]
    if channels == 1:
        images = [image[:, :, 0] for image in images]
    return [encoded(image, kind, **options) for image in images]


def whole(files, shape, rng, color_mode='RGB', **options):
    """Return what comes of decoding everything first."""
    stream = ImagesFromBytes(batches(files, None), color_mode)
    return numpy.stack(first(RandomResizedCrop(
        stream, shape, rng=numpy.random.RandomState(rng), **options)))


OPTIONS = {'JPEG': [{}, {'subsampling': 0}, {'subsampling': 1}, {'progressive': True},
                    {'quality': 20, 'restart_marker_rows': 1}, {'optimize': True}],
           'PNG': [{}], 'WEBP': [{}], 'GIF': [{}]}


@pytest.mark.parametrize(('kind', 'options'), [
    (kind, each) for kind, options in OPTIONS.items() for each in options])
@pytest.mark.parametrize(('channels', 'color_mode'), [(3, 'RGB'), (1, 'RGB'), (1, 'L'), (3, 'L')])
def test_same_as_decoding_everything(decoder, kind, options, channels, color_mode):
    files = pictures(kind, channels=channels, **options)
    for resample in ('bilinear', 'nearest', 'bicubic'):
        for rng in range(4):
            expected = whole(files, (40, 32), rng, color_mode, resample=resample)
            result = first(RandomResizedCropFromBytes(
                batches(files, None), (40, 32), resample=resample, color_mode=color_mode,
                rng=numpy.random.RandomState(rng)))
            assert result.shape == (6, 3 if color_mode == 'RGB' else 1, 40, 32)
            assert result.flags.c_contiguous
            assert (result == expected).all()


def test_same_in_every_form_and_one_by_one(decoder):
    files = pictures()
    expected = first(RandomResizedCropFromBytes(batches(files, None), (40, 32)))
    result = first(RandomResizedCropFromBytes(batches(objects(files), None), (40, 32)))
    assert (result == expected).all()
    given = RandomResizedCropFromBytes(batches(files, None), (40, 32),
                                       rng=numpy.random.RandomState(1))
    one_by_one = RandomResizedCropFromBytes(examples(files, None), (40, 32),
                                            rng=numpy.random.RandomState(1))
    assert (numpy.stack(every(one_by_one)) == first(given)).all()


@pytest.mark.parametrize('orientation', [3, 6, 8])
@pytest.mark.parametrize('kind', ['JPEG', 'PNG'])
def test_turned_as_exif_says(decoder, orientation, kind):
    files = pictures(kind, exif=exif(orientation))
    result = first(RandomResizedCropFromBytes(batches(files, None), (40, 32),
                                              rng=numpy.random.RandomState(0)))
    assert (result == whole(files, (40, 32), 0)).all()


def test_16_bit_windows_that_happen_to_be_dark():
    image = numpy.zeros((50, 60), 'uint16')
    image[:, 30:] = numpy.arange(30) * 2000
    stream = RandomResizedCropFromBytes(examples([encoded(image)], None), (20, 20), color_mode='L')
    pixels_, box = _decoding.decoded_window(encoded(image), 'L', lambda *_: (0, 0, 20, 20),
                                            (20, 20), None)
    assert box == (0, 0, 20, 20)
    assert not pixels_.any()
    assert first(stream).shape == (1, 20, 20)


@pytest.mark.parametrize('size', [(600, 800), (601, 803), (450, 1001)])
@pytest.mark.parametrize('color_mode', ['RGB', 'L'])
def test_reduced_size_is_about_the_same_for_the_same_window(decoder, size, color_mode):
    channels = 3 if color_mode == 'RGB' else 1
    files = pictures(size=size, channels=channels, quality=90)
    stream = RandomResizedCropFromBytes(batches(files, None), (48, 48), color_mode=color_mode,
                                        scale=(0.5, 1), rng=numpy.random.RandomState(3),
                                        reducing_gap=2.0)
    result = first(stream)
    chances = numpy.random.RandomState(3).random_sample((6, 22)).tolist()
    expected, reductions = [], []
    for image, row in zip(first(ImagesFromBytes(batches(files, None), color_mode)), chances,
                          strict=True):
        window = stream.window_of(*size, row)
        by = max(by for by in (1, 2, 4, 8) if min(window[2:]) >= 48 * by * 2)
        reductions.append(by)
        top, left, height, width = (part // by * by for part in window)
        expected.append(resized(image[:, top:top + height, left:left + width], (48, 48),
                                'bilinear'))
    assert max(reductions) > 1
    difference = numpy.abs(result.astype(int) - expected)
    assert (difference <= 1).mean() > 0.9999
    assert difference.max() <= 2
    exact = RandomResizedCropFromBytes(batches(files, None), (48, 48), color_mode=color_mode,
                                       scale=(0.5, 1), rng=numpy.random.RandomState(3))
    assert (first(exact) == whole(files, (48, 48), 3, color_mode, scale=(0.5, 1))).all()


def test_decoded_at_reduced_size(decoder):
    file = pictures(size=(600, 800))[0]
    for gap, size in ((2.0, (150, 200)), (None, (576, 800))):
        got, box = _decoding.decoded_window(file, 'RGB', lambda *_: (40, 80, 520, 620), (48, 48),
                                            gap)
        assert box[2:] == ((130, 155) if gap else (520, 620))
        assert got.shape[:2] in (size, box[2:])


def test_reduced_size_is_the_same_with_every_decoder(monkeypatch):
    files = pictures(size=(501, 643))
    results = []
    for module in DECODERS.values():
        monkeypatch.setattr(_decoding, 'fast_decoder', lambda module=module: module)
        results.append(first(RandomResizedCropFromBytes(batches(files, None), (30, 30),
                                                        reducing_gap=2.0)))
    for result in results[1:]:
        assert numpy.abs(result.astype(int) - results[0]).max() <= 1


@pytest.mark.parametrize(('window', 'gap', 'by'), [
    ((400, 400), 2.0, 2), ((399, 400), 2.0, 1), ((400, 399), 2.0, 1), ((800, 900), 2.0, 4),
    ((4000, 4000), 2.0, 8), ((400, 400), None, 1), ((400, 400), 1.0, 4), ((400, 400), 4.0, 1)])
def test_how_far_the_size_is_reduced(window, gap, by):
    assert _decoding._reduction((5000, 5000), window, (100, 100), gap) == by
    assert _decoding._reduction((60, 5000), (60, 60), (1, 1), 1) == 4


# Cutting off rows.


@pytest.mark.parametrize('subsampling', [0, 1, 2])
@pytest.mark.parametrize('size', [(100, 70), (33, 41), (16, 16)])
@pytest.mark.parametrize('channels', [1, 3])
def test_rows_that_are_left_have_the_same_pixels(subsampling, size, channels):
    image = pixels(*size, channels)
    options = {'subsampling': subsampling} if channels == 3 else {}
    data = encoded(image if channels == 3 else image[:, :, 0], 'JPEG', **options)
    expected = numpy.asarray(opened(data))
    for rows in range(1, size[0] + 1):
        part = numpy.asarray(opened(_jpeg.cut_off_below(data, rows)))
        assert len(part) == min(size[0], rows + _jpeg.MARGIN)
        assert (part[:rows] == expected[:rows]).all()


def test_what_is_not_cut_off():
    plain = pictures()[0]
    progressive = encoded(pixels(90, 120), 'JPEG', progressive=True)
    assert _jpeg.cut_off_below(progressive, 10) is progressive
    assert _jpeg.cut_off_below(plain, 90 - _jpeg.MARGIN) is plain
    assert _jpeg.cut_off_below(plain, 10) != plain
    for left in range(0, len(plain) - 1, 7):
        part = plain[:left]
        assert _jpeg.cut_off_below(part, 10) is part
    for wrong in (b'\xff\xd8\xff\xd9', b'\xff\xd8\xff\xe0\x00\x00' + plain[2:],
                  b'\xff\xd8\xff\xff\xff\xd9', b'\xff\xd8' + b'\xff' * 50 + b'\xff\xd9',
                  b'\xff\xd8' + bytes(20) + b'\xff\xd9'):
        assert _jpeg.cut_off_below(wrong, 10) is wrong
    padded = plain[:2] + b'\xff\xff' + plain[2:]
    assert numpy.asarray(opened(_jpeg.cut_off_below(padded, 10))).shape == (26, 120, 3)
    commented = encoded(pixels(90, 120), 'JPEG', comment=b'\xff\xc0' * 40)
    assert numpy.asarray(opened(_jpeg.cut_off_below(commented, 10))).shape == (26, 120, 3)


# Errors.


def test_cut_short(decoder):
    files = pictures()
    for file, places in ((files[0], (50, len(files[0]) // 2, len(files[0]) - 40)),
                         (pictures('PNG')[0], (50, 400))):
        for place in places:
            with pytest.raises(ImageDecodingError, match="image 1 of the batch cannot be used"):
                first(RandomResizedCropFromBytes(batches([files[1], file[:place]], None), (9, 9)))


def test_error_says_where():
    stream = RandomResizedCropFromBytes(examples([pictures()[0], b'nothing'], None), (9, 9))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(ImageDecodingError, match="RandomResizedCropFromBytes: the image of source "
                       "'image', epoch 0, step 1 cannot be used: .* starts with b'nothing'"):
        next(iterator)
    with pytest.raises(TypeError, match='to hold the bytes'):
        first(RandomResizedCropFromBytes(batches([3], None), (9, 9)))


def test_bomb(decoder, monkeypatch):
    files = pictures()
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 90 * 120 - 1)
    with pytest.raises(ImageDecodingError, match='MAX_IMAGE_PIXELS'):
        first(RandomResizedCropFromBytes(batches(files, None), (9, 9)))


def test_arguments():
    for wrong in (0.5, 0, -1):
        with pytest.raises(ValueError, match='reducing_gap to be None or a number of at least 1'):
            RandomResizedCropFromBytes(batches([b'']), (9, 9), reducing_gap=wrong)
    with pytest.raises(ValueError, match='color_mode to be a mode of Pillow, since'):
        RandomResizedCropFromBytes(batches([b'']), (9, 9), color_mode=None)
    with pytest.raises(ValueError, match="got 'rgb'"):
        RandomResizedCropFromBytes(batches([b'']), (9, 9), color_mode='rgb')
    stream = RandomResizedCropFromBytes(batches(pictures(), None), (9, 9))
    assert stream.axis_labels == {'image': LABELS}
    stream.window_chances = lambda count: []
    with pytest.raises(ValueError, match="a batch of source 'image' is empty"):
        stream.transform_source_batch([], 'image')
