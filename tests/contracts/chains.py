"""Streams over every data set, through every scheme and transformer, each made by a function.

The functions are importable by name, so that a new process can make the same streams. Files that
they need are written once, into a folder that `FOLDER` names.
"""
import functools
import os

import numpy

from fuel.datasets import IndexableDataset, IterableDataset, Spiral, SwissRoll, TextFile
from fuel.schemes import (
    ChunkShuffledScheme,
    ConcatenatedScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    AgnosticTransformer,
    Cast,
    Flatten,
    Mapping,
    ScaleAndShift,
    SourcewiseTransformer,
    Transformer,
)
from fuel.transformers.defaults import uint8_pixels_to_floatX

FOLDER = 'FUEL_TEST_FOLDER'
COUNT = 7


def images():
    return numpy.random.RandomState(5).randint(256, size=(COUNT, 1, 2, 3)).astype('uint8')


def ragged():
    return [numpy.arange(1 + place % 4, dtype='float32') + place for place in range(COUNT)]


LABELS = {'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'index')}


def write_files(folder):
    """Write the files that the data sets below read."""
    import h5py

    from fuel.storage.splits import create_split_array
    with open(os.path.join(folder, 'text.txt'), 'w', encoding='utf-8') as file:
        file.write('a b\nc\n\nb b a d\n')
    with open(os.path.join(folder, 'more.txt'), 'w', encoding='utf-8') as file:
        file.write('d c b a\na')
    with h5py.File(os.path.join(folder, 'data.hdf5'), 'w') as file:
        file['features'] = numpy.concatenate([images(), images() + 1])
        file['targets'] = numpy.arange(2 * COUNT, dtype='uint8')[:, None]
        for source, axes in LABELS.items():
            for axis, label in enumerate(axes):
                file[source].dims[axis].label = label
        lengths = numpy.array([[len(entry)] for entry in ragged() + ragged()], dtype='int32')
        words = file.create_dataset('words', (2 * COUNT,), dtype=h5py.vlen_dtype('float32'))
        for place, entry in enumerate(ragged() + ragged()):
            words[place] = entry
        words.dims[0].label = 'batch'
        file['words_shapes'] = lengths
        file['words_shapes'].make_scale('shapes')
        words.dims[0].attach_scale(file['words_shapes'])
        file['words_shape_labels'] = numpy.array([b'time'])
        file['words_shape_labels'].make_scale('shape_labels')
        words.dims[0].attach_scale(file['words_shape_labels'])
        file['odd'] = numpy.arange(1, 2 * COUNT, 2)
        splits = {'train': (0, COUNT), 'odd': (0, COUNT, file['odd'].ref)}
        file.attrs['split'] = create_split_array(
            {split: dict.fromkeys(('features', 'targets', 'words'), where)
             for split, where in splits.items()})


def _path(name):
    return os.path.join(os.environ[FOLDER], name)


# Data sets that are asked for examples by their place.

def indexable():
    return IndexableDataset({'features': images(), 'targets': numpy.arange(COUNT)[:, None]},
                            axis_labels=LABELS)


def indexable_part():
    return IndexableDataset({'features': numpy.concatenate([images(), images()])}, start=3,
                            stop=3 + COUNT)


def indexable_ragged():
    return IndexableDataset({'features': ragged(), 'targets': list(range(COUNT))})


def indexable_objects():
    objects = numpy.empty(COUNT, dtype=object)
    for place, entry in enumerate(ragged()):
        objects[place] = entry
    return IndexableDataset({'features': objects})


def spiral():
    return Spiral(num_examples=COUNT, classes=3, noise=0.1)


def swiss_roll():
    return SwissRoll(num_examples=COUNT)


def _hdf5(**kwargs):
    from fuel.datasets.hdf5 import H5PYDataset
    return H5PYDataset(_path('data.hdf5'), **kwargs)


def hdf5():
    return _hdf5(which_sets=('train',))


def hdf5_in_memory():
    return _hdf5(which_sets=('train',), load_in_memory=True)


def hdf5_by_reference():
    return _hdf5(which_sets=('odd',), sources=('features', 'words'))


def hdf5_subset():
    return _hdf5(which_sets=('train', 'odd'), subset=slice(1, 1 + COUNT),
                 sources=('targets', 'features'))


INDEXED = (indexable, indexable_part, indexable_ragged, indexable_objects, spiral, swiss_roll, hdf5,
           hdf5_in_memory, hdf5_by_reference, hdf5_subset)

# Data sets that are read from start to end.


def iterable():
    return IterableDataset({'features': images(), 'targets': range(COUNT)}, axis_labels={
        'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch',)})


