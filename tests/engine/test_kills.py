"""Workers that are killed at random moments; see `ordeals` for the long form."""
import pytest

from tests.engine.ordeals import survive_kills
from tests.engine.watching import nothing_left


@pytest.mark.timeout(120)
@pytest.mark.parametrize(('num_workers', 'count'), [(3, 40), (1, 12)])
def test_nothing_is_lost_and_nothing_comes_twice(num_workers, count):
    survive_kills(1, num_workers=num_workers)
    with nothing_left():
        assert survive_kills(count, num_workers=num_workers, seed=num_workers)


@pytest.mark.timeout(120)
def test_helpers_and_workers_that_are_just_starting_may_be_killed_too():
    survive_kills(1)
    with nothing_left():
        assert survive_kills(10, 0.3, anything=True, seed=3)
