"""What downloaders are made of.

A downloader is a function ``fill_subparser(subparser)`` that declares its arguments and returns a
function, which ``fuel-download`` calls with the parsed arguments as keywords. For most data sets
that function is `default_downloader`, and only ``urls`` and ``filenames`` have to be declared.
"""
from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO

from fuel.downloaders._fetch import Policy, RemoteFile, fetch, remove
from fuel.downloaders._http import Limits, SourceError, ask, check_status, copy_body
from fuel.downloaders._names import inside, name_from_headers, name_from_path
from fuel.exceptions import DownloadError, NeedURLPrefix
from fuel.utils import progress
from fuel.utils.progress import ProgressBar

__all__ = ['NeedURLPrefix', 'Policy', 'default_downloader', 'download',
           'ensure_directory_exists', 'filename_from_url', 'progress_bar']

logger = logging.getLogger(__name__)


def progress_bar(name: str, maxval: int | None = None,
                 prefix: str = 'Downloading') -> AbstractContextManager[ProgressBar]:
    """Show how many bytes have arrived, while a ``with`` block runs.

    Parameters
    ----------
    name : str
        What is being downloaded.
    maxval : int, optional
        Its size in bytes, where it is known.
    prefix : str, optional
        The verb in front of the name.

    Returns
    -------
    context manager
        Gives an object whose ``update(value)`` takes the number of bytes that are there.
    """
    return progress.progress_bar(name, maxval, prefix, unit='B')


