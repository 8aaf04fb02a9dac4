"""Finding what it is that cannot be sent to other processes, so that an error can name it."""
from __future__ import annotations

import io
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fuel.engine.pickling import pickler_class

__all__ = ['explain']

_DEEPEST = 12
_WIDEST = 200


class _Nowhere(io.RawIOBase):
    """Takes bytes and forgets them."""

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return len(content)


def explain(whole: Any, error: Exception,
            describe: Callable[[Any], Iterable[tuple[str, Any]]] | None = None) -> str:
    """Say which part of something cannot be pickled, and what to do about it.

    Parameters
    ----------
    whole : object
        What could not be pickled.
    error : BaseException
        Why.
    describe : callable, optional
        Returns the parts of it, each with a name.

    Returns
    -------
    str
        A message.
    """
    parts = [*(describe(whole) if describe is not None else ()), (type(whole).__name__, whole)]
    for name, part in parts:
        problem = _problem(part)
        if problem is not None:
            path, culprit, error = _descend(name, part, problem)
            break
    else:  # only together
        path, culprit = type(whole).__name__, whole
    return (f'{path} cannot be sent to worker processes: it is {_shown(culprit)}, and pickling '
            f'it failed: {type(error).__name__}: {error}. Make it in the worker, when it is '
            'first used; leave it out in the __getstate__ of what holds it; or use threads')


def _problem(part: Any) -> Exception | None:
    try:
        pickler_class()(_Nowhere(), protocol=5, buffer_callback=lambda buffer: False).dump(part)
    except Exception as problem:
        return problem
    return None


def _descend(path: str, part: Any, problem: Exception) -> tuple[str, Any, Exception]:
    """Follow a failure down to the smallest part that fails."""
    seen = {id(part)}
    for _ in range(_DEEPEST):
        for index, (name, inner) in enumerate(_inner(part)):
            if index == _WIDEST:
                return path, part, problem
            if id(inner) in seen:
                continue
            found = _problem(inner)
            if found is not None:
                seen.add(id(inner))
                path, part, problem = path + name, inner, found
                break
        else:
            break
    return path, part, problem


def _inner(part: Any) -> Iterator[tuple[str, Any]]:
    """Return what is pickled along with something, with how it is reached from there."""
    if isinstance(part, dict):
        for key, entry in part.items():
            yield f'[{key!r}]', entry
    elif isinstance(part, (list, tuple, set, frozenset)):
        for index, entry in enumerate(part):
            yield f'[{index}]', entry
    elif isinstance(part, types.MethodType):
        yield '.__self__', part.__self__
    elif isinstance(part, types.FunctionType):
        yield from _inner_of_function(part)
    elif isinstance(part, type):
        for key, entry in vars(part).items():
            if not key.startswith('__'):
                yield f'.{key}', entry
    else:
        try:
            state = part.__reduce_ex__(5)[2]
        except Exception:  # it is the object itself that cannot be pickled, or has no state
            return
        for held in state if isinstance(state, tuple) else (state,):
            if isinstance(held, dict):
                for key, entry in held.items():
                    yield f'.{key}', entry
        if isinstance(part, (staticmethod, classmethod)):
            yield '', part.__func__


def _inner_of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (),
                              strict=True):
        try:
            yield f' (its variable {variable!r})', cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for variable in function.__code__.co_names:
        if variable in function.__globals__:
            yield f' (the global variable {variable!r})', function.__globals__[variable]
    for index, default in enumerate(function.__defaults__ or ()):
        yield f' (its default {index})', default


def _shown(culprit: Any) -> str:
    try:
        text = repr(culprit)
    except Exception:
        text = ''
    if not 0 < len(text) <= 80:
        text = f'of type {type(culprit).__name__}'
    return text
