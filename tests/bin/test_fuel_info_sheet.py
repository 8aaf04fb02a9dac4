"""Contact sheets. What is drawn is looked at through the words on the page, and pixel by pixel."""
from __future__ import annotations

import io
import os
import subprocess
import sys

import h5py
import numpy
import pytest
from PIL import Image

from fuel.datasets.hdf5 import H5PYDataset
from tests.bin import info_files
from tests.bin.commands import environment, fails
from tests.bin.info_files import fill


def has_colour(pixels, colour):
    return bool((pixels == colour).all(axis=2).any())


def test_pictures_with_their_targets(tmp_path, draw):
    colours = [(200, 30, 40), (10, 220, 60), (20, 40, 210)]
    targets = (numpy.arange(90) % 3).astype('uint8')[:, None]
    features = numpy.array(colours, 'uint8')[targets[:, 0]][:, :, None, None].repeat(
        8, axis=2).repeat(8, axis=3)
    path = info_files.write(tmp_path / 'x.hdf5', features, targets, 60)
    with h5py.File(path, 'a') as h5file:
        h5file['target_names'] = ['red one', 'green one', 'blue one']
    words, pixels = draw(path)
    assert 'x.hdf5' in words
    assert 'train: 60 examples · test: 30 examples' in words
    assert 'features of train' in words
    assert 'features of test' in words
    assert 'targets: 3 classes' in words
    assert 'train: 60 examples, 20 of each class' in words
    for name, colour in zip(('red one', 'green one', 'blue one'), colours, strict=True):
        # One for each picture, and one below the bar of the class.
        assert words.count(name) >= 3
        assert has_colour(pixels, colour)
    rows = [int(word.removeprefix('row ')) for word in words if word.startswith('row ')]
    assert min(rows) < 60 <= max(rows)


def test_each_of_ten_classes_has_a_column(tmp_path, draw):
    targets = (numpy.arange(300) * 7 % 10).astype('uint8')[:, None]
    path = info_files.write(tmp_path / 'x.hdf5', numpy.zeros((300, 1, 5, 5), 'uint8'), targets,
                            200)
    words, _ = draw(path)
    start = words.index('features of train')
    end = words.index('features of test')
    captions = [word for word in words[start + 1:end] if not word.startswith('row')]
    assert captions == [str(number) for number in range(10) for _ in range(2)]


@pytest.mark.parametrize(('shape', 'labels'), [
    ((3, 9, 14), ('channel', 'height', 'width')), ((9, 14, 3), ('height', 'width', 'channel')),
    ((14, 3, 9), ('width', 'channel', 'height')), ((3, 9, 14), None), ((9, 14, 3), None)])
def test_axes_of_pictures(shape, labels):
    from fuel.bin._info.sheet.pictures import as_pixels
    example = numpy.random.default_rng(0).random(shape)
    order = {('channel', 'height', 'width'): 'chw', ('height', 'width', 'channel'): 'hwc',
             ('width', 'channel', 'height'): 'wch', None: 'chw' if shape[0] == 3 else 'hwc'}[labels]
    assert numpy.array_equal(as_pixels(example, labels or ()),
                             numpy.einsum(f'{order}->hwc', example))


@pytest.mark.parametrize('values', ['bool', 'float', 'negative', 'uint16', 'nan'])
def test_values_of_pictures(tmp_path, draw, values):
    pixels = numpy.zeros((6, 1, 8, 8))
    pixels[:, :, :4] = 1
    pixels = {'bool': pixels.astype(bool), 'float': pixels, 'negative': 2 * pixels - 1,
              'uint16': (pixels * 65535).astype('uint16'),
              'nan': numpy.where(pixels == 1, 1, numpy.where(
                  numpy.arange(8) < 4, 0, numpy.nan))}[values]
    words, drawn = draw(fill(tmp_path / 'x.hdf5', [('train', 'x', pixels)], axis_labels={
        'x': ('batch', 'channel', 'height', 'width')}))
    # Whole pixels of black and of white, in the column in which the first picture stands.
    column = drawn[:, 60]
    assert (column == 0).all(axis=1).any()
    assert ('pink: NaN or infinite' in words) == (values == 'nan')
    assert has_colour(drawn, (255, 89, 165)) == (values == 'nan')


