"""Worker processes and threads against copies of memory, PyTorch and plain interpreters.

Run ``python tests/benchmarks/bench_engines.py``, with words out of the names of rows to have only
those; prints ``name: figure`` lines. All figures are ratios within one run: what is compared is
measured in turn, in short blocks, and the median of the ratios is printed. Higher is better, but
for times until the first batch and for memory. PyTorch is measured in several ways (single rows
and whole batches, little and much prefetch), and the fastest of them counts. In the first rows
the consumer reads every byte of every batch that it is handed; a copy of memory is one of the
same bytes into memory that was written to before, with the source not in the caches.
"""
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks import engine_peers as peers
from tests.benchmarks import engine_sources as sources

WARM, SLACK = 12, 8
ROUNDS = 5


def of_a_batch(batches, count, use, warm=WARM):
    """Return the seconds that a batch takes, from some in the middle of an epoch.

    The epoch is gone through to its end, so that workers are idle after it.
    """
    iterator = iter(batches)
    for data in itertools.islice(iterator, warm):
        use(data)
    start = time.perf_counter()
    for data in itertools.islice(iterator, count):
        use(data)
    seconds = time.perf_counter() - start
    for _ in iterator:
        pass
    return seconds / count


def read(data):
    """Read what fuel gave."""
    sources.read_every_byte(data[0])


def read_tensor(data):
    """Read what PyTorch gave."""
    sources.read_every_byte(data.numpy())


def look(data):
    """Do nothing with a batch."""


