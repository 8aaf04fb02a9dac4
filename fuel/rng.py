"""Random generators that depend on where a step stands, not on who computes it.

A stochastic transformer draws from a generator made anew for every step out of (seed,
transformer, epoch, step). Two computations of one step therefore draw the same numbers, in any
process and after any resume. The generator is numpy's Philox, whose stream is fixed by a key (here
from the seed and the transformer) and a counter (here the step and the epoch): see Salmon et
al., "Parallel random numbers: as easy as 1, 2, 3", SC11.

The module also turns the state of a generator into plain data and back, for states that are
saved as JSON.
"""
from __future__ import annotations

import base64
import functools
import hashlib
import random
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy
from numpy.random import Generator, Philox, RandomState, SeedSequence

from fuel._types import JSON

__all__ = ['capture', 'decode', 'encode', 'generator', 'key_of', 'position_in',
           'rebuild', 'reinstate', 'run_at', 'running']


class Position(Protocol):
    """Where a step stands: the number of its epoch, and how many steps were begun."""

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 0."""

    @property
    def step(self) -> int:
        """The number of steps that were begun, the present one among them."""


class _Running(threading.local):
    """Which step this thread computes, where that is not the newest one.

    A stream takes its newest epoch to be the one that runs. Whoever runs another one says so here,
    and puts back what was there; see `run_at`.

    Attributes
    ----------
    position : Position or None
        Where the step stands.
    streams : tuple of AbstractDataStream or None
        The streams that this is meant for; all by default.
    """

    position: Position | None = None
    streams: tuple[Any, ...] | None = None


running = _Running()


def run_at(position: Position, streams: tuple[Any, ...] | None, function: Callable[..., Any],
           *args: Any) -> Any:
    """Call a function that computes a step of other than the newest epoch.

    Parameters
    ----------
    position : Position
        Where the step stands.
    streams : tuple of AbstractDataStream or None
        The streams whose step it is; `None` for all.
    function : callable
        Called with the further arguments.

    Returns
    -------
    object
        What the function returns.
    """
    outer = running.position, running.streams
    running.position, running.streams = position, streams
    try:
        return function(*args)
    finally:
        running.position, running.streams = outer


def position_in(stream: Any) -> Position | None:
    """Return where the step of a stream stands that this thread computes."""
    position, streams = running.position, running.streams
    if position is not None and (streams is None or any(stream is other for other in streams)):
        return position
    newest: Position | None = stream.epoch_cursor
    return newest


def key_of(name: str) -> int:
    """Return a 64-bit integer that stands for a name, the same in every process."""
    return int.from_bytes(hashlib.blake2b(name.encode('utf-8'), digest_size=8).digest(), 'little')


def generator(seed: int, epoch: int, step: int, key: int = 0) -> Generator:
    """Return the random generator of one step.

    Parameters
    ----------
    seed : int
        At least 0.
    epoch, step : int
        Where the step stands, both counted from 0.
    key : int, optional
        Tells the users of one seed apart, such as two transformers of a chain.

    Returns
    -------
    numpy.random.Generator
        Always at the start of its stream.
    """
    for name, number in (('seed', seed), ('epoch', epoch), ('step', step), ('key', key)):
        if number < 0:
            raise ValueError(f'expected a {name} of at least 0; got {number}')
    # The lowest counter word is left to the generator itself, which counts blocks with it.
    return Generator(Philox(key=_words(seed, key), counter=[0, 0, step, epoch]))


@functools.lru_cache(maxsize=256)
def _words(seed: int, key: int) -> Any:
    """Return what the generators of all steps have in common; it takes as long as the rest."""
    # As a spawn key, since a long seed followed by a key could be told from no other pair else.
    return SeedSequence(seed, spawn_key=(key,)).generate_state(2, numpy.uint64)


def capture(rng: Any) -> Any:
    """Return the present state of a generator, so that it can be gone back to.

    Parameters
    ----------
    rng : RandomState, Generator, random.Random or other
        What the state of is wanted.

    Returns
    -------
    object or None
        Picklable; ``None`` for objects whose state cannot be read.
    """
    # A subclass may shuffle in a way of its own, and could not be made again.
    if type(rng) is RandomState:
        return rng.get_state(legacy=False)
    if type(rng) is Generator:
        return rng.bit_generator.state
    return rng.getstate() if type(rng) is random.Random else None


def reinstate(rng: Any, state: Any) -> None:
    """Bring a generator back to a state that `capture` returned."""
    if isinstance(rng, RandomState):
        rng.set_state(state)
    elif isinstance(rng, Generator):
        rng.bit_generator.state = state
    else:
        rng.setstate(state)


def rebuild(state: Any) -> Any:
    """Make a generator that stands in a state that `capture` returned.

    Returns
    -------
    RandomState, Generator or random.Random
        Of the kind that the state was captured from.
    """
    rng: Any
    if isinstance(state, tuple):
        rng = random.Random()
    else:
        bits = getattr(numpy.random, state['bit_generator'])()
        rng = RandomState(bits) if 'has_gauss' in state else Generator(bits)
    reinstate(rng, state)
    return rng


def encode(value: Any) -> JSON:
    """Turn a captured state into plain data.

    Arrays of integers become base64 text, tuples lists; `decode` is the inverse.
    """
    if isinstance(value, numpy.ndarray):
        little = value.astype(value.dtype.newbyteorder('<'))
        return {'dtype': little.dtype.str, 'base64': base64.b64encode(little.tobytes()).decode()}
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: encode(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [encode(entry) for entry in value]
    if isinstance(value, tuple):
        if len(value) > 16 and all(type(entry) is int and 0 <= entry < 2**32 for entry in value):
            return {'tuple': encode(numpy.array(value, dtype=numpy.uint32))}
        return {'tuple': [encode(entry) for entry in value]}
    return value


def decode(value: JSON) -> Any:
    """Turn plain data that `encode` returned back into a state."""
    if isinstance(value, dict):
        if value.keys() == {'dtype', 'base64'}:
            flat = numpy.frombuffer(base64.b64decode(value['base64']), dtype=value['dtype'])
            return flat.astype(flat.dtype.newbyteorder('='))
        if value.keys() == {'tuple'}:
            inner = decode(value['tuple']) if isinstance(value['tuple'], dict) else [
                decode(entry) for entry in value['tuple']]
            return tuple(inner.tolist() if isinstance(inner, numpy.ndarray) else inner)
        return {key: decode(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    return value
