"""Functions for `Mapping`, and data sets, that do odd things in workers.

Workers import this module, so it imports no pytest.
"""
import os
import signal
import threading
import time

import numpy

import fuel
from fuel.datasets import IndexableDataset


class OwnError(Exception):
    """Has attributes, and a constructor that takes other things than it keeps."""

    def __init__(self, place, *, reason):
        super().__init__(f'place {place}: {reason}')
        self.place, self.reason = place, reason

    def __reduce__(self):
        return _own_error, (self.place, self.reason), self.__dict__


def _own_error(place, reason):
    return OwnError(place, reason=reason)


class UnpicklableError(Exception):
    """Cannot be sent."""

    def __init__(self, place):
        super().__init__(place, threading.Lock())


class Failing:
    """A function for `Mapping` that fails at some numbers.

    Parameters
    ----------
    errors : dict
        The error by number.
    """

    def __init__(self, errors):
        self.errors = errors

    def __call__(self, data):
        for number in data[0].tolist():
            if number in self.errors:
                self.fail_as_told(number)
        return data

    def fail_as_told(self, number):
        error = self.errors[number]
        raise error(number) if isinstance(error, type) else error


class Stamped:
    """Fails and tells when, by the clock that all processes share."""

    def __call__(self, data):
        if 15 in data[0]:
            raise RuntimeError(time.monotonic())
        return data


def odd_ones(example):
    if int(example[0]) % 5 == 2:
        raise ValueError('an example that is bad')
    return example


class Unreachable(IndexableDataset):
    """Cannot be reached once, in each process."""

    failed = False

    def get_data(self, state=None, request=None):
        if 6 in list(request) and not self.failed:
            self.failed = True
            raise ConnectionError('try again')
        return super().get_data(state, request)


class Killing:
    """Ends the worker that comes to a number, as often as there are files in a folder to take."""

    def __init__(self, folder, number=12, by=signal.SIGKILL):
        self.folder, self.number, self.by = str(folder), number, by

    def __call__(self, data):
        if self.number in data[0]:
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))
                if self.by is None:
                    os._exit(3)
                os.kill(os.getpid(), self.by)
        return data


def stuck_here(data):
    if 12 in data[0]:
        threading.Event().wait()
    return data


def first_one_late(data):
    if 0 in data[0]:
        threading.Event().wait(0.5)
    return data


def slowly(data):
    threading.Event().wait(0.02)
    return data


def told(data):
    info = fuel.get_worker_info()
    if info is None:
        return data[0], None
    return data[0], (info.id, info.num_workers, os.getpid(), type(info.dataset).__name__,
                     info.seed, float(numpy.random.random()))


class Counting(IndexableDataset):
    """Counts how often it is pickled."""

    times = 0

    def __getstate__(self):
        type(self).times += 1
        return self.__dict__


def settings(data):
    return (fuel.config.default_seed, fuel.config.floatX),


def failing_start(number):
    raise OSError(f'no licence for worker {number}')
