"""Profiles of chains of which it is known where the time goes."""
import pickle
import time

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.inspection import advice, figures, profile
from fuel.inspection.profiling import Profiler
from fuel.schemes import ConstantScheme, SequentialExampleScheme
from fuel.streams import DataStream
from fuel.transformers import Batch, Cast, Filter, Mapping, MultiProcessing, MultiThreading

from .common import Clock, FakeEngine, FakeThreads, chain, profiled, seconds_of, source


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setattr('fuel.inspection.profiling.available_processors', lambda: 4)


@pytest.fixture
def clock():
    return Clock()


def test_every_stage_gets_its_own_time(clock):
    report = profiled(chain(clock, read=1, choose=2, decode=3, augment=4), clock, loop=5)
    assert seconds_of(report) == {'SlowScheme': 40, 'DataStream': 20, 'Mapping (decode)': 60,
                                  'Mapping (augment)': 80, 'training loop': 100}
    assert report.steps == 20 and report.seconds == 300
    assert report.rate == pytest.approx(1 / 15)
    assert [row.share for row in report.rows] == pytest.approx([2/15, 1/15, 3/15, 4/15, 5/15])
    assert [row.waiting for row in report.rows] == pytest.approx([0, 2/15, 3/15, 6/15, 10/15])
    assert [row.nbytes for row in report.rows] == [0, 20 * 96, 20 * 96, 20 * 96, 0]


def test_the_training_loop_is_the_bottleneck(clock):
    report = profiled(chain(clock, read=1, decode=5), clock, loop=94)
    assert report.bottleneck == (
        'The training loop is the bottleneck: it takes 94 % of the time; a worker that reads ahead '
        '(MultiProcessing or MultiThreading) would save up to 6 %.')


def test_faster_data_do_not_help_a_loop_that_does_all(clock):
    report = profiled(chain(clock, read=1), clock, loop=199)
    assert report.bottleneck == (
        'The training loop is the bottleneck: it takes 100 % of the time, so that faster data '
        'would save no more than 0 %.')


def test_reading_the_data_set_is_the_bottleneck(clock):
    report = profiled(chain(clock, read=8, decode=1), clock, loop=1)
    assert report.bottleneck == (
        'Reading the data set (SlowDataset) is the bottleneck: it takes 80 % of the time; '
        'MultiProcessing with 4 workers and persistent_workers=True would make it up to 4.0 times '
        'as fast.')


def test_decoding_is_the_bottleneck_and_as_many_workers_as_the_loop_can_use_help(clock):
    report = profiled(chain(clock, read=1, decode=7), clock, loop=4)
    assert report.bottleneck == (
        'Mapping (decode) is the bottleneck: it takes 58 % of the time; MultiProcessing with 2 '
        'workers and persistent_workers=True would make it up to 3.0 times as fast.')


def test_choosing_the_examples_is_the_bottleneck(clock):
    report = profiled(chain(clock, choose=6, decode=1), clock, loop=3)
    assert report.bottleneck == (
        'Choosing the examples (SlowScheme) is the bottleneck: it takes 60 % of the time; a single '
        'worker that reads ahead (MultiProcessing with num_workers=1) would make it up to 1.4 '
        'times as fast; several workers cannot share its work, since the order is made in one '
        'place.')


def test_a_stage_that_cannot_be_shared_is_said_to_be_so(clock):
    def slowly(data):
        clock.now += 9
        return True
    report = profiled(Filter(chain(clock, decode=1), slowly), clock)
    assert report.bottleneck.startswith(
        'Filter (slowly) is the bottleneck: it takes 90 % of the time; several workers cannot '
        'share its work, since Filter ')


def test_what_is_around_a_stage_that_cannot_be_shared_cannot_either(clock):
    filtered = Filter(source(clock), lambda data: True)
    report = profiled(Mapping(filtered, clock.taking(5)), clock)
    assert 'Mapping (work) is the bottleneck: it takes 100 %' in report.bottleneck
    assert 'cannot share its work, since Filter ' in report.bottleneck


def test_a_data_set_that_is_read_in_order_is_the_obstacle(clock):
    stream = Mapping(DataStream(IterableDataset(list(range(50)))), clock.taking(1))
    report = profiled(stream, clock)
    assert 'several workers cannot share its work, since IterableDataset' in report.bottleneck


