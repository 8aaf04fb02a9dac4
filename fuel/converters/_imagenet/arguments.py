"""The arguments of both converters."""
from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from fuel.config_parser import config
from fuel.converters._conversion.storage import add_storage_options
from fuel.converters._imagenet.pictures import CHECKS

__all__ = ['add_arguments']

_SEEDS = 1 << 32


def _seed(text: str) -> int:
    """Return a seed for ``numpy.random.RandomState``."""
    if not text.isdigit() or int(text) >= _SEEDS:
        raise ArgumentTypeError(f'expected a number from 0 to {_SEEDS - 1}; got {text!r}')
    return int(text)


def add_arguments(subparser: ArgumentParser) -> None:
    """Declare the arguments.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert NAME``.
    """
    subparser.add_argument('--shuffle-seed', type=_seed, default=config.default_seed,
                           metavar='NUMBER',
                           help='seed of the order in which training pictures are stored')
    subparser.add_argument('--check', choices=CHECKS, default=CHECKS[0],
                           help='how pictures are checked: header looks at the beginning and the '
                                'end, decode decodes each of them, which takes much longer')
    add_storage_options(subparser, variable_length=True)