def iterable_dict():
    return IterableDataset({'keys': dict.fromkeys('abcde')})


DICTIONARY = {'<S>': 0, '</S>': 1, '<UNK>': 2, 'a': 3, 'b': 4, 'c': 5, ' ': 6}


def words():
    return TextFile([_path('text.txt'), _path('more.txt')], DICTIONARY)


def characters():
    return TextFile([_path('text.txt')], DICTIONARY, level='character', bos_token=None)


READ_ON = (iterable, iterable_dict, words, characters)

# Schemes over seven examples.


def sequential():
    return SequentialScheme(COUNT, 3)


def shuffled():
    return ShuffledScheme(COUNT, 2)


def shuffled_sorted():
    return ShuffledScheme(range(COUNT), 3, sorted_indices=True,
                          rng=numpy.random.default_rng(3))


def single():
    return SequentialExampleScheme(COUNT)


def chunk_shuffled():
    return ChunkShuffledScheme(COUNT, 2, chunks=2, window=2)


def single_shuffled():
    return ShuffledExampleScheme(list(range(COUNT)))


def concatenated():
    return ConcatenatedScheme([SequentialScheme([1, 1], 1), ShuffledScheme(COUNT, 4),
                               SequentialScheme(range(2, 4), 3)])


SCHEMES = (sequential, shuffled, shuffled_sorted, chunk_shuffled, single, single_shuffled,
           concatenated)

# Transformers, each around a stream whose sources may be anything.


class Negative(Transformer):
    """Both methods, in the old style."""

    def __init__(self, data_stream, **kwargs):
        super().__init__(data_stream, data_stream.produces_examples, **kwargs)

    def transform_example(self, example):
        return tuple(_negated(item) for item in example)

    def transform_batch(self, batch):
        return tuple(_negated(item) for item in batch)


class Reversed(AgnosticTransformer):
    """Gives the sources in another order."""

    @property
    def sources(self):
        return self.data_stream.sources[::-1]

    def output_axis_labels(self, labels):
        return dict(labels)

    def transform_any(self, data):
        return data[::-1]


class Noise(AgnosticSourcewiseTransformer):
    """Draws random numbers by the place of the step."""

    def transform_any_source(self, source_data, source_name):
        number = self.generator().integers(1000)
        return _added(source_data, number)


class Counted(SourcewiseTransformer):
    """Keeps something from step to step, and says so."""

    count = 0

    def transform_source_example(self, source_example, source_name):
        return self.transform_source_batch(source_example, source_name)

    def transform_source_batch(self, source_batch, source_name):
        self.count += 1
        return _added(source_batch, self.count)

    def _state(self):
        return {'count': self.count}

    def _load_state(self, state):
        self.count = state['count']


class Drawing(Transformer):
    """Overrides get_data and draws by itself, as programs of old do."""

    def get_data(self, request=None):
        if request is not None:
            raise ValueError
        return next(self.child_epoch_iterator)

    def _state(self):
        return {}


def _negated(item):
    if isinstance(item, numpy.ndarray) and item.dtype != object:
        return -item.astype('int64')
    return item


def _added(item, number):
    if isinstance(item, numpy.ndarray) and item.dtype != object:
        return item + number
    return item


def double(data):
    return tuple(_added(item, 7) for item in data)


def added_dict(data):
    return {'length': len(data)}


def _numeric(stream):
    """Return the names of those sources that hold numbers."""
    return tuple(name for name in stream.sources if name in ('features', 'targets'))


def chain_default(stream):
    for cls, args, kwargs in uint8_pixels_to_floatX(_numeric(stream)):
        stream = cls(stream, *args, **kwargs)
    return stream


TRANSFORMERS = {
    'flatten': lambda stream: Flatten(stream, which_sources=_numeric(stream)),
    'scale_and_shift': lambda stream: ScaleAndShift(stream, 2, -1, which_sources=_numeric(stream)),
    'cast': lambda stream: Cast(stream, 'float32', which_sources=_numeric(stream)),
    'mapping': lambda stream: Mapping(stream, double),
    'mapping_added': lambda stream: Mapping(stream, added_dict, add_sources=('length',),
                                            mapping_accepts=dict),
    'defaults': chain_default,
    'negative': Negative,
    'reversed': Reversed,
    'noise': Noise,
    'counted': Counted,
    'drawing': Drawing,
}


def over(dataset, scheme=None):
    return DataStream(dataset(), iteration_scheme=None if scheme is None else scheme())


def transformed(dataset, scheme, *names):
    stream = over(dataset, scheme)
    for name in names:
        stream = TRANSFORMERS[name](stream)
    return stream


def made(function, *args):
    """Return a function without arguments that can be pickled."""
    return functools.partial(function, *args)
