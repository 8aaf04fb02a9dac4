"""What the tests of the way of data through shared memory have in common."""
import gc
import itertools

import numpy

from fuel import _kernels
from fuel.engine.parcels import Inbox, Outbox
from fuel.engine.region import Region

#: Arrays of numpy stay where they are only if numpy takes them from the arena.
LENT = _kernels.BACKEND == 'compiled'


class Pair:
    """Both sides in one process."""

    def __init__(self, nbytes=1 << 26):
        region = Region.create(nbytes)
        self.outbox = Outbox(region)
        self.inbox = Inbox(region)
        region.close()
        self.arena = self.outbox.arena

    def send(self, steps, how='steps'):
        description = self.outbox.pack(steps)
        parcel = self.inbox.open(description)
        return getattr(parcel, how)()

    def settle(self):
        gc.collect()
        self.outbox.release(self.inbox.released())

    def check_empty(self):
        self.settle()
        assert (self.outbox.in_flight, self.inbox.leased) == (0, 0)
        assert (self.arena.blocks, self.arena.in_use) == (0, 0)


def same(left, right):
    """Tell whether two things are equal, arrays in every respect."""
    if type(left) is not type(right):
        return False
    if isinstance(left, numpy.ndarray) and left.dtype.names and left.dtype == right.dtype:
        return all(same(left[name], right[name]) for name in left.dtype.names)
    if isinstance(left, numpy.ndarray):
        return (left.dtype == right.dtype and left.dtype.metadata == right.dtype.metadata
                and left.shape == right.shape
                and (all(map(same, left.reshape(-1), right.reshape(-1)))
                     if left.dtype.hasobject
                     else left.tobytes() == right.tobytes()))
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return left == right or (left != left and right != right)


def check_apart(thing):
    """Check that writing to one array changes no other one."""
    ends = sorted({id(array): (address(array), address(array) + array.nbytes)
                   for array in all_arrays(thing) if array.nbytes}.values())
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(ends))


def all_arrays(thing):
    """Yield the arrays in something."""
    if isinstance(thing, numpy.ndarray):
        yield thing
        if thing.dtype == object:
            thing = thing.ravel().tolist()
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, list | tuple):
        for one in thing:
            yield from all_arrays(one)


def address(array):
    return array.__array_interface__['data'][0]


def base_of(pair):
    return address(numpy.frombuffer(pair.arena.memory, 'u1'))


def objects_of(elements):
    elements = list(elements)
    array = numpy.empty(len(elements), dtype=object)
    for i, element in enumerate(elements):
        array[i] = element
    return array
