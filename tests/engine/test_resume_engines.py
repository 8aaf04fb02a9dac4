"""A stream that is stopped under one engine goes on under any other, exactly."""
import contextlib
import json
import pickle
import subprocess
import sys

import pytest

from fuel.exceptions import StateError
from fuel.testing import assert_same, check_resume
from fuel.testing.comparing import copied, drawn
from fuel.transformers import Mapping, MultiProcessing, MultiThreading
from tests.contracts import chains
from tests.engine import engines, functions
from tests.engine.engines import OTHERS, PROCESSES, THREADS, WHOLE, name_of

pytestmark = [pytest.mark.usefixtures('files'), pytest.mark.timeout(120)]

#: Engines for chains whose requests can be handed out, and for those that run whole.
SPREAD = {'bare': engines.bare, **THREADS, **PROCESSES,
          **{name: OTHERS[name] for name in (
              'no workers', 'one step ahead', 'eight steps ahead', 'room for one', 'borrowed',
              'replaced workers')}, **WHOLE}
WHOLLY = {'bare': engines.bare, 'no workers': OTHERS['no workers'],
          'a thread': THREADS['1 threads'], 'a process': PROCESSES['1 processes'],
          'a process, far ahead': WHOLE['whole in a process, far ahead']}
EPOCHS = 2


def stops(stream, epochs=EPOCHS):
    """Return the states before every step of some epochs, and at their ends, as JSON."""
    found = []
    for epoch in range(epochs):
        iterator = stream.get_epoch_iterator()
        step = 0
        while True:
            state = json.dumps(stream.state_dict())
            assert json.dumps(iterator.state_dict()) == state
            found.append((epoch, step, state))
            if next(iterator, None) is None:
                break
            step += 1
        # Its end was seen, so the next epoch is the next thing.
        found.append((epoch + 1, 0, json.dumps(stream.state_dict())))
    return found


def left_after(ahead, epoch, step):
    """Return what is left of an epoch, and the next one."""
    return [ahead[epoch][step:], ahead[epoch + 1]]


def go_on(stream, state):
    """Load a state, and return what the stream gives from there."""
    stream.load_state_dict(json.loads(state))
    assert json.dumps(stream.state_dict()) == state, 'a state that was just loaded'
    begins = json.loads(state).get('done', state.count('"done": true'))
    iterator = stream.get_epoch_iterator()
    if not begins:
        assert json.dumps(stream.state_dict()) == state, 'an iteration that was just taken up'
    return [[copied(data) for data in iterator], *drawn(stream)]


def check_stops_and_resumes(run, make, epochs=EPOCHS):
    """Check that an engine leaves the states of the chain, and goes on from each of them.

    As the states are those of the chain itself, a state of any engine loads into any other.
    """
    ahead = drawn(make(), epochs + 2)
    states = stops(make(), epochs)
    with contextlib.closing(run(make())) as stream:
        assert stops(stream, epochs) == states
    with contextlib.closing(run(make())) as stream:
        for epoch, step, state in states:
            assert_same(go_on(stream, state), left_after(ahead, epoch, step),
                        f'after step {step} of epoch {epoch}')


@pytest.mark.parametrize('run', SPREAD.values(), ids=SPREAD)
def test_states_of_chains_that_are_spread(run):
    check_stops_and_resumes(run, engines.mapped, epochs=1)


@pytest.mark.parametrize('make', engines.REGROUPED, ids=name_of)
@pytest.mark.parametrize('run', [THREADS['2 threads'], PROCESSES['2 processes'],
                                 WHOLE['whole in a process']],
                         ids=['threads', 'processes', 'whole'])
def test_states_of_chains_that_look_across_steps(run, make):
    check_stops_and_resumes(run, make)


@pytest.mark.parametrize('make', [engines.counted, engines.drawing, engines.read_on,
                                  engines.read_on_in_batches], ids=name_of)
@pytest.mark.parametrize('run', WHOLLY.values(), ids=WHOLLY)
def test_states_of_chains_that_run_whole(run, make):
    check_stops_and_resumes(run, make)


def test_states_of_chains_around_an_engine():
    def wrapped(stream):
        return chains.Noise(Mapping(stream, chains.double))

    ahead = drawn(wrapped(engines.regrouped()), EPOCHS + 2)
    states = stops(wrapped(engines.regrouped()))
    below = PROCESSES['2 processes'](engines.regrouped())
    with contextlib.closing(wrapped(below)) as stream:
        assert stops(stream) == states
        for epoch, step, state in states:
            assert_same(go_on(stream, state), left_after(ahead, epoch, step))


# From one engine into another, and on into a third.

CHAIN_OF_ENGINES = (PROCESSES['2 processes'], engines.bare, THREADS['7 threads'],
                    PROCESSES['1 processes'], WHOLE['whole in a process'],
                    PROCESSES['2 processes'], OTHERS['no workers'])


