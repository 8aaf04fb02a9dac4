"""The contract over transformers of sources, of sequences and of numbers, and tolerance."""
import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import check_stream, check_transformer
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    Batch,
    Cast,
    ExpectsAxisLabels,
    FilterSources,
    ForceFloatX,
    Normalize,
    OneHot,
    Rename,
    ScaleAndShift,
    SourceMapping,
    Tolerant,
)
from fuel.transformers.sequences import NGrams, Window
from tests.contracts import chains
from tests.contracts.chains import COUNT, made, over


def doubled(data):
    return data * 2


def images_and_labels():
    """Images with the channels last, and the labels of classes."""
    rng = numpy.random.RandomState(3)
    return IndexableDataset(
        {'images': rng.randint(256, size=(COUNT, 2, 3, 3)).astype('uint8'),
         'targets': numpy.arange(COUNT)[:, None] % 4},
        axis_labels={'images': ('batch', 'height', 'width', 'channel'),
                     'targets': ('batch', 'index')})


class Labelled(ExpectsAxisLabels, AgnosticSourcewiseTransformer):
    """Looks at the labels of the images."""

    def transform_any_source(self, source_data, source_name):
        if source_name == 'images':
            batch = () if self.produces_examples else ('batch',)
            self.expect_axis_labels((*batch, 'height', 'width', 'channel'), source_name)
        return source_data


class Fails(AgnosticSourcewiseTransformer):
    """Cannot make something of every data."""

    def transform_any_source(self, source_data, source_name):
        if source_name == 'targets' and numpy.min(source_data) in (1, 3):
            raise ValueError('bad')
        return source_data


def normalized(stream):
    return Normalize(stream, [0.1, 0.2, 0.3], [1, 2, 3], to_channel_first=True,
                     which_sources=('images',))


WRAPPERS = {
    'rename': lambda stream: Rename(stream, {'images': 'targets', 'targets': 'images'}),
    'filter_sources': lambda stream: FilterSources(stream, ('targets',)),
    'source_mapping': lambda stream: SourceMapping(stream, doubled, which_sources=('targets',)),
    'force_floatX': lambda stream: ForceFloatX(Cast(stream, 'float32')),
    'one_hot': lambda stream: OneHot(stream, 4, which_sources=('targets',)),
    'normalize': normalized,
    'scale_and_cast': lambda stream: Cast(
        ScaleAndShift(stream, 1 / 255, 0.5, which_sources=('images',)), 'float32'),
    'expects_axis_labels': Labelled,
    'tolerant': lambda stream: Tolerant(Fails(stream)),
    'tolerant_for_nothing': lambda stream: Tolerant(stream, 'raise', ceiling=3),
}


@pytest.mark.parametrize('name', WRAPPERS)
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single_shuffled])
def test_transformer(name, scheme):
    check_transformer(WRAPPERS[name], made(over, images_and_labels, scheme))


@pytest.mark.parametrize('name', ['source_mapping', 'force_floatX', 'tolerant_for_nothing'])
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single_shuffled])
@pytest.mark.parametrize('dataset', [chains.indexable_ragged, chains.hdf5])
def test_transformer_over_other_data(name, scheme, dataset):
    check_transformer(WRAPPERS[name], made(over, dataset, scheme))


@pytest.mark.parametrize(('cls', 'arguments'), [
    (Rename, ({},)), (FilterSources, (('images',),)), (SourceMapping, (doubled,)),
    (ForceFloatX, ()), (OneHot, (3,)), (Normalize, (0, 1)), (Cast, ('f4',)),
    (ScaleAndShift, (1, 2)), (Tolerant, ())])
def test_labels_and_kind_can_be_given(cls, arguments):
    labels = {'images': ('batch', 'a', 'b', 'c')}
    stream = cls(over(images_and_labels, chains.shuffled), *arguments, axis_labels=labels,
                 produces_examples=False)
    assert stream.axis_labels == labels
    assert not stream.produces_examples


# Sequences.

def sentences():
    return DataStream(IndexableDataset({'words': [[1, 2, 3, 4], [], [5], [6, 7, 8], [9, 8, 7]]}),
                      iteration_scheme=SequentialExampleScheme(5))


def arrays():
    rows = [numpy.arange(length) + 10 * length for length in (4, 0, 1, 3, 3)]
    return DataStream(IterableDataset({'words': rows}))


def text():
    return DataStream(chains.words())


SEQUENCES = {
    'ngrams': lambda stream: NGrams(2, stream),
    'window': lambda stream: Window(-1, 2, 2, False, stream),
    'overlapping': lambda stream: Window(-1, 2, 1, True, stream, target_source='before'),
    'batches': lambda stream: Batch(NGrams(1, stream), ConstantScheme(3)),
}


@pytest.mark.parametrize('name', SEQUENCES)
@pytest.mark.parametrize('make', [sentences, arrays, text])
def test_sequences(name, make):
    check_transformer(SEQUENCES[name], make)


# All in one chain, in a new process.

def long_chain(scheme):
    stream = over(images_and_labels, scheme)
    stream = Tolerant(Fails(Labelled(stream)), ceiling=0.9)
    stream = Rename(normalized(stream), {'images': 'pixels', 'targets': 'labels'})
    stream = ForceFloatX(OneHot(stream, 4, which_sources=('labels',)))
    stream = Cast(ScaleAndShift(stream, 2, 0.5), 'float32')
    stream = SourceMapping(stream, doubled, which_sources=('pixels',))
    return Tolerant(FilterSources(stream, ('labels', 'pixels')), 'log')


def ngrams_of_good_sentences():
    stream = Tolerant(SourceMapping(sentences(), sorted), ceiling=1)
    return Rename(Tolerant(Batch(NGrams(2, stream), ConstantScheme(2))), {'targets': 'next'})


@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single_shuffled])
def test_long_chain_in_new_process(scheme):
    check_stream(made(long_chain, scheme))


def test_sequences_in_new_process():
    check_stream(ngrams_of_good_sentences)


def test_batches_are_refused_where_examples_are_wanted():
    batches = DataStream(IndexableDataset({'words': [[1]]}),
                         iteration_scheme=SequentialScheme(1, 1))
    for wrap in (SEQUENCES['ngrams'], SEQUENCES['window']):
        with pytest.raises(ValueError, match='DataStream produces batches'):
            wrap(batches)
