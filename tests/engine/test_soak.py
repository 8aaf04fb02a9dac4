"""Many short epochs: no hang, and nothing that grows; see `ordeals` for the long form."""
import pytest

from fuel.transformers import MultiProcessing, MultiThreading
from tests.engine.engines import engine
from tests.engine.ordeals import survive_epochs

RUNS = {
    'the same workers': (500, engine(MultiProcessing, 2)),
    'the same workers, borrowed': (200, engine(MultiProcessing, 2, hand_out='borrow')),
    'new workers': (8, engine(MultiProcessing, 2, persistent_workers=False)),
    'a whole chain': (200, engine(MultiProcessing, 1, whole_chain=True)),
    'threads': (500, engine(MultiThreading, 2)),
    'one thread for all': (200, engine(MultiThreading, 1, whole_chain=True)),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(('count', 'make'), RUNS.values(), ids=RUNS)
def test_short_epochs(count, make):
    (first, before), (last, after) = survive_epochs(count, make)
    assert last == first
    assert after < 1.05 * before + 3e6
