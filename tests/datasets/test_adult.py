from __future__ import annotations

import numpy
import pytest

import fuel
from fuel.converters.adult import convert_adult
from fuel.datasets.adult import Adult
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from tests.raw import adult


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp('adult')
    rows = adult.write(folder)
    convert_adult(str(folder), str(folder))
    return str(folder), rows


@pytest.mark.parametrize('load_in_memory', [True, False])
@pytest.mark.parametrize('split', ['train', 'test'])
@pytest.mark.parametrize('make', [DataStream, DataStream.default_stream])
def test_streams(written, make, split, load_in_memory):
    fuel.config.data_path, rows = written
    dataset = Adult((split,), load_in_memory=load_in_memory)
    assert dataset.provides_sources == ('features', 'targets')
    assert dataset.axis_labels == {'features': ('batch', 'feature'), 'targets': ('batch', 'index')}
    stream = make(dataset, iteration_scheme=SequentialScheme(dataset.num_examples, 16))
    features, targets = (numpy.concatenate(parts)
                         for parts in zip(*stream.get_epoch_iterator(), strict=True))
    assert features.dtype == 'float64'
    assert features.shape == (len(rows[split]), 104)
    assert features[:, 0].tolist() == [float(row[0]) for row in rows[split]]
    # Six numbers, and a one in the columns of each of the eight other variables.
    assert ((features == 1) | (features == 0)).sum(axis=1).min() >= 98
    assert targets.dtype == 'bool'
    assert targets.tolist() == [[row[-1] == '>50K'] for row in rows[split]]


def test_in_memory_by_default(written):
    fuel.config.data_path, _ = written
    assert Adult(('train',)).load_in_memory
    assert Adult(('train', 'test')).num_examples == 150


def test_missing_file_says_how_to_make_it(tmp_path, monkeypatch):
    fuel.config.data_path = str(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileNotFoundError, match='fuel-download adult && fuel-convert adult'):
        Adult(('train',))
