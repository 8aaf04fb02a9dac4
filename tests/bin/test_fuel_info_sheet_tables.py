"""Contact sheets of tables: features with names, categories, ones and zeros, missing values."""
from __future__ import annotations

import h5py
import numpy
import pytest

from fuel.bin._info.sheet.columns import Category, columns_of
from fuel.bin._info.sheet.histograms import spread_of_values
from tests.bin.info_files import fill
from tests.raw import adult

COUNT = 120


def numbers(count, seed=0):
    return numpy.random.default_rng(seed).normal(size=(COUNT, count)) * 100


def one_hot(size, seed=1):
    return numpy.eye(size)[numpy.random.default_rng(seed).integers(0, size, COUNT)]


def table(path, features, names=None, classes=None):
    data = [('train', 'features', features)]
    if classes is not None:
        data.append(('train', 'targets', (numpy.arange(COUNT) % len(classes)).astype(
            'uint8')[:, None]))
    fill(path, data)
    with h5py.File(path, 'a') as h5file:
        if names is not None:
            h5file['feature_names'] = names
        if classes is not None:
            h5file['target_names'] = classes
    return path


def summary(column):
    column = column[numpy.isfinite(column)]
    return (f'{column.min():.5g} to {column.max():.5g}, mean {column.mean():.5g}, deviation '
            f'{column.std():.5g}')


@pytest.mark.parametrize('classes', [None, ['setosa', 'virginica', 'versicolor', 'another one']])
def test_missing_values_are_told_before_all_else(tmp_path, draw, classes):
    features = numbers(4) * 1e6
    features[:29, 2], features[5, 3], features[6:8, 3] = numpy.nan, numpy.inf, numpy.nan
    words, _ = draw(table(tmp_path / 'x.hdf5', features, classes=classes))
    assert '29 of 120 are NaN' in words
    assert '3 of 120 are NaN or infinite' in words
    # What is too long for a line goes on in the next one, and is not cut off.
    assert not any('…' in word for word in words)
    everything = ' '.join(words)
    for column in features.T:
        assert summary(column) in everything


def test_all_missing_or_infinite(tmp_path, draw):
    features = numpy.array([[numpy.nan, numpy.inf]] * COUNT)
    words, _ = draw(table(tmp_path / 'x.hdf5', features))
    assert {'all 120 values are NaN', 'all 120 values are infinite'} <= set(words)


def test_columns_are_told_apart():
    names = ['age', 'a=x', 'a=y=z', 'b=1', 'is new', 'c=low', 'c=7']
    values = numpy.concatenate((numbers(1), one_hot(3), one_hot(2)[:, :1], numbers(1),
                                one_hot(2)[:, 1:]), axis=1)
    found = columns_of(values, names)
    # A name with an equals sign alone does not make a category, if there are other values.
    assert found.numbers == (0, 5)
    assert found.flags == (4,)
    assert found.categories == (Category('a', 1, ('x', 'y=z')), Category('b', 3, ('1',)),
                                Category('c', 6, ('7',)))
    compact, entries = found.compact(values)
    assert compact.shape == (COUNT, 6)
    assert [entry if isinstance(entry, int) else entry.name for entry in entries] == [
        0, 'a', 'b', 4, 5, 'c']
    assert numpy.array_equal(compact[:, 1], values[:, 1:3].argmax(axis=1))
    assert columns_of(values, ()).categories == ()
    assert columns_of(values, ()).flags == (1, 2, 3, 4, 6)


@pytest.mark.parametrize('classes', [None, ['yes', 'no']])
def test_categories_are_counted_in_one_chart_each(tmp_path, draw, classes):
    kinds, towns = one_hot(3), one_hot(41, seed=2)
    names = ['weight', *(f'kind={kind}' for kind in ('fair', 'good', 'very good')),
             *(f'town=place {number}' for number in range(41)), 'is new']
    features = numpy.concatenate((numbers(1), kinds, towns, one_hot(2)[:, :1]), axis=1)
    words, _ = draw(table(tmp_path / 'x.hdf5', features, names, classes))
    assert {'features: 46 features', 'weight', 'kind: 3 categories', 'fair', 'good', 'very good',
            'town: 41 categories', '32 others', '0 or 1', 'is new'} <= set(words)
    most = int(kinds.sum(axis=0).argmax())
    assert (f'most often {("fair", "good", "very good")[most]}: {int(kinds[:, most].sum())} of 120'
            in words)
    frequent = numpy.argsort(-towns.sum(axis=0), kind='stable')[:9]
    assert {f'place {place}' for place in frequent} <= set(words)
    # The only histogram is that of the only feature that is a number.
    assert [word for word in words if 'deviation' in word] == [summary(features[:, 0])]
    assert not any('How values are spread' in word for word in words)
    if classes:
        assert {'■ yes', '■ no'} <= set(words)


def test_rows_without_any_category(tmp_path, draw):
    features = one_hot(4)
    words, _ = draw(table(tmp_path / 'x.hdf5', features[:, :3], ['a=x', 'a=y', 'a=z']))
    assert '(none of them)' in words
    assert 'a: 3 categories' in words


