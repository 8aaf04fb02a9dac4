"""One stream, many engines, the same bits."""
import contextlib
import random

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.schemes import ConstantScheme, SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.testing import assert_same, check_stream
from fuel.testing.comparing import drawn
from fuel.testing.streams import (
    check_breaking_off,
    check_closing,
    check_form,
    check_independence,
    check_labels,
    check_lengths,
    check_ownership,
)
from fuel.transformers import Batch, Mapping, MultiProcessing, MultiThreading, ShuffleBuffer
from tests.contracts import chains
from tests.engine import engines
from tests.engine.engines import OTHERS, PROCESSES, THREADS, WHOLE, name_of

pytestmark = [pytest.mark.usefixtures('files'), pytest.mark.timeout(120)]

TWO = PROCESSES['2 processes']


def check_same(run, make, epochs=2):
    """Check that an engine gives what the chain itself gives."""
    with contextlib.closing(run(make())) as stream:
        assert_same(drawn(stream, epochs), drawn(make(), epochs))


# Every kind of data set, under every transformer that workers can share.

@pytest.mark.parametrize('dataset', chains.INDEXED, ids=name_of)
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single], ids=name_of)
@pytest.mark.parametrize('run', THREADS.values(), ids=THREADS)
def test_data_sets_by_threads(run, scheme, dataset):
    check_same(run, lambda: engines.mapped(dataset, scheme))


@pytest.mark.parametrize('dataset', chains.INDEXED, ids=name_of)
def test_data_sets_by_processes(dataset):
    check_same(TWO, lambda: engines.mapped(dataset, chains.shuffled))


@pytest.mark.parametrize('scheme', chains.SCHEMES, ids=name_of)
def test_orders_by_processes(scheme):
    check_same(TWO, lambda: engines.mapped(chains.hdf5, scheme))


@pytest.mark.parametrize('make', [engines.with_random_numbers, *engines.REGROUPED], ids=name_of)
@pytest.mark.parametrize('run', [*THREADS.values(), *PROCESSES.values()],
                         ids=[*THREADS, *PROCESSES])
def test_chains(run, make):
    check_same(run, make)


@pytest.mark.parametrize('run', OTHERS.values(), ids=OTHERS)
def test_settings_make_no_difference(run):
    check_same(run, engines.with_random_numbers)


# The whole chain in one worker.

@pytest.mark.parametrize('make', engines.WHOLES, ids=name_of)
@pytest.mark.parametrize('run', WHOLE.values(), ids=WHOLE)
def test_whole_chains(run, make):
    check_same(run, make)


@pytest.mark.parametrize('dataset', chains.READ_ON, ids=name_of)
@pytest.mark.parametrize('run', [THREADS['1 threads'], PROCESSES['1 processes']], ids=str)
def test_data_sets_that_are_read_from_start_to_end(run, dataset):
    check_same(run, lambda: engines.read_on(dataset))


# What holds for every stream.

@pytest.mark.parametrize('make', [engines.mapped, engines.with_random_numbers, engines.regrouped],
                         ids=name_of)
def test_contract_by_threads(make):
    check_stream(lambda: THREADS['2 threads'](make()), new_process=False)


@pytest.mark.parametrize('make', [engines.counted, engines.read_on], ids=name_of)
def test_contract_by_one_thread(make):
    check_stream(lambda: WHOLE['whole in a thread'](make()), new_process=False,
                 remembers=make is engines.counted)


@pytest.mark.parametrize('check', [check_form, check_labels, check_lengths, check_breaking_off,
                                   check_independence, check_ownership, check_closing], ids=name_of)
def test_contract_by_processes(check):
    check(lambda: TWO(engines.regrouped()))


@pytest.mark.parametrize('check', [check_form, check_breaking_off, check_independence,
                                   check_ownership, check_closing], ids=name_of)
def test_contract_by_one_process(check):
    check(lambda: WHOLE['whole in a process'](engines.read_on()))


@pytest.mark.parametrize('make', [engines.mapped, engines.regrouped, engines.numbers], ids=name_of)
def test_an_engine_says_of_its_data_what_the_chain_says(make):
    plain, stream = make(), TWO(make())
    assert stream.sources == plain.sources
    assert stream.axis_labels == plain.axis_labels
    assert stream.produces_examples == plain.produces_examples
    assert stream.num_examples == plain.num_examples
    assert stream.num_batches == plain.num_batches


# Where the engine stands in the chain.

