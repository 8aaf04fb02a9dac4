"""Crops against a copy of what comes out of them, and decoding against loops over Pillow.

Run ``python tests/benchmarks/bench_images.py``; prints ``name: figure`` lines. A figure is the
time of what it is compared with divided by the time of the transformer, in the same run; higher is
better. The transformers do their whole step: random numbers, checks, and a new array for the
result. What they are compared with has its random numbers ready, and the copies of memory write
into memory that is there already.
"""
import functools
import io
import statistics
import time

import numpy
from PIL import Image

from fuel import rng
from fuel._kernels import resize_window, window_batch_bchw
from fuel._kernels.reference.crop import window_batch_bchw as numpy_windows
from fuel._kernels.reference.resize import resize_window as numpy_resize
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import _decoding
from fuel.transformers.image import (
    ImagesFromBytes,
    RandomFixedSizeCrop,
    RandomResizedCrop,
    RandomResizedCropFromBytes,
)

LABELS = ('batch', 'channel', 'height', 'width')


def seconds(function):
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(base, candidate, runs):
    """Return the median of the time of the base over that of the candidate, measured in turn."""
    base(), candidate()
    return statistics.median(seconds(base) / seconds(candidate) for _ in range(runs))


class Steps:
    """Calls a transformer on one batch again and again, as the steps of an epoch would.

    What the stream below does, to get the batch, is not timed with it.
    """

    def __init__(self, batch, make):
        dataset = IndexableDataset({'image': batch})
        if isinstance(batch, numpy.ndarray):
            dataset.axis_labels = {'image': LABELS}
        stream = DataStream(dataset, iteration_scheme=SequentialScheme(len(batch), len(batch)))
        self.transformer = make(stream)
        self.batch = (batch,)
        # Puts the transformer into a step, whose number it draws random numbers by.
        self.iterator = self.transformer.get_epoch_iterator()
        next(self.iterator)
        self.step = self.transformer.transform_batch

    def __call__(self):
        running = rng.running
        outer, running.position = running.position, self.iterator.cursor
        try:
            return self.step(self.batch)
        finally:
            running.position = outer


def crops():
    """Print the figures of cropping."""
    random = numpy.random.RandomState(0)
    for shape, side, runs in (((128, 3, 256, 256), 224, 41), ((256, 3, 36, 36), 32, 401)):
        batch = random.randint(256, size=shape).astype('uint8')
        steps = Steps(batch, lambda stream, side=side: RandomFixedSizeCrop(stream, (side, side)))
        tops, lefts = random.randint(shape[2] - side + 1, size=(2, len(batch)))
        out = numpy.empty((*shape[:2], side, side), 'uint8')
        warm = numpy.ones_like(out)

        def loop(out=out, batch=batch, tops=tops, lefts=lefts, side=side):
            for number in range(len(batch)):
                top, left = tops[number], lefts[number]
                out[number] = batch[number, :, top:top + side, left:left + side]

        def copy(out=out, warm=warm):
            numpy.copyto(out, warm)

        def kernel(out=out, batch=batch, tops=tops, lefts=lefts):
            window_batch_bchw(batch, tops, lefts, out)

        name = f'random crop of uint8 {shape} to {side}'
        print(f'{name} / memcpy of the output: {ratio(copy, steps, runs):.2f}')
        print(f'{name} / numpy loop: {ratio(loop, steps, runs):.2f}')
        print(f'{name}, kernel alone / memcpy of the output: {ratio(copy, kernel, runs):.2f}')
        print(f'{name}, kernel alone / numpy loop: {ratio(loop, kernel, runs):.2f}')
    tiny = random.randint(256, size=(1, 1, 4, 4)).astype('uint8')
    out, zero = numpy.empty((1, 1, 2, 2), 'uint8'), numpy.zeros(1, int)
    gain = ratio(lambda: numpy_windows(tiny, zero, zero, out),
                 lambda: window_batch_bchw(tiny, zero, zero, out), 401)
    print(f'crop kernel / twin, one image of 4 x 4: {gain:.2f}')


