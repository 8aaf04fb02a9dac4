"""What workers are asked to do by the tests."""
import os
import signal
import threading

import numpy

from fuel.exceptions import ConversionError


def square(number):
    return number * number


def with_process(number):
    return number, os.getpid()


def picture(number):
    """Return an array that is large enough to come back through shared memory."""
    return numpy.full((3, 120, 120), number % 251, dtype='uint8')


def length(content):
    return len(content)


def mixed(number):
    """Return something of another kind for each number."""
    return [number, None, b'x' * number, 'y' * number, (number, 'pair'), {'a': [number]},
            numpy.arange(number), [numpy.arange(3), numpy.zeros(2)]][number % 8]


def fails_at_70(number):
    if number == 70:
        raise ConversionError('archive, member 70: no picture')
    return number


class OddError(Exception):
    """Has another constructor than pickles expect."""

    def __init__(self, number, *, place):
        super().__init__(f'{number} at {place}')
        self.place = place


def fails_oddly(number):
    if number == 20:
        raise OddError(number, place='the end')
    return number


def cannot_be_sent_back(number):
    return threading.Lock() if number == 20 else number


def dies(item):
    """End the worker at one item, but not the process of the test."""
    number, parent = item
    if number == 20 and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies_once(item):
    """End the worker the first time that it comes to one item."""
    number, path = item
    if number == 20 and not os.path.exists(path):
        with open(path, 'w', encoding='utf-8'):
            os.kill(os.getpid(), signal.SIGKILL)
    return number
