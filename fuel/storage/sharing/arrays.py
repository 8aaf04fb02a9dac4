"""One copy of arrays in memory for all processes that work on a machine."""
from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy
import numpy.typing as npt

from fuel._types import JSON, AnyArray
from fuel.storage.sharing.blocks import SharedBlock

__all__ = ['ArrayPlan', 'SharedArrays', 'shared_arrays']

#: What to publish: an array, or the dtype and shape of one that is filled in later.
ArrayPlan: TypeAlias = AnyArray | tuple[npt.DTypeLike, tuple[int, ...]]

# Where arrays begin: what a processor fetches at once, so that no value lies across two of them.
_ALIGNMENT = 64


class SharedArrays:
    """Arrays by the name of their source, in a block that other processes map.

    Made by `publish` and `attach`. Whoever uses the arrays keeps this object: with the last
    reference to it the block is closed, though arrays that are still in use stay valid.

    Attributes
    ----------
    arrays : mapping
        From the name of a source to a tuple of arrays. They can be written to by the process that
        publishes them, until `seal` is called.
    """

    arrays: Mapping[str, tuple[AnyArray, ...]]

    def __init__(self, block: SharedBlock, places: dict[str, list[JSON]]) -> None:
        self._block = block
        self._places = places
        self._lay_out()

    def _lay_out(self) -> None:
        self.arrays = MappingProxyType({
            source: tuple(self._block.array(_dtype(dtype), tuple(shape), offset)
                          for dtype, shape, offset in places)
            for source, places in self._places.items()})

    @classmethod
    def publish(cls, sources: Mapping[str, Sequence[ArrayPlan]], kind: str | None = None,
                purpose: str = 'Sharing data with other processes') -> SharedArrays:
        """Take the memory for some arrays, and copy into it what is there already.

        Parameters
        ----------
        sources : dict
            Maps names to lists of arrays. In place of an array there may be a tuple of a dtype
            and a shape: that array is full of zeros, and filled by the caller through `arrays`
            without a second copy anywhere.
        kind : {'memory', 'file'}, optional
            See `SharedBlock.create`.
        purpose : str, optional
            What for; it begins the message of an error.

        Returns
        -------
        SharedArrays
            To be filled and sealed.

        Raises
        ------
        MemoryError
            There is not so much memory. The message says how much is needed, and how much is left.
        TypeError
            An array holds objects. See `fuel.storage.sharing.flat.flatten`.

        Examples
        --------
        >>> shared = SharedArrays.publish({'x': [('float32', (3, 2))]})
        >>> shared.arrays['x'][0][:] = 0.5
        >>> shared.seal()
        >>> SharedArrays.attach(shared.token()).arrays['x'][0].sum().item()
        3.0
        """
        places: dict[str, list[JSON]] = {}
        end = 0
        for source, plans in sources.items():
            places[source] = []
            for plan in plans:
                dtype, shape = ((plan.dtype, plan.shape) if isinstance(plan, numpy.ndarray)
                                else (numpy.dtype(plan[0]), plan[1]))
                if dtype.hasobject:
                    raise TypeError(f'source {source!r}: expected arrays without objects; got '
                                    f'{dtype}. Flatten arrays of different lengths first')
                begin = -(-end // _ALIGNMENT) * _ALIGNMENT
                shape = tuple(map(int, shape))
                places[source].append([_plain_dtype(dtype), list(shape), begin])
                end = begin + dtype.itemsize * math.prod(shape)
        published = cls(SharedBlock.create(end, kind, purpose), places)
        for source, plans in sources.items():
            for plan, array in zip(plans, published.arrays[source], strict=True):
                if isinstance(plan, numpy.ndarray):
                    array[...] = plan
        return published

    @classmethod
    def attach(cls, token: JSON) -> SharedArrays | None:
        """Map the arrays that another process has published.

        Parameters
        ----------
        token : dict
            What `token` returned there.

        Returns
        -------
        SharedArrays or None
            Its arrays are read-only. `None` if they are gone, as when their owner has ended, or
            are on another machine: load the data instead.
        """
        try:
            places = token['arrays']
            block = SharedBlock.attach(token['block'])
        except (KeyError, TypeError):
            return None
        return None if block is None else cls(block, places)

    def seal(self) -> None:
        """End the writing. `arrays` is now made of read-only arrays.

        Arrays that were taken from it before become read-only too; what was derived from them
        must not be written to.
        """
        if not self._block.sealed:
            self._block.seal()
            self._lay_out()

    def token(self) -> dict[str, JSON]:
        """Return plain data with which other processes find the arrays.

        Returns
        -------
        dict
            For `attach`; can be pickled and written as JSON.

        Raises
        ------
        ValueError
            The arrays are not sealed yet, or are closed.
        """
        return {'block': self._block.token(), 'arrays': self._places}

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take, once for all processes."""
        return self._block.nbytes

    @property
    def closed(self) -> bool:
        """Whether they have been closed in this process."""
        return self._block.closed

    def close(self) -> None:
        """Let go of the arrays, for everybody who shares this object. Those in use stay valid."""
        self.arrays = MappingProxyType({})
        self._block.close()


def _plain_dtype(dtype: numpy.dtype[Any]) -> JSON:
    """Return a dtype as plain data, without what libraries note beside it."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {'base': _plain_dtype(base), 'shape': list(shape)}
    if dtype.names is None or dtype.fields is None:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {'names': list(dtype.names), 'formats': [_plain_dtype(field[0]) for field in fields],
            'offsets': [field[1] for field in fields], 'itemsize': dtype.itemsize,
            'aligned': dtype.isalignedstruct}


def _dtype(plain: JSON) -> numpy.dtype[Any]:
    """Return the dtype that `_plain_dtype` was given."""
    if isinstance(plain, str):
        return numpy.dtype(plain)
    if 'base' in plain:
        return numpy.dtype((_dtype(plain['base']), tuple(plain['shape'])))
    return numpy.dtype({'names': plain['names'], 'formats': list(map(_dtype, plain['formats'])),
                        'offsets': plain['offsets'], 'itemsize': plain['itemsize']},
                       align=plain['aligned'])


class _Registry:
    """The arrays that are in use in this process, by a key that says what they hold."""

    def __init__(self) -> None:
        self._in_use: WeakValueDictionary[Hashable, SharedArrays] = WeakValueDictionary()
        self.forget_locks()

    def forget_locks(self) -> None:
        """Begin anew in a child process, where no other thread is left to release a lock.

        What the parent shared is mapped in the child as well, and stays in use.
        """
        self._guard = threading.Lock()
        self._locks: dict[Hashable, tuple[threading.RLock, int]] = {}

    @contextmanager
    def _locked(self, key: Hashable) -> Iterator[None]:
        """Hold the lock of a key; others can be built meanwhile."""
        with self._guard:
            lock, users = self._locks.get(key) or (threading.RLock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                held, users = self._locks.get(key, (None, 0))
                if held is lock:                    # and not that of a parent
                    if users > 1:
                        self._locks[key] = lock, users - 1
                    else:
                        del self._locks[key]

    def get(self, key: Hashable, build: Callable[[], SharedArrays]) -> SharedArrays:
        with self._locked(key):
            arrays = self._in_use.get(key)
            if arrays is None or arrays.closed:
                arrays = build()
                arrays.seal()
                self._in_use[key] = arrays
            return arrays


_registry = _Registry()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_registry.forget_locks)


def shared_arrays(key: Hashable, build: Callable[[], SharedArrays]) -> SharedArrays:
    """Return the arrays of a key, which all users in this process share.

    Parameters
    ----------
    key : hashable
        Says what the arrays hold: whoever gives an equal key gets the same arrays.
    build : callable
        Returns `SharedArrays`; called if nobody in this process uses those of the key. It attaches
        those of another process, or publishes and fills them; they are sealed afterwards. Threads
        that ask for the same key meanwhile wait for it.

    Returns
    -------
    SharedArrays
        Released with the last user: keep this object as long as the arrays are in use, and do not
        call its method `close`. A child made by ``fork`` shares the arrays of its parent.
    """
    return _registry.get(key, build)
