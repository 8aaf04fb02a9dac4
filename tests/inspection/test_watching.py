"""What is measured stays what it is: data, positions, classes, pickles, errors."""
import copy
import pickle
import threading

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.inspection.chain import link_of, name_of, walk
from fuel.inspection.meter import Meter, Stage
from fuel.inspection.watching import Watch, stages_in
from fuel.iterator import DataIterator
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.testing import assert_same
from fuel.transformers import (
    Batch,
    Cache,
    Cast,
    Filter,
    Mapping,
    Merge,
    Padding,
    Repeat,
    ScaleAndShift,
    ShuffleBuffer,
    Take,
    Tolerant,
    Transformer,
    Unpack,
)

from .common import Clock, FakeEngine, chain, source


class Drawing(Transformer):
    """Draws by itself, as programs of old do."""

    def get_data(self, request=None):
        first = next(self.child_epoch_iterator)
        next(self.child_epoch_iterator)
        return first

    def _state(self):
        return {}


class Cut(Transformer):
    """Gives a generator for an epoch iterator."""

    def get_epoch_iterator(self, as_dict=False):
        iterator = super().get_epoch_iterator(as_dict)
        return (data for data, _ in zip(iterator, range(3), strict=False))

    def transform_batch(self, batch):
        return batch


class Around(Transformer):
    """Puts something around the iterator that it draws from."""

    def get_epoch_iterator(self, as_dict=False):
        iterator = super().get_epoch_iterator(as_dict)
        self.child_epoch_iterator = iter(list(self.child_epoch_iterator))
        return iterator

    def transform_batch(self, batch):
        return batch


class Letters(AbstractDataStream):
    """Is no transformer, and reads no data set."""

    sources = ('letter',)
    produces_examples = True

    def get_epoch_iterator(self, as_dict=False):
        self.left = list('abc')
        return super().get_epoch_iterator(as_dict)

    def get_data(self, request=None):
        if not self.left:
            raise StopIteration
        return (self.left.pop(),)


class Semi(Transformer):
    """Keeps two streams under names of its own."""

    def __init__(self, one, other):
        super(Transformer, self).__init__()
        self.labelled, self.unlabelled = one, {'stream': other}
        self.sources = (*one.sources, *other.sources)
        self.produces_examples = one.produces_examples

    def get_epoch_iterator(self, as_dict=False):
        self.iterators = [self.labelled.get_epoch_iterator(),
                          self.unlabelled['stream'].get_epoch_iterator()]
        return DataIterator(self)

    def get_data(self, request=None):
        return next(self.iterators[0]) + next(self.iterators[1])

    def close(self):
        pass


def examples(clock):
    dataset = IndexableDataset({'x': numpy.arange(24.).reshape(12, 2), 'y': numpy.arange(12)})
    return Mapping(DataStream(dataset, iteration_scheme=ShuffledExampleScheme(12)),
                   clock.taking(1, 'one'))


CHAINS = {
    'plain': chain,
    'fused': lambda clock: Cast(ScaleAndShift(Mapping(source(clock, count=40), clock.taking(2)),
                                              2, 1, which_sources=('x',)), 'float32'),
    'batch': lambda clock: Batch(examples(clock), ConstantScheme(5)),
    'repeat': lambda clock: Repeat(Batch(examples(clock), ConstantScheme(5)), 3),
    'cache': lambda clock: Cache(Filter(source(clock, count=40), lambda data: data[1][0] % 8),
                                 ConstantScheme(3)),
    'unpack': lambda clock: ShuffleBuffer(Unpack(chain(clock, count=40)), 7),
    'take': lambda clock: Take(Tolerant(chain(clock)), 5),
    'merge': lambda clock: Merge([Batch(examples(clock), ConstantScheme(4)),
                                  Take(chain(clock), 2)], ('a', 'b', 'c', 'd'), strict=False),
    'one stream twice': lambda clock: (lambda stream: Merge([stream, stream], ('a', 'b', 'c', 'd'))
                                       )(examples(clock)),
    'drawing': lambda clock: Mapping(Drawing(chain(clock, count=40)), clock.taking(1)),
    'cut': lambda clock: Mapping(Cut(chain(clock)), clock.taking(1)),
    'around': lambda clock: Mapping(Around(chain(clock, count=40)), clock.taking(1)),
    'letters': lambda clock: Batch(Letters(), ConstantScheme(2)),
    'semi': lambda clock: Semi(chain(clock, count=40), source(clock, count=20)),
    'padding': lambda clock: Padding(Batch(DataStream(IterableDataset(
        [numpy.ones(length) for length in (2, 3, 1)])), ConstantScheme(2))),
    'engine': lambda clock: Filter(FakeEngine(chain(clock), clock, work=1),
                                   lambda data: data[1][0] % 8),
}


