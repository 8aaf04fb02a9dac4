"""Format 1 of SVHN, whole pictures, against an independent reading of the raw files."""
from __future__ import annotations

import io
import os
import tarfile

import h5py
import numpy
import pytest
from PIL import Image

from fuel.converters import _house_numbers
from fuel.converters._conversion import workers as _workers
from fuel.converters.svhn import convert_svhn, convert_svhn_format_1
from fuel.datasets import H5PYDataset
from fuel.exceptions import ConversionError
from tests.bin.commands import run
from tests.raw import svhn as raw

SPLITS = ['train', 'test', 'extra']
BOXES = {'labels': ('uint8', 'index'), 'heights': ('uint16', 'height'),
         'widths': ('uint16', 'width'), 'lefts': ('uint16', 'x'), 'tops': ('uint16', 'y')}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('svhn')
    raw.write(folder, 1, 15)
    return folder


@pytest.fixture(scope='module')
def path(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp('converted')
    path, = convert_svhn_format_1(str(folder), str(out))
    assert os.listdir(out) == ['svhn_format_1.hdf5']
    return path


def described(content):
    """Read a digitStruct.mat as programs for it do, by h5py's ordinary objects."""
    with h5py.File(io.BytesIO(content), 'r') as h5file:
        struct = h5file['digitStruct']
        for name, box in zip(struct['name'][:, 0], struct['bbox'][:, 0], strict=True):
            group = h5file[box]
            yield ''.join(chr(code) for code in h5file[name][:, 0]), {
                attribute: ([h5file[reference][0, 0] for reference in column[:, 0]]
                            if len(column) > 1 else [column[0, 0]])
                for attribute, column in group.items()}


def expected(folder, split):
    """Return the pictures and boxes of a split, in the order of the description."""
    with tarfile.open(folder / f'{split}.tar.gz') as archive:
        contents = {name.rpartition('/')[2]: archive.extractfile(name).read()
                    for name in archive.getnames() if '.' in name}
    for name, boxes in described(contents['digitStruct.mat']):
        pixels = numpy.asarray(Image.open(io.BytesIO(contents[name])).convert('RGB'))
        yield pixels.transpose(2, 0, 1), {
            'labels': [int(label) % 10 for label in boxes['label']],
            'heights': boxes['height'], 'widths': boxes['width'],
            'lefts': [max(0, left) for left in boxes['left']],
            'tops': [max(0, top) for top in boxes['top']]}


def examples(h5file, source):
    """Return the examples of a source in the layout of the old library, with their shapes."""
    values, shapes = h5file[source][...], h5file[f'{source}_shapes'][...]
    return [value.reshape(shape) for value, shape in zip(values, shapes, strict=True)]


def test_pictures_and_boxes(folder, path):
    with h5py.File(path, 'r') as h5file:
        features = examples(h5file, 'features')
        boxes = {name: examples(h5file, f'bbox_{name}') for name in BOXES}
    raw_examples = [example for split in SPLITS for example in expected(folder, split)]
    assert len(features) == len(raw_examples) == 45
    for number, (pixels, values) in enumerate(raw_examples):
        assert numpy.array_equal(features[number], pixels)
        for name, column in values.items():
            assert boxes[name][number].tolist() == [[value] for value in column]
    # Both kinds of digit structures were there, digits 0, and boxes that begin left of a picture.
    counts = {len(labels) for labels in boxes['labels']}
    assert 1 in counts
    assert len(counts) > 1
    assert any(0 in labels for labels in boxes['labels'])


def test_form_of_the_file(path):
    with h5py.File(path, 'r') as h5file:
        rows = {(row['split'].decode(), row['source'].decode()): (row['start'], row['stop'])
                for row in h5file.attrs['split']}
        sources = ['features', *(f'bbox_{name}' for name in BOXES)]
        assert {split for split, _ in rows} == set(SPLITS)
        for place, split in enumerate(SPLITS):
            for source in sources:
                assert rows[split, source] == (15 * place, 15 * place + 15)
        for source in sources:
            dtype, axis = BOXES.get(source.removeprefix('bbox_'), ('uint8', None))
            dataset = h5file[source]
            assert h5py.check_vlen_dtype(dataset.dtype) == dtype
            assert dataset.chunks is None
            assert dataset.dims[0].label == 'batch'
            scales = dict(dataset.dims[0].items())
            assert list(scales) == ['shapes', 'shape_labels']
            labels = [b'channel', b'height', b'width'] if axis is None else [b'bounding_box',
                                                                             axis.encode()]
            assert scales['shape_labels'][...].tolist() == labels
            assert scales['shapes'].shape == (45, len(labels))


def test_files_of_the_old_library_are_read(path, tmp_path):
    """They have shapes of two bytes, and other names of the scales' data sets."""
    old = str(tmp_path / 'old.hdf5')
    with h5py.File(path, 'r') as source, h5py.File(old, 'w') as target:
        for name in ['features', *(f'bbox_{name}' for name in BOXES)]:
            target[name] = source[name][...]
            target[name].dims[0].label = 'batch'
            target[f'{name}_shapes'] = source[f'{name}_shapes'][...].astype('uint16')
            target[f'{name}_vlen_axis_labels'] = source[f'{name}_shape_labels'][...]
            for scale, what in (('shapes', 'shapes'), ('vlen_axis_labels', 'shape_labels')):
                target[f'{name}_{scale}'].make_scale(what)
                target[name].dims[0].attach_scale(target[f'{name}_{scale}'])
        target.attrs['split'] = source.attrs['split']
    one, other = (H5PYDataset(name, which_sets=('test', 'extra')) for name in (path, old))
    assert one.axis_labels == other.axis_labels
    assert one.axis_labels['features'] == ('batch', 'channel', 'height', 'width')
    assert one.axis_labels['bbox_lefts'] == ('batch', 'bounding_box', 'x')
    request = [0, 7, 29]
    for found, same in zip(one.get_data(None, request), other.get_data(None, request),
                           strict=True):
        for example, again in zip(found, same, strict=True):
            assert numpy.array_equal(example, again)


def test_ragged_layout_and_compression(folder, path, tmp_path):
    ragged, = convert_svhn(1, str(folder), str(tmp_path), layout='ragged', compression='gzip')
    with h5py.File(ragged, 'r') as h5file:
        assert h5file['features'].compression == 'gzip'
        assert h5file['features_offsets'].shape == (46,)
    one, other = (H5PYDataset(name, which_sets=('train', 'extra')) for name in (path, ragged))
    assert one.num_examples == other.num_examples == 30
    for found, same in zip(one.get_data(None, slice(0, 30)), other.get_data(None, slice(0, 30)),
                           strict=True):
        for example, again in zip(found, same, strict=True):
            assert numpy.array_equal(example, again)


@pytest.mark.parametrize(('storage', 'message'), [
    ({'compression': 'gzip'}, '--layout ragged'),
    ({'chunk_examples': 5, 'layout': 'ragged'}, '--layout vlen')])
def test_options_that_do_not_go_together(folder, tmp_path, storage, message):
    with pytest.raises(ConversionError, match=message):
        convert_svhn(1, str(folder), str(tmp_path), **storage)
    assert os.listdir(tmp_path) == []


def test_workers_change_nothing(folder, path, tmp_path, monkeypatch):
    calls = []

    def in_order(function, items, **kwargs):
        calls.append(function.__name__)
        return _workers.in_order(function, items, workers=2, group=1)

    monkeypatch.setattr(_house_numbers, 'in_order', in_order)
    monkeypatch.setattr(_house_numbers, '_DESCRIBED', 4)
    again, = convert_svhn(1, str(folder), str(tmp_path))
    assert sorted(calls) == ['decode', 'read_boxes']
    with open(path, 'rb') as one, open(again, 'rb') as other:
        assert one.read() == other.read()


def test_command(folder, tmp_path):
    done = run('convert', 'svhn', '1', '-d', str(folder), '--layout', 'ragged', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'the data set has 33402 pictures; this file has 15' in done.stderr
    assert os.listdir(tmp_path) == ['svhn_format_1.hdf5']
    with h5py.File(tmp_path / 'svhn_format_1.hdf5', 'r') as h5file:
        assert [row['name'] for row in h5file['fuel_provenance/inputs']] == [
            b'extra.tar.gz', b'test.tar.gz', b'train.tar.gz']
    done = run('convert', 'svhn', '3', '-d', str(folder), cwd=tmp_path)
    assert done.returncode == 2
