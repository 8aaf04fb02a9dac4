from __future__ import annotations

import logging
from argparse import ArgumentTypeError
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import config
from fuel.converters._division.options import (
    fraction_from_text,
    one_way,
    range_from_text,
    used_seed,
)
from fuel.converters._division.shares import (
    Range,
    Shares,
    all_in_one,
    by_names,
    by_ranges,
    divide,
    in_usual_order,
)
from fuel.exceptions import ConversionError

fractions = st.fractions(min_value=0, max_value=Fraction(2, 5), max_denominator=50)
seeds = st.integers(0, 2 ** 32 - 1)


def rounded(value):
    """Return the nearest whole number, halves up."""
    return int(value + Fraction(1, 2))


@given(st.integers(20, 300), fractions, fractions, seeds)
def test_every_example_is_in_exactly_one_split_and_the_counts_are_the_nearest(count, valid, test,
                                                                              seed):
    wanted = {'valid': rounded(count * valid), 'test': rounded(count * test)}
    if 0 in (wanted['valid'] if valid else 1, wanted['test'] if test else 1):
        with pytest.raises(ConversionError, match='none would be in'):
            divide(count, Shares(valid, test), seed)
        return
    splits = divide(count, Shares(valid, test), seed)
    assert sorted(numpy.concatenate(list(splits.values())).tolist()) == list(range(count))
    assert list(splits) == ['train', *[name for name, share in (('valid', valid), ('test', test))
                                       if share]]
    for name, rows in splits.items():
        assert numpy.array_equal(rows, numpy.unique(rows))
        if name != 'train':
            assert len(rows) == wanted[name]


@given(st.lists(st.integers(2, 60), min_size=1, max_size=8), fractions, fractions, seeds,
       st.randoms(use_true_random=False))
def test_each_split_has_the_same_part_of_every_class(sizes, valid, test, seed, random):
    classes = [number for number, size in enumerate(sizes) for _ in range(size)]
    random.shuffle(classes)
    shares = {'valid': valid, 'test': test}
    try:
        splits = divide(len(classes), Shares(valid, test), seed, classes)
    except ConversionError:
        # There is nothing for one of the splits, with or without regard to classes.
        assert any(share and rounded(len(classes) * share) <= len(sizes)
                   for share in shares.values())
        return
    assert sorted(numpy.concatenate(list(splits.values())).tolist()) == list(range(len(classes)))
    for name, share in shares.items():
        if share:
            found = numpy.bincount(numpy.array(classes)[splits[name]], minlength=len(sizes))
            for size, number in zip(sizes, found.tolist(), strict=True):
                assert abs(number - size * share) < 1
            assert found.sum() <= rounded(len(classes) * share)
    assert set(numpy.array(classes)[splits['train']]) == set(range(len(sizes)))


@given(seeds)
def test_a_seed_always_gives_the_same_division(seed):
    shares = Shares('0.1', '0.25')
    classes = numpy.arange(90) % 7
    for of_classes in (None, classes):
        one, other = (divide(90, shares, seed, of_classes) for _ in range(2))
        assert all(numpy.array_equal(one[name], other[name]) for name in one)


def test_the_division_is_the_documented_one():
    order = numpy.random.RandomState(8).permutation(40)
    splits = divide(40, Shares('0.1', '0.2'), 8)
    assert numpy.array_equal(splits['valid'], numpy.sort(order[:4]))
    assert numpy.array_equal(splits['test'], numpy.sort(order[4:12]))
    assert numpy.array_equal(splits['train'], numpy.sort(order[12:]))
    classes = numpy.arange(40) % 2
    splits = divide(40, Shares('0.1', '0.2'), 8, classes)
    for name, start, stop in (('valid', 0, 2), ('test', 2, 6), ('train', 6, 20)):
        expected = [row for kind in (0, 1)
                    for row in order[classes[order] == kind][start:stop].tolist()]
        assert splits[name].tolist() == sorted(expected)


def test_a_class_that_loses_more_gives_one_more():
    # Of 14 and 6 examples a fifth is 2.8 and 1.2: with 4 in all, 3 and 1.
    classes = [0] * 14 + [1] * 6
    for seed in range(5):
        rows = divide(20, Shares(test='0.2'), seed, classes)['test']
        assert [int((rows < 14).sum()), int((rows >= 14).sum())] == [3, 1]


