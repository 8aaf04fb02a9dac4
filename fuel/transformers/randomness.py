"""Random numbers that depend on where a step stands, for transformers."""
from __future__ import annotations

from typing import Any

from numpy.random import Generator

from fuel import rng
from fuel.config_parser import config

__all__ = ['KeyedRandomness']


class KeyedRandomness:
    """What gives a transformer the random generator of a step.

    Attributes
    ----------
    seed : int
        What `generator` starts from.
    """

    data_stream: Any
    _seed: int | None = None

    @property
    def seed(self) -> int:
        """What `generator` starts from."""
        return int(config.default_seed) if self._seed is None else self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = seed

    def generator(self) -> Generator:
        """Return the random generator of the step that is being transformed.

        Its numbers depend on the seed, this transformer, the epoch and the step, and on nothing
        else: not on what was drawn before, nor on which process computes the step. To be called
        from `transform_example`, `transform_batch` and the like, or from `get_data` where it is
        overridden; each call starts anew.

        Returns
        -------
        numpy.random.Generator
        """
        position = self._running_position()
        if position is None or not position.step:
            raise RuntimeError('generator() belongs to a step of an epoch iterator; it was called '
                               'outside of one')
        return rng.generator(self.seed, position.epoch, position.step - 1,
                             rng.key_of(self._random_name()))

    def _running_position(self) -> rng.Position | None:
        """Return where the step stands that this thread computes."""
        return rng.position_in(self)

    def _random_name(self) -> str:
        """Tell this transformer from others of its class in the chain below."""
        name = type(self).__qualname__
        below = 0
        stream = self.data_stream
        while isinstance(stream, KeyedRandomness):
            below += type(stream).__qualname__ == name
            stream = stream.data_stream
        return f'{name}:{below}'
