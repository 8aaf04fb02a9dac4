"""Lines that are divided into splits by lot."""
from fractions import Fraction

import numpy
import pytest

from fuel import config
from fuel.converters._division.shares import Shares
from fuel.converters._texts.lines import Lot
from fuel.exceptions import ConversionError
from tests.converters.texts import convert, expected, read

LINES = [f'line {number}' for number in range(1, 101)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'a.txt').write_text('\n'.join(LINES[:30]) + '\n')
    (tmp_path / 'b.txt').write_text('\n'.join(LINES[30:]))
    return tmp_path


def by_algorithm_s(count, sizes, seed):
    """Divide lines as the documentation says: each takes one number of the seed."""
    drawn = numpy.random.RandomState(seed).random_sample(count)
    valid, test = sizes
    names = []
    for line in range(count):
        place = drawn[line] * (count - line)
        if place < valid:
            names.append('valid')
            valid -= 1
        elif int(place) < valid + test:
            names.append('test')
            test -= 1
        else:
            names.append('train')
    return names


@pytest.mark.parametrize('seed', [0, 7])
def test_lines_keep_their_order_and_every_split_has_its_size(folder, seed):
    splits, vocabulary, _ = read(convert(folder, 'a.txt', 'b.txt', '--valid-fraction', '0.1',
                                         '--test-fraction', '1/5', '--seed', seed))
    names = by_algorithm_s(100, (10, 20), seed)
    for split in ('train', 'valid', 'test'):
        lines = [line for line, name in zip(LINES, names, strict=True) if name == split]
        assert splits[split] == expected(lines, vocabulary)
    assert list(map(len, splits.values())) == [70, 10, 20]
    # Made from the lines of train only.
    assert len(vocabulary) == 3 + 1 + 70


def test_the_default_seed_is_that_of_the_settings(folder):
    files = ('a.txt', 'b.txt', '--test-fraction', '0.3')
    given = read(convert(folder, *files, '--seed', 4))
    assert read(convert(folder, *files)) != given
    config.default_seed = 4
    assert read(convert(folder, *files)) == given


def test_fractions_beside_splits_of_files(folder):
    (folder / 'c.txt').write_text('other\n')
    splits, _, _ = read(convert(folder, 'a.txt', '--valid-fraction', '0.5', '--split',
                                'test=c.txt'))
    assert {name: len(lines) for name, lines in splits.items()} == {
        'train': 15, 'valid': 15, 'test': 1}


def test_every_line_is_drawn_as_often_as_every_other():
    hits = numpy.zeros(10)
    for seed in range(2000):
        names = list(Lot(10, (('valid', 3), ('test', 2)), seed).names())
        assert (names.count('valid'), names.count('test')) == (3, 2)
        hits += [name == 'valid' for name in names]
    # 600 are expected of 2000, with a deviation of 20.
    assert abs(hits - 600).max() < 80


def test_blocks_of_draws_are_one_sequence():
    assert list(Lot(9000, (('valid', 900), ('test', 1)), 3).names()) == by_algorithm_s(
        9000, (900, 1), 3)


def test_sizes_are_rounded_to_the_nearest_whole_number():
    lot = Lot.of_shares(7, Shares(Fraction(1, 2), Fraction(1, 7)), 0)
    assert lot.sizes == (('valid', 4), ('test', 1))


@pytest.mark.parametrize('shares', [Shares(Fraction(1, 100)), Shares(Fraction(99, 100))])
def test_a_split_without_lines(shares):
    with pytest.raises(ConversionError, match=r'of 10 none would be in (valid|train)'):
        Lot.of_shares(10, shares, 0)
