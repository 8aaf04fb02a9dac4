"""Counting tokens, with and without temporary files."""
import os
from collections import Counter

import numpy
import pytest

from fuel.converters._texts.counts import TokenCounts


def tokens(count=3000):
    numbers = numpy.minimum(numpy.random.default_rng(0).zipf(1.3, count), 500)
    return [f'é{number}' if number % 7 == 0 else f'w{number}' for number in numbers.tolist()]


@pytest.mark.parametrize('limit', [1, 10, 100, 10 ** 6])
@pytest.mark.parametrize(('min_count', 'max_size'), [(1, None), (3, None), (1, 20), (2, 10)])
def test_counts_are_those_of_a_counter_whatever_is_kept_in_memory(tmp_path, limit, min_count,
                                                                  max_size):
    given = tokens()
    with TokenCounts(str(tmp_path), limit) as counts:
        for start in range(0, len(given), 70):
            counts.add(given[start:start + 70])
        found = counts.most_common(min_count, max_size)
        assert counts.total == len(given)
        assert os.listdir(tmp_path) == []  # temporary files have no names
    expected = sorted(((token, count) for token, count in Counter(given).items()
                       if count >= min_count), key=lambda entry: (-entry[1], entry[0]))
    assert found == expected[:max_size]


def test_white_space_can_be_counted_too(tmp_path):
    given = [' ', '\t', '\x85', '\u2028', ' ', 'a', '\r', '\x1c']
    with TokenCounts(str(tmp_path), 1) as counts:
        for token in given:
            counts.add([token])
        assert counts.most_common() == [(' ', 2), ('\t', 1), ('\r', 1), ('\x1c', 1), ('a', 1),
                                        ('\x85', 1), ('\u2028', 1)]


def test_nothing_was_counted(tmp_path):
    with TokenCounts(str(tmp_path)) as counts:
        assert counts.most_common() == []
