"""Chains whose stages take known times, by a clock that they turn themselves."""
import numpy

from fuel.datasets import IndexableDataset
from fuel.engine.plan import make_plan
from fuel.inspection.profiling import profile
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import Mapping, Transformer

LABELS = {'x': ('batch', 'feature'), 'y': ('batch',)}


class Clock:
    """Stands still unless it is turned."""

    now = 0.

    def __call__(self):
        return self.now

    def taking(self, seconds, name='work'):
        """A function that takes so long."""
        def work(data):
            self.now += seconds
            return data
        work.__name__ = name
        return work


class SlowDataset(IndexableDataset):
    def __init__(self, clock, seconds, data):
        super().__init__(data, axis_labels=LABELS)
        self.clock, self.seconds = clock, seconds

    def get_data(self, state=None, request=None):
        self.clock.now += self.seconds
        return super().get_data(state, request)


class SlowScheme(SequentialScheme):
    def __init__(self, clock, seconds, *args):
        super().__init__(*args)
        self.clock, self.seconds = clock, seconds

    def get_request_iterator(self):
        for request in super().get_request_iterator():
            self.clock.now += self.seconds
            yield request


class FakeEngine(Transformer):
    """Has workers who need a while, and takes as long as their work and the loop let it."""

    worker_seconds = 0.

    def __init__(self, stream, clock, work, workers=2, hand_over=0.):
        super().__init__(stream)
        self.plan = make_plan(self, stream, workers, whole_chain=None)
        self.clock, self.work, self.hand_over = clock, work, hand_over
        self.ready = None

    def get_data(self, request=None):
        # Workers begin the next step as soon as one is given out, and do not share a single one.
        now = self.clock.now
        if self.ready is not None:
            now = max(now, self.ready)
        self.ready = now + self.work / self.plan.num_workers
        self.clock.now = now + self.hand_over
        data = next(self.child_epoch_iterator)
        self.worker_seconds += self.work
        return data

    def get_epoch_iterator(self, as_dict=False):
        # The wrapped stream is drawn from without its taking time here.
        before = self.clock.now
        iterator = super().get_epoch_iterator(as_dict)
        self.child_epoch_iterator = iter(list(self.data_stream.get_epoch_iterator()))
        self.clock.now = before
        return iterator

    def _state(self):
        return {}

    def spread_obstacle(self):
        return 'FakeEngine has workers of its own'


class FakeThreads(FakeEngine):
    pass


FakeThreads.__name__ = 'MultiThreading'


def data(count):
    return {'x': numpy.arange(2. * count).reshape(count, 2), 'y': numpy.arange(count)}


def source(clock, read=0., choose=0., count=400, batch=4):
    return DataStream(SlowDataset(clock, read, data(count)),
                      iteration_scheme=SlowScheme(clock, choose, count, batch))


def chain(clock, read=0., choose=0., decode=0., augment=0., **kwargs):
    stream = source(clock, read, choose, **kwargs)
    return Mapping(Mapping(stream, clock.taking(decode, 'decode')),
                   clock.taking(augment, 'augment'))


def profiled(stream, clock, loop=None, **kwargs):
    consumer = None if loop is None else clock.taking(loop)
    return profile(stream, kwargs.pop('batches', 20), consumer, clock=clock, seconds=1e9, **kwargs)


def seconds_of(report):
    return {row.name: row.seconds for row in report.rows}
