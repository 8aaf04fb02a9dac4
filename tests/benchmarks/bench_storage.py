"""Batches out of HDF5 files against the floor, and against h5py.

Run ``python tests/benchmarks/bench_storage.py``; prints ``name: figure`` lines. Figures are
speeds divided by that of something else in the same run: of the *floor*, which is numpy taking
the same rows in the same order from a mapped file into a buffer that is used again, or of h5py.
Both are measured in turn, in short blocks, and the median of the ratios is printed. Higher is
better. Batches are of 128, out of 50 000 images of 3 x 32 x 32 bytes and their labels, through a
stream with both sources; the files are in the page cache.
"""
import argparse
import itertools
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy
from numpy.random import RandomState

from fuel import config
from fuel.datasets import H5PYDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.storage_files import Files, warm

BATCH_SIZE = 128
BLOCK_SECONDS, SECONDS, BLOCKS = 0.6, 3.5, 21


class Requests:
    """The index arrays of one epoch after another, as a scheme makes them."""

    def __init__(self, scheme):
        self._scheme = scheme
        self._left = []

    def restart(self):
        """Begin the next epoch."""
        self._left = [numpy.asarray(request) for request in self._scheme.get_request_iterator()]

    def take(self, count):
        """Return the next requests, which may go on in another epoch."""
        taken = []
        while len(taken) < count:
            if not self._left:
                self.restart()
            missing = count - len(taken)
            taken += self._left[:missing]
            self._left = self._left[missing:]
        return taken


