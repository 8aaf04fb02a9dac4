"""Getting one file from the first of its sources that has it, whole and unaltered."""
from __future__ import annotations

import errno
import logging
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fuel.downloaders._http import Limits, SourceError, receive
from fuel.downloaders._part import Part, part_paths
from fuel.exceptions import ChecksumError, DownloadError
from fuel.utils.checksums import checksum_of, parse_checksum
from fuel.utils.progress import format_amount

__all__ = ['Policy', 'RemoteFile', 'fetch', 'remove']

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file and where it can be had.

    Parameters
    ----------
    name : str
        What it is called here.
    urls : tuple of str
        Its addresses, in the order in which they are tried.
    checksum : str, optional
        Such as ``'sha256:...'``.
    size : int, optional
        In bytes.
    bundled : str, optional
        Path of a copy on this machine, the last resort.
    """

    name: str
    urls: tuple[str, ...]
    checksum: str | None = None
    size: int | None = None
    bundled: str | None = None

    def __post_init__(self) -> None:
        if self.checksum is not None:
            parse_checksum(self.checksum)


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient to be.

    Parameters
    ----------
    limits : Limits
        How long to wait for the last source left.
    limits_with_alternative : Limits
        How long to wait for a source while there is another.
    retries : int
        How many times a source is asked again after a fault that may pass. Starts from zero
        whenever more of the file has arrived than ever before.
    backoff : float
        Seconds to wait before the first retry; doubles with every further one.
    longest_wait : float
        The most that is waited, also if a server asks for more.
    sleep : callable
        Waits for a number of seconds.
    chunk_size : int
        Bytes to write at a time.
    """

    limits: Limits = field(default_factory=Limits)
    limits_with_alternative: Limits = field(
        default_factory=lambda: Limits(connect=3., read=30., answer=5.))
    retries: int = 3
    backoff: float = 0.5
    longest_wait: float = 60.
    sleep: Callable[[float], None] = time.sleep
    chunk_size: int = 1 << 16


def fetch(remote: RemoteFile, path: str, policy: Policy) -> None:
    """Make a file stand at a path.

    Parameters
    ----------
    remote : RemoteFile
        The file.
    path : str
        Where it is to be. If it is there already, with the declared checksum, nothing is done.
    policy : Policy
        How patient to be.

    Raises
    ------
    ChecksumError
        Every source that gave the file gave something else than was declared.
    DownloadError
        No source gave it. The message has an answer of each. Also raised if the file cannot be
        written.
    """
    if os.path.isdir(path):
        raise DownloadError(f'{path} is a directory; a file of that name was to be downloaded')
    if remote.checksum is not None and os.path.exists(path):
        problem = _problem(remote, path)
        if problem is None:
            logger.info('%s is there already, with the right checksum', path)
            return
        logger.info('%s is there, but %s; downloading it anew', path, problem)
    faults: list[tuple[str, str]] = []
    wrong = 0
    reached = False
    sources = [*remote.urls, *([remote.bundled] if remote.bundled is not None else [])]
    try:
        with Part(path) as part:
            for number, source in enumerate(sources, start=1):
                last = number == len(sources)
                try:
                    if number > len(remote.urls):
                        source = f'the bundled copy {source}'
                        _copy(part, remote, policy)
                    else:
                        _receive_patiently(source, part, remote, policy, last)
                except ChecksumError as error:
                    wrong += 1
                    reached = True
                    faults.append((source, str(error)))
                except SourceError as error:
                    reached = reached or error.reached
                    faults.append((source, str(error)))
                else:
                    # Those who got nothing are told all of it by the error, once.
                    for fault in _together(faults):
                        logger.info('not from %s', fault)
                    size = format_amount(part.size, 'B')
                    part.finish()
                    logger.info('%s: %s from %s%s', path, size, source,
                                ', checksum verified' if remote.checksum else '')
                    return
                if not last:
                    logger.info('trying the next source of %s', remote.name)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(f'cannot write {path}: {error.strerror or error}') from error
    kind = ChecksumError if wrong == len(faults) and wrong else DownloadError
    raise kind(f'{remote.name} could not be downloaded. {"; ".join(_together(faults))}'
               + ('' if reached else '. Is there a network?'))


def _together(faults: list[tuple[str, str]]) -> list[str]:
    """Say what was wrong with sources, in one sentence for those with the same fault."""
    sources: dict[str, list[str]] = {}
    for source, fault in faults:
        sources.setdefault(fault, []).append(source)
    return [f'{", ".join(places)}: {fault}' for fault, places in sources.items()]


def _receive_patiently(url: str, part: Part, remote: RemoteFile, policy: Policy,
                       last: bool) -> None:
    """Receive a file from one address, with as many attempts as make sense."""
    limits = policy.limits if last else policy.limits_with_alternative
    attempts = 0
    told = ''
    furthest = part.size
    while True:
        try:
            pieces = receive(url, part, limits, remote.name, policy.chunk_size)
        except SourceError as error:
            size = part.size
            if size > furthest:
                furthest, attempts = size, 0
            attempts += 1
            # A server that cannot be reached is not waited for while there is another source.
            if not error.retry or attempts > policy.retries or not (error.reached or last):
                raise
            wait = min(max(policy.backoff * 2 ** (attempts - 1), error.wait),
                       policy.longest_wait)
            if str(error) != told:
                told = str(error)
                logger.info('%s: %s', url, told)
            logger.info('trying again in %g s', wait)
            policy.sleep(wait)
            continue
        try:
            _verify(remote, part)
        except ChecksumError:
            if not pieces:
                raise
            # Perhaps the pieces do not belong together; in one piece there is no doubt.
            logger.info('%s: the pieces do not fit together; beginning anew', url)
        else:
            return


def _copy(part: Part, remote: RemoteFile, policy: Policy) -> None:
    """Copy the bundled file."""
    part.restart(None)
    try:
        stream = open(remote.bundled or '', 'rb')  # noqa: SIM115 - closed below
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from None
    with stream:
        shutil.copyfileobj(stream, part.stream, policy.chunk_size)
    _verify(remote, part)


def _problem(remote: RemoteFile, path: str) -> str | None:
    """Say what about a file is not as declared; `None` if all is."""
    size = os.path.getsize(path)
    if remote.size is not None and size != remote.size:
        return f'its size is {size} bytes and not {remote.size}'
    if remote.checksum is not None:
        algorithm, digits = parse_checksum(remote.checksum)
        found = checksum_of(path, algorithm)
        if found != f'{algorithm}:{digits}':
            return f'its checksum is {found} and not {algorithm}:{digits}'
    return None


def _verify(remote: RemoteFile, part: Part) -> None:
    """Raise `ChecksumError`, and forget what has arrived, if it is not as declared."""
    part.stream.flush()
    problem = _problem(remote, part.path)
    if problem is not None:
        part.restart(None)
        raise ChecksumError(f'the file is not the one expected: {problem}')


def remove(path: str) -> bool:
    """Remove a file and what there is of an unfinished download of it.

    Returns
    -------
    bool
        Whether the file itself was there.
    """
    found = False
    for name in (path, *part_paths(path)):
        try:
            os.remove(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            # Some systems answer so for a directory.
            reason = ('it is a directory' if error.errno in (errno.EISDIR, errno.EPERM)
                      and os.path.isdir(name) else error.strerror)
            raise DownloadError(f'cannot remove {name}: {reason}') from None
        found = found or name == path
    return found

