"""Progress over epochs."""
import io
import logging
import pickle
import sys

import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.inspection import progress
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import Filter

from .common import Clock


def stream(batch_size=2):
    return DataStream(IndexableDataset(list(range(10))),
                      iteration_scheme=SequentialScheme(10, batch_size))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, 'fuel.utils.progress')
    return lambda: [record.getMessage() for record in caplog.records]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    def begin():
        monkeypatch.setattr(sys, 'stderr', Terminal())
        return sys.stderr
    return begin


def test_data_pass_and_lines_go_to_the_log(clock, lines):
    found = []
    for data, in progress(stream().get_epoch_iterator(), clock=clock):
        clock.now += 6
        found.append(data)
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert lines() == [
        'Epoch 0: 3 batches of 5 batches (60 %), 0.25 batches/s, 8 s left',
        'Epoch 0: 5 batches of 5 batches (100 %), 0.21 batches/s, 0 s left',
        'Epoch 0: done, 5 batches']


def test_a_stream_starts_its_next_epoch(clock, lines):
    chain = stream()
    for _ in range(2):
        assert len(list(progress(chain, clock=clock))) == 5
    assert lines() == ['Epoch 0: done, 5 batches', 'Epoch 1: done, 5 batches']


def test_only_what_is_left_counts(clock, lines):
    iterator = stream().get_epoch_iterator()
    next(iterator)
    next(iterator)
    for _ in progress(iterator, clock=clock):
        clock.now += 11
    assert lines()[0] == ('Epoch 0 after 2 batches: 2 batches of 3 batches (66 %), '
                          '0.18 batches/s, 6 s left')


def test_examples_and_unknown_lengths(clock, lines):
    examples = DataStream(IndexableDataset([1, 2, 3]), iteration_scheme=SequentialExampleScheme(3))
    for chain in (examples, Filter(examples, lambda data: True),
                  DataStream(IterableDataset(iter([1, 2, 3])))):
        for _ in progress(chain, clock=clock):
            clock.now += 11
    assert [line for line in lines() if '2 examples' in line] == [
        'Epoch 0: 2 examples of 3 examples (66 %), 0.18 examples/s, 6 s left',
        *['Epoch 0: 2 examples, 0.18 examples/s'] * 2]


def test_anything_can_be_iterated_over(clock, lines):
    for _ in progress(range(3), 3, 'Numbers', clock=clock):
        clock.now += 11
    assert lines()[0] == 'Numbers : 2 steps of 3 steps (66 %), 0.18 steps/s, 6 s left'
    assert list(progress(iter('ab'))) == ['a', 'b']


def test_it_tells_where_the_iterator_stands():
    chain = stream()
    iterator = progress(chain.get_epoch_iterator())
    next(iterator)
    assert (iterator.epoch, iterator.step) == (0, 1)
    assert iterator.state_dict() == chain.state_dict()
    with pytest.raises(AttributeError, match='nothing'):
        _ = iterator.nothing
    iterator.close()


def test_it_can_be_pickled_with_its_stream():
    chain = stream()
    iterator = progress(chain, total=5)
    next(iterator)
    other, loaded = pickle.loads(pickle.dumps((chain, iterator)))
    assert loaded.data_stream is other
    assert len(list(loaded)) == 4 and len(list(iterator)) == 4


def test_an_epoch_that_is_broken_off_is_not_said_to_be_done(clock, lines):
    with progress(stream(), clock=clock) as iterator:
        next(iterator)
    iterator = progress(stream(), clock=clock)
    next(iterator)
    del iterator
    broken = progress((1 // number for number in (1, 0)), clock=clock)
    with pytest.raises(ZeroDivisionError):
        list(broken)
    assert lines() == []


def test_a_bar_on_a_terminal(terminal):
    terminal = terminal()
    assert len(list(progress(stream()))) == 5
    assert 'Epoch 0: 100%' in terminal.getvalue() and '5/5' in terminal.getvalue()


def test_the_bar_goes_with_the_loop(terminal):
    terminal = terminal()
    with progress(stream()) as iterator:
        next(iterator)
    assert '1/5' in terminal.getvalue() and terminal.getvalue().endswith('\n')
    # It goes on with a new one.
    assert len(list(iterator)) == 4
    assert 'Epoch 0 after 1 batches' in terminal.getvalue()
