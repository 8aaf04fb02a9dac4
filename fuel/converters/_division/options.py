"""The command line options that say how somebody's own data are divided into splits."""
from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from fractions import Fraction

from fuel.config_parser import config
from fuel.converters._conversion.inputs import note_seed
from fuel.converters._division.shares import Range, Shares, share_from
from fuel.exceptions import ConversionError

__all__ = ['add_ranges_option', 'add_shares_options', 'check_lot', 'fraction_from_text',
           'one_way', 'range_from_text', 'used_seed']

_LARGEST_SEED = 2 ** 32 - 1
# Digits of a number of an example; Python refuses to read numbers of thousands of them.
_MOST_DIGITS = 18


def fraction_from_text(text: str) -> Fraction:
    """Return a share of the examples, for a word of the command line such as ``0.1`` or ``1/6``.

    Raises
    ------
    ArgumentTypeError
        It is no number of at least 0 and less than 1.
    """
    try:
        return share_from(text)
    except ValueError:
        raise ArgumentTypeError(f'expected a number of at least 0 and less than 1, such as 0.1; '
                                f'got {text[:80]!r}') from None


def range_from_text(text: str) -> Range:
    """Return a split, for a word of the command line such as ``train=0:800``.

    Raises
    ------
    ArgumentTypeError
        It is not like that.
    """
    name, equals, bounds = text.partition('=')
    start, colon, stop = bounds.partition(':')
    if not (name and equals and colon and (start or '0').isdecimal() and stop.isdecimal()
            and max(len(start), len(stop)) <= _MOST_DIGITS):
        raise ArgumentTypeError('expected the name of a split, its first example and the one '
                                'after its last, such as train=0:800; got '
                                f'{text[:80]!r}')
    return Range(name, int(start or '0'), int(stop))


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) > _LARGEST_SEED:
        raise ArgumentTypeError(f'expected a whole number from 0 to {_LARGEST_SEED}; got '
                                f'{text[:80]!r}')
    return int(text)


def add_shares_options(subparser: ArgumentParser, seed_for: str = 'the division') -> None:
    """Add the options that divide by shares.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert NAME``.
    seed_for : str, optional
        What the seed is for, in the help.
    """
    for name in ('valid', 'test'):
        subparser.add_argument(f'--{name}-fraction', type=fraction_from_text, default=Fraction(0),
                               metavar='FRACTION',
                               help=f'the part of the examples that becomes the split {name}, '
                                    'chosen by lot, such as 0.1')
    subparser.add_argument('--seed', type=_seed, default=SUPPRESS,
                           help=f'a number that decides {seed_for}: the same number, the same '
                                'result; if not given, the setting default_seed')


def add_ranges_option(subparser: ArgumentParser) -> None:
    """Add the option that names ranges of examples."""
    subparser.add_argument('--split', type=range_from_text, action='append', default=SUPPRESS,
                           dest='ranges', metavar='NAME=START:STOP',
                           help='a split made of the examples from START up to, but without, '
                                'STOP, counted from 0; can be given several times')


def one_way(ways: dict[str, bool]) -> str | None:
    """Return which of several ways to divide was chosen; `None` for none.

    Parameters
    ----------
    ways : dict
        Maps the options, as they are typed, to whether they were given.

    Raises
    ------
    ConversionError
        More than one was.
    """
    chosen = [name for name, given in ways.items() if given]
    if len(chosen) > 1:
        raise ConversionError(f'expected one way to divide the examples into splits; got '
                              f'{" and ".join(chosen)}')
    return chosen[0] if chosen else None


def check_lot(shares: Shares, given: dict[str, bool]) -> None:
    """Check that no option about the division by lot is given without one.

    Parameters
    ----------
    shares : Shares
        The parts of the examples that are chosen by lot.
    given : dict
        Maps the options, as they are typed, to whether they were given.

    Raises
    ------
    ConversionError
        One was, but there is nothing to choose.
    """
    idle = [option for option, was in given.items() if was]
    if idle and not shares:
        raise ConversionError('expected --valid-fraction or --test-fraction with '
                              f'{" and ".join(idle)}')


def used_seed(seed: int | None) -> int:
    """Return a seed, by default the one of the settings, and note that it was used."""
    chosen = int(config.default_seed if seed is None else seed)
    note_seed(chosen)
    return chosen