def test_on_a_single_processor_workers_are_not_proposed(clock, monkeypatch):
    monkeypatch.setattr('fuel.inspection.profiling.available_processors', lambda: 1)
    report = profiled(chain(clock, decode=1), clock, loop=.5)
    assert report.bottleneck == ('Mapping (decode) is the bottleneck: it takes 67 % of the time; '
                                 'workers would not help, as there is a single processor.')


def test_workers_are_not_proposed_where_processors_are_busy_already(clock, monkeypatch):
    monkeypatch.setattr(time, 'perf_counter', clock)
    monkeypatch.setattr(time, 'process_time', lambda: 4 * clock.now)
    report = profile(chain(clock, decode=1), clock=clock, seconds=1e9)
    assert report.bottleneck.endswith('workers would not help, as the 4 processors are busy.')
    # A stage that waits for a device can be shared by more workers than there are processors.
    monkeypatch.setattr(time, 'process_time', lambda: 0.)
    report = profile(chain(clock, decode=1), clock=clock, seconds=1e9)
    assert report.bottleneck.endswith('MultiProcessing with 16 workers and persistent_workers=True '
                                      'would make it up to 16.0 times as fast.')


def test_workers_are_not_proposed_for_work_that_is_less_than_handing_over(clock):
    report = profiled(chain(clock, decode=20e-6), clock)
    assert report.bottleneck.endswith(
        'workers would not help, as a step takes hardly longer than to hand it over.')


def test_without_a_loop_there_is_no_row_for_it(clock):
    report = profiled(chain(clock, decode=1), clock)
    assert [row.name for row in report.rows][-1] == 'Mapping (augment)'
    assert report.seconds == 20


def test_starts_of_epochs_are_told_apart(clock):
    class SlowStart(DataStream):
        def get_epoch_iterator(self, as_dict=False):
            clock.now += 100
            return super().get_epoch_iterator(as_dict)
    inner = source(clock, count=8)
    report = profiled(Mapping(SlowStart(inner.dataset, iteration_scheme=inner.iteration_scheme),
                              clock.taking(1)), clock)
    assert report.seconds == 20
    assert report.bottleneck == ('Starting epochs is the bottleneck: it takes 98 % of the time; '
                                 'longer epochs (see Repeat) would help.')
    assert 'To start an epoch took 100 s; with that, ' in str(report)


def test_a_slow_file_says_what_would_help(clock):
    inner = source(clock, read=5)
    inner.dataset.load_in_memory = False

    class Entry:
        name, way = 'image', 'decoded'
    inner.dataset.describe = lambda: {'image': Entry}
    report = profiled(inner, clock)
    assert report.bottleneck.endswith('; the source \'image\' is decompressed every time, which '
                                      'load_in_memory=True would avoid.')


# With engines.


def test_the_work_of_workers_is_the_bottleneck_and_more_of_them_help(clock):
    inner = chain(clock, read=1, decode=7, augment=2)
    report = profiled(FakeEngine(inner, clock, work=10, workers=2), clock, loop=3)
    # A step takes the workers 5 seconds, of which the loop needs 3 meanwhile.
    assert report.seconds == 5 * 20
    assert report.bottleneck == (
        'Mapping (decode) is the bottleneck: it takes 70 % of the work of the 2 workers, busy 100 '
        '% of the time; 2 more workers would make it up to 1.5 times as fast.')
    rows = {row.name: row for row in report.rows}
    assert rows['Mapping (decode)'].where == 'workers'
    assert rows['Mapping (decode)'].seconds == 140
    assert rows['Mapping (decode)'].share == pytest.approx(.7)
    assert rows['FakeEngine'].where == 'here'
    assert rows['training loop'].waiting == pytest.approx(.4)
    assert 'The 2 workers of FakeEngine were busy 100 % of the time and waited 0 %.' in str(report)


def test_more_workers_than_processors_are_not_proposed(clock):
    inner = chain(clock, decode=10)
    report = profiled(FakeEngine(inner, clock, work=10, workers=4), clock)
    assert report.bottleneck.endswith('more workers would not help, as there are 4 processors.')


def test_workers_wait_for_the_training_loop(clock):
    report = profiled(FakeEngine(chain(clock, decode=1), clock, work=1, workers=2), clock, loop=8)
    assert report.bottleneck == (
        'The training loop is the bottleneck: it takes 100 % of the time, and the workers wait 94 '
        '% of it; 1 worker would do.')


