"""Which part of a chain of streams is worked on by workers, and which one here."""
from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ['Mode', 'Place', 'Plan', 'chain_of', 'make_plan']

Mode = Literal['requests', 'chain', 'here']
Place = Literal['workers', 'one worker', 'here']

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """How a chain is run.

    Attributes
    ----------
    mode : {'requests', 'chain', 'here'}
        Requests are handed to workers, each of which answers any of them; the whole chain runs in
        one worker; or everything runs in this process.
    top : AbstractDataStream or None
        The outermost of the streams that workers compute; `None` if they compute nothing.
    below : tuple of AbstractDataStream
        The streams that workers compute, the outermost one first.
    above : tuple of AbstractDataStream
        The streams that are computed here, the outermost one first.
    num_workers : int
        How many workers there are.
    obstacles : dict of str to str
        Why streams in `above` are there, by class.
    """

    mode: Mode
    top: Any
    below: tuple[Any, ...]
    above: tuple[Any, ...]
    num_workers: int
    obstacles: dict[str, str] = field(default_factory=dict)

    def where(self, stream: Any) -> Place:
        """Tell where a stream of the chain is computed."""
        if not any(stream is other for other in self.below):
            return 'here'
        return 'workers' if self.mode == 'requests' else 'one worker'


def chain_of(stream: Any) -> list[Any]:
    """Return a stream and those that it wraps one inside the other, the outermost one first."""
    chain = [stream]
    while (stream := getattr(stream, 'data_stream', None)) is not None:
        chain.append(stream)
    return chain


def make_plan(owner: Any, stream: Any, num_workers: int, *, whole_chain: bool | None,
              in_order: bool = True, warn: bool = False) -> Plan:
    """Decide how a chain is run.

    Parameters
    ----------
    owner : AbstractDataStream
        The engine's stream, for messages.
    stream : AbstractDataStream
        What it wraps.
    num_workers : int
        How many workers there are to be; 0 for none.
    whole_chain : bool or None
        Whether the whole chain is to run in one worker; by default where there is one worker and
        something in the chain cannot be spread.
    in_order : bool, optional
        Whether results are put in order.
    warn : bool, optional
        Whether to log what the program may not expect. Off by default.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        The chain cannot be run so. The message says which stream stands in the way, and what to
        do.
    """
    name = type(owner).__name__
    chain = chain_of(stream)
    inner = next((other for other in chain if isinstance(getattr(other, 'plan', None), Plan)), None)
    if inner is not None:
        raise ValueError(f'{name}: expected a chain that runs in one process; got one with a '
                         f'{type(inner).__name__} in it. One of the two is enough: leave the '
                         'outer one away, or give its num_workers to the inner one')
    if not num_workers:
        return Plan('here', None, (), tuple(chain), 0)
    if whole_chain:
        return Plan('chain', stream, tuple(chain), (), 1)
    obstacles = [_obstacle(other) for other in chain]
    # From the innermost one outwards, as far as nothing stands in the way.
    count = next((number for number, obstacle in enumerate(reversed(obstacles)) if obstacle),
                 len(chain))
    first = len(chain) - count
    if first and num_workers == 1 and whole_chain is None and in_order:
        return Plan('chain', stream, tuple(chain), (), 1)
    if not count:
        raise ValueError(
            f'{name}: the work of this chain cannot be shared by {num_workers} '
            f'{"worker" if num_workers == 1 else "workers"}, for {obstacles[-1]}. '
            + _way_out(chain[-1], name, num_workers))
    if first and not in_order:
        raise ValueError(
            f'{name}: in_order=False is for chains of which workers compute all; '
            f'{obstacles[first - 1]}. Put {type(chain[first - 1]).__name__} around {name} '
            'instead, or leave in_order=False away')
    for other in chain[:first] if warn else ():
        if getattr(other, 'rng', None) is not None:
            log.warning('%s: %s has a random generator of its own (rng=...), so it is computed in '
                        'this process, and so is what wraps it. Leave rng away, and workers can '
                        'compute it', name, type(other).__name__)
    return Plan('requests', chain[first], tuple(chain[first:]), tuple(chain[:first]), num_workers,
                {type(other).__name__: obstacle
                 for other, obstacle in zip(chain[:first], obstacles, strict=False) if obstacle})


def _obstacle(stream: Any) -> str | None:
    find = getattr(stream, 'spread_obstacle', None)
    if find is None:
        return f'{type(stream).__name__} is no stream of this library, and may keep anything'
    obstacle: str | None = find()
    return obstacle


def _way_out(bottom: Any, name: str, num_workers: int) -> str:
    """Say what to do about a chain that cannot be spread."""
    if num_workers == 1:
        return 'Let the whole chain run in the worker (whole_chain=None, the default)'
    if getattr(bottom, 'data_streams', None) is not None or getattr(bottom, 'streams', None):
        return (f'Put {name} around each of the streams that {type(bottom).__name__} wraps, or '
                'let the whole chain run in one worker (num_workers=1)')
    return ('Let the whole chain run in one worker (num_workers=1), or use a data set that is '
            'asked for its examples by their place, such as IndexableDataset or H5PYDataset, '
            'with an iteration scheme')