def test_encoded_pictures_of_their_own_sizes(tmp_path, draw):
    contents = []
    for number in range(6):
        stream = io.BytesIO()
        Image.new('RGB', (20 + 9 * number, 40), (250, 128, 114)).save(stream, 'PNG')
        contents.append(numpy.frombuffer(stream.getvalue(), 'uint8'))
    contents[3] = contents[3][:50]
    words, drawn = draw(fill(tmp_path / 'x.hdf5', [
        ('train', 'encoded_images', contents), ('train', 'filenames', numpy.array(
            [f'n{number}.png'.encode() for number in range(6)])[:, None])]))
    assert has_colour(drawn, (250, 128, 114))
    assert 'no picture' in words
    assert '1 of 6 cannot be decoded' in words
    assert any('n5.png' in word for word in words)


def test_pictures_of_their_own_sizes(tmp_path, draw):
    pictures = [numpy.full((3, 20 + number, 50 - number), 77, 'uint8') for number in range(20)]
    words, drawn = draw(fill(tmp_path / 'x.hdf5', [('train', 'x', pictures)], axis_labels={
        'x': ('batch', 'channel', 'height', 'width')}))
    assert has_colour(drawn, (77, 77, 77))
    assert {'x: height', 'x: width'} <= set(words)
    assert any(word.startswith('sizes: 20 to 39') for word in words)


@pytest.mark.parametrize('own_shapes', [False, True])
def test_sounds(tmp_path, draw, own_shapes):
    lengths = [400] * 8 if not own_shapes else range(400, 480, 10)
    waves = [numpy.sin(numpy.arange(length) / 9).astype('float32')[:, None] for length in lengths]
    path = fill(tmp_path / 'x.hdf5', [
        ('train', 'x', waves if own_shapes else numpy.array(waves))],
        axis_labels={'x': ('batch', 'time', 'feature')})
    with h5py.File(path, 'a') as h5file:
        h5file['x'].attrs['sample_rate'] = 8000
    words, _ = draw(path)
    assert any('row 0 · 400 steps, 0.05 s at 8000 Hz' in word for word in words)


def test_vectors_by_feature_and_class(tmp_path, draw):
    values = numpy.random.default_rng(0).normal(size=(90, 4))
    path = fill(tmp_path / 'x.hdf5', [('train', 'features', values), (
        'train', 'targets', numpy.repeat([0, 1, 2], 30).astype('uint8')[:, None])])
    with h5py.File(path, 'a') as h5file:
        h5file['feature_names'] = ['sepal', 'petal', 'leaf', 'stem']
        h5file['targets'].attrs['names'] = ['setosa', 'versicolor', 'virginica']
    words, _ = draw(path)
    assert {'sepal', 'petal', 'leaf', 'stem', '■ setosa', '■ virginica'} <= set(words)
    first = values[:, 0]
    assert (f'{first.min():.5g} to {first.max():.5g}, mean {first.mean():.5g}, deviation '
            f'{first.std():.5g}') in words


def test_long_vectors(tmp_path, draw):
    values = numpy.random.default_rng(0).normal(size=(90, 2500))
    values[3, 5] = numpy.nan
    words, _ = draw(fill(tmp_path / 'x.hdf5', [('train', 'features', values), (
        'train', 'targets', numpy.repeat([0, 1, 2], 30).astype('uint8')[:, None])]))
    assert 'features: 2500 features' in words
    assert any('one feature in 3' in word for word in words)


@pytest.mark.parametrize('ids', [None, [7, 5, 9, 1]])
@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_sentences_with_a_vocabulary(tmp_path, draw, layout, ids):
    words_by_id = dict(zip(ids or range(4), ['$the$', 'cat', 'sat', 'Füße\n'], strict=True))
    random = numpy.random.default_rng(0)
    rows = [random.choice(list(words_by_id), length).astype('int32') for length in range(8)]
    path = fill(tmp_path / 'x.hdf5', [('train', 'x', rows)], layout=layout)
    with h5py.File(path, 'a') as h5file:
        h5file['vocabulary'] = list(words_by_id.values())
        if ids:
            h5file['vocabulary_ids'] = ids
    words, _ = draw(path)
    assert '(empty)' in words
    for row in rows[1:]:
        assert ' '.join(words_by_id[number] for number in row).replace('\n', ' ').strip() in words
    assert 'values: 0 to 7, mean 3.5, deviation 2.2913' in words