def test_ties_are_decided_by_the_seed():
    classes = numpy.arange(10) % 2      # a tenth of 5 and 5 is 0.5 of each: one example in all
    chosen = {int(divide(10, Shares(test='0.1'), seed, classes)['test'][0]) % 2
              for seed in range(20)}
    assert chosen == {0, 1}


def test_a_class_of_one_example_stays_in_train(caplog):
    classes = [0] * 30 + list(range(1, 11))
    with caplog.at_level(logging.WARNING):
        splits = divide(40, Shares(test='0.1'), 1, classes)
    assert set(range(30, 40)) <= set(splits['train'].tolist())
    assert len(splits['test']) == 3
    assert caplog.messages == ['test has 3 examples instead of 4: 10 classes have a single '
                               'example, which stays in train']
    with caplog.at_level(logging.WARNING):
        divide(3, Shares(test='0.6'), 1, [0, 1, 1])
    assert caplog.messages[1] == ('test has 1 example instead of 2: 1 class has a single example, '
                                  'which stays in train')
    with pytest.raises(ConversionError, match='--no-stratify'):
        divide(10, Shares(test='0.2'), 1, list(range(10)))


@pytest.mark.parametrize(('valid', 'test', 'words'), [
    ('1', '0', 'less than 1'), ('-0.1', '0', 'at least 0'), ('0.5', '0.5', 'leave something'),
    (float('nan'), '0', 'at least 0'), ('1/0', '0', 'at least 0'), ('none', '0', 'at least 0'),
    # To write these as fractions would take forever.
    ('1e-999999999', '0', 'at least 0'), ('0', '1e999999999', 'at least 0'),
    ('0', '0.' + '0' * 5000 + '1', 'at least 0')])
def test_impossible_shares(valid, test, words):
    with pytest.raises(ConversionError, match=words):
        Shares(valid, test)


def test_a_share_is_taken_as_it_is_written():
    assert Shares(0.1, '1/6') == Shares(Fraction(1, 10), Fraction(1, 6))
    assert Shares.of(0.1, '1/6') == Shares(0.1, '1/6')
    assert Shares(5e-324).valid == Fraction('5e-324')
    assert not Shares()
    # A tenth of 45 is 4.5, and as a float would be less.
    assert len(divide(45, Shares(0.1), 1)['valid']) == 5


def test_ranges(caplog):
    splits = by_ranges(10, [Range('train', 2, 8), Range('test', 8, 10)])
    assert {name: rows.tolist() for name, rows in splits.items()} == {
        'train': [2, 3, 4, 5, 6, 7], 'test': [8, 9]}
    assert caplog.messages == ['2 of 10 examples are in no split and were left out']
    for ranges, words in (([Range('a', 0, 11)], '0:11'), ([Range('a', 3, 3)], '3:3'),
                          ([Range('a', 0, 5), Range('b', 4, 6)], 'a .0:5. and b .4:6.'),
                          ([Range('a', 0, 1), Range('a', 2, 3)], 'twice')):
        with pytest.raises(ConversionError, match=words):
            by_ranges(10, ranges)


def test_names():
    splits = by_names(['test', 'b', 'train', 'Valid', 'test'])
    assert {name: rows.tolist() for name, rows in splits.items()} == {
        'train': [2], 'Valid': [3], 'test': [0, 4], 'b': [1]}
    assert in_usual_order(['x', 'a', 'val', 'train', 'test']) == ['train', 'val', 'test', 'a', 'x']
    assert all_in_one(3)['train'].tolist() == [0, 1, 2]


def test_words_of_the_command_line():
    assert fraction_from_text('1/6') == Fraction(1, 6)
    assert range_from_text('a=0:3') == Range('a', 0, 3)
    assert range_from_text('train=:800') == Range('train', 0, 800)
    for function, text in ((fraction_from_text, '1'), (fraction_from_text, 'x'),
                           (range_from_text, 'train'), (range_from_text, '=0:1'),
                           (range_from_text, 'a=1'), (range_from_text, 'a=1:-2'),
                           (fraction_from_text, '1e-999999999'),
                           (range_from_text, 'a=1:' + '9' * 5000)):
        with pytest.raises(ArgumentTypeError, match='expected'):
            function(text)
    assert one_way({'a': False, 'b': True}) == 'b'
    assert one_way({'a': False}) is None
    with pytest.raises(ConversionError, match='a and b'):
        one_way({'a': True, 'b': True})


def test_the_seed_is_that_of_the_settings_if_none_is_given():
    config.default_seed = 77
    assert used_seed(None) == 77
    assert used_seed(0) == 0
