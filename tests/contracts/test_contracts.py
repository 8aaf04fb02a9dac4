"""The contract of the library, over every data set, scheme, stream and transformer."""
import pytest

from fuel.testing import (
    check_dataset,
    check_indexed_dataset,
    check_scheme,
    check_stream,
    check_transformer,
)
from tests.contracts import chains
from tests.contracts.chains import INDEXED, READ_ON, SCHEMES, TRANSFORMERS, made, over, transformed


def name_of(value):
    return getattr(value, '__name__', None)


@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
def test_scheme(scheme):
    check_scheme(scheme)


@pytest.mark.parametrize('dataset', INDEXED, ids=name_of)
def test_indexed_dataset(dataset):
    check_indexed_dataset(dataset)
    check_dataset(dataset, [[0, 2], 1, slice(2, 5), [4, 4, 0]])


@pytest.mark.parametrize('dataset', READ_ON, ids=name_of)
def test_dataset_read_from_start_to_end(dataset):
    check_dataset(dataset, [None] * 4)


@pytest.mark.parametrize('dataset', INDEXED, ids=name_of)
@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
def test_stream_over_indexed_dataset(dataset, scheme):
    check_stream(made(over, dataset, scheme), new_process=False)


@pytest.mark.parametrize('dataset', READ_ON, ids=name_of)
def test_stream_over_dataset_read_from_start_to_end(dataset):
    check_stream(made(over, dataset), new_process=False)


@pytest.mark.parametrize('name', TRANSFORMERS)
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single_shuffled], ids=name_of)
@pytest.mark.parametrize('dataset', [chains.indexable, chains.indexable_ragged,
                                     chains.indexable_objects, chains.hdf5], ids=name_of)
def test_transformer(name, scheme, dataset):
    check_transformer(TRANSFORMERS[name], made(over, dataset, scheme),
                      remembers=name == 'counted')


# Every transformer in one chain, over every data set, in a new process.
LONG = ('cast', 'noise', 'scale_and_shift', 'mapping', 'drawing', 'counted', 'negative', 'noise',
        'flatten', 'mapping_added', 'defaults', 'reversed')


@pytest.mark.parametrize('dataset', INDEXED, ids=name_of)
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single], ids=name_of)
def test_long_chain_in_new_process(dataset, scheme):
    check_stream(made(transformed, dataset, scheme, *LONG), remembers=True)


@pytest.mark.parametrize('dataset', READ_ON, ids=name_of)
def test_long_chain_over_dataset_read_on_in_new_process(dataset):
    check_stream(made(transformed, dataset, None, *LONG), remembers=True)
