from __future__ import annotations

import tracemalloc
import zipfile

import h5py
import numpy
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters._division.shares import Range
from fuel.converters.arrays import convert_arrays
from fuel.datasets import H5PYDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import arrays as raw


def convert(folder, *files, **kwargs):
    path, = convert_arrays(str(folder), str(folder), files=list(files), **kwargs)
    return path


@pytest.mark.parametrize('compressed', [True, False])
def test_the_archive_of_mnist_as_keras_has_it(tmp_path, compressed):
    raw.write(tmp_path, compressed=compressed)
    path = convert(tmp_path, raw.FILE, labels={'x': ('batch', 'height', 'width')})
    assert path == str(tmp_path / 'mnist.hdf5')
    found = by_split(path)
    assert list(found) == ['train', 'test']
    with numpy.load(tmp_path / raw.FILE) as archive:
        for split in found:
            for source in 'xy':
                assert numpy.array_equal(found[split][source], archive[f'{source}_{split}'])
                assert found[split][source].dtype == archive[f'{source}_{split}'].dtype
    assert axis_labels(path) == {'x': ('batch', 'height', 'width'), 'y': ('batch',)}
    assert storage(path, 'x') == ('uint8', (80, 28, 28), None, None)
    dataset = H5PYDataset(path, ('test',))
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(20, 8))
    assert [len(x) for x, _ in stream.get_epoch_iterator()] == [8, 8, 4]
    stream.close()


def test_names_may_begin_with_the_split_and_need_not_have_all_sources(tmp_path):
    numpy.savez(tmp_path / 'a.npz', val_labels=[1, 2], train_images=numpy.eye(3),
                train_labels=[0, 1, 2], test_images=numpy.ones((4, 3)))
    found = by_split(convert(tmp_path, 'a.npz'))
    assert {split: sorted(sources) for split, sources in found.items()} == {
        'train': ['images', 'labels'], 'val': ['labels'], 'test': ['images']}
    assert found['val']['labels'].tolist() == [1, 2]


def test_files_of_one_array_are_one_split_and_may_be_in_any_order_of_axes(tmp_path, monkeypatch):
    monkeypatch.setattr('fuel.converters._formats.npy.BLOCK_BYTES', 1000)
    rng = numpy.random.default_rng(0)
    given = {'big': rng.random((60, 4, 3)).astype('>f4'), 'columns': numpy.asfortranarray(
        rng.random((60, 7))), 'flags': rng.random(60) < .5, 'small': rng.random((60, 1))}
    for name, array in given.items():
        numpy.save(tmp_path / f'{name}.npy', array)
    path = convert(tmp_path, 'big.npy', 'b=columns.npy', f'c={tmp_path / "flags.npy"}',
                   'small.npy')
    assert path == str(tmp_path / 'arrays.hdf5')
    found = by_split(path)
    assert list(found) == ['train']
    for source, name in (('big', 'big'), ('b', 'columns'), ('c', 'flags'), ('small', 'small')):
        assert numpy.array_equal(found['train'][source], numpy.load(tmp_path / f'{name}.npy'))
    assert axis_labels(path) == {'big': ('batch', '', ''), 'b': ('batch', 'feature'),
                                 'c': ('batch',), 'small': ('batch', 'index')}
    numpy.savez_compressed(tmp_path / 'all.npz', **given)
    packed = by_split(convert(tmp_path, 'all.npz'))['train']
    for name, array in given.items():
        assert numpy.array_equal(packed[name], array)


def test_arrays_of_an_archive_are_gathered_where_the_new_file_is_to_be(tmp_path, monkeypatch):
    (tmp_path / 'out').mkdir()
    values = numpy.asfortranarray(numpy.random.default_rng(0).random((60, 7)))
    numpy.savez(tmp_path / 'a.npz', x=values)
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path / 'there is no such folder'))
    path, = convert_arrays(str(tmp_path), str(tmp_path / 'out'), files=['a.npz'])
    assert numpy.array_equal(by_split(path)['train']['x'], values)
    assert [file.name for file in (tmp_path / 'out').iterdir()] == ['a.hdf5']


