"""The pictures of a zip archive, read here and worked on by worker processes."""
from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from fuel.converters._conversion.workers import in_order

if TYPE_CHECKING:
    from fuel.converters._formats.archives import Zip

__all__ = ['zipped_pictures']

R = TypeVar('R')

#: No photograph of a data set is larger; what announces to be is no photograph.
_LIMIT = 1 << 26


def zipped_pictures(archive: Zip, names: Iterable[str], function: Callable[[tuple[str, bytes]], R]
                    ) -> Generator[R, Any, None]:
    """Call a function for pictures of a zip archive, in worker processes; see `in_order`.

    Parameters
    ----------
    archive : Zip
        The archive.
    names : iterable of str
        Of its members, in the order of the results.
    function : callable
        Takes a pair: which picture it is, for messages, and the content of its file.

    Yields
    ------
    object
        What the function returned.
    """
    return in_order(function, _contents(archive, names))


def _contents(archive: Zip, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for name in names:
        yield f'{archive.path}, member {name!r}', archive.read(name, _LIMIT)