def test_ids_without_a_vocabulary(tmp_path, draw):
    words, _ = draw(fill(tmp_path / 'x.hdf5', [
        ('train', 'x', [numpy.arange(length) for length in (3, 5)])]))
    assert {'0 1 2', '0 1 2 3 4'} <= set(words)


def test_lists_of_labels_below_pictures(tmp_path, draw):
    labels = [numpy.array([[3], [number]], 'uint8')[:1 + number % 2] for number in range(10)]
    words, _ = draw(fill(tmp_path / 'x.hdf5', [
        ('train', 'features', numpy.zeros((10, 3, 8, 8), 'uint8')), ('train', 'labels', labels)],
        axis_labels={'labels': ('batch', 'box', 'index')}))
    assert {'3', '3 1', '3 9', 'labels: box'} <= set(words)


@pytest.mark.parametrize('count', [1, 2, 40, 41, 1000])
def test_any_number_of_classes(tmp_path, draw, count):
    targets = (numpy.arange(2 * count) % count).astype('int32')[:, None]
    path = fill(tmp_path / 'x.hdf5', [
        ('train', 'x', numpy.zeros((2 * count, 8, 8), 'uint8')), ('train', 'targets', targets)])
    names = [f'a name that is rather long, {number}' for number in range(count)]
    with h5py.File(path, 'a') as h5file:
        h5file['target_names'] = names
    words, _ = draw(path)
    assert f'targets: {count} class{"es" * (count > 1)}' in words


def test_marks(tmp_path, draw):
    marks = numpy.zeros((50, 40), 'uint8')
    marks[:, 3] = 1
    path = fill(tmp_path / 'x.hdf5', [
        ('train', 'x', numpy.zeros((50, 3, 30, 30), 'uint8')), ('train', 'targets', marks)],
        axis_labels={'targets': ('batch', 'target')})
    with h5py.File(path, 'a') as h5file:
        h5file['targets'].attrs['target_names'] = [f'mark {number}' for number in range(40)]
    words, _ = draw(path)
    assert 'targets: 40 marks' in words
    assert words.count('mark 3') > 10       # below pictures


ODD = {
    'all nan': numpy.full((9, 3), numpy.nan), 'infinite': numpy.full(9, numpy.inf),
    'huge': numpy.array([1e308, -1e308, 5e307]), 'constant': numpy.zeros((9, 1)),
    'one': numpy.ones((1, 5)), 'complex': numpy.zeros((9, 2), complex),
    'compound': numpy.zeros(9, [('a', 'i4'), ('b', 'f8')]),
    'strings': numpy.array([b'a\x01$b$'] * 9),
    'no values': numpy.zeros((9, 0)), 'five axes': numpy.zeros((9, 2, 3, 2, 3, 2)),
    'films': numpy.zeros((9, 5, 3, 12, 12), 'uint8'), 'flags': numpy.ones((9, 7), bool),
    'wide ids': numpy.array([[2 ** 62], [-2 ** 62]]), 'half': numpy.zeros((9, 4), 'float16'),
    'unsigned': numpy.array([[2 ** 64 - 1], [0]], 'uint64'), 'series': numpy.zeros((9, 50, 64)),
    'lines': numpy.zeros((9, 1, 1, 500), 'uint8')}


@pytest.mark.parametrize('name', ODD)
def test_odd_values(tmp_path, draw, name):
    labels = {'series': ('batch', 'time', 'feature'),
              'lines': ('batch', 'channel', 'height', 'width')}.get(name)
    words, _ = draw(fill(tmp_path / 'x.hdf5', [('train', 'x', ODD[name])],
                         axis_labels=None if labels is None else {'x': labels}))
    assert not any('cannot be shown' in word for word in words), words