@pytest.mark.parametrize('kind', ['npy', 'npz'])
def test_shares_and_ranges(tmp_path, kind, monkeypatch):
    monkeypatch.setattr('fuel.converters._formats.npy.BLOCK_BYTES', 64)
    x, y = numpy.arange(200.).reshape(100, 2), numpy.arange(100) % 4
    if kind == 'npy':
        numpy.save(tmp_path / 'x.npy', x)
        numpy.save(tmp_path / 'y.npy', y)
        files = ['x.npy', 'y.npy']
    else:
        numpy.savez(tmp_path / 'xy.npz', x=x, y=y)
        files = ['xy.npz']
    order = numpy.random.RandomState(5).permutation(100)
    found = by_split(convert(tmp_path, *files, valid_fraction=0.1, test_fraction=0.2, seed=5))
    for split, rows in (('valid', order[:10]), ('test', order[10:30]), ('train', order[30:])):
        assert numpy.array_equal(found[split]['x'], x[numpy.sort(rows)])
        assert numpy.array_equal(found[split]['y'], y[numpy.sort(rows)])
    found = by_split(convert(tmp_path, *files, test_fraction=0.2, seed=5, stratify='y'))
    assert numpy.bincount(found['test']['y']).tolist() == [5] * 4
    found = by_split(convert(tmp_path, *files, ranges=[Range('b', 50, 90), Range('a', 0, 50)]))
    assert numpy.array_equal(found['b']['x'], x[50:90])
    assert numpy.array_equal(found['a']['y'], y[:50])


def test_texts_become_numbers_and_stay_in_the_file(tmp_path):
    texts = numpy.array(['dog', 'čat', 'dog', 'ant'])
    numpy.savez(tmp_path / 'a.npz', x=numpy.arange(4), y=texts)
    path = convert(tmp_path, 'a.npz')
    names, codes = numpy.unique(texts, return_inverse=True)
    assert by_split(path)['train']['y'].tolist() == codes.tolist()
    assert storage(path, 'y')[0] == 'uint8'
    with h5py.File(path, 'r') as h5file:
        assert h5file['y_names'].asstr()[...].tolist() == names.tolist()
    found = by_split(convert(tmp_path, 'a.npz', test_fraction=0.25, stratify='y'))
    assert len(found['train']['y']) == 3


def test_options_of_storage_and_what_is_left_out(tmp_path):
    numpy.savez(tmp_path / 'a.npz', x=numpy.zeros((50, 10)), note=numpy.float64(3))
    path = convert(tmp_path, 'a.npz', drop=['note'], compression='gzip', chunk_examples=7)
    assert storage(path, 'x') == ('float64', (50, 10), (7, 10), 'gzip')


def test_large_arrays_are_never_in_memory_as_a_whole(tmp_path):
    numpy.save(tmp_path / 'x.npy', numpy.zeros((100000, 100)))
    with zipfile.ZipFile(tmp_path / 'x.npz', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / 'x.npy', 'x.npy')
    for file in ('x.npz', 'x.npy'):
        tracemalloc.start()
        convert(tmp_path, file, test_fraction=0.5)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6      # of 80 MB


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    raw.write(tmp_path)
    main(['arrays', 'mnist.npz', '--labels', 'x=batch,height,width'])
    assert 'sources x, y; train 60, test 20 examples' in capsys.readouterr().out
    main(['arrays', 'mnist.npz', '--splits', 'none', '--drop', 'x_test,y_test', '--split',
          'a=0:10', '--split', 'b=10:60', '-r', 'other'])
    assert [len(split['x_train']) for split in by_split('other.hdf5').values()] == [10, 50]
    with h5py.File('mnist.hdf5', 'r') as h5file:
        inputs = h5file['fuel_provenance']
        assert 'mnist.npz' in str([inputs[name][...] for name in inputs
                                   if isinstance(inputs[name], h5py.Dataset)])


def test_an_example_of_several_arrays_counts_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    numpy.save('x.npy', numpy.zeros((120, 4)))
    numpy.save('y.npy', numpy.zeros(120))
    main(['arrays', 'x.npy', 'y.npy', '--test-fraction', '0.1'])
    assert 'Converting arrays: done, 120 examples\n' in capsys.readouterr().out
    numpy.savez('s.npz', x_train=numpy.zeros((7, 4)), y_train=numpy.zeros(7),
                x_test=numpy.ones((3, 4)))
    main(['arrays', 's.npz'])
    assert 'Converting arrays: done, 10 examples\n' in capsys.readouterr().out
    numpy.save('one.npy', numpy.zeros((1, 4)))
    main(['arrays', 'one.npy', '--force'])
    assert 'Converting arrays: done, 1 example\n' in capsys.readouterr().out
