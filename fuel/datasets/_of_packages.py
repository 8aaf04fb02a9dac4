"""Classes of data sets that installed packages declare, by name.

They are entry points in the group ``fuel.datasets``: the name of the data set, which is that of its
converter, and the class.
"""
from __future__ import annotations

from fuel.datasets._dataset import Dataset
from fuel.exceptions import ConfigurationFileError
from fuel.utils import _entry_points

__all__ = ['class_of', 'names']

_KIND = 'datasets'


def names() -> list[str]:
    """Return the names that there are; no package is imported."""
    return list(_entry_points.of_group(_KIND))


def class_of(name: str) -> type[Dataset] | None:
    """Return the class of a data set.

    Parameters
    ----------
    name : str
        The name of the data set.

    Returns
    -------
    type
        `None` if no package has that name.

    Raises
    ------
    ConfigurationFileError
        Two packages have it, the package cannot be imported, or what it names is no class of data
        sets.
    """
    points = _entry_points.of_group(_KIND).get(name)
    if points is None:
        return None
    if len(points) > 1:
        raise ConfigurationFileError(
            f'the packages {" and ".join(sorted(points))} both have {name!r} among their entry '
            f'points fuel.{_KIND}; uninstall one of them, or use the class itself')
    (package, point), = points.items()
    cls = _entry_points.load(point, _KIND, package)
    if not isinstance(cls, type) or not issubclass(cls, Dataset):
        raise ConfigurationFileError(
            f'{_entry_points.where(point, _KIND, package)}: expected a class that is derived from '
            f'fuel.datasets.Dataset; got {cls!r}')
    return cls
