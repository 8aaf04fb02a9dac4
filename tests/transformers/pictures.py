"""Encoded images of every kind, and streams of images in every form."""
import io

import numpy
from PIL import Image

from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream

LABELS = ('batch', 'channel', 'height', 'width')


def pixels(height, width, channels=3, seed=0):
    """Return smooth pixels with some noise, channels last."""
    random = numpy.random.RandomState(seed)
    coarse = random.randint(256, size=(4, 5, channels)).astype('uint8')
    planes = [numpy.asarray(Image.fromarray(coarse[:, :, channel]).resize(
        (width, height), Image.Resampling.BICUBIC)) for channel in range(channels)]
    smooth = numpy.stack(planes, axis=2).astype(int)
    return (smooth + random.randint(-6, 7, size=smooth.shape)).clip(0, 255).astype('uint8')


def encoded(image, kind='PNG', **kwargs):
    """Return an image as the bytes of a file."""
    file = io.BytesIO()
    if isinstance(image, numpy.ndarray):
        image = Image.fromarray(image)
    image.save(file, kind, **kwargs)
    return file.getvalue()


def opened(data):
    """Return what Pillow makes of the bytes of a file."""
    return Image.open(io.BytesIO(data))


def exif(orientation):
    """Return EXIF data that say how a picture was held."""
    result = Image.Exif()
    result[0x0112] = orientation
    return result


def objects(items):
    """Return items in an array of objects."""
    result = numpy.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        result[place] = item
    return result


def batches(images, labels=LABELS, size=None):
    """Return a stream of batches over images."""
    dataset = IndexableDataset({'image': images}, axis_labels=labels and {'image': labels})
    count = len(images)
    return DataStream(dataset, iteration_scheme=SequentialScheme(count, size or count))


def examples(images, labels=LABELS):
    """Return a stream of single images."""
    dataset = IndexableDataset({'image': images}, axis_labels=labels and {'image': labels})
    return DataStream(dataset, iteration_scheme=SequentialExampleScheme(len(images)))


def first(stream):
    """Return the first data of the single source of a stream."""
    return next(stream.get_epoch_iterator())[0]


def every(stream):
    """Return the data of the single source of a stream in an epoch."""
    return [data for data, in stream.get_epoch_iterator()]