def test_one_worker_that_waits_is_enough(clock):
    report = profiled(FakeEngine(chain(clock, decode=1), clock, work=1, workers=1), clock, loop=4)
    assert report.bottleneck == (
        'The training loop is the bottleneck: it takes 100 % of the time, and the worker waits 75 '
        '% of it; more workers would not help.')


def test_what_is_put_around_an_engine_can_be_put_inside(clock):
    engine = FakeEngine(chain(clock, decode=1), clock, work=1, workers=2)
    report = profiled(Mapping(engine, clock.taking(6, 'late')), clock, loop=1)
    assert report.bottleneck == (
        'Mapping (late) is the bottleneck: it takes 86 % of the time of this process, and the '
        'workers wait 93 % of it; put it inside of FakeEngine, and its workers do that too.')


def test_what_cannot_be_left_to_workers_is_said_to_be_so(clock):
    def slowly(data):
        clock.now += 6
        return True
    engine = FakeEngine(chain(clock, decode=1), clock, work=1, workers=2)
    report = profiled(Filter(engine, slowly), clock, loop=1)
    assert 'Filter (slowly) is the bottleneck: it takes 86 % of the time' in report.bottleneck
    assert 'it cannot be left to them, since Filter ' in report.bottleneck


def test_handing_over_is_the_bottleneck(clock):
    engine = FakeEngine(chain(clock, decode=.2), clock, work=.2, workers=2, hand_over=2)
    report = profiled(engine, clock)
    assert report.bottleneck == (
        'Handing over data is the bottleneck: this process waits 100 % of the time, and the '
        'workers are busy only 5 % of it; num_workers=0 would make it up to 10.0 times as fast.')


def test_threads_in_the_way_of_each_other_are_told(clock):
    # Two of them take as long as one alone.
    engine = FakeThreads(chain(clock, decode=1), clock, work=2, workers=2)
    report = profiled(engine, clock)
    assert report.bottleneck == (
        'Mapping (decode) is the bottleneck: it takes 100 % of the work of the 2 workers, busy 100 '
        '% of the time; the threads are in the way of each other, and do together what 1.0 would '
        'do that are not: MultiProcessing would help.')


def test_threads_that_may_hold_up_the_loop_are_told(clock):
    engine = FakeThreads(chain(clock, decode=.9), clock, work=.9, workers=1)
    report = profiled(engine, clock, loop=1)
    assert "if they hold Python's lock they hold it up, and MultiProcessing would help" in (
        report.bottleneck)


def test_a_chain_in_one_worker_could_be_shared(clock):
    batches = Batch(Mapping(DataStream(IndexableDataset(list(range(80))),
                                       iteration_scheme=SequentialExampleScheme(80)),
                            clock.taking(1, 'decode')), ConstantScheme(4))
    engine = FakeEngine(batches, clock, work=4, workers=1)
    assert engine.plan.mode == 'chain'
    report = profiled(engine, clock, batches=10, loop=2)
    assert report.bottleneck == (
        'Mapping (decode) is the bottleneck: it takes 100 % of the work of the worker, busy 100 % '
        'of the time; 2 workers in place of one that runs the whole chain would make it up to 2.0 '
        'times as fast.')


def test_an_engine_that_does_not_tell_of_its_work(clock):
    engine = FakeEngine(chain(clock, decode=4), clock, work=4, workers=2)
    del FakeEngine.worker_seconds
    try:
        engine.__dict__['get_data'] = lambda request=None: _step(engine, clock)
        report = profiled(engine, clock, loop=1)
    finally:
        FakeEngine.worker_seconds = 0.
    assert report.bottleneck.startswith(
        'Mapping (decode) is the bottleneck: it takes 100 % of the work of the 2 workers, and the '
        'loop waits 50 % of the time; 2 more workers')


def _step(engine, clock):
    clock.now += 1
    return next(engine.child_epoch_iterator)


def test_real_threads_do_the_work_elsewhere():
    clock = Clock()
    stream = MultiThreading(chain(clock, count=40), num_workers=2)
    expected = [batch[1].tolist() for batch in stream.get_epoch_iterator()]
    report = profile(stream, batches=8)
    rows = {row.name: row for row in report.rows}
    assert rows['DataStream'].where == rows['Mapping (decode)'].where == 'workers'
    assert rows['MultiThreading'].where == 'here' and rows['MultiThreading'].steps == 8
    assert rows['Mapping (decode)'].steps == 8
    assert report.bottleneck.endswith('.')
    assert [batch[1].tolist() for batch in stream.get_epoch_iterator()] == expected
    stream.close()


# How it is called.


