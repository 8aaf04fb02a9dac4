"""The memory of four workers over a million Python strings.

Run ``python tests/benchmarks/engine_memory.py fuel`` or ``... torch``; prints by how much the
memory of all processes together grows over two epochs, as a fraction, and what it was. It is the
proportional set size, in which what processes share counts once. To be run in a process of its
own, so that nothing else is counted.
"""
import gc
import os
import sys
from pathlib import Path

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy

COUNT, BATCH_SIZE, WORKERS = 10**6, 1000, 4


def strings():
    """Return a million strings, each an object of its own."""
    return [f'sentence number {place:07d} of the corpus' for place in range(COUNT)]


def descendants(pid):
    """Return the numbers of all processes that a process started, and so on."""
    found = []
    for thread in Path(f'/proc/{pid}/task').iterdir():
        for child in (thread / 'children').read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def memory():
    """Return the bytes that this process and its children take, without those of files."""
    total = 0
    for pid in [os.getpid(), *descendants(os.getpid())]:
        for line in Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines():
            if line.startswith(('Pss_Anon:', 'Pss_Shmem:')):
                total += int(line.split()[1]) * 1024
    return total


def of_fuel(data):
    """Return a function that iterates over an epoch."""
    from fuel.datasets import IndexableDataset
    from fuel.schemes import SequentialScheme
    from fuel.streams import DataStream
    from fuel.transformers import MultiProcessing
    stream = MultiProcessing(
        DataStream(IndexableDataset({'text': data}),
                   iteration_scheme=SequentialScheme(numpy.random.default_rng(0).permutation(COUNT),
                                                     BATCH_SIZE)),
        num_workers=WORKERS, persistent_workers=True)
    return stream.get_epoch_iterator


class Strings:
    """A data set for PyTorch, as its users write them."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index]


def of_torch(data):
    """Return a function that iterates over an epoch."""
    import torch.utils.data
    requests = numpy.random.default_rng(0).permutation(COUNT).reshape(-1, BATCH_SIZE).tolist()
    loader = torch.utils.data.DataLoader(Strings(data), batch_sampler=requests, num_workers=WORKERS,
                                         persistent_workers=True)
    return loader.__iter__


def main():
    """Print the growth, and the memory before it."""
    epoch = {'fuel': of_fuel, 'torch': of_torch}[sys.argv[1]](strings())
    gc.collect()
    before, most = None, 0
    for _ in range(2):
        for number, _ in enumerate(epoch()):
            if number == 20 and before is None:
                before = memory()  # all workers have data by now
            elif number % 200 == 199:
                most = max(most, memory())
    most = max(most, memory())
    print(most / before - 1, before)


if __name__ == '__main__':
    main()
