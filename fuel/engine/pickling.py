"""Pickles for other processes: by value where something comes from the user's script.

A worker never runs that script, and would not find there what an ordinary pickle looks up by name.
"""
from __future__ import annotations

import functools
import io
import pickle
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ['by_value', 'dumps', 'pickler_class']

SetApart = Callable[[pickle.PickleBuffer], Any]


def dumps(value: Any) -> bytes:
    """Pickle something small, in the fastest way that does.

    Parameters
    ----------
    value : object
        Not changed.

    Returns
    -------
    bytes
        For `pickle.loads` in another process.
    """
    with suppress(Exception):  # by value it may go
        pickled = pickle.dumps(value, protocol=5)
        if b'__main__' not in pickled:
            return pickled
    return by_value(value)


def by_value(value: Any, set_apart: SetApart | None = None) -> bytes:
    """Pickle something along with the functions and classes that it uses from the user's script.

    Parameters
    ----------
    value : object
        Not changed.
    set_apart : callable, optional
        As the argument `buffer_callback` of a pickler.

    Returns
    -------
    bytes
        For `pickle.loads` in another process.
    """
    with io.BytesIO() as stream, _made_modules_by_value():
        pickler_class()(stream, protocol=5, buffer_callback=set_apart).dump(value)
        return stream.getvalue()


@contextmanager
def _made_modules_by_value() -> Iterator[None]:
    """Have modules that no file made sent by value: others cannot import them."""
    import cloudpickle
    made = [module for name, module in list(sys.modules.items())
            if isinstance(module, types.ModuleType) and name == module.__name__ != '__main__'
            and getattr(module, '__spec__', None) is None
            and getattr(module, '__file__', None) is None
            and name not in cloudpickle.list_registry_pickle_by_value()]
    for module in made:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in made:
            cloudpickle.unregister_pickle_by_value(module)


@functools.cache
def pickler_class() -> Any:
    """Return the class of picklers; its module takes some time to import."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Keeps the names of files, so that tracebacks show the lines of the user's script."""

        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, types.CodeType):
                make, arguments, *rest = self.dispatch_table[types.CodeType](value)
                return make, tuple(value.co_filename if argument == '<dynamic-code>' else argument
                                   for argument in arguments), *rest
            return super().reducer_override(value)

    return Pickler