def photograph(seed, width=500, height=375):
    """Return a JPEG of smooth shapes, some detail and noise: some 50 kB, as photographs have."""
    random = numpy.random.RandomState(seed)
    layers = [numpy.asarray(Image.fromarray(random.randint(0, 256, shape).astype('uint8')).resize(
        (width, height), Image.Resampling.BICUBIC), dtype='float32')
        for shape in ((24, 32, 3), (94, 125, 3))]
    pixels = 0.8 * layers[0] + 0.2 * layers[1] + random.normal(0, 4, (height, width, 1))
    file = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype('uint8')).save(file, 'JPEG', quality=85)
    return file.getvalue()


def jpeg():
    """Print the figures of decoding."""
    files = [photograph(seed) for seed in range(64)]
    print(f'bytes of a JPEG of 500 x 375: {sum(map(len, files)) / len(files):.0f}')
    steps = Steps(files, lambda stream: RandomResizedCropFromBytes(stream, (224, 224)))
    chain = Steps(files, lambda stream: RandomResizedCrop(
        ImagesFromBytes(stream), (224, 224)))
    decode = chain.transformer.data_stream
    chances = numpy.random.RandomState(0).random_sample((64, 22)).tolist()
    boxes = [steps.transformer.window_of(375, 500, row) for row in chances]
    share = statistics.mean(tall * wide for _, _, tall, wide in boxes) / (500 * 375)
    print(f'share of the area that the windows have: {share:.2f}')

    def pillow():
        result = numpy.empty((64, 3, 224, 224), 'uint8')
        for out, file, (top, left, tall, wide) in zip(result, files, boxes, strict=True):
            image = Image.open(io.BytesIO(file)).convert('RGB')
            image = image.crop((left, top, left + wide, top + tall))
            image = image.resize((224, 224), Image.Resampling.BILINEAR)
            out[...] = numpy.asarray(image).transpose(2, 0, 1)
        return result

    def images_only():
        for file, (top, left, tall, wide) in zip(files, boxes, strict=True):
            image = Image.open(io.BytesIO(file)).convert('RGB')
            image = image.crop((left, top, left + wide, top + tall))
            image.resize((224, 224), Image.Resampling.BILINEAR)

    # The windows that the transformer draws are others than those of the loop; make them equal.
    for each in (steps.transformer, chain.transformer):
        each.window_chances = lambda count: chances[:count]

    def two_steps():
        return chain.transformer.transform_batch(decode.transform_batch((files,)))

    found = _decoding.fast_decoder
    decoders = {'Pillow': lambda: None}
    if found() is not None:
        decoders['simplejpeg'] = found
    name = 'JPEG 500 x 375, random resized crop to 224, batch of 64'
    for decoder, finder in decoders.items():
        _decoding.fast_decoder = finder
        print(f'{name}, {decoder} / Pillow loop: {ratio(pillow, steps, 9):.2f}')
        print(f'{name}, {decoder} / Pillow loop that makes no arrays: '
              f'{ratio(images_only, steps, 9):.2f}')
        print(f'{name}, decoded whole and then cropped, {decoder} / Pillow loop: '
              f'{ratio(pillow, two_steps, 9):.2f}')
    _decoding.fast_decoder = found
    difference = numpy.abs(steps()[0].astype(int) - pillow()).max()
    print(f'largest difference to the Pillow loop, in grey levels: {difference}')


def resizing():
    """Print the figures of the kernel that resizes, at its smallest and largest."""
    random = numpy.random.RandomState(0)
    for size, side, runs in ((8, 4, 401), (256, 224, 21), (2000, 224, 5)):
        image = random.randint(256, size=(size, size, 3)).astype('uint8')
        arguments = image, (0, 0, size, size), numpy.empty((3, side, side), 'uint8')
        kernel = functools.partial(resize_window, *arguments)
        others = {'twin': functools.partial(numpy_resize, *arguments),
                  'Pillow': functools.partial(Image.fromarray(image).resize, (side, side),
                                              Image.Resampling.BILINEAR)}
        for other, function in others.items():
            print(f'resize kernel, uint8 {size} x {size} x 3 to {side} / {other}: '
                  f'{ratio(function, kernel, runs):.2f}')


def main():
    """Print the figures."""
    crops()
    resizing()
    jpeg()


if __name__ == '__main__':
    main()
