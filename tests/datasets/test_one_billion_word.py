"""Sentences of the One Billion Word benchmark, out of the archive by the commands' ways."""
import itertools
import os
import pickle

import numpy
import pytest

from fuel import config
from fuel.converters.one_billion_word import convert_one_billion_word
from fuel.datasets import OneBillionWord, TextFile
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import ConstantScheme
from fuel.streams import DataStream
from fuel.transformers import Batch, Padding
from tests.raw import one_billion_word as raw

WORDS = {'<S>': 0, '</S>': 1, '<UNK>': 2, 'the': 3, ',': 4}


@pytest.fixture
def texts(tmp_path):
    """Write and unpack the raw files into the data path; return the texts."""
    texts = raw.write(tmp_path, sentences=6)
    convert_one_billion_word(str(tmp_path), str(tmp_path), min_count=2)
    config.data_path = str(tmp_path)
    return texts


def numbers(text, dictionary):
    return [[0, *(dictionary.get(word, 2) for word in line.split()), 1]
            for line in text.splitlines()]


def everything(dataset):
    return [line for line, in dataset.get_example_stream().get_epoch_iterator()]


@pytest.mark.parametrize(('which_set', 'partitions', 'name'), [
    ('training', [2], raw.training_name), ('training', (3, 1), raw.training_name),
    ('training', range(1, 4), raw.training_name), ('heldout', numpy.arange(2), raw.heldout_name),
    ('heldout', iter([1]), raw.heldout_name)])
def test_sentences_of_partitions_in_order(texts, which_set, partitions, name):
    partitions = list(partitions)
    dataset = OneBillionWord(which_set, iter(partitions), WORDS)
    assert isinstance(dataset, TextFile)
    assert dataset.sources == ('features',)
    assert everything(dataset) == list(itertools.chain(
        *(numbers(texts[name(partition)], WORDS) for partition in partitions)))


def test_the_dictionary_that_the_converter_makes_is_the_default(texts, tmp_path):
    dataset = OneBillionWord('training', [1])
    assert dataset.dictionary['<UNK>'] == 2
    assert everything(dataset) == numbers(texts[raw.training_name(1)], dataset.dictionary)
    again = OneBillionWord('training', [1], str(tmp_path / 'one_billion_word.hdf5'))
    assert again.dictionary == dataset.dictionary


def test_arguments_of_text_file(texts):
    dataset = OneBillionWord('heldout', [0], {'the': 9}, bos_token=None, eos_token=None,
                             unk_token=None, preprocess=lambda line: 'the the')
    assert everything(dataset) == [[9, 9]] * 6


def test_the_folder_of_the_old_library(texts, tmp_path):
    expected = everything(OneBillionWord('training', [1, 2]))
    os.rename(tmp_path / raw.FOLDER, tmp_path / '1-billion-word')
    assert everything(OneBillionWord('training', [1, 2])) == expected


def test_padded_batches_and_pickles(texts):
    dataset = pickle.loads(pickle.dumps(OneBillionWord('training', [1])))
    stream = Padding(Batch(DataStream(dataset), ConstantScheme(4)))
    shapes = [(features.shape[0], mask.shape[0]) for features, mask in stream.get_epoch_iterator()]
    assert shapes == [(4, 4), (2, 2)]


@pytest.mark.parametrize(('which_set', 'partitions'), [
    ('train', [1]), ('valid', [1]), (None, [1]), ('training', [0]), ('training', [100]),
    ('training', [1, -1]), ('heldout', [50]), ('heldout', [-1]), ('training', []),
    ('training', 3), ('training', '12'), ('training', ['1']), ('training', [True]),
    ('training', [1.5]), ('heldout', None)])
def test_sets_and_partitions_that_there_are_not(which_set, partitions):
    # Before any file is looked for: there are none.
    with pytest.raises(ValueError, match='expected .*(training|heldout).*; got'):
        OneBillionWord(which_set, partitions, WORDS)


def test_missing_files_name_the_commands(texts, tmp_path):
    for which_set, partitions, name in (('training', [1, 4], raw.training_name(4)),
                                        ('heldout', [2], raw.heldout_name(2))):
        with pytest.raises(DataFileNotFoundError, match='fuel-convert one_billion_word') as caught:
            OneBillionWord(which_set, partitions, WORDS)
        assert f'{raw.FOLDER}/{name} not found' in str(caught.value)
    os.remove(tmp_path / 'one_billion_word.hdf5')
    with pytest.raises(DataFileNotFoundError, match='or give a dictionary'):
        OneBillionWord('training', [1])