@pytest.mark.parametrize('make', [engines.with_random_numbers, engines.regrouped], ids=name_of)
def test_each_step_under_another_engine(make):
    ahead = drawn(make(), 4)
    expected = [data for epoch in ahead for data in epoch][:20]
    running = [contextlib.closing(run(make())) for run in CHAIN_OF_ENGINES]
    got, state = [], None
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(stream) for stream in running]
        while len(got) < len(expected):
            stream = streams[len(got) % len(streams)]
            if state is not None:
                stream.load_state_dict(json.loads(state))
            data = next(stream.get_epoch_iterator(), None)
            if data is not None:
                got.append(copied(data))
            state = json.dumps(stream.state_dict())
    assert_same(got, expected)


def test_epochs_after_a_resume_have_their_full_length():
    expected = [len(epoch) for epoch in drawn(engines.with_random_numbers(), 6)]
    first = PROCESSES['2 processes'](engines.with_random_numbers())
    with contextlib.closing(first):
        iterator = first.get_epoch_iterator()
        for _ in range(3):
            next(iterator)
        state = first.state_dict()
    with contextlib.closing(PROCESSES['2 processes'](engines.with_random_numbers())) as stream:
        stream.load_state_dict(state)
        lengths = [len(epoch) for epoch in drawn(stream, 6)]
    assert lengths == [expected[0] - 3, *expected[1:]]


def test_a_state_is_as_small_as_that_of_the_chain():
    with contextlib.closing(PROCESSES['2 processes'](engines.in_order(30_000, 3))) as stream:
        iterator = stream.get_epoch_iterator()
        next(iterator)
        assert len(json.dumps(stream.state_dict())) < 1000
        assert len(pickle.dumps((stream, iterator))) < 400_000  # the data set is in memory


# By pickle.

PICKLED = {'2 threads': THREADS['2 threads'], '2 processes': PROCESSES['2 processes'],
           'whole in a process': WHOLE['whole in a process']}


@pytest.mark.parametrize('make', [engines.mapped, engines.regrouped], ids=name_of)
@pytest.mark.parametrize('run', PICKLED.values(), ids=PICKLED)
def test_pickles_in_mid_epoch(run, make):
    ahead = drawn(make(), 3)
    with contextlib.closing(run(make())) as stream:
        drawn(stream)
        iterator = stream.get_epoch_iterator()
        next(iterator)
        saved = [pickle.dumps((stream, iterator))]
        rest = [copied(data) for data in iterator]
        saved.append(pickle.dumps((stream, iterator)))
    assert_same(rest, ahead[1][1:])
    for payload, left in zip(saved, ([ahead[1][1:], ahead[2]], [[], ahead[2]]), strict=True):
        stream, iterator = pickle.loads(payload)
        with contextlib.closing(stream):
            assert iterator.data_stream is stream
            assert_same([[copied(data) for data in iterator], *drawn(stream)], left)


GO_ON = '''
import pickle, sys
request = pickle.load(sys.stdin.buffer)
sys.path[:] = request['path']
stream, iterator = pickle.loads(request['pair'])
rest = [list(iterator), list(stream.get_epoch_iterator())]
pickle.dump(rest, sys.stdout.buffer)
'''


@pytest.mark.parametrize('run', [PROCESSES['2 processes'], WHOLE['whole in a process']],
                         ids=['spread', 'whole'])
def test_pickles_go_on_in_a_new_interpreter(run):
    ahead = drawn(engines.mapped(), 2)
    with contextlib.closing(run(engines.mapped())) as stream:
        iterator = stream.get_epoch_iterator()
        next(iterator)
        request = {'path': sys.path, 'pair': pickle.dumps((stream, iterator))}
    done = subprocess.run([sys.executable, '-W', 'error', '-c', GO_ON], capture_output=True,
                          input=pickle.dumps(request), check=False, timeout=60)
    assert done.stderr == b''
    assert_same(pickle.loads(done.stdout), [ahead[0][1:], ahead[1]])


@pytest.mark.parametrize('make', [engines.mapped, engines.regrouped], ids=name_of)
def test_the_contract_of_resuming_by_threads(make):
    check_resume(lambda: THREADS['2 threads'](make()), new_process=False)


# States of others, and states that do not fit.

@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
def test_a_state_of_another_chain_is_refused(cls):
    state = chains.Noise(engines.in_order()).state_dict()
    with pytest.raises(StateError):
        cls(engines.in_order(), num_workers=2).load_state_dict(state)


@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
def test_without_order_nothing_is_lost_by_a_resume(cls):
    def make():
        return cls(late(), num_workers=3, in_order=False)

    def late():
        return Mapping(engines.in_order(60, 3), functions.first_one_late)

    with contextlib.closing(make()) as stream:
        iterator = stream.get_epoch_iterator()
        got = [next(iterator)[0].tolist() for _ in range(7)]
        assert [0, 1, 2] not in got
        state = json.dumps(stream.state_dict())
    with contextlib.closing(make()) as stream:
        stream.load_state_dict(json.loads(state))
        assert json.dumps(stream.state_dict()) == state
        got += [x.tolist() for x, in stream.get_epoch_iterator()]
        assert sorted(sum(got, [])) == list(range(60))
        assert len(drawn(stream)[0]) == 20
    # Which steps were given cannot be told to a chain that goes in order.
    with pytest.raises(StateError, match='InAnyOrder|in_order'):
        late().load_state_dict(json.loads(state))
