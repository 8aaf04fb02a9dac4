"""Words on contact sheets: captions in lines, names of classes below every chart."""
from __future__ import annotations

import h5py
import numpy
import pytest

from fuel.bin._info.sheet.words import arranged, fitted, measure, wrapped
from tests.bin.info_files import fill

WIDTH, SIZE = 90, 7.5


def test_pieces_that_fit_are_whole_and_others_are_counted():
    pieces = ['Black_Hair', 'a_name_that_is_far_too_long', 'Bald', 'Wearing_Lipstick', 'Bangs', 'x']
    lines = arranged(pieces, WIDTH, SIZE, 2, counted=True)
    assert 1 <= len(lines) <= 2
    assert all(measure(line, SIZE) <= WIDTH for line in lines)
    *words, more = ' · '.join(lines).replace(' +', ' · +').split(' · ')
    assert words[0] == 'Black_Hair'
    assert 'Bald' in words
    assert set(words) <= set(pieces)
    assert more == f'+{len(pieces) - len(words)}'


@pytest.mark.parametrize('count', [1, 2, 5])
def test_all_pieces_are_there_if_they_fit(count):
    pieces = ['a', 'bc', 'd', 'e', 'f'][:count]
    assert arranged(pieces, WIDTH, SIZE, 2, counted=True) == [' · '.join(pieces)]
    assert arranged(pieces, WIDTH, SIZE, 2) == [' · '.join(pieces)]


def test_one_piece_that_does_not_fit():
    for counted in (False, True):
        first, second = arranged(['large_man-made_outdoor_things'], 100, SIZE, 2, counted=counted)
        assert first + second == 'large_man-made_outdoor_things'
    long = 'unbelievablylongnameofaclass'
    assert arranged([long, 'b'], WIDTH, SIZE, 2, counted=True) == ['b +1']
    (line,) = arranged([long, long], WIDTH, SIZE, 2, counted=True)
    assert line.endswith('… +1')
    assert measure(line, SIZE) <= WIDTH


def test_two_pieces_have_a_line_each():
    assert arranged(['group 12', 'thing number 63'], WIDTH, SIZE, 2) == ['group 12',
                                                                      'thing number 63']
    first, second = arranged(['very long ' * 4, 'very short ' * 4], WIDTH, SIZE, 2)
    assert first.startswith('very long') and second.startswith('very short')
    assert first.endswith('…') and second.endswith('…')
    assert arranged(['', ' '], WIDTH, SIZE, 2) == []
    # The longest names that CIFAR-100 has.
    assert arranged(['large_man-made_outdoor_things', 'skyscraper'], WIDTH, 6, 3) == [
        'large_man-made_', 'outdoor_things', 'skyscraper']


@pytest.mark.parametrize('most', [1, 2, 4])
def test_lines_are_divided_between_words(most):
    words = 'many words that need some lines, for there are rather many of them'
    lines = wrapped(words, 120, SIZE, most)
    assert len(lines) <= most
    assert all(measure(line, SIZE) <= 120 for line in lines)
    told = ' '.join(lines)
    assert words.startswith(told.rstrip('…'))
    assert (told == words) == (most == 4)
    assert wrapped(words, 1000, SIZE, most) == [words]
    assert fitted(words, 1000, SIZE) == words


def pictures(path, **targets):
    count = len(next(iter(targets.values())))
    fill(path, [('train', 'features', numpy.zeros((count, 3, 32, 32), 'uint8')), *(
        ('train', name, values) for name, values in targets.items())], axis_labels={
            'features': ('batch', 'channel', 'height', 'width')})
    return path


def test_marks_below_pictures(tmp_path, draw):
    random = numpy.random.default_rng(0)
    marks = (random.random((24, 40)) < .4).astype('uint8')
    names = [f'Some_{"long" * (number % 3)}_mark{number}' for number in range(40)]
    path = pictures(tmp_path / 'x.hdf5', targets=marks)
    with h5py.File(path, 'a') as h5file:
        h5file['targets'].attrs['target_names'] = names
    words, _ = draw(path)
    start, end = words.index('features of train'), words.index('targets: 40 marks')
    rows = ' '.join(words[start + 1:end]).split(' row ')
    assert len(rows) == 25
    told = []
    for row, number in zip(rows, range(24), strict=False):
        said = row.split(maxsplit=1)[1] if number else row
        said, more = said.rsplit(' +', 1)
        chosen = said.replace(' · ', ' ').split()
        # In full, and really those of this picture.
        assert {names.index(name) for name in chosen} <= set(numpy.flatnonzero(marks[number]))
        assert len(chosen) + int(more) == marks[number].sum()
        told.append(len(chosen))
    assert min(told) >= 1
    assert max(told) >= 2


def test_two_targets_below_pictures(tmp_path, draw):
    coarse = (numpy.arange(40) % 20).astype('uint8')[:, None]
    path = pictures(tmp_path / 'x.hdf5', coarse_labels=coarse, fine_labels=coarse + 50)
    with h5py.File(path, 'a') as h5file:
        h5file['coarse_labels'].attrs['target_names'] = [
            f'household thing {number}' for number in range(20)]
        h5file['fine_labels'].attrs['target_names'] = [
            f'thing with number {number}' for number in range(70)]
    words, _ = draw(path)
    everything = ' '.join(words)
    assert '…' not in everything[:everything.index('coarse_labels: 20 classes')]
    for number in range(20):
        assert f'household thing {number} thing with number {number + 50} row' in everything


@pytest.mark.parametrize('count', [2, 12, 13, 40, 100])
@pytest.mark.parametrize('splits', [1, 2, 5])
def test_every_chart_has_the_names_of_classes(tmp_path, draw, count, splits):
    targets = (numpy.arange(2 * count) % count).astype('uint8')[:, None]
    data = []
    for number in range(splits):
        data += [(f'split{number}', 'y', numpy.zeros((2 * count, 3))),
                 (f'split{number}', 'targets', targets)]
    path = fill(tmp_path / 'x.hdf5', data)
    with h5py.File(path, 'a') as h5file:
        h5file['target_names'] = [f'name {number}' for number in range(count)]
    words, _ = draw(path)
    assert f'targets: {count} classes' in words
    for number in range(count):
        # Some are there twice in matplotlib, and drawn once.
        assert words.count(f'name {number}') in (splits, 2 * splits)
    if count <= 12:
        assert words.count('2') >= count * splits       # how many there are stands beside


@pytest.mark.parametrize('count', [1, 2, 3])
def test_few_classes_use_the_width(tmp_path, draw, count):
    targets = (numpy.arange(6) % count).astype('uint8')[:, None]
    _, pixels = draw(fill(tmp_path / 'x.hdf5', [('train', 'targets', targets)]))
    grey = (pixels.astype(int).max(axis=2) < 240).any(axis=0)
    assert numpy.flatnonzero(grey)[-1] > 1100
    coloured = ((pixels == pixels[:, :1]).all(axis=2) == 0) & (pixels.max(axis=2) < 200)
    assert coloured.sum(axis=1).max() > 900     # a bar


def test_many_classes_have_some_names_below(tmp_path, draw):
    targets = numpy.arange(1000).astype('int32')[:, None]
    path = fill(tmp_path / 'x.hdf5', [('train', 'targets', targets)])
    with h5py.File(path, 'a') as h5file:
        h5file['target_names'] = [f'name {number}' for number in range(1000)]
    words, _ = draw(path)
    assert {f'name {number}' for number in range(0, 1000, 100)} <= set(words)
