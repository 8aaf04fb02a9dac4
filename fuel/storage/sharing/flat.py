"""Arrays of different lengths as flat arrays, which processes can share, and back.

An array of objects holds addresses, so that other processes cannot use it. Its values one after
another, with the place where each example begins, are plain arrays; views of them make an array of
objects again.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.utils.indices import Positions

__all__ = ['flatten', 'flatten_into', 'unflatten']

# Bytes and strings come as values of these, one for each letter, without shapes.
_BYTES, _LETTERS = numpy.dtype('S1'), numpy.dtype('<U1')


def flatten(examples: Sequence[Any] | AnyArray, dtype: npt.DTypeLike | None = None
            ) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    """Return the values of all examples one after another.

    Parameters
    ----------
    examples : ndarray of objects, shape (n,), or list
        Arrays of one dtype and number of axes, or all of them `bytes`, or all of them `str`.
    dtype : dtype, optional
        The dtype of the values. By default that of the first example; without any example float64.

    Returns
    -------
    values : ndarray, shape (total,)
        Of `bytes` and `str` one letter for each value, of dtype ``'S1'`` and ``'<U1'``.
    offsets : ndarray of int64, shape (n + 1,)
        Example i is ``values[offsets[i]:offsets[i + 1]]``.
    shapes : ndarray of int64, shape (n, axes), or None
        The shape of every example; `None` if all of them have one axis.

    Raises
    ------
    TypeError
        The examples are of different kinds, dtypes or numbers of axes, or of another kind.
    """
    count = len(examples)
    first = examples[0] if count else numpy.empty(0)
    shapes = None
    if isinstance(first, numpy.ndarray):
        kind = numpy.dtype(dtype if dtype is not None else first.dtype)
        if kind.hasobject:
            raise TypeError(f'expected examples without objects inside; got {kind}')
        if first.ndim != 1 or kind in (_BYTES, _LETTERS):
            shapes = numpy.empty((count, first.ndim), dtype=numpy.int64)
        lengths = [getattr(example, 'size', 0) for example in examples]
    elif isinstance(first, (bytes, str)):
        kind = _BYTES if isinstance(first, bytes) else _LETTERS
        lengths = [len(example) if isinstance(example, (bytes, str)) else 0
                   for example in examples]
    else:
        raise _mismatch(0, first, 'arrays, bytes or strings')
    offsets = numpy.zeros(count + 1, dtype=numpy.int64)
    numpy.cumsum(lengths, out=offsets[1:])
    values = numpy.empty(int(offsets[-1]), dtype=kind)
    flatten_into(examples, values, offsets, shapes)
    return values, offsets, shapes


def flatten_into(examples: Sequence[Any] | AnyArray, values: AnyArray, offsets: AnyArray,
                 shapes: AnyArray | None = None, first: int = 0) -> None:
    """Write examples into their places in flat arrays, such as those that are to be shared.

    Parameters
    ----------
    examples : ndarray of objects, shape (n,), or list
        As for `flatten`.
    values : ndarray, shape (total,)
        Written to.
    offsets : ndarray of integers
        Those of the examples must be there already.
    shapes : ndarray, shape (all, axes), optional
        Written to.
    first : int, optional
        The number of the first of the examples. By default 0.

    Raises
    ------
    TypeError
        An example is of another kind or dtype, or has another number of axes.
    ValueError
        An example does not have the length that the offsets say.
    """
    if not len(examples):
        return
    places = offsets[first:first + len(examples) + 1].tolist()
    if len(places) != len(examples) + 1:
        raise ValueError(f'expected offsets of {first + len(examples)} examples; got those of '
                         f'{len(offsets) - 1}')
    text: type[bytes | str] | None = (
        None if shapes is not None or values.dtype not in (_BYTES, _LETTERS)
        else bytes if values.dtype == _BYTES else str)
    axes = 1 if shapes is None else shapes.shape[1]
    parts = []
    for number, (example, begin, end) in enumerate(zip(examples, places, places[1:],
                                                       strict=False), first):
        if text is not None:
            if not isinstance(example, text):
                raise _mismatch(number, example, text.__name__)
            part = _letters(example)
        elif (isinstance(example, numpy.ndarray) and example.dtype == values.dtype
                and example.ndim == axes):
            part = example.reshape(-1)
            if shapes is not None:
                shapes[number] = example.shape
        else:
            raise _mismatch(number, example, f'an array of {values.dtype} with {axes} axes')
        if part.size != end - begin:
            raise ValueError(f'example {number}: expected {end - begin} values; got {part.size}')
        parts.append(part)
    numpy.concatenate(parts, out=values[places[0]:places[-1]])


def _letters(text: bytes | str) -> AnyArray:
    if isinstance(text, bytes):
        return numpy.frombuffer(text, _BYTES)
    return numpy.frombuffer(text.encode('utf-32-le', 'surrogatepass'), _LETTERS)


def _mismatch(number: int, example: Any, expected: str) -> TypeError:
    got = (f'{example.dtype} with {example.ndim} axes' if isinstance(example, numpy.ndarray)
           else type(example).__name__)
    return TypeError(f'example {number}: expected {expected}; got {got}')


def unflatten(values: AnyArray, offsets: AnyArray, shapes: AnyArray | None = None,
              positions: Positions = slice(None)) -> Any:
    """Return examples out of flat arrays, without a copy of their values.

    Parameters
    ----------
    values, offsets, shapes : ndarray
        What `flatten` returned.
    positions : int, slice or ndarray of integers, optional
        Which examples, none of them past the end. By default all of them.

    Returns
    -------
    ndarray of objects, shape (n,), or ndarray, bytes or str
        Views of `values`, which are read-only if that is; for an integer a single one. `bytes` and
        `str` are made anew.
    """
    if isinstance(positions, int):
        return unflatten(values, offsets, shapes, slice(positions, positions + 1))[0]
    begins, ends = offsets[:-1][positions].tolist(), offsets[1:][positions].tolist()
    pieces = [values[begin:end] for begin, end in zip(begins, ends, strict=True)]
    examples: list[Any] = pieces
    if shapes is not None:
        examples = [piece.reshape(shape) for piece, shape
                    in zip(pieces, shapes[positions].tolist(), strict=True)]
    elif values.dtype == _BYTES:
        examples = [piece.tobytes() for piece in pieces]
    elif values.dtype == _LETTERS:
        examples = [piece.tobytes().decode('utf-32-le', 'surrogatepass') for piece in pieces]
    return numpy.fromiter(examples, dtype=object, count=len(examples))
