"""Some damaged copies of small files; ``python -m tests.faults.fuzz_hdf5`` reads many."""
from tests.faults.fuzz_hdf5 import FINE, damaged, fuzz


def test_damaged_files_are_told_or_read_right(tmp_path):
    report = fuzz(tmp_path, 150)
    assert report.failures == [], report.summary()
    assert sum(report.outcomes.values()) == 150
    # The damage must be such that it matters, and not always.
    for outcome in ('error', 'right', 'unknowable'):
        assert report.outcomes[outcome] > 10, report.summary()
    assert set(report.outcomes) <= {*FINE, 'of the library'}


def test_the_damage_of_a_number_is_always_the_same():
    content = bytes(range(256)) * 8
    for number in range(40):
        copy = damaged(content, number)
        assert copy == damaged(content, number)
        assert (len(copy) < len(content)) == (number % 10 == 9)
        assert sum(old != new for old, new in zip(content, copy, strict=False)) <= 8