@pytest.fixture
def clock():
    return Clock()


def all_of(stream, epochs=2):
    return [list(stream.get_epoch_iterator()) for _ in range(epochs)]


@pytest.mark.parametrize('name', CHAINS)
def test_data_are_the_same_and_nothing_is_left_behind(name, clock):
    expected = all_of(CHAINS[name](clock), 3)
    stream = CHAINS[name](clock)
    classes = [type(link.stream) for link in walk(link_of(stream))]
    watched = Watch(stream, clock)
    with watched:
        found = all_of(stream)
    assert_same(found, expected[:2])
    assert_same(all_of(stream, 1), expected[2:])
    assert [type(link.stream) for link in walk(link_of(stream))] == classes
    assert all('get_epoch_iterator' not in vars(link.stream) for link in walk(link_of(stream)))
    assert watched.top.steps == sum(map(len, expected[:2]))
    assert watched.meter.ended == 2 and watched.start.steps == 2


@pytest.mark.parametrize('name', sorted(CHAINS.keys() - {'around', 'one stream twice'}))
def test_steps_and_bytes_of_every_stage_are_counted(name, clock):
    stream = CHAINS[name](clock)
    watched = Watch(stream, clock)
    with watched:
        all_of(stream)
    for stage in stages_in(watched.top):
        if stage.kind != 'requests' and stage.joined is None and stage.link.place == 'here':
            assert stage.steps > 0, stage.name
            assert stage.nbytes > 0 and stage.forms, stage.name


def test_examples_that_are_read_together_are_counted_one_by_one(clock):
    stream = Batch(examples(clock), ConstantScheme(5))
    watched = Watch(stream, clock)
    with watched:
        all_of(stream, 1)
    assert {stage.name: (stage.steps, stage.nbytes) for stage in stages_in(watched.top)
            if stage.kind != 'requests'} == {
        'DataStream': (12, 12 * 24), 'Mapping (one)': (12, 12 * 24), 'Batch': (3, 12 * 24)}
    plain = Batch(examples(clock).data_stream, ConstantScheme(5))
    watched = Watch(plain, clock)
    with watched:
        all_of(plain, 1)
    assert [stage.steps for stage in stages_in(watched.top)] == [0, 12, 3]


def test_what_is_done_in_one_pass_is_told(clock):
    stream = CHAINS['fused'](clock)
    watched = Watch(stream, clock)
    with watched:
        all_of(stream)
    joined = {stage.name: stage.joined and stage.joined.name for stage in stages_in(watched.top)}
    assert joined['ScaleAndShift'] == 'Cast'
    assert joined['Mapping (work)'] is None and joined['Cast'] is None
    assert {stage.name: stage.seconds for stage in stages_in(watched.top)}['Mapping (work)'] == 40


def test_an_epoch_can_be_left_and_gone_on_with(clock):
    expected, = all_of(chain(clock, count=40), 1)
    stream = chain(clock, count=40)
    before = stream.get_epoch_iterator()
    watched = Watch(stream, clock)
    with watched:
        next(before)  # it began before, and is not measured
        iterator = stream.get_epoch_iterator()
        found = [next(iterator) for _ in range(3)]
        assert iterator.step == 3 and isinstance(iterator, DataIterator)
        state = iterator.state_dict()
    assert state['data_stream']['class'] == 'Mapping'
    found += iterator
    assert_same(found, expected)
    assert_same(list(before), expected[1:])
    assert watched.top.steps == 3


def _pickled(pair):
    return pickle.loads(pickle.dumps(pair))


PICKLED = {
    'map': lambda dataset: Mapping(DataStream(dataset, iteration_scheme=SequentialScheme(12, 4)),
                                   _same),
    'fused': lambda dataset: Cast(ScaleAndShift(
        DataStream(dataset, iteration_scheme=SequentialScheme(12, 4)), 2, 1), 'float32'),
    'repeat': lambda dataset: Repeat(Batch(Mapping(DataStream(
        dataset, iteration_scheme=ShuffledExampleScheme(12)), _same), ConstantScheme(5)), 2),
}


@pytest.mark.parametrize('copied', [copy.deepcopy, _pickled])
@pytest.mark.parametrize('name', PICKLED)
def test_a_copy_of_a_measured_pair_goes_on(name, copied):
    stream, same = (PICKLED[name](IndexableDataset(numpy.arange(12))) for _ in range(2))
    expected, following = all_of(same)
    with Watch(stream):
        iterator = stream.get_epoch_iterator()
        next(iterator)
        other, loaded = copied((stream, iterator))
        assert_same(list(loaded), expected[1:])
        assert_same(list(iterator), expected[1:])
    assert type(loaded) is type(iterator) and not hasattr(type(loaded), 'probed')
    for one in (stream, other):
        assert_same(list(one.get_epoch_iterator()), following)