def test_the_stream_stands_where_it_stood(clock):
    def made():
        return Batch(Mapping(DataStream(IndexableDataset(list(range(30))), iteration_scheme=(
            SequentialExampleScheme(30))), clock.taking(1)), ConstantScheme(4))
    stream, other = made(), made()
    for one in (stream, other):
        iterator = one.get_epoch_iterator()
        next(iterator)
    before = pickle.dumps(stream.state_dict())
    profiled(stream, clock, batches=17)
    assert pickle.dumps(stream.state_dict()) == before
    assert [batch.tolist() for batch, in stream.get_epoch_iterator()] == [
        batch.tolist() for batch, in iterator]
    assert 'get_epoch_iterator' not in vars(stream)


def test_a_stream_without_a_state_is_told(clock):
    class Keeping(Mapping):
        def get_data(self, request=None):
            return next(self.child_epoch_iterator)
    report = profiled(Keeping(source(clock), clock.taking(1)), clock)
    assert report.steps == 20
    assert 'The stream was not put back to where it stood: Keeping overrides' in str(report)


def test_the_warm_up_is_not_measured(clock):
    times = iter([100] + [1] * 99)

    def warm(data):
        clock.now += next(times)
        return data
    assert profiled(Mapping(source(clock), warm), clock, batches=5).seconds == 5


def test_the_time_can_be_limited(clock):
    report = profile(chain(clock, decode=1), clock=clock, seconds=4)
    assert report.steps == 4


def test_an_empty_stream_is_told(clock):
    report = profiled(Filter(source(clock), lambda data: False), clock)
    assert report.bottleneck.startswith('Nothing was measured') and report.rate == 0
    assert str(report) and report._repr_markdown_()


def test_no_time_is_told(clock):
    assert profiled(chain(clock), clock).bottleneck == (
        'Nothing took any time that could be measured.')


@pytest.mark.parametrize(('argument', 'value'), [('batches', 0), ('warm_up', -1)])
def test_wrong_arguments_are_refused(clock, argument, value):
    with pytest.raises(ValueError, match=f'expected {argument} to be at least .; got {value}'):
        profile(chain(clock), **{argument: value})
    with pytest.raises(TypeError, match='expected a data stream; got 3'):
        profile(3)


def test_errors_of_the_chain_and_of_the_loop_are_raised(clock):
    stream = chain(clock)

    def broken(data):
        raise KeyError('broken')
    with pytest.raises(KeyError, match='broken'):
        profile(Mapping(stream, broken), clock=clock)
    with pytest.raises(KeyError, match='broken'):
        profile(stream, consumer=broken, clock=clock)
    assert 'get_epoch_iterator' not in vars(stream)


def test_a_loop_can_be_measured_as_it_is(clock):
    stream = chain(clock, read=1, decode=1, count=40)
    with Profiler(stream, clock) as profiler:
        for _ in range(2):
            for _batch in stream.get_epoch_iterator():
                clock.now += 8
            clock.now += 1000  # a look at the error, perhaps
        iterator = stream.get_epoch_iterator()
        next(iterator)
    report = profiler.report()
    assert report.steps == 21
    assert seconds_of(report)['training loop'] == 160
    assert report.bottleneck.startswith('The training loop is the bottleneck: it takes 79 %')
    profiler.reset()
    assert profiler.report().steps == 0
    assert next(iterator)[1].tolist() == [4, 5, 6, 7]


def test_the_number_of_processors_is_that_which_may_be_used():
    assert figures.available_processors() >= 1


def test_percent():
    assert advice.percent(.815) == '82 %'


def test_real_processes_do_the_work_elsewhere():
    stream = MultiProcessing(Batch(Cast(DataStream(IndexableDataset(numpy.arange(64)),
                                                   iteration_scheme=SequentialExampleScheme(64)),
                                        'float32'), ConstantScheme(4)), num_workers=2)
    with stream:
        expected = [batch.tolist() for batch, in stream.get_epoch_iterator()]
        report = profile(stream, batches=20)
        assert {row.name: row.where for row in report.rows} == {
            'DataStream': 'workers', 'Cast': 'workers', 'Batch': 'here', 'MultiProcessing': 'here'}
        steps = {row.name: row.steps for row in report.rows}
        assert steps['Batch'] == steps['MultiProcessing'] == 20
        assert steps['Cast'] == steps['DataStream'] == 80
        assert [batch.tolist() for batch, in stream.get_epoch_iterator()] == expected
