"""Attributes that are too large to be pickled, and are loaded again when they are needed."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

__all__ = ['do_not_pickle_attributes', 'loading_lock', 'without_attributes']

_Class = TypeVar('_Class', bound=type)


def do_not_pickle_attributes(*lazy_attributes: str) -> Callable[[_Class], _Class]:
    """Decorate a class some attributes of which are left out of its pickles.

    Each name becomes a property over the attribute of the same name with an underscore in front.
    To read a property that has no value, as after unpickling, calls the method `load` of the
    object first, which must set all of them.

    Parameters
    ----------
    *lazy_attributes : str
        Names of the attributes.

    Returns
    -------
    callable
        Takes a class and returns the same class. One that defines ``__getstate__`` itself keeps
        it and pickles what that returns.

    Raises
    ------
    ValueError
        The class has no method `load`. Later: `load` did not set an attribute that is read; or
        one to be left out is an iterator, whose position would be lost.

    Examples
    --------
    >>> @do_not_pickle_attributes('squares')
    ... class Squares:
    ...     def load(self):
    ...         self.squares = [i * i for i in range(1000)]
    >>> Squares().squares[12]
    144
    """
    def decorate(cls: _Class) -> _Class:
        if not callable(getattr(cls, 'load', None)):
            raise ValueError(f'expected the class {cls.__name__} to have a method load that sets '
                             f'{", ".join(map(repr, lazy_attributes))}; it has none')
        for name in lazy_attributes:
            setattr(cls, name, _lazy_property(name))
        # Every class has a __getstate__ since Python 3.11: only one of its own counts.
        if '__getstate__' not in vars(cls):
            def getstate(self: Any) -> Any:
                inherited: Any = super(cls, self)
                return without_attributes(self, inherited.__getstate__(), lazy_attributes)
            setattr(cls, '__getstate__', getstate)  # noqa: B010 (mypy refuses the plain form)
        return cls
    return decorate


def without_attributes(owner: object, state: Any, names: tuple[str, ...]) -> Any:
    """Return what is to be pickled without the values of some lazy attributes.

    Parameters
    ----------
    owner : object
        What the state is of, for messages.
    state : dict or tuple
        What ``object.__getstate__`` returned. It is not changed. Other forms are returned as
        they are.
    names : tuple of str
        Names of the attributes, without the underscore in front.
    """
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], dict):
        return without_attributes(owner, state[0], names), state[1]
    if not isinstance(state, dict):
        return state
    for name in names:
        if isinstance(state.get('_' + name), Iterator):
            raise ValueError(
                f'the attribute {name!r} of {type(owner).__name__} is an iterator, whose position '
                'would be lost by pickling and loading it again; keep a list or array instead, '
                'or leave the name out of do_not_pickle_attributes')
    left_out = {'_' + name for name in names}
    return {key: value for key, value in state.items() if key not in left_out}


def _lazy_property(name: str) -> property:
    stored = '_' + name

    def get(self: Any) -> Any:
        try:
            return self.__dict__[stored]
        except KeyError:
            pass
        with loading_lock(self):
            if stored not in self.__dict__:         # unless another thread was faster
                self.load()
        try:
            return self.__dict__[stored]
        except KeyError:
            raise ValueError(f"{name} wasn't loaded: expected the method load of "
                             f'{type(self).__name__} to set it') from None

    def set_(self: Any, value: Any) -> None:
        self.__dict__[stored] = value

    def delete(self: Any) -> None:
        if self.__dict__.pop(stored, self) is self:
            raise AttributeError(f'{type(self).__name__} has no value for {name!r}')

    return property(get, set_, delete, doc=f'Loaded when it is needed; not pickled ({name}).')


class _LoadLocks:
    """One lock for each object that is being loaded, and none for all others.

    Kept outside of the objects, so that these stay picklable. One lock for all would bring a
    deadlock where the loading of one object waits for a thread that loads another.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as in a child process where no other thread is left to release a lock."""
        self._guard = threading.Lock()
        self._held: dict[int, tuple[threading.RLock, int]] = {}

    @contextmanager
    def of(self, owner: object) -> Iterator[None]:
        """Hold the lock of an object."""
        key = id(owner)
        with self._guard:
            lock, users = self._held.get(key) or (threading.RLock(), 0)
            self._held[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                held = self._held.get(key)
                if held is not None and held[0] is lock:
                    if held[1] == 1:
                        del self._held[key]
                    else:
                        self._held[key] = lock, held[1] - 1


_loading = _LoadLocks()


def loading_lock(owner: object) -> AbstractContextManager[None]:
    """Return a context in which no other thread loads the lazy attributes of an object."""
    return _loading.of(owner)


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_loading.forget)
