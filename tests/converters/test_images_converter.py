from __future__ import annotations

import os

import h5py
import numpy
import pytest
from PIL import Image

from fuel.bin.fuel_convert import main
from fuel.converters.images import convert_images
from fuel.datasets import H5PYDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers.defaults import ToBytes
from fuel.transformers.image import ImagesFromBytes
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import images as raw

IMAGES = ('batch', 'channel', 'height', 'width')


@pytest.fixture
def photos(tmp_path):
    """Return a folder of pictures of two classes."""
    raw.write(tmp_path / 'my photos', classes=('cat', 'dög'))
    return tmp_path / 'my photos'


def convert(folder, **kwargs):
    path, = convert_images(str(folder.parent), str(folder.parent), folder=folder.name, **kwargs)
    return path


def texts(path, name):
    with h5py.File(path, 'r') as h5file:
        found = h5file[name].asstr()[...]
    return [tuple(row) for row in found.tolist()] if found.ndim == 2 else found.tolist()


def paths(folder):
    """Return the paths of all pictures, folder by folder."""
    found = [os.path.relpath(os.path.join(where, name), folder)
             for where, _, names in os.walk(folder) for name in names]
    return sorted(found, key=lambda path: path.split('/'))


def test_pictures_keep_their_sizes_and_get_the_classes_of_their_folders(photos):
    path = convert(photos)
    assert path == str(photos.parent / 'my photos.hdf5')
    names = texts(path, 'filenames')
    assert sorted(names, key=lambda name: name.split('/')) == paths(photos)
    # In the order of the documented lot, for the training examples.
    order = numpy.random.RandomState(1).permutation(24)
    assert names == [paths(photos)[row] for row in order]
    dataset = H5PYDataset(path, ('train',))
    images, targets = dataset.get_data(request=slice(0, 24))
    assert dataset.axis_labels == {'image_features': IMAGES, 'targets': ('batch', 'index')}
    for name, image, target in zip(names, images, targets, strict=True):
        assert numpy.array_equal(image, raw.pixels(photos, name))
        assert target.tolist() == [['cat', 'dög'].index(name.split('/')[0])]
    assert targets.dtype == 'uint8'
    assert texts(path, 'target_names') == ['cat', 'dög']
    dataset.close()


@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_encoded_pictures_are_the_very_files(photos, layout):
    path = convert(photos, encoded=True, layout=layout)
    stream = DataStream(H5PYDataset(path, ('train',)),
                        iteration_scheme=SequentialScheme(24, 10))
    stream = ToBytes(stream, which_sources=('encoded_images',))
    contents = [content for batch in stream.get_epoch_iterator() for content in batch[0]]
    for name, content in zip(texts(path, 'filenames'), contents, strict=True):
        assert content == (photos / name).read_bytes()
    decoded = ImagesFromBytes(stream, which_sources=('encoded_images',))
    assert next(decoded.get_epoch_iterator())[0][0].ndim == 3
    stream.close()


