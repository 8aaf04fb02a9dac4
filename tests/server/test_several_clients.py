"""Several clients of one server: each step to one of them, the end to all, whoever dies."""
import contextlib
import json
import random

import pytest

from fuel.exceptions import ServerTimeoutError, StateError

from .peers import stream
from .simulated import World, waits


def make():
    """Return a stream of 20 small batches."""
    return stream(40, 2)


def expected(epochs=6):
    """Return the steps of the first epochs."""
    local = make()
    return [[batch[1].tolist() for batch in local.get_epoch_iterator()] for _ in range(epochs)]


@pytest.fixture
def world():
    with World(make) as made:
        made.start()
        yield made


def step(iterator):
    """Take a step; return where it stands and its data."""
    data = next(iterator)
    return iterator.epoch, iterator.step - 1, data[1].tolist()


def rest(iterator):
    """Take all steps that are left."""
    return [
        (iterator.epoch, iterator.step - 1, data[1].tolist()) for data in iterator]


def check_epoch(steps, epoch=0):
    """Check that these are all the steps of an epoch, each of them once."""
    assert sorted(steps) == [(epoch, place, data)
                             for place, data in enumerate(expected()[epoch])]


def test_every_step_goes_to_exactly_one_client_and_the_end_to_both(world):
    one, other = world.client().get_epoch_iterator(), world.client().get_epoch_iterator()
    given = {one: [], other: []}
    while any(not iterator.cursor.finished for iterator in given):
        for iterator, steps in given.items():
            if not iterator.cursor.finished:
                with contextlib.suppress(StopIteration):
                    steps.append(step(iterator))
    check_epoch([*given[one], *given[other]])
    assert min(len(given[one]), len(given[other])) >= 5


def test_one_client_takes_all_and_the_other_gets_the_end(world):
    one, other = world.client().get_epoch_iterator(), world.client().get_epoch_iterator()
    first = step(one)
    second = step(other)
    check_epoch([first, second, *rest(one), *rest(other)])


def test_the_next_epoch_waits_until_all_have_come_to_the_end(world):
    one, other = world.client(), world.client()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    given = [step(first), step(second)]
    given += rest(first)
    later = one.get_epoch_iterator()
    with pytest.raises(ServerTimeoutError, match='wait for other clients'):
        next(later)
    given += rest(second)
    check_epoch(given)
    assert step(later) == (1, 0, expected()[1][0])


def test_what_a_client_leaves_goes_to_the_others(world):
    one, other = world.client(), world.client()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    given = [step(first), step(second), step(first)]
    later = one.get_epoch_iterator()
    assert waits(later)
    check_epoch(given + rest(second))
    assert step(later)[:2] == (1, 0)


def test_what_a_client_leaves_alone_is_left_for_good(world):
    one = world.client()
    step(one.get_epoch_iterator())
    assert step(one.get_epoch_iterator()) == (1, 0, expected()[1][0])


@pytest.mark.parametrize('how', ['close', 'kill'])
def test_what_a_client_had_not_taken_when_it_went_goes_to_the_others(how, world):
    one, other = world.client(), world.client()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    given = [step(first), step(second), step(first), step(first)]
    if how == 'close':
        one.close()
    else:
        world.kill(one)
    check_epoch(given + rest(second))


def test_a_client_that_comes_after_another_died_gets_a_fresh_epoch(world):
    one = world.client()
    step(one.get_epoch_iterator())
    world.kill(one)
    assert step(world.client().get_epoch_iterator()) == (1, 0, expected()[1][0])


def test_what_a_client_had_not_taken_when_it_died_is_given_when_it_comes_again(world):
    one, other = world.client(), world.client()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    given = [step(first), step(second), step(first)]
    state = json.loads(json.dumps(one.state_dict()))
    step(first), step(first)
    world.kill(one)
    again = world.client()
    again.load_state_dict(state)
    iterator = again.get_epoch_iterator()
    given += [step(iterator), step(second)]
    check_epoch(given + rest(iterator) + rest(second))


