"""Spiral and SwissRoll: the points that their formulas give, from the documented draws."""
import math
import pickle

import numpy
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fuel
from fuel.datasets.toy import Spiral, SwissRoll
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream


def contents(dataset):
    """All data of a data set by source."""
    return dict(zip(dataset.sources, dataset.get_data(None, slice(None)), strict=True))


def test_spiral_gives_the_known_values():
    data = contents(Spiral(5, classes=3))
    assert_allclose(data['position'], [.417022, .720324, .000114375, .302333, .146756], rtol=3e-6)
    assert data['label'].tolist() == [0, 1, 0, 1, 0]
    assert_array_equal(data['features'][0], numpy.float32([.30449119, -.53012407]))


def test_swiss_roll_gives_the_known_values():
    data = contents(SwissRoll(3))
    assert_array_equal(data['features'][0],
                       numpy.float32([-.43373361, .43083817, -.39533487]))


def test_spiral_draws_positions_then_labels_then_errors():
    data = contents(Spiral(50, classes=4, cycles=2.5, noise=.3, seed=7))
    rng = numpy.random.RandomState(7)
    position = [rng.uniform(0, 2.5) for _ in range(50)]
    label = rng.randint(0, 4, size=50)
    errors = rng.normal(size=(50, 2))
    assert data['position'].tolist() == position
    assert_array_equal(data['label'], label)
    for row, p, k, error in zip(data['features'], position, label, errors, strict=True):
        turn = p + k / 4
        point = [(1 + 2 * p) / 3 * math.sin(2 * math.pi * turn) + .3 * error[0],
                 (1 + 2 * p) / 3 * math.cos(2 * math.pi * turn) + .3 * error[1]]
        assert_allclose(row, point, rtol=1e-6, atol=1e-6)


def test_swiss_roll_draws_along_then_across_then_errors():
    data = contents(SwissRoll(50, noise=.3, seed=7))
    rng = numpy.random.RandomState(7)
    along = [rng.uniform() for _ in range(50)]
    across = [rng.uniform(-1, 1) for _ in range(50)]
    errors = rng.normal(size=(50, 3))
    assert_array_equal(data['position'], numpy.float32([along, across]).T)
    for row, p, z, error in zip(data['features'], along, across, errors, strict=True):
        r, phi = (1 + 2 * p) / 3, 1.5 * math.pi * (1 + 2 * p)
        point = [r * math.cos(phi), r * math.sin(phi), z]
        assert_allclose(row, numpy.add(point, .3 * error), rtol=1e-6, atol=1e-6)


def test_sources_shapes_and_dtypes():
    spiral = Spiral(10)
    assert spiral.sources == spiral.provides_sources == ('features', 'position', 'label')
    assert {name: (array.shape, array.dtype) for name, array in contents(spiral).items()} == {
        'features': ((10, 2), numpy.float32), 'position': ((10,), numpy.float64),
        'label': ((10,), numpy.int64)}
    roll = SwissRoll(10)
    assert roll.sources == roll.provides_sources == ('features', 'position')
    assert {name: (array.shape, array.dtype) for name, array in contents(roll).items()} == {
        'features': ((10, 3), numpy.float32), 'position': ((10, 2), numpy.float32)}


def test_axis_labels_name_every_axis():
    for dataset in (Spiral(4), SwissRoll(4)):
        for source, array in contents(dataset).items():
            assert len(dataset.axis_labels[source]) == array.ndim
            assert dataset.axis_labels[source][0] == 'batch'
    assert Spiral(4, axis_labels=None).axis_labels is None


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_there_are_1000_examples_by_default(cls):
    assert cls().num_examples == 1000
    assert len(cls().get_data(None, slice(None))[0]) == 1000
    assert cls(num_examples=3).num_examples == 3


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_equal_seeds_give_equal_data_and_others_others(cls):
    for source in cls(2).sources:
        assert_array_equal(contents(cls(20, seed=5))[source], contents(cls(20, seed=5))[source])
    assert not numpy.array_equal(cls(20, seed=5).features, cls(20, seed=6).features)


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_the_default_seed_is_read_when_the_data_are_made(cls):
    assert_array_equal(cls(20).features, cls(20, seed=1).features)
    fuel.config.default_seed = 123
    assert_array_equal(cls(20).features, cls(20, seed=123).features)
    assert_array_equal(cls(20, seed=1).features, cls(20, seed=1).features)
    assert not numpy.array_equal(cls(20).features, cls(20, seed=1).features)


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_global_random_numbers_are_left_alone(cls):
    numpy.random.seed(3)
    expected = numpy.random.uniform(size=4)
    numpy.random.seed(3)
    cls(20, noise=1.)
    assert_array_equal(numpy.random.uniform(size=4), expected)


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_noise_has_the_standard_deviation_asked_for(cls):
    difference = cls(20000, noise=.5).features - cls(20000).features
    assert_allclose(difference.std(axis=0), .5, rtol=.03)


def test_points_without_noise_lie_on_the_curve():
    data = contents(Spiral(200, cycles=3.))
    assert_allclose(numpy.hypot(*data['features'].T), (1 + 2 * data['position']) / 3, rtol=1e-5)
    assert 0 <= data['position'].min() < .2
    assert 2.8 < data['position'].max() < 3
    data = contents(SwissRoll(200))
    assert_allclose(numpy.hypot(*data['features'].T[:2]), (1 + 2 * data['position'][:, 0]) / 3,
                    rtol=1e-5)
    assert_array_equal(data['features'][:, 2], data['position'][:, 1])


def test_arguments_of_the_base_are_passed_on():
    dataset = Spiral(10, sources=('label', 'features'), start=2, stop=8)
    assert dataset.sources == ('label', 'features')
    assert dataset.num_examples == 6
    label, features = dataset.get_data(None, [0, 5])
    assert_array_equal(label, Spiral(10).label[[2, 7]])
    assert_array_equal(features, Spiral(10).features[[2, 7]])


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
def test_streams_and_pickles(cls):
    dataset = cls(10)
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(10, 4))
    batches = [features for features, *_ in stream.get_epoch_iterator()]
    assert_array_equal(numpy.concatenate(batches), dataset.features)
    assert_array_equal(pickle.loads(pickle.dumps(dataset)).features, dataset.features)


@pytest.mark.parametrize('cls', [Spiral, SwissRoll])
@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    ({'num_examples': 0}, ValueError, 'num_examples of at least 1; got 0'),
    ({'num_examples': -3}, ValueError, 'num_examples of at least 1; got -3'),
    ({'num_examples': 2.5}, TypeError, 'an integer as num_examples; got 2.5'),
    ({'noise': -.1}, ValueError, r'noise of at least 0; got -0\.1'),
    ({'noise': math.nan}, ValueError, 'finite noise'),
    ({'seed': -1}, ValueError, 'as seed; got -1'),
    ({'seed': 'x'}, ValueError, "as seed; got 'x'"),
])
def test_arguments_out_of_range(cls, arguments, error, message):
    with pytest.raises(error, match=f'{cls.__name__}: .*{message}'):
        cls(**arguments)


@pytest.mark.parametrize(('arguments', 'message'), [
    ({'classes': 0}, 'classes of at least 1; got 0'), ({'cycles': 0}, 'cycles above 0; got 0'),
    ({'cycles': math.inf}, 'finite cycles')])
def test_arguments_of_the_spiral_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        Spiral(**arguments)
