"""What it costs to hand data over through shared memory, and to make arrays there.

Run ``python tests/benchmarks/bench_transport.py``; prints ``name: figure`` lines. Times are medians
in microseconds; ratios are the time with numpy's own memory divided by that with the arena, both in
the same run; higher is better.
"""
import statistics
import time

import numpy

from fuel._kernels import gather_rows
from fuel.engine.parcels import Inbox, Outbox
from fuel.engine.region import Region

IMAGES = (64, 3, 224, 224)
RUNS = 300


def microseconds(function, runs=RUNS, kept=0):
    """Return how long a call takes, while what the last ones returned is kept."""
    taken, held = [], []
    for _ in range(runs):
        start = time.perf_counter()
        result = function()
        taken.append(time.perf_counter() - start)
        held.append(result)
        del result
        del held[:len(held) - kept]
    return 1e6 * statistics.median(taken)


def hand_over(outbox, inbox, make, how='steps'):
    """Return how long packing takes, and opening and giving back."""
    packing, opening = [], []
    for _ in range(RUNS):
        steps = make()
        start = time.perf_counter()
        description = outbox.pack(steps)
        packed = time.perf_counter()
        del steps
        data = getattr(inbox.open(description), how)()
        opened = time.perf_counter()
        del data
        outbox.release(inbox.released())
        packing.append(packed - start)
        opening.append(opened - packed)
    return 1e6 * statistics.median(packing), 1e6 * statistics.median(opening)


def ragged():
    """Return arrays of different lengths."""
    arrays = numpy.empty(128, dtype=object)
    for i in range(128):
        arrays[i] = numpy.ones(50 + i, 'float32')
    return arrays


def main():
    """Print the figures."""
    region = Region.create(1 << 32)
    outbox, inbox = Outbox(region), Inbox(region)
    arena = outbox.arena
    example = numpy.ones((3, 32, 32), 'uint8')
    cases = {
        'batch of 9.6 MB and labels': lambda: [(numpy.empty(IMAGES, 'uint8'), numpy.arange(64))],
        '64 examples of 3 kB and a number': lambda: [(example.copy(), i) for i in range(64)],
        '128 arrays of different lengths': lambda: [(ragged(),)],
        '9.6 MB in a dict': lambda: [{'x': numpy.ones(IMAGES, 'uint8')}]}
    arena.install()
    for name, make in cases.items():
        pack, opened = hand_over(outbox, inbox, make)
        print(f'{name}, pack: {pack:.1f}')
        print(f'{name}, open: {opened:.1f}')
    arena.uninstall()

    def empty():
        return numpy.empty(IMAGES, 'uint8')

    rng = numpy.random.RandomState(0)
    sources = {'1.5 MB': rng.rand(20_000, 3072).astype('float32'),
               '9.6 MB': numpy.ones((2000, 3 * 224 * 224), 'uint8')}
    rows = {'1.5 MB': 128, '9.6 MB': 64}
    ordinary = microseconds(empty, 20 * RUNS)
    arena.install()
    print(f'array of 9.6 MB, numpy: {ordinary:.2f}')
    print(f'array of 9.6 MB, arena: {microseconds(empty, 20 * RUNS):.2f}')
    arena.uninstall()
    for name, source in sources.items():
        def gather(source=source, count=rows[name]):
            return gather_rows(source, rng.randint(len(source), size=count))

        figures = []
        for _ in range(5):
            ordinary = microseconds(gather, 60, kept=3)
            arena.install()
            figures.append(ordinary / microseconds(gather, 60, kept=3))
            arena.uninstall()
        print(f'gather of {name}, ratio: {statistics.median(figures):.2f}')


if __name__ == '__main__':
    main()
