"""Checks that a stream keeps the contract of the library."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from fuel.exceptions import SupersededIteratorError
from fuel.testing.comparing import assert_same, copied, drawn, ensure
from fuel.testing.resuming import check_resume
from fuel.transformers.agnostic import AgnosticTransformer

__all__ = ['ReadOnly', 'check_independence', 'check_labels', 'check_lengths', 'check_ownership',
           'check_stream', 'check_transformer']


class ReadOnly(AgnosticTransformer):
    """Makes arrays read-only, so that a transformer that writes into its input raises."""

    def transform_any(self, data: Any) -> Any:
        """Return the same arrays, read-only."""
        for array in _arrays(data):
            array.flags.writeable = False
        return data


def check_stream(make_stream: Callable[[], Any], *, by_state: bool = True,
                 new_process: bool = True, remembers: bool = False) -> None:
    """Check everything that holds for every stream.

    Parameters
    ----------
    make_stream : callable
        Returns a new stream, always in the same form, with epochs that end. It must be importable
        by its name unless `new_process` is off.
    by_state : bool, optional
        Whether the stream supports `state_dict`.
    new_process : bool, optional
        Resume in a new interpreter, too.
    remembers : bool, optional
        Whether the stream keeps something that runs on from step to step and from epoch to epoch,
        such as a counter, so that what it gives depends on all that was drawn before.

    Raises
    ------
    AssertionError
        Something does not hold; the message says what.
    """
    check_form(make_stream)
    check_labels(make_stream)
    check_lengths(make_stream)
    if not remembers:
        check_breaking_off(make_stream)
        check_independence(make_stream)
    check_ownership(make_stream)
    check_resume(make_stream, by_state=by_state, new_process=new_process)
    check_closing(make_stream)


def check_transformer(wrap: Callable[[Any], Any], make_stream: Callable[[], Any], *,
                      by_state: bool = True, remembers: bool = False) -> None:
    """Check everything that holds for every transformer: that of streams, and clean hands.

    Parameters
    ----------
    wrap : callable
        Takes a stream and returns the transformer around it.
    make_stream : callable
        Returns a new stream to wrap, always in the same form.
    by_state, remembers : bool, optional
        As for `check_stream`.

    Raises
    ------
    AssertionError
        Something does not hold; the message says what.
    """
    below = make_stream()
    labels, sources = copied(below.axis_labels), below.sources
    above = wrap(below)
    drawn(above)
    _ = above.axis_labels, above.sources
    ensure(below.axis_labels == labels and below.sources == sources,
           'the labels or sources of the wrapped stream were changed')
    expected = drawn(wrap(make_stream()))
    try:
        assert_same(drawn(wrap(ReadOnly(make_stream()))), expected, 'over read-only arrays')
    except ValueError as error:
        raise AssertionError(f'the transformer writes into its input: {error}') from error
    check_stream(lambda: wrap(make_stream()), by_state=by_state, new_process=False,
                 remembers=remembers)


def check_form(make_stream: Callable[[], Any]) -> None:
    """Check sources, the form of the data, dicts, and that epochs end and come anew."""
    stream = make_stream()
    ensure(type(stream.sources) is tuple and stream.sources,
           f'sources should be a tuple of names; got {stream.sources!r}')
    first, second = drawn(stream, 2)
    ensure(first, 'the first epoch gives nothing')
    ensure(second, 'the second epoch gives nothing')
    for data in first:
        ensure(type(data) is tuple and len(data) == len(stream.sources),
               f'expected a tuple of {len(stream.sources)} items, one for each source; got '
               f'{data!r}')
    assert_same(drawn(make_stream(), 2), [first, second], 'a stream made in the same way')
    as_dicts = [copied(data) for data in make_stream().get_epoch_iterator(as_dict=True)]
    assert_same(as_dicts, [dict(zip(stream.sources, data, strict=True)) for data in first],
                'as_dict')
    fresh = make_stream()
    epochs = fresh.iterate_epochs()
    assert_same([copied(data) for data in next(epochs)], first, 'iterate_epochs')


def check_breaking_off(make_stream: Callable[[], Any]) -> None:
    """Check that an epoch that was broken off does not leak into the next."""
    _, second = drawn(make_stream(), 2)
    stream = make_stream()
    next(stream.get_epoch_iterator())
    assert_same(drawn(stream), [second], 'the epoch after one that was broken off')


def check_labels(make_stream: Callable[[], Any]) -> None:
    """Check that axis labels fit the data, and that looking at them changes nothing."""
    stream = make_stream()
    labels = stream.axis_labels
    if labels is None:
        return
    for data in drawn(stream)[0][:1]:
        for source, item in zip(stream.sources, data, strict=True):
            axes = labels.get(source)
            if axes is None or '' in axes:  # not known, or not set in a file
                continue
            ensure(type(axes) is tuple, f'the labels of {source!r} should be a tuple; got {axes!r}')
            if isinstance(item, numpy.ndarray) and item.dtype != object:
                ensure(item.ndim == len(axes), f'{source!r} has {item.ndim} axes and the labels '
                                               f'{axes!r}')
    assert_same(dict(stream.axis_labels), dict(labels), 'the labels after an epoch')


def check_lengths(make_stream: Callable[[], Any]) -> None:
    """Check that the length of an epoch is right where the stream tells it."""
    stream = make_stream()
    steps = len(drawn(stream)[0])
    known = stream.num_examples if stream.produces_examples else stream.num_batches
    if known is None:
        try:
            len(stream)
        except TypeError:
            return
        raise AssertionError('len() gives a number where the stream knows none')
    ensure(known == steps == len(stream),
           f'the stream tells a length of {known}, len() says {len(stream)}, and an epoch has '
           f'{steps} steps')


def check_independence(make_stream: Callable[[], Any]) -> None:
    """Check that two live iterators give whole epochs each, or that the older one raises."""
    first, second = drawn(make_stream(), 2)
    stream = make_stream()
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    pairs: list[tuple[Any, Any]] = []
    try:
        while True:
            try:
                pairs.append((copied(next(older)), copied(next(newer))))
            except StopIteration:
                break
    except SupersededIteratorError:
        ensure(not pairs, 'the older iterator gave data before it raised')
        assert_same([copied(data) for data in newer], second, 'the newer of two iterators')
        return
    shortest = len(pairs)
    assert_same([one for one, _ in pairs], first[:shortest], 'the older of two iterators')
    assert_same([other for _, other in pairs], second[:shortest], 'the newer of two iterators')


def check_ownership(make_stream: Callable[[], Any]) -> None:
    """Check that arrays belong to the caller: to write into them changes nothing later."""
    first, second = drawn(make_stream(), 2)
    stream = make_stream()
    kept = list(stream.get_epoch_iterator())
    assert_same(kept, first, 'data kept until the end of the epoch')
    for data in kept:
        for array in _arrays(data):
            ensure(array.flags.writeable, 'an array that is given out is read-only')
            array[...] = numpy.zeros((), array.dtype)
    assert_same(drawn(stream), [second], 'the epoch after one whose arrays were written into')


def check_closing(make_stream: Callable[[], Any]) -> None:
    """Check that a stream can be closed at any time, more than once, and be used after it."""
    first = drawn(make_stream())[0]
    stream = make_stream()
    stream.close()
    stream.close()
    assert_same(len(drawn(stream)[0]), len(first), 'an epoch after close()')
    stream.close()


def _arrays(data: Any) -> Iterator[Any]:
    """Yield the arrays in data, those in lists and in arrays of objects included."""
    if isinstance(data, numpy.ndarray):
        if data.dtype != object:
            yield data
        else:
            for entry in data.flat:
                yield from _arrays(entry)
    elif isinstance(data, (list, tuple)):
        for entry in data:
            yield from _arrays(entry)
