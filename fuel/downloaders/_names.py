"""Names of downloaded files: never one that leads out of the directory."""
from __future__ import annotations

import os
from collections.abc import Mapping
from email.message import Message
from urllib.parse import unquote, urlsplit

__all__ = ['inside', 'name_from_headers', 'name_from_path']


def _harmless(name: str) -> str | None:
    """Return the last component of a name that came from elsewhere; `None` if it is no name."""
    name = name.replace('\\', '/').rpartition('/')[2].strip()
    if name in ('', '.', '..') or any(ord(character) < 32 for character in name):
        return None
    return name


def name_from_headers(headers: Mapping[str, str]) -> str | None:
    """Return the file name that a Content-Disposition header gives, without any folders."""
    disposition = headers.get('Content-Disposition')
    if disposition is None:
        return None
    message = Message()
    message['Content-Disposition'] = disposition
    return _harmless(message.get_filename() or '')


def name_from_path(url: str) -> str | None:
    """Return the file name at the end of the path of an address."""
    return _harmless(unquote(urlsplit(url).path))


def inside(directory: str, filename: str) -> str:
    """Return the path of a file in a directory.

    Raises
    ------
    ValueError
        The name leads out of the directory.
    """
    root = os.path.abspath(directory)
    path = os.path.normpath(os.path.join(root, filename))
    if path == root or os.path.commonpath([root, path]) != root:
        raise ValueError(f'expected the name of a file inside {directory}; got {filename!r}')
    return path