class Bench:
    """All rows of the table."""

    def __init__(self, only, with_fuel=True):
        self.only = only
        self.with_fuel = with_fuel

    def wants(self, name):
        return not self.only or any(part in name for part in self.only)

    def report(self, name, figures):
        figures = sorted(figures)
        print(f'{name}: {statistics.median(figures):.3g} '
              f'({figures[0]:.3g} to {figures[-1]:.3g})', flush=True)

    def transport(self, arrays, musts, musts_torch):
        """Compare batches from one worker with copies of memory, and with PyTorch."""
        count = arrays.batches - WARM - SLACK
        name = f'batches of {arrays.name} from one worker'
        if not self.wants(name):
            return
        copies = peers.Copies(arrays)
        with contextlib.ExitStack() as stack:
            engines = {}
            if self.with_fuel:
                from fuel.transformers import MultiProcessing
                for how in musts:
                    stream = MultiProcessing(arrays.stream(), num_workers=1, hand_out=how,
                                             persistent_workers=True)
                    engines[how] = stack.enter_context(contextlib.closing(stream))
            loaders = peers.loaders_of_rows(arrays) if peers.torch() else {}
            ring = peers.Ring(arrays)
            floor, seconds = [], {key: [] for key in ('ring', *engines, *loaders)}
            for _ in range(ROUNDS):
                floor.append(copies.seconds())
                seconds['ring'].append(of_a_batch(ring, count, read))
                for how, stream in engines.items():
                    seconds[how].append(of_a_batch(stream.get_epoch_iterator(), count, read))
                for how, loader in loaders.items():
                    seconds[how].append(of_a_batch(loader, count, read_tensor))
        self.report(f'{name}, a bare ring of blocks between two processes / memcpy',
                    ratios(floor, seconds['ring']))
        for how, must in musts.items():
            if how in engines:
                self.report(f'{name}, {how} / memcpy (must {must})', ratios(floor, seconds[how]))
        if loaders:
            best = min(loaders, key=lambda how: statistics.median(seconds[how]))
            for how in loaders:
                self.report(f'PyTorch, {how}: {name} / memcpy', ratios(floor, seconds[how]))
            for how in engines:
                self.report(f'{name}, {how} / fastest PyTorch (must {musts_torch})',
                            ratios(seconds[best], seconds[how]))

    def jpeg(self):
        """Compare two workers with one, and with PyTorch's two."""
        name = 'JPEG decode + random crop'
        if not self.wants(name):
            return
        photographs = sources.Photographs(4 + 24 + SLACK)
        makers = {}
        if self.with_fuel:
            from fuel.transformers import MultiProcessing, MultiThreading
            for workers in (1, 2):
                makers['processes', workers] = lambda workers=workers: MultiProcessing(
                    photographs.stream(), num_workers=workers, persistent_workers=True)
                makers['threads', workers] = lambda workers=workers: MultiThreading(
                    photographs.stream(), num_workers=workers)
        loaders = {}
        if peers.torch():
            loaders = {f'prefetch {prefetch}': peers.loader(
                peers.Crops(photographs.files), photographs.requests(), 2, prefetch)
                for prefetch in peers.PREFETCH}
        seconds = {key: [] for key in ('here', *makers, *loaders)}
        with contextlib.ExitStack() as stack:
            engines = {key: stack.enter_context(contextlib.closing(make()))
                       for key, make in makers.items()}
            for _ in range(ROUNDS):
                # One after the other what is compared: the machine may be slower in a minute.
                for key, stream in engines.items():
                    seconds[key].append(of_a_batch(stream.get_epoch_iterator(), 24, look, 4))
                for key, loader in loaders.items():
                    seconds[key].append(of_a_batch(loader, 24, look, 4))
                bare = photographs.stream().get_epoch_iterator()
                seconds['here'].append(of_a_batch(itertools.islice(bare, 10), 8, look, 1))
        if engines:
            for kind, must in (('processes', 1.8), ('threads', 1.7)):
                self.report(f'{name}, 2 {kind} / 1 (must {must})',
                            ratios(seconds[kind, 1], seconds[kind, 2]))
                self.report(f'{name}, 2 {kind} / this process alone',
                            ratios(seconds['here'], seconds[kind, 2]))
        if loaders:
            best = min(loaders, key=lambda how: statistics.median(seconds[how]))
            self.report(f'{name}, PyTorch with 2 workers / this process alone, without PyTorch',
                        ratios(seconds['here'], seconds[best]))
            if engines:
                self.report(f'{name}, 2 processes / PyTorch with 2 workers, {best} (must 1)',
                            ratios(seconds[best], seconds['processes', 2]))

    def start(self):
        """Compare the time to the first batch with that of plain interpreters."""
        name = 'start to first batch, 2 workers'
        if not self.wants(name):
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'images.hdf5')
            sources.write_file(path)
            plain, ours, closing = [], [], []
            for _ in range(9):
                plain.append(peers.interpreters(2))
                if self.with_fuel:
                    from fuel.transformers import MultiProcessing
                    below = sources.file_stream(path)
                    start = time.perf_counter()
                    stream = MultiProcessing(below, num_workers=2)
                    iterator = stream.get_epoch_iterator()
                    next(iterator)
                    ours.append(time.perf_counter() - start)
                    start = time.perf_counter()
                    stream.close()
                    closing.append(time.perf_counter() - start)
        self.report('2 plain interpreters that import numpy and h5py, seconds', plain)
        if ours:
            self.report(f'{name} / 2 plain interpreters (must at most 1.5)', ratios(ours, plain))
            self.report('closing 2 workers in mid-epoch, seconds', closing)

    def second_epoch(self):
        """Compare the time to the first batch of a later epoch with that of a batch."""
        name = 'first batch of the second epoch, persistent workers'
        if not self.wants(name) or not self.with_fuel:
            return
        from fuel.transformers import MultiProcessing
        photographs = sources.Photographs(8)
        each, first = [], []
        with contextlib.closing(MultiProcessing(photographs.stream(), num_workers=2,
                                                persistent_workers=True)) as stream:
            for _ in stream.get_epoch_iterator():
                pass
            for _ in range(9):
                bare = photographs.stream().get_epoch_iterator()
                next(bare)
                start = time.perf_counter()
                next(bare)
                each.append(time.perf_counter() - start)
                start = time.perf_counter()
                iterator = stream.get_epoch_iterator()
                next(iterator)
                first.append(time.perf_counter() - start)
                for _ in iterator:
                    pass
        self.report(f'{name} / time of a batch here (must at most 2)', ratios(first, each))

    def memory(self):
        """Measure the growth of memory, in processes of their own."""
        name = 'memory of 4 workers over 10^6 strings'
        if not self.wants(name):
            return
        script = Path(__file__).with_name('engine_memory.py')
        for which in [*(['fuel'] if self.with_fuel else []),
                      *(['torch'] if peers.torch() else [])]:
            done = subprocess.run([sys.executable, '-W', 'ignore', str(script), which],
                                  stdout=subprocess.PIPE, text=True, check=True)
            growth, before = map(float, done.stdout.split())
            must = ' (must at most 0.1)' if which == 'fuel' else ''
            print(f'{name}, {which}, growth over two epochs{must}: {growth:.3f}', flush=True)
            print(f'{name}, {which}, MB in all at first: {before / 1e6:.0f}', flush=True)


def ratios(numerators, denominators):
    """Return the ratios of what was measured one after the other."""
    return [one / other for one, other in zip(numerators, denominators, strict=True)]


def main():
    """Print the figures."""
    # PyTorch's workers are forked, as is its default.
    warnings.filterwarnings('ignore', category=DeprecationWarning)
    only = [word for word in sys.argv[1:] if word != '--peers']
    bench = Bench(only, with_fuel='--peers' not in sys.argv)
    if not peers.torch():
        print('PyTorch is not installed, and is left out')
    bench.start()
    bench.transport(sources.big(WARM + 80 + SLACK), {'copy': 0.6, 'borrow': 0.85}, 5)
    bench.transport(sources.small(WARM + 400 + SLACK), {'copy': 0.4, 'borrow': 0.6}, 10)
    bench.jpeg()
    bench.second_epoch()
    bench.memory()


if __name__ == '__main__':
    main()