@pytest.mark.parametrize(('resize', 'color'), [('stretch', 'RGB'), ('crop', 'L'), ('pad', 'RGB')])
def test_pictures_of_one_size(photos, resize, color):
    path = convert(photos, size=(20, 30), resize=resize, color=color)
    channels = {'RGB': 3, 'L': 1}[color]
    assert storage(path, 'features') == ('uint8', (24, channels, 20, 30), None, None)
    assert axis_labels(path)['features'] == IMAGES
    for name, found in zip(texts(path, 'filenames'), by_split(path)['train']['features'],
                           strict=True):
        with Image.open(photos / name) as opened:
            picture = opened.convert(color)
        wide, tall = picture.size
        box = None
        if resize == 'crop':
            scale = min(wide / 30, tall / 20)
            left, top = (wide - 30 * scale) / 2, (tall - 20 * scale) / 2
            box = max(0, left), max(0, top), min(wide, wide - left), min(tall, tall - top)
        size = (30, 20)
        if resize == 'pad':
            scale = min(30 / wide, 20 / tall)
            size = round(wide * scale), round(tall * scale)
        small = picture.resize(size, Image.Resampling.BILINEAR, box)
        canvas = Image.new(color, (30, 20))
        canvas.paste(small, ((30 - size[0]) // 2, (20 - size[1]) // 2))
        expected = numpy.asarray(canvas).reshape(20, 30, channels).transpose(2, 0, 1)
        assert numpy.abs(found.astype(int) - expected).max() <= 1


@pytest.mark.parametrize('orientation', range(1, 9))
def test_pictures_are_turned_upright(tmp_path, orientation):
    folder = tmp_path / 'a'
    folder.mkdir()
    picture = Image.fromarray(numpy.arange(60, dtype='uint8').reshape(4, 5, 3))
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture.save(folder / '1.png', exif=exif)
    from PIL import ImageOps
    with Image.open(folder / '1.png') as opened:
        expected = numpy.asarray(ImageOps.exif_transpose(opened)).transpose(2, 0, 1)
    dataset = H5PYDataset(convert(folder), ('train',))
    assert numpy.array_equal(dataset.get_data(request=[0])[0][0], expected)
    dataset.close()


def test_folders_of_splits_are_recognised_and_one_may_have_no_classes(tmp_path):
    folder = tmp_path / 'a'
    raw.write(folder, splits=('train', 'valid'), count=4)
    raw.write(folder / 'test', classes=('',), count=3)
    path = convert(folder, size=(8, 8))
    found = by_split(path)
    assert {split: sorted(sources) for split, sources in found.items()} == {
        'train': ['features', 'targets'], 'valid': ['features', 'targets'], 'test': ['features']}
    names = texts(path, 'filenames')
    # Those that are not learned from keep the order of the files.
    assert names[8:] == [name for split in ('valid', 'test') for name in paths(folder)
                         if name.startswith(split)]
    assert found['train']['targets'].ravel().tolist() == ['dog' in name for name in names[:8]]
    path = convert(folder, size=(8, 8), splits='none')
    assert texts(path, 'target_names') == ['test', 'train', 'valid']


def test_folders_of_splits_with_other_names(tmp_path):
    folder = tmp_path / 'a'
    raw.write(folder, splits=('b', 'a'), count=3)
    found = by_split(convert(folder, splits='folders', size=(4, 4)))
    assert {split: len(sources['targets']) for split, sources in found.items()} == {'a': 6, 'b': 6}


def test_shares_are_those_of_every_class_and_train_is_shuffled(photos):
    path = convert(photos, valid_fraction='1/6', test_fraction=0.25, seed=4, size=(4, 4))
    order = numpy.random.RandomState(4).permutation(24)
    kinds = numpy.arange(24) // 12
    places = {split: numpy.concatenate([order[kinds[order] == kind][start:stop]
                                        for kind in (0, 1)])
              for split, start, stop in (('valid', 0, 2), ('test', 2, 5), ('train', 5, 12))}
    train = numpy.sort(places['train'])
    rows = [*train[numpy.random.RandomState(4).permutation(14)], *numpy.sort(places['valid']),
            *numpy.sort(places['test'])]
    names = paths(photos)
    assert texts(path, 'filenames') == [names[row] for row in rows]
    path = convert(photos, test_fraction=0.25, seed=4, size=(4, 4), no_shuffle=True,
                   no_stratify=True)
    assert texts(path, 'filenames') == [names[row] for row in (
        *sorted(order[6:]), *sorted(order[:6]))]


def test_pictures_without_folders_have_no_classes(tmp_path):
    folder = tmp_path / 'a'
    raw.write(folder, classes=('',), count=5)
    path = convert(folder, size=(4, 4))
    assert list(by_split(path)['train']) == ['features']
    assert texts(path, 'filenames') == paths(folder)


def test_labels_from_a_list(photos, caplog):
    lines = ['file,kind', *[f'{name},{("tabby", "siam")[place % 2]}' for place, name in
                            enumerate(paths(photos)) if name != 'cat/1.png']]
    (photos.parent / 'labels.csv').write_text('\n'.join(lines), 'utf-8')
    path = convert(photos, labels='labels.csv', size=(4, 4), no_shuffle=True)
    assert 'left out 1 picture that labels.csv does not name' in caplog.text
    assert texts(path, 'target_names') == ['siam', 'tabby']
    assert texts(path, 'target_columns') == ['kind']
    known = dict(line.split(',') for line in lines[1:])
    assert [['siam', 'tabby'][code] for code, in by_split(path)['train']['targets']] == [
        known[name] for name in texts(path, 'filenames')]


def test_labels_may_be_several_columns_and_names_short(tmp_path):
    folder = tmp_path / 'a'
    raw.write(folder, splits=('train', 'test'), classes=('',), count=3)
    for name in os.listdir(folder / 'train'):
        os.rename(folder / 'train' / name, folder / 'train' / f'id{name}')
    (tmp_path / 'l.tsv').write_text(
        'id\tage\tcolour\nid0\t0\tblue\nid1.png\t300\tred\n./train/id2\t7\tblue\n', 'utf-8')
    path = convert(folder, labels='l.tsv', size=(4, 4), no_shuffle=True)
    found = by_split(path)
    assert found['train']['targets'].tolist() == [[0, 0], [300, 1], [7, 0]]
    assert found['train']['targets'].dtype == 'uint16'
    assert 'targets' not in found['test']
    assert texts(path, 'target_columns') == ['age', 'colour']
    assert texts(path, 'categories') == [('colour', 'blue'), ('colour', 'red')]


def test_splits_from_a_list(photos, caplog):
    names = paths(photos)
    (photos.parent / 's.csv').write_text('name;part\n' + '\n'.join(
        f'{name};{("train", "test")[place % 2]}' for place, name in enumerate(names[:-1])),
        'utf-8')
    path = convert(photos, split_file='s.csv', size=(4, 4), no_shuffle=True)
    assert texts(path, 'filenames') == [*names[:-1:2], *names[1:-1:2]]
    assert by_split(path)['test']['targets'].ravel().tolist() == ['dög' in name
                                                                  for name in names[1:-1:2]]
    assert 'left out 1 picture that' in caplog.text


def test_the_command_with_workers_gives_the_same_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1')
    raw.write(tmp_path / 'photos', count=50)
    contents = []
    for cpus in (1, 2):
        monkeypatch.setattr('fuel.converters._conversion.workers.usable_cpus',
                            lambda cpus=cpus: cpus)
        main(['images', 'photos', '--test-fraction', '0.2', '--force'])
        with open('photos.hdf5', 'rb') as stream:
            contents.append(stream.read())
    assert contents[0] == contents[1]
    assert 'train 80, test 20 pictures; 2 classes: cat, dog' in capsys.readouterr().out
    with h5py.File('photos.hdf5', 'r') as h5file:
        found = []
        h5file['fuel_provenance'].visititems(lambda name, item: found.append(
            str(item[:]) if isinstance(item, h5py.Dataset) else name))
        assert 'cat/0.jpg' in ''.join(found)
