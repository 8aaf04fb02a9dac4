"""Downloaders and converters by name: the built-in ones and those of other packages.

Other packages have theirs found in two ways. Each name stands for a function that is given an
argparse parser, declares its arguments there, and returns the function that does the work.

* Installed packages declare entry points in the groups ``fuel.downloaders`` and
  ``fuel.converters``: the name of the data set, and that function.
* The settings ``extra_downloaders`` and ``extra_converters`` list modules that define
  ``all_downloaders`` or ``all_converters``: pairs of a name and that function.

The first line of the docstring of that function stands in the lists of the commands; for installed
packages, which are not imported for a list, it is the summary of the package.

What is wrong with one of them does not keep the others from working.
"""
from __future__ import annotations

import importlib
import logging
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fuel._registry import FillSubparser
from fuel.config_parser import config
from fuel.converters import all_converters
from fuel.downloaders import all_downloaders
from fuel.exceptions import ConfigurationFileError
from fuel.utils import _entry_points

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ['FillSubparser', 'converters', 'downloaders']

logger = logging.getLogger(__name__)


def downloaders() -> Mapping[str, FillSubparser]:
    """Return all downloaders.

    Returns
    -------
    mapping, read-only
        From names to functions that fill a subparser: the built-in ones, those of installed
        packages, and those of the modules in ``config.extra_downloaders``, as the setting is at
        this moment. An entry of such a module takes the place of another one of the same name; a
        message is logged then. An entry of an installed package does not take the place of a
        built-in one; a warning is logged. Where two packages, or two modules, have one name, the
        function raises `ConfigurationFileError`, as does that of an installed package that cannot
        be imported.

    Notes
    -----
    A module that cannot be imported, or lists something else than pairs, is left out with a
    warning. Installed packages are imported only when a function of theirs is called.
    """
    return _collect('downloaders', all_downloaders, config.extra_downloaders)


def converters() -> Mapping[str, FillSubparser]:
    """Return all converters; everything is as for `downloaders`."""
    return _collect('converters', all_converters, config.extra_converters)


def _collect(kind: str, built_in: Iterable[tuple[str, FillSubparser]],
             modules: Iterable[str]) -> Mapping[str, FillSubparser]:
    """Return the built-in entries, and others in addition or in their place."""
    entries = dict(built_in)
    installed = _installed(kind, entries)
    entries.update(installed)
    for name, (fill_subparser, module) in _of_settings(kind, modules).items():
        if name in entries:
            # Whoever names a module in the settings wants what is in it.
            logger.info('%s of %s takes the place of %s', name, module,
                        'that of an installed package' if name in installed
                        else 'the built-in one')
        entries[name] = fill_subparser
    return MappingProxyType(entries)


def _refusing(message: str) -> FillSubparser:
    """Return a function in place of one that cannot be told."""
    def refuse(subparser: ArgumentParser) -> Callable[..., Any]:
        raise ConfigurationFileError(message)

    return refuse


def _installed(kind: str, built_in: Mapping[str, FillSubparser]) -> dict[str, FillSubparser]:
    """Return the entries of installed packages."""
    entries = {}
    for name, points in _entry_points.of_group(kind).items():
        packages = ' and '.join(sorted(points))
        if name in built_in:
            logger.warning(
                '%s of %s is left out, for there is a built-in one; to have it in its place, name '
                'a module with all_%s in the setting extra_%s', name, packages, kind, kind)
        elif len(points) > 1:
            entries[name] = _refusing(
                f'the packages {packages} both have {name!r} among their entry points '
                f'fuel.{kind}; uninstall one of them, or name a module with the one that is '
                f'wanted in the setting extra_{kind}')
        else:
            (package, point), = points.items()
            entries[name] = _loading(point, kind, package)
    return entries


def _loading(point: EntryPoint, kind: str, package: str) -> FillSubparser:
    """Return a function that imports what an entry point names when it is called."""
    def fill_subparser(subparser: ArgumentParser) -> Callable[..., Any]:
        where = _entry_points.where(point, kind, package)
        function = _entry_points.load(point, kind, package)
        if not callable(function):
            raise ConfigurationFileError(f'{where}: expected a function that fills a subparser; '
                                         f'got {function!r}')
        return _checked(function(subparser), where)

    # Shown in the list of data sets, for which no package is imported.
    fill_subparser.__doc__ = _entry_points.summary_of(point)
    return fill_subparser


def _checked(function: Any, where: str) -> Callable[..., Any]:
    """Check what a function that fills a subparser has returned."""
    if not callable(function):
        raise ConfigurationFileError(f'{where}: expected the function that fills a subparser to '
                                     f'return a function; got {function!r}')
    return function  # type: ignore[no-any-return]


def _of_settings(kind: str, modules: Iterable[str]) -> dict[str, tuple[FillSubparser, str]]:
    """Return the entries of the modules in a setting, each with its module."""
    entries: dict[str, tuple[FillSubparser, str]] = {}
    for module in dict.fromkeys(modules):
        for name, fill_subparser in _entries_of(module, kind):
            owner = entries[name][1] if name in entries else module
            if owner != module:
                message = (f'{module} and {owner}, named by the setting extra_{kind}, both have '
                           f'{name!r} in all_{kind}; take one of them out of the setting')
                logger.warning('%s', message)
                fill_subparser = _refusing(message)
            entries[name] = fill_subparser, module
    return entries


def _entries_of(module: str, kind: str) -> list[tuple[str, FillSubparser]]:
    """Return the pairs that a module defines; warn of what is wrong with it."""
    setting = (f'the setting extra_{kind} (FUEL_EXTRA_{kind.upper()}, or extra_{kind} in '
               '~/.fuelrc)')
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        logger.warning('%s, named by %s, cannot be imported: %s. Is its package installed, or on '
                       'PYTHONPATH?', module, setting, error)
        return []
    except (Exception, SystemExit) as error:    # it may do anything
        logger.warning('%s, named by %s, cannot be imported: %s: %s', module, setting,
                       type(error).__name__, error)
        return []
    try:
        pairs = list(getattr(imported, f'all_{kind}'))
    except (AttributeError, TypeError):
        logger.warning('%s, named by %s, does not define all_%s: a tuple of pairs (name, '
                       'fill_subparser)', module, setting, kind)
        return []
    result = []
    for pair in pairs:
        if (not isinstance(pair, (tuple, list)) or len(pair) != 2
                or not isinstance(pair[0], str) or not callable(pair[1])):
            logger.warning('%s: expected all_%s to have pairs (name, fill_subparser); got %r',
                           module, kind, pair)
        else:
            result.append((pair[0], pair[1]))
    return result
