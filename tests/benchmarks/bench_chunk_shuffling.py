"""How random the order of chunk-shuffled examples is, beside a full shuffle, and what it costs.

Run ``python tests/benchmarks/bench_chunk_shuffling.py``; prints ``name: figure`` lines.

The figures, each a mean over several epochs, for a file of 50 000 examples and batches of 128:

* travel: how far the place of an example in an epoch is from its place in the file, as a part of
  the number of examples; 1/3 for a full shuffle;
* correlation: the rank correlation between the places of the examples in two epochs; 0 for a full
  shuffle;
* chunks in a batch: how many different chunks the examples of a full batch lie in;
* neighbours: the chance that two examples that follow each other in the file share a batch;
* again: the chance that two neighbours in an epoch share a batch in the next one, too;
* batch means: how much the mean of a batch varies from batch to batch where the examples are
  sorted by what is averaged, as a multiple of that for a full shuffle;
* reads: how often a chunk is read in an epoch, if the chunks that were used last are kept, as
  many as a window has.
"""
import collections
import itertools
import json
import pickle
import time
import tracemalloc

import numpy

from fuel.schemes import ChunkShuffledScheme, SequentialScheme, ShuffledScheme

COUNT = 50_000
BATCH = 128
EPOCHS = 8
CASES = [(64, 1), (64, 4), (64, 16), (64, 64), (64, 256), (1000, 4), (1000, 16), (8, 64)]


def epoch_of(scheme):
    """Return the examples of an epoch in order."""
    requests = scheme.start_epoch()
    return numpy.concatenate([requests.next_compact() for _ in range(len(scheme))])


def places_in(order):
    """Return the place of every example."""
    places = numpy.empty_like(order)
    places[order] = numpy.arange(len(order))
    return places


def reads_of(order, length, capacity):
    """Return how many chunks are read by a cache that keeps those that were used last."""
    kept = collections.OrderedDict()
    reads = 0
    for chunk in (order // length).tolist():
        if chunk in kept:
            kept.move_to_end(chunk)
            continue
        reads += 1
        kept[chunk] = True
        if len(kept) > capacity:
            kept.popitem(last=False)
    return reads


def quality(scheme, length):
    """Return the figures of a scheme, over a file with chunks of some length, by name."""
    orders = [epoch_of(scheme) for _ in range(EPOCHS)]
    places = [places_in(order) for order in orders]
    batches = [place // BATCH for place in places]
    file_order = numpy.arange(COUNT)
    full = COUNT // BATCH * BATCH
    return {
        'travel': numpy.mean([abs(place - file_order).mean() for place in places]) / COUNT,
        'correlation': numpy.mean([abs(numpy.corrcoef(first, second)[0, 1])
                                   for first, second in itertools.pairwise(places)]),
        'chunks in a batch': numpy.mean([
            [len(numpy.unique(batch)) for batch in (order[:full] // length).reshape(-1, BATCH)]
            for order in orders]),
        'neighbours': numpy.mean([(batch[1:] == batch[:-1]).mean() for batch in batches]),
        'again': numpy.mean([(batch[order[1:]] == batch[order[:-1]]).mean()
                             for order, batch in zip(orders, batches[1:], strict=False)]),
        'batch means': numpy.mean([order[:full].reshape(-1, BATCH).mean(axis=1).std()
                                   for order in orders])
                       / (COUNT / (12 * BATCH)**0.5),
    }


def print_quality():
    """Print how random the orders are."""
    schemes = {'in order': (SequentialScheme(numpy.arange(COUNT), BATCH), 64, None),
               'full shuffle, chunks of 64': (ShuffledScheme(COUNT, BATCH), 64, 64)}
    for length, window in CASES:
        schemes[f'chunks of {length}, window of {window}'] = (
            ChunkShuffledScheme(COUNT, BATCH, chunks=length, window=window), length, window)
    for name, (scheme, length, window) in schemes.items():
        for figure, value in quality(scheme, length).items():
            print(f'{name}, {figure}: {value:.4f}')
        if window is not None:
            reads = reads_of(epoch_of(scheme), length, window) / -(-COUNT // length)
            print(f'{name}, reads: {reads:.2f}')


def print_costs():
    """Print what the order costs over ten million examples."""
    count = 10**7
    for name, make in (
            ('full shuffle', lambda: ShuffledScheme(count, BATCH)),
            ('chunks of 64', lambda: ChunkShuffledScheme(count, BATCH, chunks=64))):
        tracemalloc.start()
        start = time.perf_counter()
        scheme = make()
        requests = scheme.start_epoch()
        requests.next_compact()
        taken = time.perf_counter() - start
        print(f'{name}, first batch, milliseconds: {1000 * taken:.1f}')
        print(f'{name}, memory, MB: {tracemalloc.get_traced_memory()[1] / 1e6:.1f}')
        tracemalloc.stop()
        steps = 20_000
        start = time.perf_counter()
        for _ in range(steps):
            requests.next_compact()
        taken = time.perf_counter() - start
        print(f'{name}, a batch, microseconds: {1e6 * taken / steps:.2f}')
        state = requests.start_state()
        print(f'{name}, state, bytes of JSON: {len(json.dumps(state))}')
        print(f'{name}, bytes pickled: {len(pickle.dumps((scheme, requests)))}')
        start = time.perf_counter()
        make().resume_epoch(state, 70_000).next_compact()
        taken = time.perf_counter() - start
        print(f'{name}, resumed in the middle, milliseconds: {1000 * taken:.1f}')


def main():
    """Print the figures."""
    print_quality()
    print_costs()


if __name__ == '__main__':
    main()
