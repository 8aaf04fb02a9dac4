"""Data of steps that travel through shared memory: arrays stay where they are, or are copied."""
import numpy
import pytest

from tests.engine.transport import (
    LENT,
    Pair,
    address,
    all_arrays,
    base_of,
    objects_of,
    same,
)


@pytest.fixture
def pair():
    pair = Pair()
    pair.outbox.install(32768)
    yield pair
    pair.arena.uninstall()


def test_arrays_stay_where_they_are(pair):
    steps = [(numpy.ones((300, 200)), numpy.asfortranarray(numpy.ones((300, 200)))),
             (numpy.arange(100_000),)]
    places = [pair.arena.offset_of(array) for array in all_arrays(steps)]
    description = pair.outbox.pack(steps)
    assert len(description) < 1000
    assert pair.arena.blocks == 3
    del steps
    arrived = pair.inbox.open(description).steps()
    if LENT:
        assert [address(array) - base_of(pair) for array in all_arrays(arrived)] == places
    assert pair.arena.blocks == 3
    assert pair.outbox.in_flight == pair.inbox.leased == 2 * 480_000 + 800_000
    del arrived
    pair.check_empty()


def test_views_stay_if_they_are_all_there_is(pair):
    rows = list(numpy.ones((10, 50_000)))
    pieces = numpy.arange(60_000).reshape(3, -1)
    steps = [*[(row,) for row in rows], (pieces[0], pieces[2])]
    del rows, pieces
    pair.outbox.pack(steps)
    assert pair.arena.blocks == (2 if LENT else 12)


def test_views_that_overlap_are_copied(pair):
    whole = numpy.arange(100_000)
    steps = [(whole[:60_000], whole[40_000:])]
    del whole
    arrived, = pair.send(steps)
    arrived[0][:] = 0
    assert (arrived[1] == range(40_000, 100_000)).all()


@pytest.mark.parametrize('keep', [
    lambda array, kept: kept.append(array),
    lambda array, kept: kept.append(array[5:]),
    lambda array, kept: kept.append(memoryview(array)),
    lambda array, kept: kept.append((array,)),
    lambda array, kept: kept.append({'a': [array]}),
    lambda array, kept: kept.append(numpy.frombuffer(array, 'u1'))])
def test_what_is_known_elsewhere_is_copied(pair, keep):
    kept = []
    array = numpy.arange(100_000)
    keep(array, kept)
    steps = [(array,)]
    del array
    arrived, = pair.send(steps)
    del steps
    arrived[0][:] = 0
    again = numpy.frombuffer(kept[0], numpy.int64) if isinstance(kept[0], memoryview) else next(
        all_arrays(kept[0]))
    assert again.any()


def test_tuples_that_are_known_elsewhere_are_copied(pair):
    kept = (numpy.arange(100_000), numpy.ones(3))
    arrived, = pair.send([kept])
    arrived[0][:] = arrived[1][:] = 0
    assert (kept[0] == range(100_000)).all() and kept[1].all()


def test_views_of_what_is_known_elsewhere_are_copied(pair):
    kept = numpy.arange(100_000)
    steps = [(kept[:50_000], kept[50_000:])]
    arrived, = pair.send(steps)
    for one in arrived:
        one[:] = 0
    assert (kept == range(100_000)).all()


def test_the_same_array_in_two_steps_arrives_twice(pair):
    array = numpy.arange(100_000)
    steps = [(array,), (array,), (array, [array])]
    del array
    arrived = list(all_arrays(pair.send(steps)))
    for i, one in enumerate(arrived):
        one[:] = i
    assert [one[0] for one in arrived] == [0, 1, 2, 3]


def test_the_same_array_twice_in_one_step_arrives_once(pair):
    array, small = numpy.arange(100_000), numpy.arange(3)
    steps = [(array, small, array), [array, array]]
    del array
    first, second = pair.send(steps)
    assert first[0] is first[2] and second[0] is second[1]
    assert first[0] is not second[0]


def test_read_only_arrays_arrive_writable(pair):
    small, large, kept = numpy.arange(3), numpy.arange(100_000), numpy.arange(100_000)
    for array in (small, large, kept):
        array.flags.writeable = False
    steps = [(small, large, kept, [small, kept])]
    del large
    arrived, = pair.send(steps)
    for array in all_arrays(arrived):
        array[:] = 0
    assert (kept == range(100_000)).all() and (small == range(3)).all()


def test_large_arrays_in_lists_stay_where_they_are(pair):
    steps = [([numpy.full((100, 100 + i), i, 'f8') for i in range(5)],),
             (objects_of(numpy.full((100, 100 + i), i, 'f8') for i in range(5)),)]
    pair.outbox.pack(steps)
    assert [isinstance(hold, int) for hold, _ in pair.outbox._holds.values()] == [not LENT] * 10


def test_lists_that_are_known_elsewhere_are_copied(pair):
    kept = [numpy.full((100, 100 + i), i, 'f8') for i in range(5)]
    kept_too = objects_of(numpy.full((100, 100 + i), i, 'f8') for i in range(5))
    arrived = pair.send([(kept, kept_too)])
    for array in all_arrays(arrived):
        if array.dtype != object:
            array[:] = -1
    for array in [*kept, *kept_too]:
        assert (array >= 0).all()


def test_small_arrays_in_lists_share_a_block(pair):
    steps = [(objects_of(numpy.arange(i) for i in range(300)),
              [numpy.ones((i, 2)) for i in range(9)])]
    description = pair.outbox.pack(steps)
    assert len(description) < 10_000
    assert pair.arena.blocks == 1
    arrived, = pair.inbox.open(description).steps()
    assert same(arrived, steps[0])
    pair.settle()
    assert pair.inbox.leased == 0                               # they were copied


def test_arrays_of_equal_shapes_stay_in_an_array_ofobjects_of(pair):
    for size in (3, 5000):
        steps = [(objects_of(numpy.full(size, i) for i in range(4)),)]
        arrived, = pair.send(steps)
        assert same(arrived, steps[0])


def test_descriptions_are_short(pair):
    steps = [(numpy.full(1000, i % 256, 'u1'), str(i), [i]) for i in range(2000)]
    description = pair.outbox.pack(steps)
    assert len(description) < 1000
    assert same(pair.inbox.open(description).steps(), steps)
    pair.check_empty()


@pytest.mark.parametrize('how', ['steps', 'copied'])
def test_without_room_everything_travels_in_the_description(how):
    pair = Pair(64)
    steps = [(numpy.arange(100_000), [numpy.arange(50_000)], 'x' * 100_000,
              objects_of(numpy.arange(i) for i in range(200)))]
    assert same(pair.send(steps, how), steps)
    pair.check_empty()


def test_room_that_is_not_enough_for_all():
    pair = Pair(1 << 20)
    steps = [(numpy.arange(10_000), numpy.arange(100_000),
              numpy.asfortranarray(numpy.ones((300, 400))), [numpy.arange(200_000)])]
    arrived = pair.send(steps)
    assert same(arrived, steps)
    assert pair.inbox.leased == 80_000 + 800_000
    del arrived
    pair.check_empty()
