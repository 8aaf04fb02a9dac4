"""Axis-label algebra: the labels that come out, and the ones that went in, left as they were."""
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import axes

LABELS = MappingProxyType({'x': ('batch', 'height', 'width'), 'y': ('batch',), 'z': None, 's': ()})

all_labels = st.none() | st.dictionaries(
    st.sampled_from('uvwxyz'),
    st.none() | st.lists(st.sampled_from(['height', 'width', 'feature'])).map(tuple))


def test_unknown_labels_stay_unknown():
    assert axes.changed(None, lambda name, labels: ('a',), ['x']) is None
    assert axes.selected(None, ['x']) is None
    assert axes.batched(None) is None
    assert axes.unbatched(None) is None


def test_changed_changes_the_given_sources_only():
    calls = []

    def flat(name, labels):
        calls.append((name, labels))
        return (*labels[:1], 'feature')

    assert axes.changed(LABELS, flat, ['x', 'z', 'unheard_of']) == {
        'x': ('batch', 'feature'), 'y': ('batch',), 'z': None, 's': ()}
    assert calls == [('x', ('batch', 'height', 'width'))]


def test_changed_takes_sources_from_an_iterator_and_may_forget_labels():
    assert axes.changed(LABELS, lambda name, labels: None, iter(['y', 'x'])) == {
        'x': None, 'y': None, 'z': None, 's': ()}


def test_selected_keeps_the_order_asked_for_and_leaves_out_what_is_not_known():
    chosen = axes.selected(LABELS, ['y', 'unheard_of', 'z', 'x'])
    assert list(chosen.items()) == [('y', ('batch',)), ('z', None),
                                    ('x', ('batch', 'height', 'width'))]


def test_unbatched_takes_the_batch_axis_away():
    assert axes.unbatched(LABELS) == {'x': ('height', 'width'), 'y': (), 'z': None, 's': ()}
    assert axes.unbatched({'x': ('channel', 'batch')}) == {'x': ('channel',)}


def test_batched_puts_a_batch_axis_in_front():
    assert axes.batched({'x': ('height', 'width'), 'z': None}) == {
        'x': ('batch', 'height', 'width'), 'z': None}


@given(all_labels)
def test_unbatched_undoes_batched(labels):
    assert axes.unbatched(axes.batched(labels)) == labels


@pytest.mark.parametrize('function', [
    lambda labels: axes.changed(labels, lambda name, old: (*old, 'more'), labels or ()),
    lambda labels: axes.selected(labels, labels or ()), axes.batched, axes.unbatched])
@given(labels=all_labels)
def test_what_went_in_is_neither_changed_nor_handed_out(function, labels):
    before = None if labels is None else dict(labels)
    result = function(labels)
    assert labels == before
    assert result is None or result is not labels
