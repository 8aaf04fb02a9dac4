"""What the engines are compared with: PyTorch's workers, plain interpreters, copies of memory."""
import mmap
import os
import statistics
import subprocess
import sys
import time

import numpy

from tests.benchmarks.engine_sources import CROP

#: Batches that PyTorch's workers make ahead of time; the first is the default.
PREFETCH = (2, 8)


def torch():
    """Return PyTorch, or `None` where it is not installed."""
    try:
        import torch as module
        import torch.utils.data
    except ImportError:
        return None
    return module


class Rows:
    """Rows of a tensor, one at a time, as the documentation of PyTorch says."""

    def __init__(self, rows):
        self.rows = torch().from_numpy(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Batches(Rows):
    """Rows of a tensor, taken for a whole batch at once: the fastest that PyTorch has."""

    def __getitems__(self, indices):
        return torch().index_select(self.rows, 0, torch().as_tensor(indices))


class Crops:
    """Photographs, decoded and cropped one at a time."""

    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import simplejpeg
        pixels = simplejpeg.decode_jpeg(self.files[index], 'RGB')
        height, width = pixels.shape[:2]
        top = int(torch().randint(height - CROP + 1, ()))
        left = int(torch().randint(width - CROP + 1, ()))
        window = pixels[top:top + CROP, left:left + CROP]
        return torch().from_numpy(window).permute(2, 0, 1).contiguous()


def as_it_is(data):
    """Collate what is a batch already."""
    return data


def loader(dataset, requests, workers, prefetch=2, **kwargs):
    """Return PyTorch's `DataLoader` over batches that were chosen already."""
    return torch().utils.data.DataLoader(
        dataset, batch_sampler=requests, num_workers=workers, prefetch_factor=prefetch,
        persistent_workers=True, **kwargs)


def loaders_of_rows(arrays):
    """Return a loader with one worker for every way that may be the fastest, by name."""
    result = {}
    for prefetch in PREFETCH:
        result[f'one row at a time, prefetch {prefetch}'] = loader(
            Rows(arrays.rows), arrays.requests(), 1, prefetch)
        result[f'whole batches, prefetch {prefetch}'] = loader(
            Batches(arrays.rows), arrays.requests(), 1, prefetch, collate_fn=as_it_is)
    return result


class Copies:
    """Copies of as many bytes as a batch has, to memory that was written to before."""

    def __init__(self, arrays):
        self._blocks = arrays.blocks()
        self._out = numpy.ones_like(self._blocks[0])

    def seconds(self, rounds=2):
        """Return the time of one, with the source read from memory and not from a cache."""
        times = []
        for block in self._blocks * rounds:
            start = time.perf_counter()
            numpy.copyto(self._out, block)
            times.append(time.perf_counter() - start)
        return statistics.median(times)


class Ring:
    """The least that two processes need: one gathers into blocks of shared memory, one is told.

    Iterating gives the batches where they lie. It tells what to expect of a machine at the load
    that it has at the time.
    """

    BLOCKS = 3

    def __init__(self, arrays):
        self._requests = [numpy.asarray(request) for request in arrays.requests()]
        self._rows = arrays.rows
        memory = mmap.mmap(-1, self.BLOCKS * arrays.batch_bytes)
        self._blocks = numpy.frombuffer(memory, arrays.rows.dtype).reshape(
            self.BLOCKS, arrays.batch_size, *arrays.rows.shape[1:])

    def __iter__(self):
        filled, free = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            try:
                for number, request in enumerate(self._requests):
                    if number >= self.BLOCKS:
                        os.read(free[0], 1)
                    numpy.take(self._rows, request, axis=0, mode='clip',
                               out=self._blocks[number % self.BLOCKS])
                    os.write(filled[1], b'.')
            finally:
                os._exit(0)
        for number in range(len(self._requests)):
            os.read(filled[0], 1)
            yield (self._blocks[number % self.BLOCKS],)
            os.write(free[1], b'.')
        os.waitpid(pid, 0)
        for end in (*filled, *free):
            os.close(end)


def interpreters(count):
    """Start plain interpreters at once; return the seconds until all have imported libraries."""
    code = 'import numpy, h5py, os; os.write(1, b"\\n"); os.read(0, 1)'
    start = time.perf_counter()
    processes = [subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) for _ in range(count)]
    for process in processes:
        process.stdout.read(1)
    result = time.perf_counter() - start
    for process in processes:
        process.communicate(b'\n')
    return result
