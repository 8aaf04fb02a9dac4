"""Pixels to floating-point numbers, against numpy, and kernels against their twins.

Run ``python tests/benchmarks/bench_scaling.py``; prints ``name: figure`` lines. A figure is a ratio
of two speeds in the same run; higher is better. What the kernel returns is a new array every time,
let go of before the next one is made, as in a training loop; what numpy is given to compare with
is one warm array.
"""
import statistics
import time

import numpy

from fuel import _kernels
from fuel._kernels.reference import permute, windows
from fuel._kernels.reference import scale_cast as reference
from fuel.streams import AbstractDataStream
from fuel.transformers import Cast, Normalize, ScaleAndShift

SHAPE = (128, 3, 32, 32)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Same(AbstractDataStream):
    """Gives one batch again and again, so that only what is around it takes time."""

    produces_examples = False

    def __init__(self, batch, **kwargs):
        super().__init__(**kwargs)
        self.batch = batch
        self.sources = ('images',)

    def get_data(self, request=None):
        return (self.batch,)

    def get_epoch_iterator(self, as_dict=False):
        return super().get_epoch_iterator(as_dict)


def seconds(function, times=20):
    """Return the time that a call takes."""
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times


def ratio(floor, candidate, runs=31, times=20):
    """Return the median of floor time over candidate time, measured in turn."""
    floor(), candidate()
    return statistics.median(seconds(floor, times) / seconds(candidate, times)
                             for _ in range(runs))


def main():
    """Print the figures."""
    pixels = numpy.random.RandomState(0).randint(256, size=SHAPE).astype('uint8')
    last = numpy.ascontiguousarray(pixels.transpose(0, 2, 3, 1))
    warm = numpy.empty(SHAPE, 'float32')
    scale, shift = numpy.array([1 / 255]), numpy.array([0.0])
    scales = 1 / 255 / numpy.array(STD)
    shifts = -numpy.array(MEAN) / numpy.array(STD)

    def floor():
        numpy.multiply(pixels, 1 / 255, out=warm, dtype='float32')

    def kernel():
        _kernels.scale_cast(pixels, scale, shift, 'float32')

    def one(stream):
        iterator = stream.get_epoch_iterator()
        return lambda: next(iterator)
    chain = one(Cast(ScaleAndShift(Same(pixels), 1 / 255, 0), 'float32'))
    normalize = one(Normalize(Same(pixels), MEAN, STD))
    print(f'scale_cast kernel, uint8 to new float32 / numpy.multiply into a warm array: '
          f'{ratio(floor, kernel):.2f}')
    print(f'ScaleAndShift + Cast / numpy.multiply into a warm array: {ratio(floor, chain):.2f}')
    print(f'ScaleAndShift + Cast / scale_cast kernel: {ratio(kernel, chain):.2f}')
    print(f'Normalize by channel / numpy.multiply into a warm array: '
          f'{ratio(floor, normalize):.2f}')
    moved = one(Normalize(Same(last), MEAN, STD, to_channel_first=True))
    print(f'Normalize by channel, HWC to CHW / numpy.multiply into a warm array: '
          f'{ratio(floor, moved):.2f}')
    alone = one(ScaleAndShift(Same(pixels), 1 / 255, 0))
    print(f'ScaleAndShift alone / two numpy calls: '
          f'{ratio(lambda: pixels * (1 / 255) + 0, alone, 9):.2f}')
    large = numpy.random.RandomState(0).randint(256, size=(64, 224, 224, 3)).astype('uint8')
    for name, array, runs in (('1 x 1 x 3', large[:1, :1, :1].copy(), 31),
                              ('64 x 224 x 224 x 3', large, 3)):
        for dtype in ('uint8', 'uint16', 'int16', 'float32'):
            given = array.astype(dtype), scales, shifts, 'float32', -1, 1
            figure = ratio(lambda given=given: reference.scale_cast(*given),
                           lambda given=given: _kernels.scale_cast(*given), runs,
                           1 if array is large else 200)
            print(f'scale_cast of {name} {dtype} to CHW, kernel / twin: {figure:.1f}')
    compare('sliding_windows', windows.sliding_windows, {
        '1 x 4': (numpy.arange(5), 0, 1, 4), '1000000 x 4': (numpy.arange(1_000_003), 0, 10**6, 4)})
    compare('permuted', permute.permuted, {
        '1': (numpy.arange(1), 10, 7), '1000000': (numpy.arange(10**6), 10**6, 7)})


def compare(name, twin, cases):
    """Print how a kernel compares with its twin."""
    kernel = getattr(_kernels, name)
    for size, given in cases.items():
        large = '000' in size
        figure = ratio(lambda given=given: twin(*given), lambda given=given: kernel(*given),
                       3 if large else 31, 1 if large else 200)
        print(f'{name} of {size}, kernel / twin: {figure:.1f}')


if __name__ == '__main__':
    main()