def ensure_directory_exists(directory: str | os.PathLike[str]) -> None:
    """Make a directory, and those above it, unless it is there.

    Parameters
    ----------
    directory : str or path
        Its path.

    Raises
    ------
    OSError
        A file stands in its place, or it cannot be made.
    """
    try:
        os.makedirs(directory, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise type(error)(error.errno, 'a directory was expected, but a file stands there',
                          os.fspath(directory)) from None


def filename_from_url(url: str, path: str | os.PathLike[str] | None = None, *,
                      limits: Limits | None = None) -> str:
    """Ask a server what the file at an address is called.

    Parameters
    ----------
    url : str
        The address.
    path : str or path, optional
        A directory to put in front of the name.
    limits : Limits, optional
        How long to wait.

    Returns
    -------
    str
        The name that the server gives in a Content-Disposition header, otherwise the end of the
        address. Folders in it are dropped.

    Raises
    ------
    ValueError
        Neither gives a name.
    DownloadError
        The server cannot be reached or has no such file.
    """
    try:
        with ask(url, limits or Limits()) as response:
            check_status(response)
            name = (name_from_headers(response.headers) or name_from_path(url)
                    or name_from_path(response.url))
    except SourceError as error:
        raise DownloadError(f'{url}: {error}') from None
    if name is None:
        raise ValueError(f'{url}: neither the server nor the address gives a file name; declare '
                         'one')
    return name if path is None else os.path.join(path, name)


def download(url: str, file_handle: BinaryIO, chunk_size: int = 1024, *,
             limits: Limits | None = None) -> None:
    """Download a file into an open file, in one attempt.

    Parameters
    ----------
    url : str
        The address.
    file_handle : file
        Open for writing bytes; it does not need a name.
    chunk_size : int, optional
        Bytes to write at a time.
    limits : Limits, optional
        How long to wait.

    Raises
    ------
    DownloadError
        The server cannot be reached, has no such file, or breaks off. What has been written by
        then stays in the file.
    OSError
        The file cannot be written.
    """
    try:
        with ask(url, limits or Limits()) as response:
            check_status(response)
            name = name_from_headers(response.headers) or name_from_path(url) or url
            copy_body(response, file_handle, name, chunk_size)
    except SourceError as error:
        raise DownloadError(f'{url}: {error}') from None


def default_downloader(directory: str | os.PathLike[str],
                       urls: Sequence[str | Sequence[str] | None],
                       filenames: Sequence[str | None], url_prefix: str | None = None,
                       clear: bool = False, *, checksums: Sequence[str | None] | None = None,
                       sizes: Sequence[int | None] | None = None,
                       bundled: Sequence[str | None] | None = None, home: str | None = None,
                       policy: Policy | None = None) -> None:
    """Download files into a directory, or remove them from it.

    Parameters
    ----------
    directory : str or path
        Where the files are to be. It is made if needed.
    urls : sequence
        For every file its address, several addresses to be tried in this order, or `None` if it
        has no public one.
    filenames : sequence
        For every file its name, or `None` if the server is to be asked for it.
    url_prefix : str, optional
        Put in front of the names of files without an address.
    clear : bool, optional
        Remove the files instead. Needs no network; files that are not there are no error.
        Where no name is declared, the end of the address is taken for it.
    checksums : sequence, optional
        For every file its checksum, such as ``'sha256:...'``, or `None`. A file that is there
        with the right checksum is not downloaded again.
    sizes : sequence, optional
        For every file its size in bytes, or `None`.
    bundled : sequence, optional
        For every file the path of a copy to be used when no address serves, or `None`.
    home : str, optional
        The web page where people get files without an address, for the message.
    policy : Policy, optional
        How patient to be with servers.

    Raises
    ------
    NeedURLPrefix
        Files have no address and `url_prefix` is not given; the message lists them, and tells
        what to do.
    ValueError
        The sequences differ in length, or a file has neither name nor address.
    DownloadError
        A file could not be had. Files that came before it stay.
    """
    directory = os.fspath(directory)
    policy = policy or Policy()
    addresses = _addresses(urls, filenames, url_prefix)
    without = [str(name) for url, name in zip(urls, filenames, strict=True) if url is None]
    if without and url_prefix is None and not clear:
        raise NeedURLPrefix(_no_address(without, directory, home))
    count = len(addresses)
    if clear:
        for name, choices in zip(filenames, addresses, strict=True):
            found = name or next(filter(None, map(name_from_path, choices)), None)
            if found is None:
                raise ValueError(f'the name of the file at {" or ".join(choices)} is known to its '
                                 'server only; remove it by hand')
            path = inside(directory, found)
            logger.info('removed %s' if remove(path) else '%s is not there', path)
        return
    details = zip(filenames, addresses, _each(checksums, count, 'checksums'),
                  _each(sizes, count, 'sizes'), _each(bundled, count, 'bundled'), strict=True)
    ensure_directory_exists(directory)
    for name, choices, checksum, size, copy in details:
        if name is None:
            name = _ask_for_name(choices, policy)
        remote = RemoteFile(name, choices, checksum, size, copy)
        path = inside(directory, name)
        ensure_directory_exists(os.path.dirname(path))
        fetch(remote, path, policy)


def _addresses(urls: Sequence[str | Sequence[str] | None], filenames: Sequence[str | None],
               url_prefix: str | None) -> list[tuple[str, ...]]:
    """Return the addresses of every file; none where there are none."""
    if isinstance(urls, str) or isinstance(filenames, str) or len(urls) != len(filenames):
        raise ValueError(f'expected a list of addresses and a list of as many file names; got '
                         f'{urls!r} and {filenames!r}')
    result: list[tuple[str, ...]] = []
    for url, name in zip(urls, filenames, strict=True):
        if url is None and name is None:
            raise ValueError('a file has neither an address nor a name; declare one of them')
        if url is None and url_prefix is None:
            result.append(())
        elif url is None:
            result.append((f'{url_prefix}{name}',))
        else:
            result.append((url,) if isinstance(url, str) else tuple(url))
    return result


def _no_address(names: Sequence[str], directory: str, home: str | None) -> str:
    """Say what can be done about files without an address."""
    prefix = 'give the address of a folder that has them with -P/--url-prefix'
    if home is not None:
        prefix += (f', or put the files into this folder yourself: {os.path.abspath(directory)}. '
                   f'Their home is {home}')
    return f'no public address is known for {", ".join(names)}; {prefix}'


def _each(values: Sequence[Any] | None, count: int, what: str) -> Iterator[Any]:
    """Give one value for every file."""
    if values is None:
        return iter([None] * count)
    if isinstance(values, str) or len(values) != count:
        raise ValueError(f'expected {what} to have an entry for each of the {count} files; got '
                         f'{values!r}')
    return iter(values)


def _ask_for_name(urls: Sequence[str], policy: Policy) -> str:
    """Ask the servers in turn for the name of a file."""
    faults = []
    for url in urls:
        try:
            return filename_from_url(url, limits=policy.limits)
        except DownloadError as error:
            faults.append(str(error))
    raise DownloadError('the name of the file is not known. ' + '; '.join(faults))
