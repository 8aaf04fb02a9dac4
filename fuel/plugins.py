"""Downloaders and converters by name: the built-in ones and those of other packages.

The settings ``extra_downloaders`` and ``extra_converters`` list modules that define
``all_downloaders`` or ``all_converters``: pairs of a name and a function that is given an argparse
parser, declares its arguments there, and returns the function that does the work.
"""
from __future__ import annotations

import importlib
import logging
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from fuel.config_parser import config
from fuel.converters import all_converters
from fuel.downloaders import all_downloaders
from fuel.exceptions import ConfigurationFileError

__all__ = ['FillSubparser', 'converters', 'downloaders']

logger = logging.getLogger(__name__)

FillSubparser: TypeAlias = Callable[[ArgumentParser], Callable[..., Any]]


def downloaders() -> Mapping[str, FillSubparser]:
    """Return all downloaders.

    Returns
    -------
    mapping, read-only
        From names to functions that fill a subparser: the built-in ones, then those of the
        modules in ``config.extra_downloaders``, as the setting is at this moment. An entry of such
        a module takes the place of a built-in one of the same name; a message is logged then.

    Raises
    ------
    ConfigurationFileError
        A module cannot be imported or has no proper ``all_downloaders``, or two
        modules have the same name. A ``ValueError``.
    """
    return _collect('downloaders', all_downloaders, config.extra_downloaders)


def converters() -> Mapping[str, FillSubparser]:
    """Return all converters; everything is as for `downloaders`."""
    return _collect('converters', all_converters, config.extra_converters)


def _collect(kind: str, built_in: Iterable[tuple[str, FillSubparser]],
             modules: Iterable[str]) -> Mapping[str, FillSubparser]:
    """Return the built-in entries, and those of other modules in addition or in their place."""
    entries = dict(built_in)
    owners: dict[str, str] = {}
    for module in dict.fromkeys(modules):
        for name, fill_subparser in _entries_of(module, kind):
            if name in owners:
                raise ConfigurationFileError(
                    f'{module}, named by the setting extra_{kind}, has {name!r} in all_{kind}, a '
                    f'name that {owners[name]} has too; choose another one')
            if name in entries:
                # Whoever names a module in the settings wants what is in it.
                logger.info('%s of %s takes the place of the built-in one', name, module)
            entries[name] = fill_subparser
            owners[name] = module
    return MappingProxyType(entries)


def _entries_of(module: str, kind: str) -> Iterable[tuple[str, FillSubparser]]:
    """Return the pairs that a module defines, after checking that they are pairs."""
    setting = (f'the setting extra_{kind} (FUEL_EXTRA_{kind.upper()}, or extra_{kind} in '
               '~/.fuelrc)')
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationFileError(
            f'{module}, named by {setting}, cannot be imported: {error}. Is its package '
            'installed, or on PYTHONPATH?') from error
    try:
        pairs = getattr(imported, f'all_{kind}')
    except AttributeError:
        raise ConfigurationFileError(
            f'{module}, named by {setting}, does not define all_{kind}: a tuple of pairs (name, '
            'fill_subparser)') from None
    result = []
    for pair in pairs:
        if (not isinstance(pair, (tuple, list)) or len(pair) != 2
                or not isinstance(pair[0], str) or not callable(pair[1])):
            raise ConfigurationFileError(f'{module}: expected all_{kind} to have pairs (name, '
                                         f'fill_subparser); got {pair!r}')
        result.append((pair[0], pair[1]))
    return result
