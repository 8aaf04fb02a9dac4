"""The policy about bad examples."""
import logging
import pickle

import pytest

from fuel.exceptions import (
    AxisLabelsMismatchError,
    StateError,
    SupersededIteratorError,
    TooManyFailuresError,
)
from fuel.failures import FailurePolicy, mark_source, source_of


@pytest.mark.parametrize('action', ['raise', 'skip', 'log'])
@pytest.mark.parametrize('ceiling', [None, 0, 7, 0.0, 0.5])
def test_policies_are_plain_values(action, ceiling):
    policy = FailurePolicy(action, ceiling)
    assert policy == FailurePolicy(action, ceiling) == pickle.loads(pickle.dumps(policy))
    assert hash(policy) == hash(FailurePolicy(action, ceiling))
    with pytest.raises(AttributeError):
        policy.action = 'raise'


@pytest.mark.parametrize(('arguments', 'message'), [
    (('ignore',), "'raise', 'skip' or 'log'.*got 'ignore'"), (('skip', -1), 'got -1'),
    (('skip', 1.0), 'got 1.0'), (('skip', -0.1), 'got -0.1'), (('skip', float('nan')), 'nan'),
    (('skip', True), 'got True'), (('skip', '3'), "got '3'")])
def test_wrong_policies(arguments, message):
    with pytest.raises(ValueError, match=message):
        FailurePolicy(*arguments)


@pytest.mark.parametrize(('ceiling', 'seen', 'expected', 'allowed'), [
    (None, 5, 10, float('inf')), (3, 5, 10, 3), (3, 50, None, 3), (0, 5, 10, 0),
    (0.1, 5, 50, 5), (0.1, 80, 50, 8), (0.1, 5, None, 10), (0.1, 500, None, 50)])
def test_ceilings(ceiling, seen, expected, allowed):
    assert FailurePolicy('skip', ceiling).allowed(seen, expected) == pytest.approx(allowed)


@pytest.mark.parametrize('error', [ValueError(), OSError(), FileNotFoundError(), KeyError(),
                                   UnicodeDecodeError('utf-8', b'', 0, 1, ''), ZeroDivisionError()])
def test_errors_of_the_data(error):
    assert FailurePolicy('skip').tolerates(error)
    assert FailurePolicy('log').tolerates(error)
    assert not FailurePolicy('raise').tolerates(error)


@pytest.mark.parametrize('error', [
    MemoryError(), ConnectionError(), TimeoutError(), NotImplementedError(), KeyboardInterrupt(),
    AxisLabelsMismatchError(), StateError(), SupersededIteratorError(), TooManyFailuresError(),
    StopIteration(), SystemExit()])
def test_errors_of_something_else(error):
    assert not FailurePolicy('skip').tolerates(error)


def test_reports(caplog):
    caplog.set_level(logging.DEBUG)
    FailurePolicy('skip').report('left out: %d', 1)
    FailurePolicy('log').report('left out: %d', 2)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.DEBUG, 'left out: 1'), (logging.WARNING, 'left out: 2')]


def test_the_innermost_source_stays_noted():
    error = ValueError()
    assert source_of(error) is None
    mark_source(error, 'image')
    mark_source(error, 'other')
    assert source_of(error) == 'image'
    assert source_of(pickle.loads(pickle.dumps(error))) == 'image'


def test_errors_without_room_for_a_note():
    class Narrow(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)
    error = Narrow()
    mark_source(error, 'image')
    assert source_of(error) is None