class Stream:
    """Batches of a data set through a stream, a block at a time."""

    def __init__(self, path, make_scheme, threads=0, cache_bytes=None):
        self._old = {}
        for key, value in (('num_threads', threads), ('chunk_cache_bytes', cache_bytes)):
            # What has no such setting yet is measured as it is.
            if value is not None and hasattr(config, key):
                self._old[key] = getattr(config, key)
                setattr(config, key, value)
        self.dataset = H5PYDataset(path, ('train',))
        self.batches = -(-self.dataset.num_examples // BATCH_SIZE)
        self._stream = DataStream(self.dataset, iteration_scheme=make_scheme(self.dataset))
        self.restart()

    def restart(self):
        """Have the next block begin the next epoch."""
        self._iterator = None

    def read(self, count):
        """Read the next batches, which may go on in another epoch."""
        while count:
            if self._iterator is None:
                self._iterator = self._stream.get_epoch_iterator()
                self._left = self.batches
            size = min(count, self._left)
            for _ in itertools.islice(self._iterator, size):
                pass
            count -= size
            self._left -= size
            if not self._left:
                # Batches are counted, and the end of the epoch is reached as in a loop.
                assert next(self._iterator, None) is None
                self._iterator = None

    def warm_up(self, seconds):
        """Read an epoch, or for some time; return the seconds a batch takes after that."""
        begun, done = time.perf_counter(), 0
        self.read(1)
        while done < self.batches and time.perf_counter() - begun < seconds:
            self.read(4)
            done += 4
        return timed(self.read, 4) / 4

    def close(self):
        """Close the file and take back the settings."""
        self._stream.close()
        for key, value in self._old.items():
            setattr(config, key, value)


def timed(action, *arguments):
    """Return the seconds that something takes."""
    start = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - start


def of_a_batch(read, least=0.05):
    """Return the seconds that one batch takes, from blocks that are long enough."""
    seconds, count = 0.0, 0
    while seconds < least:
        seconds += timed(read, 8)
        count += 8
    return seconds / count


def ratio(stream, requests, other, seconds, least=48):
    """Return the median of the time of `other` over that of the stream, measured in turn.

    Parameters
    ----------
    stream : Stream
    requests : Requests
        Made by a scheme like that of the stream.
    other : callable
        Reads the batches of a list of requests.
    seconds : float
        About how long to measure.
    least : int, optional
        How many batches `other` must be given at once: so many that they do not stay in the
        caches of the processor where the stream has just had them.
    """
    each = stream.warm_up(seconds)
    other(requests.take(least))
    # Beginning an epoch is a part of it, so blocks are whole epochs where these are short enough.
    whole = each * stream.batches < BLOCK_SECONDS
    size = stream.batches if whole else max(1, min(stream.batches, int(BLOCK_SECONDS / 2 / each)))
    ratios = []
    begun = time.perf_counter()
    while len(ratios) < 3 or (len(ratios) < BLOCKS and time.perf_counter() - begun < seconds):
        if whole:
            stream.restart()
            requests.restart()
        block = requests.take(max(size, least))
        ours = timed(stream.read, size) / size
        ratios.append(timed(other, block) / len(block) / ours)
    return statistics.median(ratios)


class Bench:
    """All rows of the table."""

    def __init__(self, files, seconds, only):
        self.files = files
        self.seconds = seconds
        self.only = only
        self.bytes = files.count * 3072

    def shuffled(self, dataset):
        return ShuffledScheme(dataset.num_examples, BATCH_SIZE, rng=RandomState(1))

    def in_order(self, dataset):
        return SequentialScheme(dataset.num_examples, BATCH_SIZE)

    def by_chunk(self, dataset):
        from fuel.schemes import ChunkShuffledScheme
        # Two windows fit into an eighth of the data.
        return ChunkShuffledScheme(dataset.num_examples, BATCH_SIZE, chunks=64,
                                   window=max(1, self.files.count // 64 // 16),
                                   rng=RandomState(1))

    def wants(self, name):
        return not self.only or any(part in name for part in self.only)

    def report(self, name, figure):
        print(f'{name}: {figure:.3g}', flush=True)

    @contextmanager
    def stream(self, file, scheme, threads, cache_bytes=None):
        stream = Stream(self.files[file], scheme, threads, cache_bytes)
        try:
            yield stream, Requests(scheme(stream.dataset))
        finally:
            stream.close()

    def floor(self):
        """Return what takes rows from mapped bytes into buffers that are used again."""
        arrays = [self.files.mapped(source) for source in ('features', 'targets')]
        buffers = [numpy.empty((BATCH_SIZE, *array.shape[1:]), 'uint8') for array in arrays]

        def take(requests):
            for indices in requests:
                for array, buffer in zip(arrays, buffers, strict=True):
                    numpy.take(array, indices, axis=0, out=buffer[:len(indices)], mode='clip')
        take.arrays = arrays
        return take

    def slices(self, fresh):
        """Return what copies slices of mapped bytes, to new arrays or into a buffer."""
        arrays = [self.files.mapped(source) for source in ('features', 'targets')]
        buffers = [numpy.empty((BATCH_SIZE, *array.shape[1:]), 'uint8') for array in arrays]

        def copy(requests):
            for indices in requests:
                first, last = int(indices[0]), int(indices[-1]) + 1
                for array, buffer in zip(arrays, buffers, strict=True):
                    if fresh:
                        array[first:last].copy()
                    else:
                        buffer[:last - first] = array[first:last]
        return copy

    @contextmanager
    def h5py_rows(self, file, in_order=False):
        """Give what reads batches as the documentation of h5py says."""
        with h5py.File(self.files[file]) as h5file:
            sources = [source for source in ('features', 'encoded', 'targets') if source in h5file]
            datasets = [h5file[source] for source in sources]

            def read(requests):
                for indices in requests:
                    if in_order:
                        chosen = slice(int(indices[0]), int(indices[-1]) + 1)
                    else:
                        chosen = numpy.sort(indices)
                    for dataset in datasets:
                        dataset[chosen]
            yield read

    def h5py_figure(self, name, file, floor, in_order=False, batches=6):
        """Print how fast h5py is, from a few batches."""
        with self.h5py_rows(file, in_order) as read:
            scheme = SequentialScheme if in_order else ShuffledScheme
            requests = Requests(scheme(self.files.count, BATCH_SIZE))
            read(requests.take(1))
            ratios = []
            for _ in range(3):
                of_floor = timed(floor, requests.take(48)) / 48
                ratios.append(of_floor * (batches // 3)
                              / timed(read, requests.take(batches // 3)))
        self.report(name, statistics.median(ratios))

    def against_floor(self, name, file, threads, scheme=None, cache_bytes=None, read_first=False):
        """Print a figure of a shuffled epoch over the floor."""
        if not self.wants(name):
            return
        floor = self.floor()
        with self.stream(file, scheme or self.shuffled, threads, cache_bytes) as (stream, requests):
            rows = numpy.array([5, 3, self.files.count - 1])
            for got, array in zip(stream.dataset.get_data(None, rows), floor.arrays, strict=True):
                assert numpy.array_equal(got, array[rows])
            if read_first:
                for start in range(0, self.files.count, 640):
                    stream.dataset.get_data(None, slice(start, min(start + 640,
                                                                   self.files.count)))
            self.report(name, ratio(stream, requests, floor, self.seconds))

    def against_h5py(self, name, file, threads, scheme, in_order, cache_bytes):
        """Print a figure over h5py, which reads few batches in each block."""
        if not self.wants(name):
            return
        with self.stream(file, scheme, threads, cache_bytes) as (stream, _), \
                self.h5py_rows(file, in_order) as read:
            other = Requests((self.in_order if in_order else self.shuffled)(stream.dataset))
            begun, ratios = time.perf_counter(), []
            stream.warm_up(self.seconds / 2)
            read(other.take(2))
            while len(ratios) < 5 or (len(ratios) < 15
                                      and time.perf_counter() - begun < self.seconds):
                ours = of_a_batch(stream.read)
                ratios.append(of_a_batch(lambda count: read(other.take(count))) / ours)
            self.report(name, statistics.median(ratios))

    def images(self):
        for text, file, must, must_two in (
                ('contiguous', 'contiguous', 0.75, 1.2),
                ('chunks of 64, uncompressed', 'chunks64', 0.7, 1.0),
                ('chunks of 1000, uncompressed', 'chunks1000', 0.7, 1.0),
                ('chunk = 1 row, uncompressed', 'chunks1', 0.6, 0.6)):
            name = f'shuffled, {text}'
            self.against_floor(f'{name}, 1 thread / floor (must {must})', file, 1)
            self.against_floor(f'{name}, 2 threads / floor (must {must_two})', file, 2)
            if self.wants(name):
                self.h5py_figure(f'h5py, {name} / floor', file, self.floor())
        small = self.bytes // 64
        self.against_h5py('shuffled, gzip-4 + shuffle, chunk = 1 row, 2 threads / h5py (must 25)',
                          'gzip1', 2, self.shuffled, False, small)
        self.against_floor('shuffled, gzip-4 + shuffle, chunk = 1 row, 2 threads / floor', 'gzip1',
                           2, cache_bytes=small)
        name = 'shuffled, gzip-4 chunks of 64, data fit the cache, second epoch'
        for threads in (1, 2):
            self.against_floor(f'{name}, {threads} threads / floor (must 0.5)', 'gzip64', threads,
                               cache_bytes=4 * self.bytes, read_first=True)
        if self.wants(name):
            self.h5py_figure('h5py, shuffled, gzip-4 chunks of 64 / floor', 'gzip64',
                             self.floor(), batches=3)
        self.against_h5py('chunk-shuffled, gzip-4 chunks of 64, cache of an eighth, 2 threads / '
                          'h5py in order (must 2)', 'gzip64', 2, self.by_chunk, True,
                          self.bytes // 8)
        self.against_h5py('in order, gzip-4 chunks of 64, 2 threads / h5py (must 2)', 'gzip64', 2,
                          self.in_order, True, small)
        for threads, fresh, what in ((1, True, 'slice copies (must 0.85)'),
                                     (2, True, 'slice copies (must 0.85)'),
                                     (1, False, 'slice copies into a buffer')):
            name = f'in order, contiguous, {threads} threads / {what}'
            if self.wants(name):
                with self.stream('contiguous', self.in_order, threads) as (stream, requests):
                    self.report(name, ratio(stream, requests, self.slices(fresh), self.seconds))
        if self.wants('in order, contiguous'):
            self.h5py_figure('h5py, in order, contiguous / slice copies', 'contiguous',
                             self.slices(True), True, 60)

    def strings(self):
        name = 'ragged layout, byte strings of 100 kB, shuffled / copying them (must 0.6)'
        if self.wants(name):
            path = self.files['ragged']
            with h5py.File(path) as h5file:
                flat = numpy.memmap(path, 'uint8', 'r', h5file['encoded'].id.get_offset(),
                                    h5file['encoded'].shape)
                offsets = h5file['encoded_offsets'][...].tolist()

            def copies(requests):
                for indices in requests:
                    [flat[offsets[place]:offsets[place + 1]].copy() for place in indices.tolist()]
            for threads in (1, 2):
                with self.stream('ragged', self.shuffled, threads) as (stream, requests):
                    if stream.dataset.get_data(None, [5])[0][0].shape != (offsets[6] - offsets[5],):
                        self.report(name, float('nan'))     # this layout is not known
                        break
                    self.report(name.replace(' / ', f', {threads} threads / '),
                                ratio(stream, requests, copies, self.seconds))
        name = 'vlen layout, byte strings of 100 kB, shuffled'
        if self.wants(name):
            with self.stream('vlen', self.shuffled, 1) as (stream, requests), \
                    self.h5py_rows('vlen') as read:
                self.report(f'{name} / h5py (must 1.3)',
                            ratio(stream, requests, read, self.seconds, least=4))

    def million(self):
        name = 'open + first batch, 10^6 chunks'
        if not self.wants(name):
            return
        path = self.files['million']
        warm(path)
        rng = numpy.random.default_rng(0)
        ours, theirs = [], []
        for _ in range(3):
            rows = rng.permutation(10 ** 6)[:BATCH_SIZE]
            start = time.perf_counter()
            dataset = H5PYDataset(path, ('train',))
            got, = dataset.get_data(None, rows)
            ours.append(time.perf_counter() - start)
            dataset.close(None)
            assert numpy.array_equal(got.view('uint64')[:, 0], rows)
            start = time.perf_counter()
            with h5py.File(path) as h5file:
                h5file['features'][numpy.sort(rows)]
            theirs.append(time.perf_counter() - start)
        print(f'{name}, seconds (must 0.3, or the next one): {statistics.median(ours):.3f}')
        self.report(f'{name} / one h5py fancy read (must 10)',
                    statistics.median(theirs) / statistics.median(ours))


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--quick', action='store_true', help='fewer images and shorter runs')
    parser.add_argument('--only', action='append', help='only rows with this in their name')
    parser.add_argument('--folder', help='where the files are made, and found again')
    parser.add_argument('--no-million', action='store_true', help='leave out 10^6 chunks')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = Files(arguments.folder or folder, 10_000 if arguments.quick else 50_000)
        bench = Bench(files, 0.7 if arguments.quick else SECONDS, arguments.only)
        bench.images()
        bench.strings()
        if not arguments.no_million:
            bench.million()
        if bench.wants('gzip'):
            for file in ('gzip1', 'gzip64'):
                with h5py.File(files[file]) as h5file:
                    bench.report(f'bytes of the images over those in {file}',
                                 h5file.attrs['ratio'])


if __name__ == '__main__':
    main()
