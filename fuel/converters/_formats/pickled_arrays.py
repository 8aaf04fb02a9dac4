"""What pickles say of arrays, noted and checked before an array is made."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.spooled import Spool, SpooledArray

__all__ = ['MARK', 'Kept', 'NotedArray', 'PickleProblem', 'array_of', 'called', 'in_words',
           'is_part', 'name_of', 'short', 'tell']

_CORE = ('numpy.core.multiarray', 'numpy._core.multiarray')
_NUMERIC = ('numpy.core.numeric', 'numpy._core.numeric')
#: What numpy and Python 2 write for arrays, and what is made of it here.
_KINDS = {
    **{(module, '_reconstruct'): 'reconstruct' for module in _CORE},
    **{(module, '_frombuffer'): 'frombuffer' for module in _NUMERIC},
    ('numpy', 'ndarray'): 'class', ('numpy', 'dtype'): 'dtype',
    # How Python 3 writes bytes for Python 2.
    ('_codecs', 'encode'): 'encode',
}
_ORDERS = ('<', '>', '|', '=', b'<', b'>', b'|', b'=')
#: Those of the dtypes that arrays may have.
_CODES = ('b1', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8')


class PickleProblem(Exception):
    """What is wrong with a pickle; the place is added later."""


class _Mark:
    """Stands where the items of a container begin."""

    __slots__ = ()


#: There is only one, for there may be as many places as a pickle has bytes.
MARK = _Mark()


class _Name:
    """A name that stands for a function or a class; it is neither imported nor called."""

    __slots__ = ('kind',)

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _NotedDtype:
    """A dtype of numbers, to which its byte order is told later."""

    __slots__ = ('code', 'order')

    def __init__(self, code: str) -> None:
        self.code, self.order = code, '|'


class NotedArray:
    """An array, the state of which is told later."""

    __slots__ = ('state',)

    def __init__(self) -> None:
        self.state: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes that were put into a file."""

    offset: int
    size: int

    def __len__(self) -> int:
        return self.size


#: Pickles have names again and again, which need no objects of their own.
_GLOBALS = {name: _Name(kind) for name, kind in _KINDS.items()}
_WORDS: tuple[tuple[Any, str], ...] = (
    (_Mark, 'the beginning of a container without its end'),
    (_Name, 'the name of a function or a class'), (_NotedDtype, 'a dtype'),
    (NotedArray, 'an array'), (Kept, 'bytes'), (bool, 'a truth value'), (int, 'a whole number'),
    (float, 'a number'), (str, 'a text'), (bytes, 'bytes'), (list, 'a list'), (tuple, 'a tuple'),
    (dict, 'a dictionary'), (type(None), 'nothing'))


def in_words(value: Any) -> str:
    """Say what kind of thing a value is, in words of Python's and not of this reader's."""
    for kinds, words in _WORDS:
        if isinstance(value, kinds):
            return words
    return f'something of type {type(value).__name__}'


def is_part(value: Any) -> bool:
    """Tell whether something is no value, but a step on the way to an array or a container."""
    return isinstance(value, (_Mark, _Name, _NotedDtype)) or (
        isinstance(value, NotedArray) and value.state is None)


def short(value: Any) -> str:
    """Return a value in words; never all of a container, which may be without end."""
    if isinstance(value, (bytes, str)):
        return value[:80] if isinstance(value, str) else repr(value[:80])
    return f'{value:d}' if type(value) is int else in_words(value)


def name_of(module: Any, name: Any) -> _Name:
    """Return what stands for a function or a class that a pickle names.

    Raises
    ------
    PickleProblem
        It is none of those that arrays are pickled with.
    """
    found = _GLOBALS.get((module, name))
    if found is None:
        raise PickleProblem(
            f'expected plain data and arrays of numbers; the pickle asks for {short(module)}.'
            f'{short(name)}, which was not run. Do not trust where the file came from')
    return found


def called(function: Any, arguments: Any) -> Any:
    """Return what stands for the result of a call.

    Parameters
    ----------
    function : object
        What the pickle calls.
    arguments : tuple
        What with.

    Returns
    -------
    NotedArray, bytes or object
        Bytes where the call only says how they are written.

    Raises
    ------
    PickleProblem
        The pickle calls something else.
    """
    kind = function.kind if isinstance(function, _Name) else None
    if kind == 'dtype':
        return _NotedDtype(_code_of(arguments[0]))
    if kind == 'reconstruct':
        return NotedArray()
    if kind == 'frombuffer':
        content, dtype, shape, order = arguments
        array = NotedArray()
        array.state = (1, shape, dtype, order == 'F', content)
        return array
    if kind == 'encode':
        text, encoding = arguments
        if isinstance(text, str) and encoding in ('latin1', 'latin-1'):
            return text.encode('latin-1')
    raise PickleProblem(f'the pickle calls what it cannot, {short(function)}; nothing was run')


def tell(target: Any, state: Any) -> None:
    """Tell an array or a dtype its state.

    Raises
    ------
    PickleProblem
        It is neither, or the state is none.
    """
    if isinstance(target, _NotedDtype) and len(state) > 1 and state[1] in _ORDERS:
        target.order = state[1] if isinstance(state[1], str) else state[1].decode('latin-1')
    elif isinstance(target, NotedArray) and target.state is None and len(state) == 5:
        target.state = state
    else:
        raise PickleProblem('expected the state of an array or of a dtype; got that of something '
                            f'else: {short(target)}')


def _code_of(text: Any) -> str:
    """Return the code of a dtype of numbers, such as u1."""
    code = text.decode('latin-1') if isinstance(text, bytes) else text
    if not isinstance(code, str) or code not in _CODES:
        raise PickleProblem(f'expected arrays of numbers; got the dtype {short(text)}')
    return code


def array_of(noted: NotedArray, spool: Spool | None) -> AnyArray | SpooledArray:
    """Make an array of its state: version, shape, dtype, whether in the order of Fortran, bytes."""
    _, shape, dtype, fortran, content = noted.state or ()
    if not isinstance(dtype, _NotedDtype) or not isinstance(content, (bytes, Kept)):
        raise PickleProblem('expected an array of numbers; got one with a dtype or values of '
                            f'another kind: {short(dtype)}, {short(content)}')
    if (not isinstance(shape, tuple) or len(shape) > 32
            or not all(type(size) is int and size >= 0 for size in shape)):
        raise PickleProblem('expected the shape of an array; got something else')
    found = numpy.dtype(dtype.order + dtype.code)
    if math.prod(shape) * found.itemsize != len(content):
        raise PickleProblem(f'expected {math.prod(shape)} values for an array of shape {shape}; '
                            f'got {len(content)} bytes of {found}')
    if isinstance(content, bytes):
        return numpy.frombuffer(content, found).reshape(shape, order='F' if fortran else 'C')
    if fortran or spool is None:
        raise PickleProblem('expected a large array to be in the order of C; got that of Fortran')
    return spool.array(content.offset, shape, found)