@pytest.mark.parametrize('count', [17, 90, 300])
def test_many_numbers_have_their_names_below(tmp_path, draw, count):
    features = numpy.concatenate((numbers(count), one_hot(3)), axis=1)
    features[:29, 11], features[4, 16] = numpy.nan, numpy.inf
    names = [*(f'number {place}' for place in range(count)), 'kind=a', 'kind=b', 'kind=c']
    words, _ = draw(table(tmp_path / 'x.hdf5', features, names, ['yes', 'no']))
    assert any('features NAME=VALUE are one column' in word for word in words)
    every = {17: 1, 90: 1, 300: 4}[count]
    with_histograms = {0, 1, 2, 3, 4, 5, 11, 16}
    assert {word for word in words if word.startswith('number ')} == {
        f'number {place}' for place in {*range(0, count, every), *with_histograms}}
    assert 'kind (3)' in words      # the place of which is count, a multiple of every
    # Histograms are those of features in which something is missing, and of the first ones.
    assert f'8 of {count} features with numbers' in words
    assert {summary(features[:, place]) for place in with_histograms} <= set(words)
    assert {'29 of 120 are NaN', '1 of 120 are infinite'} <= set(words)


def test_ones_and_zeros_without_names_leave_the_histograms_to_numbers(tmp_path, draw):
    features = numpy.concatenate((one_hot(50), numbers(2)), axis=1)
    words, _ = draw(table(tmp_path / 'x.hdf5', features))
    assert {'features: 52 features', '2 features with numbers', 'feature 50', 'feature 51'} <= set(
        words)
    assert 'feature 0' not in words


def test_adult(tmp_path, draw):
    from fuel.converters.adult import convert_adult
    adult.write(tmp_path)
    (path,) = convert_adult(str(tmp_path), str(tmp_path))
    words, _ = draw(path)
    assert {'age', 'hours-per-week', 'workclass: 7 categories', 'native-country: 41 categories',
            '■ <=50K', '■ >50K', 'Private'} <= set(words)
    assert sum('deviation' in word for word in words) == 6


def drawn_by(chart):
    """Return the steps that a chart draws: their heights, edges and base lines."""
    from matplotlib.figure import Figure

    axes, steps = Figure().add_axes((0, 0, 1, 1)), []
    stairs = axes.stairs

    def noting(values, edges, baseline=0, **kwargs):
        steps.append((numpy.asarray(values), numpy.asarray(edges), baseline))
        return stairs(values, edges, baseline=baseline, **kwargs)
    axes.stairs = noting
    chart.draw(axes)
    return steps


@pytest.mark.parametrize(('examples', 'classes', 'bins'), [
    (120, None, 10), (120, 4, 7), (30, 10, 6), (4000, None, 32), (10 ** 6, None, 50)])
def test_bars_are_as_many_as_rows_can_fill(examples, classes, bins):
    values = numpy.random.default_rng(0).normal(size=examples)
    numbers_of_classes = None if classes is None else numpy.arange(examples) % classes
    steps = drawn_by(spread_of_values('x', values, numbers_of_classes,
                                      list(map(str, range(classes or 0)))))
    assert len(steps) == (classes or 1)
    assert all(len(edges) == bins + 1 for _, edges, _ in steps)


def test_each_class_has_a_lane_of_its_own():
    classes = numpy.repeat([0, 1, 2], [60, 30, 3])
    values = numpy.random.default_rng(0).normal(size=93)
    lanes = drawn_by(spread_of_values('x', values, classes, ['a', 'b', 'c']))
    assert [baseline for *_, baseline in lanes] == [2, 1, 0]
    heights = []
    for number, (drawn, edges, baseline) in enumerate(lanes):
        assert (drawn >= baseline).all()
        assert (drawn < baseline + 1).all()         # no lane reaches into another one
        counts = numpy.histogram(values[classes == number], edges)[0]
        heights.append((drawn - baseline) / (counts / counts.sum()).clip(1e-9))
    scale = numpy.concatenate(heights)
    assert numpy.allclose(scale[scale > 0], scale.max())    # shares of the class, on one scale


@pytest.mark.parametrize(('low', 'high', 'examples'), [
    (0, 255, 10 ** 5), (4, 21, 60), (-7, 7, 90), (0, 1, 50), (3, 3, 9), (0, 10 ** 9, 500),
    (2 ** 53, 2 ** 53 + 10 ** 6, 500)])
@pytest.mark.parametrize('dtype', ['int64', 'float64'])
def test_bars_of_whole_numbers_have_equally_many_each(low, high, examples, dtype):
    values = numpy.random.default_rng(0).integers(low, high + 1, examples).astype(dtype)
    ((drawn, edges, _),) = drawn_by(spread_of_values('x', values))
    assert drawn.sum() == examples
    assert len(edges) <= 101
    if high < 2 ** 50:
        steps = numpy.diff(edges)
        assert (steps == steps[0]).all()
        assert steps[0] == int(steps[0])
        assert (edges % 1 == .5).all()