@pytest.mark.parametrize('run', [TWO, THREADS['2 threads']], ids=['processes', 'threads'])
def test_an_engine_may_be_wrapped(run):
    def wrapped(stream):
        stream = ShuffleBuffer(chains.Noise(stream), 6)
        return Mapping(Batch(stream, ConstantScheme(4)), chains.double)

    below = run(engines.numbers())
    with contextlib.closing(wrapped(below)) as stream:
        assert_same(drawn(stream, 2), drawn(wrapped(engines.numbers()), 2))


# Random numbers of others.

@pytest.mark.parametrize('run', [TWO, THREADS['2 threads'], PROCESSES['1 processes']],
                         ids=['processes', 'threads', 'one process'])
def test_global_random_numbers_are_left_alone(run):
    random.seed(5)
    numpy.random.seed(5)
    before = random.getstate(), numpy.random.get_state()
    with contextlib.closing(run(engines.with_random_numbers())) as stream:
        drawn(stream, 2)
    assert random.getstate() == before[0]
    assert all(numpy.array_equal(one, other) for one, other in zip(
        numpy.random.get_state(), before[1], strict=True))


# Without order.

def rows_of(epoch):
    """Return the data of an epoch, put into an order."""
    return sorted((data[1].tolist(), data[0].tolist()) for data in epoch)


@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
def test_without_order_every_step_comes_once(cls):
    expected = drawn(engines.with_random_numbers(), 3)
    with contextlib.closing(cls(engines.with_random_numbers(), num_workers=3,
                                in_order=False)) as stream:
        for epoch in expected:
            assert rows_of(drawn(stream)[0]) == rows_of(epoch)


# Data of every kind.

class Shaped(IndexableDataset):
    """Gives data of all kinds, made from the numbers that are asked for."""

    def get_data(self, state=None, request=None):
        x, = super().get_data(state, request)
        first = int(x[0])
        objects = numpy.empty(2, dtype=object)
        objects[:] = [numpy.arange(first), {'a': x}]
        return ({'x': x, 'name': f'step {first}', 'none': None},
                [x, [str(first)], b'bytes' * first], objects,
                numpy.asfortranarray(numpy.outer(x, x)), x.astype('>i2'),
                numpy.array(first), numpy.zeros((0, 3), 'float32'), numpy.array(['a', 'bcd']),
                x.astype('M8[s]'), numpy.array([(1, 2.5), (first, 0)], 'i4, f8'),
                numpy.full((50, 100), first), numpy.array([b'ab', b'c'], 'S3'), first, x.mean())


def of_all_kinds():
    dataset = Shaped({'x': numpy.arange(40)})
    dataset.provides_sources = tuple('abcdefghijklmn')
    return DataStream(dataset, iteration_scheme=ShuffledScheme(40, 4))


@pytest.mark.parametrize('run', [
    TWO, OTHERS['borrowed'], OTHERS['little memory'], OTHERS['forked'], THREADS['2 threads'],
    PROCESSES['1 processes'], WHOLE['whole in a process']],
    ids=['processes', 'borrowed', 'little memory', 'forked', 'threads', 'one process', 'whole'])
def test_data_of_every_kind(run):
    with contextlib.closing(run(of_all_kinds())) as stream:
        for data, plain in zip(stream.get_epoch_iterator(), of_all_kinds().get_epoch_iterator(),
                               strict=True):
            assert_same(data, plain)
            assert data[3].flags.f_contiguous


class Growing(IndexableDataset):
    """Batches of all sizes, from a few bytes to some megabytes and back."""

    def get_data(self, state=None, request=None):
        x, = super().get_data(state, request)
        size = (1, 1000, 400_000, 30, 100_000)[int(x[0]) % 5]
        return numpy.arange(size) + x[0],


@pytest.mark.parametrize('run', [TWO, OTHERS['borrowed'], OTHERS['little memory']],
                         ids=['copied', 'borrowed', 'little memory'])
def test_batches_of_all_sizes(run):
    def make():
        dataset = Growing({'x': numpy.arange(40)})
        return DataStream(dataset, iteration_scheme=SequentialScheme(40, 1))

    check_same(run, make)


def test_arrays_that_are_kept_outlive_the_workers():
    expected = drawn(engines.mapped())[0]
    stream = TWO(engines.mapped())
    kept = list(stream.get_epoch_iterator())
    stream.close()
    del stream
    assert_same(kept, expected)