def test_what_cannot_be_copied_cannot_be_while_it_is_measured(clock):
    stream = CHAINS['cut'](clock)
    with Watch(stream), pytest.raises(TypeError, match='generator'):
        pickle.dumps(stream.data_stream.get_epoch_iterator())


def _same(data):
    return data


def test_errors_name_the_function_that_returned_none(clock):
    stream = Mapping(chain(clock), lambda data: None if data[1][0] else data)

    class Forgetful(Transformer):
        def transform_batch(self, batch):
            pass
    stream = Mapping(Forgetful(chain(clock)), clock.taking(1))
    with Watch(stream, clock), pytest.raises(ValueError, match=r'Forgetful.transform_batch retur'):
        next(stream.get_epoch_iterator())


def test_errors_of_a_step_leave_the_meter_as_it_was(clock):
    def picky(data):
        clock.now += 1
        if data[1][0] == 8:
            raise KeyError
        return data
    stream = Tolerant(Mapping(source(clock, count=40), picky))
    watched = Watch(stream, clock)
    with watched:
        assert len(list(stream.get_epoch_iterator())) == 9
    assert stream.num_skipped == 1
    assert {stage.name: (stage.seconds, stage.steps) for stage in stages_in(watched.top)} == {
        'SlowScheme': (0, 0), 'DataStream': (0, 10), 'Mapping (picky)': (10, 9),
        'Tolerant': (0, 9)}


def test_what_a_stream_got_from_the_program_comes_back(clock):
    stream = chain(clock)
    own = stream.get_epoch_iterator
    stream.get_epoch_iterator = mine = lambda as_dict=False: own(as_dict)
    with Watch(stream, clock):
        assert stream.get_epoch_iterator is not mine
        assert next(stream.get_epoch_iterator())[1].tolist() == [0, 1, 2, 3]
    assert stream.get_epoch_iterator is mine


def test_only_the_thread_of_the_loop_is_measured(clock):
    stream = chain(clock, decode=1, count=40)
    watched = Watch(stream, clock)
    found = []
    with watched:
        iterator = stream.get_epoch_iterator()
        thread = threading.Thread(target=lambda: found.extend(iterator))
        thread.start()
        thread.join()
    assert len(found) == 10
    assert watched.top.steps == 0


def test_several_steps_at_once_that_fail_are_counted(clock):
    def picky(data):
        if data[0] == 5:
            raise KeyError('five')
        return data
    stream = Batch(Mapping(DataStream(IndexableDataset(list(range(9))), iteration_scheme=(
        SequentialExampleScheme(9))), picky), ConstantScheme(9))
    watched = Watch(stream, clock)
    with watched, pytest.raises(KeyError):
        next(stream.get_epoch_iterator())
    assert [stage.steps for stage in stages_in(watched.top)] == [0, 6, 5, 0]


# The meter by itself.


def test_the_meter_charges_the_innermost_stage(clock):
    meter, outer, inner = Meter(clock), Stage('outer'), Stage('inner')
    clock.now = 5
    assert meter.begin(outer)
    clock.now += 1
    assert not meter.begin(outer)
    assert meter.begin(inner)
    clock.now += 2
    meter.end([('a',)], inner)
    clock.now += 4
    meter.end()
    clock.now += 8
    assert meter.begin(outer)
    clock.now += 16
    meter.fail(StopIteration())
    clock.now += 32
    meter.pause(charged=True)
    assert (outer.seconds, inner.seconds, meter.loop.seconds, meter.ended) == (21, 2, 8, 1)
    assert inner.steps == inner.nbytes == 1 and inner.computing == 2


def test_processors_may_be_busy_less_than_the_time_that_passes(clock):
    busy = Clock()
    meter, stage = Meter(clock, busy), Stage('waiting')
    meter.begin(stage)
    clock.now, busy.now = 8, 2
    meter.end()
    assert (stage.seconds, stage.computing) == (8, 2)
    stage.reset()
    assert (stage.seconds, stage.computing) == (0, 0)


# The chain.


def test_streams_that_wrap_others_under_their_own_names_are_seen(clock):
    stream = CHAINS['semi'](clock)
    assert [name_of(link.stream) for link in walk(link_of(stream))] == [
        'DataStream', 'Mapping (decode)', 'Mapping (augment)', 'DataStream', 'Semi']


def test_what_a_worker_computes_it_computes_with_all_below(clock):
    merged = Merge([chain(clock), Take(source(clock), 3)], ('a', 'b', 'c', 'd'))
    engine = FakeEngine(merged, clock, work=1, workers=1)
    assert {link.place for link in walk(link_of(engine).below[0])} == {'one worker'}
    assert link_of(engine).place == 'here'