def test_empty_splits_and_broken_sources(tmp_path, draw):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        h5file['x'], h5file['y'] = numpy.zeros((0, 3)), numpy.arange(5.)
        h5file['nothing'] = numpy.zeros((0, 1), 'uint8')
        h5file.attrs['split'] = H5PYDataset.create_split_array({
            'train': {'x': (0, 0), 'nothing': (0, 0)}, 'test': {'y': (0, 5), 'lost': (0, 5)}})
    words, _ = draw(tmp_path / 'x.hdf5')
    assert any('no data set of this name' in word for word in words)
    assert '0 to 4, mean 2, deviation 1.4142' in words


def test_file_without_examples(tmp_path, draw):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        h5file['x'] = numpy.zeros((0, 3))
        h5file.attrs['split'] = H5PYDataset.create_split_array({'train': {'x': (0, 0)}})
    words, _ = draw(tmp_path / 'x.hdf5')
    assert 'There are no examples.' in words


def test_damaged_source_hides_no_other(tmp_path, draw):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(), compression='gzip',
                            chunk_examples=60)
    with h5py.File(path) as h5file:
        place = h5file['features'].id.get_chunk_info(0).byte_offset
    with open(path, 'r+b') as stream:
        stream.seek(place)
        stream.write(b'\xff' * 200)
    words, _ = draw(path)
    assert any(word.startswith('features cannot be shown: ') for word in words)
    assert 'targets: 4 classes' in words


def test_same_file_gives_the_same_bytes(tmp_path):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    contents = []
    for name in ('a.png', 'b.png'):
        code = f'from fuel.bin.fuel_info import main; main(["--sheet", {name!r}, {path!r}])'
        (tmp_path / 'matplotlibrc').write_text('lines.linewidth: 9\nfont.size: 30\n'
                                               if name == 'b.png' else '')
        subprocess.run([sys.executable, '-c', code], check=True, cwd=tmp_path, env=environment(),
                       capture_output=True)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert b'atplotlib' not in contents[0]


def test_little_is_read_of_a_large_file(tmp_path, monkeypatch, draw):
    from fuel.bin._info.sheet.contents import Source
    count = 400000
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        h5file.create_dataset('x', (count, 3, 32, 32), 'uint8')     # never written: takes no room
        h5file['targets'] = numpy.zeros((count, 1), 'uint8')
        h5file.attrs['split'] = H5PYDataset.create_split_array(
            {'train': {'x': (0, count), 'targets': (0, count)}})
    rows = {'x': 0, 'targets': 0}
    read = Source.read

    def counting(source, wanted):
        rows[source.name] += len(wanted)
        return read(source, wanted)
    monkeypatch.setattr(Source, 'read', counting)
    draw(tmp_path / 'x.hdf5')
    assert rows['x'] < 5000


def test_picture_is_replaced_and_nothing_is_left_behind(tmp_path, draw):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    (tmp_path / 'out.png').write_bytes(b'old')
    draw(path)
    assert sorted(os.listdir(tmp_path)) == ['out.png', 'x.hdf5']


def test_what_cannot_be_drawn(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    h5py.File(tmp_path / 'other.h5', 'w').close()
    out = str(tmp_path / 'out.png')
    assert 'expected a name that ends in .png' in fails('info', ['--sheet', path, out], capsys)
    assert 'is not a data set of Fuel' in fails(
        'info', ['--sheet', out, str(tmp_path / 'other.h5')], capsys)
    assert 'nope: No such file' in fails('info', ['--sheet', out, str(tmp_path / 'nope')], capsys)
    line = fails('info', ['--sheet', str(tmp_path / 'nowhere' / 'out.png'), path], capsys)
    assert 'nowhere' in line
    assert 'x.hdf5' not in line
    assert sorted(os.listdir(tmp_path)) == ['other.h5', 'x.hdf5']


def test_without_matplotlib(tmp_path, capsys, monkeypatch):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    for name in [name for name in sys.modules if name.startswith('matplotlib')]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    assert 'pip install fuel[plot]' in fails('info', ['--sheet', str(tmp_path / 'out.png'), path],
                                             capsys)
