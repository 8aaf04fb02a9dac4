"""Every engine that a chain can be run by, and chains to run."""
import functools

import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import ConstantScheme, SequentialScheme, ShuffledExampleScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Cache,
    Filter,
    Mapping,
    MultiProcessing,
    MultiThreading,
    ShuffleBuffer,
    SortMapping,
    Unpack,
)
from tests.contracts import chains


def bare(stream):
    """Run a chain as it is."""
    return stream


def engine(cls, workers, **kwargs):
    """Return what puts an engine around a chain."""
    if cls is MultiProcessing:
        kwargs.setdefault('persistent_workers', True)
    return functools.partial(cls, num_workers=workers, **kwargs)


#: Workers that are given requests.
THREADS = {f'{workers} threads': engine(MultiThreading, workers) for workers in (1, 2, 7)}
PROCESSES = {f'{workers} processes': engine(MultiProcessing, workers) for workers in (1, 2, 7)}
#: Other ways of running workers that must make no difference.
OTHERS = {
    'no workers': engine(MultiProcessing, 0),
    'no threads': engine(MultiThreading, 0),
    'one step ahead': engine(MultiProcessing, 2, prefetch_factor=1),
    'eight steps ahead': engine(MultiProcessing, 2, prefetch_factor=8),
    'room for one': engine(MultiProcessing, 2, max_store=1),
    'threads with room for one': engine(MultiThreading, 2, max_store=1),
    'little memory': engine(MultiProcessing, 2, max_bytes='64 KiB'),
    'borrowed': engine(MultiProcessing, 2, hand_out='borrow'),
    'new workers': engine(MultiProcessing, 2, persistent_workers=False),
    'replaced workers': engine(MultiProcessing, 2, restart_workers=True),
    'forked': engine(MultiProcessing, 2, multiprocessing_context='fork'),
    'spawned': engine(MultiProcessing, 2, multiprocessing_context='spawn'),
    'from a server of forks': engine(MultiProcessing, 2, multiprocessing_context='forkserver'),
    'on one processor': engine(MultiProcessing, 2, cpu_affinity=[0]),
}
#: The whole chain in one worker.
WHOLE = {
    'whole in a process': engine(MultiProcessing, 1, whole_chain=True),
    'whole in a thread': engine(MultiThreading, 1, whole_chain=True),
    'whole in a process, far ahead': engine(MultiProcessing, 1, whole_chain=True,
                                            prefetch_factor=20),
}

#: Some of each kind.
RUNS = {'two processes': PROCESSES['2 processes'], 'one process': PROCESSES['1 processes'],
        'two threads': THREADS['2 threads'], 'whole in a process': WHOLE['whole in a process'],
        'whole in a thread': WHOLE['whole in a thread']}
OF_PROCESSES = {name: run for name, run in RUNS.items() if 'process' in name}


# Chains of streams that map steps one to one and keep nothing.

MAPPED = ('cast', 'noise', 'scale_and_shift', 'mapping', 'negative', 'noise', 'flatten',
          'mapping_added', 'reversed')


def mapped(dataset=chains.hdf5, scheme=chains.shuffled):
    """Every transformer that workers can share, in one chain."""
    return chains.transformed(dataset, scheme, *MAPPED)


def with_random_numbers():
    """Crops of random places, of examples in random order."""
    from fuel.transformers.image import RandomFixedSizeCrop
    images = numpy.random.RandomState(0).randint(256, size=(20, 3, 9, 8)).astype('uint8')
    dataset = IndexableDataset({'images': images, 'numbers': numpy.arange(20)},
                               axis_labels={'images': ('batch', 'channel', 'height', 'width'),
                                            'numbers': ('batch',)})
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(20, 3))
    stream = RandomFixedSizeCrop(stream, (5, 4), which_sources=('images',))
    return chains.Noise(RandomFixedSizeCrop(stream, (3, 3), which_sources=('images',)))


# Chains that look across steps.

def numbers():
    """Single examples in random order, with a random number added to each."""
    dataset = IndexableDataset({'x': numpy.arange(24.), 'y': [[place] * (place % 4)
                                                              for place in range(24)]})
    return chains.Noise(DataStream(dataset, iteration_scheme=ShuffledExampleScheme(24)))


def most(example):
    """Leave out a third."""
    return int(example[0]) % 3 != 0


def in_batches():
    return Batch(numbers(), ConstantScheme(5))


def regrouped():
    """Filter, shuffle, batch, and change what came out of it."""
    stream = ShuffleBuffer(Filter(numbers(), most), 7)
    return chains.Noise(Batch(stream, ConstantScheme(3)))


def sorted_in_batches():
    """The idiom for sequences: batches of many, sorted, and made small ones."""
    stream = Mapping(Batch(numbers(), ConstantScheme(10)), SortMapping(lambda one: len(one[1])))
    return Batch(Unpack(stream), ConstantScheme(4))


def cached():
    return Cache(with_random_numbers(), ConstantScheme(4))


REGROUPED = (in_batches, regrouped, sorted_in_batches, cached)


# Chains that cannot be spread, and can be run whole.

def counted():
    """One that keeps something from step to step, and is not the first."""
    return chains.transformed(chains.hdf5, chains.shuffled, 'cast', 'counted', 'noise')


def drawing():
    """One that draws by itself."""
    return chains.transformed(chains.hdf5, chains.shuffled, 'drawing', 'noise')


def read_on(dataset=chains.words):
    """A data set that is read from start to end."""
    return chains.transformed(dataset, None, 'mapping', 'noise')


def read_on_in_batches():
    return Batch(read_on(chains.iterable), ConstantScheme(2))


WHOLES = (counted, drawing, read_on, read_on_in_batches, regrouped)


def in_order(count=30, batch_size=3, **kwargs):
    """Batches of numbers in order."""
    dataset = IndexableDataset({'x': numpy.arange(count)})
    return DataStream(dataset, iteration_scheme=SequentialScheme(count, batch_size), **kwargs)


def name_of(value):
    return getattr(value, '__name__', None)
