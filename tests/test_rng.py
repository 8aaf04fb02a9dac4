"""Keyed generators, and states of generators as plain data."""
import json
import pickle
import random
import subprocess
import sys

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Generator, Philox, RandomState
from numpy.testing import assert_array_equal

from fuel import rng

positions = st.tuples(st.integers(0, 2**70), st.integers(0, 2**40), st.integers(0, 2**40),
                      st.integers(0, 2**64 - 1))


def draws(*position):
    return rng.generator(*position).integers(0, 2**63, size=4).tolist()


# Keyed generators

@settings(max_examples=200)
@given(positions)
def test_equal_positions_give_equal_numbers(position):
    assert draws(*position) == draws(*position)
    assert draws(*position[:3]) == draws(*position[:3], 0)


@settings(max_examples=300)
@given(positions, positions)
def test_other_positions_give_other_numbers(one, other):
    assert (draws(*one) == draws(*other)) == (one == other)


def test_no_two_of_many_near_positions_agree():
    seen = {tuple(draws(seed, epoch, step, key))
            for seed in (0, 1, 2, 2**32 - 1, 2**32, 2**32 + 1, 2**64) for epoch in range(4)
            for step in range(8) for key in (0, 1, 2, 2**32, 2**32 + 1)}
    assert len(seen) == 7 * 4 * 8 * 5


def test_steps_never_reach_into_one_another():
    # A step has 2**128 draws for itself before the counter of the next begins.
    numbers = rng.generator(1, 0, 0).integers(0, 2**63, size=100_000)
    for other in ((1, 0, 1), (1, 1, 0), (1, 0, 2)):
        assert not numpy.isin(draws(*other), numbers).any()


def test_numbers_of_successive_steps_are_not_correlated():
    numbers = numpy.array([rng.generator(1, 0, step).normal(size=8) for step in range(4000)])
    correlations = numpy.corrcoef(numbers[:-1].T, numbers[1:].T)[:8, 8:]
    assert numpy.abs(correlations).max() < .08
    assert abs(numbers.mean()) < .03
    assert abs(numbers.std() - 1) < .03


def test_other_processes_draw_the_same_numbers():
    program = ('from fuel import rng\n'
               'generator = rng.generator(3, 5, 7, rng.key_of("crop"))\n'
               'print(generator.integers(0, 2**63, size=4).tolist())')
    result = subprocess.run([sys.executable, '-c', program], check=True, capture_output=True)
    assert json.loads(result.stdout) == draws(3, 5, 7, rng.key_of('crop'))


def test_the_numbers_are_those_of_numpy_for_the_key_and_the_counter():
    words = numpy.random.SeedSequence(3, spawn_key=(9,)).generate_state(2, numpy.uint64)
    expected = Generator(Philox(key=words, counter=[0, 0, 7, 5]))
    assert_array_equal(rng.generator(3, 5, 7, 9).uniform(size=8), expected.uniform(size=8))


@pytest.mark.parametrize(('position', 'name'), [((-1, 0, 0, 0), 'seed'), ((0, -1, 0, 0), 'epoch'),
                                                ((0, 0, -1, 0), 'step'), ((0, 0, 0, -1), 'key')])
def test_negative_positions_are_refused(position, name):
    with pytest.raises(ValueError, match=f'{name} of at least 0; got -1'):
        rng.generator(*position)


def test_numpy_integers_are_positions_too():
    assert draws(*numpy.array([3, 5, 7, 9])) == draws(3, 5, 7, 9)


def test_names_have_fixed_keys():
    assert rng.key_of('crop') == rng.key_of('crop') != rng.key_of('Crop')
    assert 0 <= rng.key_of('Schönschrift') < 2**64
    assert rng.key_of('crop') == 16654413820857875841  # for ever: saved states depend on it


def test_global_random_states_are_neither_read_nor_advanced():
    numpy.random.seed(5)
    random.seed(5)
    before = numpy.random.get_state(legacy=False)['state'], random.getstate()
    first = draws(1, 2, 3)
    rng.decode(rng.encode(rng.capture(RandomState(3))))
    after = numpy.random.get_state(legacy=False)['state'], random.getstate()
    assert_array_equal(before[0]['key'], after[0]['key'])
    assert (before[0]['pos'], before[1]) == (after[0]['pos'], after[1])
    numpy.random.seed(6)
    random.seed(6)
    assert draws(1, 2, 3) == first


# States as plain data

def numbers_of(generator):
    """Numbers of several kinds, since some keep half of what they drew for the next call."""
    if isinstance(generator, random.Random):
        return [(generator.random(), generator.gauss(0, 1), generator.getrandbits(40))
                for _ in range(700)]
    integers = generator.randint if isinstance(generator, RandomState) else generator.integers
    return [(float(generator.normal()), int(integers(0, 2**31, dtype=numpy.uint32)),
             float(generator.uniform())) for _ in range(700)]


MAKERS = {
    'RandomState': lambda: RandomState(3), 'RandomState of PCG64': lambda: RandomState(PCG64(3)),
    'random.Random': lambda: random.Random(3),
    **{cls.__name__: lambda cls=cls: Generator(cls(3))
       for cls in (PCG64, PCG64DXSM, Philox, MT19937, SFC64)}}


@pytest.mark.parametrize('name', sorted(MAKERS))
@pytest.mark.parametrize('steps', [0, 1, 2, 5, 625])
def test_states_come_back_from_json(name, steps):
    generator = MAKERS[name]()
    for _ in range(steps):
        generator.normalvariate() if name == 'random.Random' else generator.normal()
    if name == 'random.Random':
        generator.gauss(0, 1)
    captured = rng.capture(generator)
    text = json.dumps(rng.encode(captured), allow_nan=False)
    assert len(text) < 5000
    expected = numbers_of(generator)
    other = MAKERS[name]()
    for state in (rng.decode(json.loads(text)), pickle.loads(pickle.dumps(captured)), captured):
        rng.reinstate(other, state)
        assert numbers_of(other) == expected


@pytest.mark.parametrize('name', sorted(MAKERS))
def test_a_captured_state_stays_as_it_was(name):
    generator = MAKERS[name]()
    captured = rng.capture(generator)
    before = json.dumps(rng.encode(captured))
    numbers_of(generator)
    assert json.dumps(rng.encode(captured)) == before


def test_what_has_no_state_has_none():
    assert rng.capture(object()) is None

    class Shuffler:
        def shuffle(self, values):
            values.reverse()

    assert rng.capture(Shuffler()) is None


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (st.lists(inner).map(tuple) | st.lists(inner)
                   | st.dictionaries(st.text().map(lambda key: f'key {key}'), inner))))
def test_decode_undoes_encode(value):
    assert rng.decode(json.loads(json.dumps(rng.encode(value)))) == value


@pytest.mark.parametrize('dtype', ['<u4', '>u4', '<u8', '|u1', '>i2'])
def test_arrays_come_back_in_any_byte_order(dtype):
    array = numpy.arange(20).astype(dtype)
    decoded = rng.decode(json.loads(json.dumps(rng.encode(array))))
    assert_array_equal(decoded, array)
    assert decoded.dtype == array.dtype.newbyteorder('=')
    assert decoded.flags.writeable
