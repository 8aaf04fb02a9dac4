"""The one door to :mod:`picklable_itertools`.

The released package asks ``pkg_resources`` for its own version when it is imported. New virtual
environments do not bring that module any more, and where they do it is slow to import and warns.
So a stand-in answers the question during the import and goes away again. After this module has
been imported (``import fuel`` does it), ``import picklable_itertools`` works anywhere.
"""
from __future__ import annotations

import sys
import types
from typing import Any

__all__ = ['chain', 'imap', 'islice', 'iter_', 'izip', 'partition_all']


class _DistributionNotFound(Exception):
    """Stands in for ``pkg_resources.DistributionNotFound``."""


def _get_distribution(name: str) -> Any:
    raise _DistributionNotFound(name)


def _import_picklable_itertools() -> None:
    """Import the package with a stand-in for ``pkg_resources``, and put back what was there."""
    if 'picklable_itertools' in sys.modules:
        import picklable_itertools.extras
        return
    before = {name: module for name, module in sys.modules.items() if name == 'pkg_resources'}
    stand_in: Any = types.ModuleType('pkg_resources')
    stand_in.get_distribution = _get_distribution
    stand_in.DistributionNotFound = _DistributionNotFound
    sys.modules['pkg_resources'] = stand_in
    try:
        import picklable_itertools.extras
    finally:
        del sys.modules['pkg_resources']
        sys.modules.update(before)
    # The package could not ask; its one release has this version.
    picklable_itertools.__version__ = '0.1.1'


_import_picklable_itertools()

from picklable_itertools import chain, imap, islice, iter_, izip  # noqa: E402
from picklable_itertools.extras import partition_all  # noqa: E402