def test_all_go_on_from_states_that_were_saved_together(world):
    clients = [world.client() for _ in range(3)]
    iterators = [client.get_epoch_iterator() for client in clients]
    given = [step(iterators[place]) for place in [0, 1, 2, 2, 1, 2, 2]]
    states = [client.state_dict() for client in clients]
    for place in [0, 0, 1, 2]:
        step(iterators[place])
    world.start()
    again = [world.client() for _ in range(3)]
    for client, state in zip(again, states, strict=True):
        client.load_state_dict(json.loads(json.dumps(state)))
    iterators = [client.get_epoch_iterator() for client in again]
    # Until all of them are there, it is not known what was taken.
    assert waits(iterators[2])
    assert waits(iterators[0])
    given += rest(iterators[1]) + rest(iterators[0]) + rest(iterators[2])
    check_epoch(given)
    assert step(again[0].get_epoch_iterator())[:2] == (1, 0)


def test_who_does_not_come_back_is_waited_for_a_while_only(world, caplog):
    clients = [world.client() for _ in range(2)]
    iterators = [client.get_epoch_iterator() for client in clients]
    given = [step(iterators[0]), step(iterators[1]), step(iterators[0])]
    world.start()
    assert waits(iterators[0])
    world.now += 100
    given += rest(iterators[0])
    assert 'have not come back' in caplog.text
    # What the other one took is given again, as nobody knows of it.
    steps = sorted(place for _, place, _ in given)
    assert sorted(set(steps)) == list(range(20))


def test_a_state_from_elsewhere_is_refused_while_others_are_at_work(world):
    one = world.client()
    rest(one.get_epoch_iterator())
    step(one.get_epoch_iterator())
    state = one.state_dict()
    world.start()
    other = world.client()
    step(other.get_epoch_iterator())
    again = world.client()
    again.load_state_dict(state)
    with pytest.raises(StateError, match=r'in the middle of epoch 0 with 1 other client'):
        next(again.get_epoch_iterator())


def test_clients_share_while_they_have_not_taken_more(world):
    one, other = world.client(), world.client()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    step(first)
    # The window grows with what was taken, so the second one still finds something.
    assert step(second)[0] == 0


@pytest.mark.parametrize('failure', ['server', 'connection', 'everything'])
@pytest.mark.parametrize('seed', range(30))
def test_nothing_is_lost_or_given_twice_whoever_dies_and_whenever(failure, seed, world):
    chance = random.Random(seed)
    count = chance.randint(1, 4)
    world.hwm = chance.choice([1, 2, 10])
    world.start()
    clients = [world.client(hwm=chance.choice([1, 3, 10])) for _ in range(count)]
    iterators = [client.get_epoch_iterator() for client in clients]
    given = [step(iterator) for iterator in iterators]
    saved = None

    def advance(place):
        try:
            given.append(step(iterators[place]))
        except ServerTimeoutError:
            pass
        except StopIteration:
            iterators[place] = clients[place].get_epoch_iterator()
    for _ in range(150):
        happens = chance.random()
        if happens > 0.06:
            advance(chance.randrange(count))
        elif failure == 'server':
            # It dies, and its clients find the new one.
            world.start()
        elif failure == 'connection':
            world.cut(chance.choice(clients))
        elif saved is None or happens > 0.02:
            saved = json.dumps([client.state_dict() for client in clients]), list(given)
        else:
            # All die, and are started again from what was saved.
            for client in clients:
                world.kill(client)
            world.start()
            clients = [world.client() for _ in range(count)]
            for client, state in zip(clients, json.loads(saved[0]), strict=True):
                client.load_state_dict(state)
            iterators = [client.get_epoch_iterator() for client in clients]
            given[:] = saved[1]
    last = max(epoch for epoch, _, _ in given)
    # All come to the end of the epoch, one step at a time.
    for _ in range(40):
        for place in range(count):
            if iterators[place].epoch <= last and not iterators[place].cursor.finished:
                advance(place)
    truth = expected(last + 2)
    for epoch in range(last + 1):
        assert sorted((place, data) for number, place, data in given if number == epoch) == list(
            enumerate(truth[epoch]))
