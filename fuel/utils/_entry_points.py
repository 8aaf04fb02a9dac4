"""Entry points of installed packages, found without importing the packages."""
from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fuel.exceptions import ConfigurationFileError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ['load', 'of_group', 'summary_of', 'where']

logger = logging.getLogger(__name__)


def of_group(kind: str) -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points of a group ``fuel.<kind>``.

    Parameters
    ----------
    kind : str
        ``'datasets'``, ``'downloaders'`` or ``'converters'``.

    Returns
    -------
    dict
        For every name, in order, the packages that have it, each with its entry point. Empty, and
        a warning is logged, if they cannot be listed.
    """
    # Only some programs need it, and it takes a while.
    from importlib.metadata import entry_points
    try:
        points_of_kind = tuple(entry_points(group=f'fuel.{kind}'))
    except Exception as error:
        logger.warning('the %s of installed packages cannot be listed: %s: %s', kind,
                       type(error).__name__, error)
        return {}
    found: dict[str, dict[str, EntryPoint]] = {}
    for point in points_of_kind:
        found.setdefault(point.name, {}).setdefault(_package_of(point), point)
    return dict(sorted(found.items()))


def _package_of(point: EntryPoint) -> str:
    """Say which package an entry point is of."""
    try:
        return f'{point.dist.name} {point.dist.version}'  # type: ignore[union-attr]
    except Exception:                           # its description may be damaged in many ways
        return 'a package without a name'


def summary_of(point: EntryPoint) -> str:
    """Return what a package says about itself in one line; empty if it says nothing."""
    try:
        summary = point.dist.metadata['Summary']  # type: ignore[union-attr]
    except Exception:
        return ''
    return '' if summary in (None, 'UNKNOWN') else ' '.join(str(summary).split())


def where(point: EntryPoint, kind: str, package: str) -> str:
    """Say what an entry point is, and where it comes from, for messages."""
    return f'{point.name} of {package} (entry point {point.value} in fuel.{kind})'


def load(point: EntryPoint, kind: str, package: str) -> Any:
    """Import what an entry point names.

    Raises
    ------
    ConfigurationFileError
        It cannot be imported.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise ConfigurationFileError(f'{where(point, kind, package)} cannot be imported: '
                                     f'{type(error).__name__}: {error}') from error
