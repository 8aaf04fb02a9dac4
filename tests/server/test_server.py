"""A served stream gives what the stream itself would have given, and goes on from anywhere."""
import json
import pickle

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.schemes import SequentialExampleScheme, ShuffledScheme
from fuel.server import Server
from fuel.streams import DataStream
from fuel.streams.remote import ServerDataStream
from fuel.testing.streams import check_breaking_off, check_closing, check_form, check_ownership
from fuel.transformers import Cast, Filter, ScaleAndShift
from fuel.transformers.image import RandomFixedSizeCrop

from .peers import SECONDS, Counting, equal, stream


def remote(server, **kwargs):
    """Return a client of a server."""
    return ServerDataStream(port=server.port, timeout=SECONDS, **kwargs)


def images():
    """Return a stream of images in random order."""
    dataset = IndexableDataset(
        {'x': numpy.random.RandomState(0).randint(256, size=(20, 3, 8, 8)).astype('uint8')},
        axis_labels={'x': ('batch', 'channel', 'height', 'width')})
    return DataStream(dataset, iteration_scheme=ShuffledScheme(20, 3))


def cropped():
    """Return the same, randomly cropped."""
    return RandomFixedSizeCrop(images(), (5, 5), which_sources=('x',))


def examples_locally():
    """Return a stream of examples."""
    return DataStream(stream().dataset, iteration_scheme=SequentialExampleScheme(40))


@pytest.mark.parametrize('make', [
    stream, cropped, lambda: Cast(ScaleAndShift(cropped(), 1 / 255, 0), 'float32'),
    lambda: Filter(stream(), lambda batch: batch[1][0] % 3 > 0)],
    ids=['shuffled', 'cropped', 'scaled', 'filtered'])
