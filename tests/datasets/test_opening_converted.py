"""Files that ``fuel-convert`` made of each built-in data set, opened without saying what they are.

A file is opened by the name of the data set, and by its path when it is called something else.
"""
from __future__ import annotations

import importlib
import os

import h5py
import pytest
from numpy.testing import assert_array_equal

import fuel
import fuel.datasets
from fuel._registry import BUILT_IN
from fuel.bin import fuel_convert
from fuel.datasets._names import NAMES
from tests.converters import ffmpegs

# What to type, what the raw files are like, and the name of the data set for `open`.
VARIANTS = {
    'caltech101_silhouettes': [(['28'], {}, 'caltech101_silhouettes', {}),
                               (['16'], {'size': 16}, 'caltech101_silhouettes16', {})],
    'celeba': [(['64'], {}, 'celeba_64', {}),
               (['aligned_cropped'], {}, 'celeba', {'which_format': 'aligned_cropped'})],
    'svhn': [(['1'], {'which_format': 1}, 'svhn_format_1', {}),
             (['2'], {'which_format': 2}, 'svhn', {'which_format': 2})],
}
VIDEO = {'youtube_id': 'abc'}
VARIANTS['youtube_audio'] = [(['--youtube-id', 'abc'], VIDEO, 'youtube_audio', VIDEO)]
CASES = [(known, *variant) for known in BUILT_IN if NAMES[known].filename
         for variant in VARIANTS.get(known, [([], {}, known, {})])]


@pytest.mark.parametrize(('known', 'options', 'raw', 'name', 'arguments'), CASES,
                         ids=['-'.join([known, *options]) for known, options, *_ in CASES])
def test_converted_files(tmp_path, monkeypatch, known, options, raw, name, arguments):
    ffmpegs.install('stand-in', tmp_path / 'bin', monkeypatch)
    folder = tmp_path / 'raw'
    folder.mkdir()
    importlib.import_module(f'tests.raw.{known}').write(folder, **raw)
    fuel_convert.main([known, *options, '-d', str(folder), '-o', str(tmp_path)])
    written, = tmp_path.glob('*.hdf5')
    check(tmp_path, written, NAMES[known].load(), name, arguments)


def check(folder, written, cls, name, arguments):
    """Open a file by its name, and by its path after renaming it."""
    fuel.config.data_path = [str(folder)]
    with h5py.File(written, 'r') as file:
        splits = fuel.datasets.H5PYDataset.get_all_splits(file)
    named = fuel.datasets.open(name, which_sets=splits[:1], **arguments)
    count = named.num_examples
    first = named.get_data(request=[0, count - 1])
    named.close()
    os.rename(written, folder / 'renamed.h5')
    dataset = fuel.datasets.open(folder / 'renamed.h5', splits[0])
    assert type(named) is type(dataset) is cls
    assert dataset.default_transformers == named.default_transformers
    assert dataset.load_in_memory == named.load_in_memory
    assert {*vars(named)} <= {*vars(dataset)}            # nothing that its methods need is missing
    assert (dataset.num_examples, dataset.sources) == (count, named.sources)
    for before, after in zip(first, dataset.get_data(request=[0, count - 1]), strict=True):
        for one, other in zip(before, after, strict=True):
            assert_array_equal(one, other)
    dataset.close()