@pytest.mark.parametrize('shared_bytes', [0, None])
def test_a_served_stream_gives_the_same_epochs(make, shared_bytes, served):
    client, local = served(make(), shared_bytes=shared_bytes), make()
    for _ in range(3):
        assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_random_transformers_draw_the_same_on_either_side(served):
    client, local = served(images()), cropped()
    here = RandomFixedSizeCrop(client, (5, 5), which_sources=('x',))
    for _ in range(2):
        assert equal(list(here.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_the_server_says_what_its_stream_is(served):
    client = served(stream())
    assert not client.connected
    assert client.sources == ('x', 'y')
    assert client.connected
    assert client.produces_examples is False
    assert client.axis_labels == {'x': ('batch', 'feature'), 'y': ('batch',)}
    examples = served(examples_locally())
    assert examples.produces_examples is True
    assert examples.axis_labels == {'x': ('feature',), 'y': ()}
    example = next(examples.get_epoch_iterator())
    expected = next(examples_locally().get_epoch_iterator())
    assert type(example[1]) is type(expected[1])
    assert example[1] == expected[1]


def test_the_arguments_of_the_old_library_are_taken():
    with Server(stream(), 0).start() as server, ServerDataStream(
            ('x', 'y'), False, 'localhost', server.port, 5, {'x': ('batch', 'feature')}) as client:
        assert client.axis_labels == {'x': ('batch', 'feature')}
        assert not client.connected
        with pytest.raises(ValueError, match='no requests'):
            client.get_data([0, 1])
        assert equal([client.get_data()], [next(stream().get_epoch_iterator())])
        client.next_epoch()
        client.reset()
        assert client.connected
        client.close()
        assert not client.connected


def test_get_data_alone_goes_through_epochs(served):
    client, local = served(stream()), stream()
    for _ in range(2):
        batches = []
        with pytest.raises(StopIteration):
            while True:
                batches.append(client.get_data())
        assert equal(batches, list(local.get_epoch_iterator()))


def test_sources_can_have_other_names_at_the_client():
    with Server(stream(), 0).start() as server, remote(server, sources=('a', 'b')) as client:
        assert next(client.get_epoch_iterator(as_dict=True)).keys() == {'a', 'b'}
        assert client.axis_labels == {'a': ('batch', 'feature'), 'b': ('batch',)}


@pytest.mark.parametrize(('kwargs', 'message'), [
    ({'sources': ('y', 'x')}, r"expected the sources \('y', 'x'\)"),
    ({'sources': ('x',)}, 'expected the sources'),
    ({'produces_examples': True}, 'expected examples.*gives batches')])
def test_what_does_not_fit_to_the_server_is_told(kwargs, message):
    with Server(stream(), 0).start() as server, remote(server, **kwargs) as client, \
            pytest.raises(ValueError, match=message):
        next(client.get_epoch_iterator())


@pytest.mark.parametrize('kwargs', [{'hwm': 0}, {'sources': 'x'}])
def test_arguments_are_checked(kwargs):
    with pytest.raises(ValueError, match='expected'):
        ServerDataStream(**kwargs)
    with pytest.raises(ValueError, match='hwm'):
        Server(stream(), 0, hwm=0)


# Epochs.

def test_a_new_iterator_starts_a_new_epoch(served):
    client, local = served(stream()), stream()
    epochs = [list(local.get_epoch_iterator()) for _ in range(4)]
    iterator = client.get_epoch_iterator()
    next(iterator)
    other = client.get_epoch_iterator()
    assert equal([next(other)], epochs[1][:1])
    with pytest.raises(SupersededIteratorError):
        next(iterator)
    assert equal(list(other), epochs[1][1:])
    assert equal(list(client.get_epoch_iterator()), epochs[2])
    iterator = client.get_epoch_iterator()
    assert equal([next(iterator)], epochs[3][:1])
    assert (iterator.epoch, iterator.step) == (3, 1)


def test_iterators_that_are_never_drawn_from_start_no_epoch_of_the_server(served):
    client, local = served(stream()), stream()
    for _ in range(3):
        client.get_epoch_iterator()
    assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_a_closed_stream_goes_on_when_it_is_used_again(served):
    client, local = served(stream()), stream()
    iterator, expected = client.get_epoch_iterator(), local.get_epoch_iterator()
    for _ in range(4):
        assert equal([next(iterator)], [next(expected)])
        client.close()
        client.close()
    assert equal(list(iterator), list(expected))
    client.close()
    assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_arrays_are_the_callers(served):
    check_ownership(lambda: served(stream(4000, 100)))
    client = served(images(), hwm=2)
    held = list(client.get_epoch_iterator())
    copies = [x.copy() for x, in held]
    for _ in range(5):
        for x, in client.get_epoch_iterator():
            x[:] = 7
    assert all(numpy.array_equal(x, copy) for (x,), copy in zip(held, copies, strict=True))


# Going on.

@pytest.mark.parametrize('make', [stream, cropped])
def test_the_contract_of_streams_holds(make, served):
    check_form(lambda: served(make()))
    check_breaking_off(lambda: served(make()))
    check_closing(lambda: served(make()))


@pytest.mark.parametrize('make', [lambda: stream(12), cropped], ids=['plain', 'cropped'])
@pytest.mark.parametrize('how', ['pickle', 'state'])
def test_one_server_goes_back_for_a_client_that_goes_on_from_earlier(how, make, served):
    client = served(make())
    local = make()
    expected = [list(local.get_epoch_iterator()) for _ in range(4)]
    saved = []
    for epoch in range(2):
        iterator = client.get_epoch_iterator()
        for step, _ in enumerate(iterator, 1):
            saved.append((epoch, step, pickle.dumps((client, iterator)), client.state_dict()))
        saved.append((epoch + 1, 0, pickle.dumps((client, iterator)), client.state_dict()))
    for epoch, step, pair, state in [*saved, *saved[::-1], saved[0]]:
        if how == 'pickle':
            copy, rest = pickle.loads(pair)
            iterator = rest if step else copy.get_epoch_iterator()
        else:
            copy = ServerDataStream(port=client.port, timeout=SECONDS)
            copy.load_state_dict(state)
            iterator = copy.get_epoch_iterator()
        assert equal(list(iterator), expected[epoch][step:])
        assert equal(list(copy.get_epoch_iterator()), expected[epoch + 1])
        copy.close()


@pytest.mark.parametrize('step', [0, 1, 3, 9, 10])
def test_a_state_goes_on_at_a_new_server(step, served):
    client, local = served(stream()), stream()
    list(client.get_epoch_iterator())
    list(local.get_epoch_iterator())
    iterator, expected = client.get_epoch_iterator(), local.get_epoch_iterator()
    for _ in range(step):
        next(iterator), next(expected)
    state = json.loads(json.dumps(client.state_dict()))
    if step:
        assert (state['epoch'], state['step']) == (1, step)
    other = served(stream())
    other.load_state_dict(state)
    assert other.state_dict() == state
    iterator = other.get_epoch_iterator()
    assert (iterator.epoch, iterator.step) == (1, step)
    assert equal(list(iterator), list(expected))
    assert equal(list(other.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next(served):
    client, local = served(stream()), stream()
    list(client.get_epoch_iterator()), list(local.get_epoch_iterator())
    other = served(stream())
    other.load_state_dict(client.state_dict())
    assert equal(list(other.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_a_state_of_an_epoch_that_was_left_goes_on_with_the_next(served):
    client, local = served(stream()), stream()
    next(client.get_epoch_iterator())
    local.get_epoch_iterator()
    client.get_epoch_iterator()
    other = served(stream())
    other.load_state_dict(client.state_dict())
    assert equal(list(other.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_the_state_of_the_served_stream_is_in_that_of_the_client(served):
    client, local = served(stream()), stream()
    iterator, expected = client.get_epoch_iterator(), local.get_epoch_iterator()
    for _ in range(3):
        next(iterator), next(expected)
    (step, state), = client.state_dict()['own']['server']['bases']
    assert step == 3
    again = stream()
    again.load_state_dict(state)
    assert equal(list(again.get_epoch_iterator()), list(expected))


def test_a_pickle_goes_on_in_place_of_the_original(served):
    client, local = served(stream()), stream()
    iterator, expected = client.get_epoch_iterator(), local.get_epoch_iterator()
    for _ in range(3):
        next(iterator), next(expected)
    saved = pickle.dumps((client, iterator))
    list(iterator)
    copy, rest = pickle.loads(saved)
    assert not copy.connected
    assert equal(list(rest), list(expected))
    assert equal(list(copy.get_epoch_iterator()), list(local.get_epoch_iterator()))
    copy.close()


def test_an_original_that_was_replaced_says_so(served):
    client = served(stream())
    iterator = client.get_epoch_iterator()
    next(iterator)
    copy, rest = pickle.loads(pickle.dumps((client, iterator)))
    next(rest)
    with pytest.raises(SupersededIteratorError, match='gone on from a pickle'):
        list(iterator)
    copy.close()


def test_a_server_begins_with_an_epoch_that_is_under_way(served):
    local = stream()
    iterator = local.get_epoch_iterator()
    next(iterator)
    saved = pickle.dumps((local, iterator))
    expected = list(iterator)
    taken, rest = pickle.loads(saved)
    client = served(taken, iterator=rest)
    under_way = client.get_epoch_iterator()
    assert equal([next(under_way)], expected[:1])
    assert under_way.step == 2
    assert equal(list(under_way), expected[1:])
    assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_transformers_over_a_client_resume_with_it(served):
    client, local = served(images()), cropped()
    chain = RandomFixedSizeCrop(client, (5, 5), which_sources=('x',))
    iterator, expected = chain.get_epoch_iterator(), local.get_epoch_iterator()
    for _ in range(4):
        next(iterator), next(expected)
    other = RandomFixedSizeCrop(served(images()), (5, 5), which_sources=('x',))
    other.load_state_dict(chain.state_dict())
    assert equal(list(other.get_epoch_iterator()), list(expected))
    assert equal(list(other.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_streams_that_cannot_tell_their_state_are_served_and_say_so(served):
    client = served(Counting())
    for _ in range(2):
        assert [int(x) for x, in client.get_epoch_iterator()] == [0, 1, 2, 3, 4]
    iterator = client.get_epoch_iterator()
    next(iterator)
    client.close()
    assert [int(x) for x, in iterator] == [1, 2, 3, 4]
    next(client.get_epoch_iterator())
    other = served(Counting())
    other.load_state_dict(client.state_dict())
    with pytest.raises(StateError, match='cannot go on from step 1'):
        next(other.get_epoch_iterator())
