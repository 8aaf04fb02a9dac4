"""One attempt to receive a file over HTTP, and what can go wrong with it."""
from __future__ import annotations

import queue
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from fuel.downloaders._part import Part, Version
from fuel.utils.progress import progress_bar
from fuel.version import __version__

if TYPE_CHECKING:
    from requests import Response

__all__ = ['Limits', 'SourceError', 'ask', 'body', 'check_status', 'copy_body', 'receive']

#: Statuses of servers that may well answer properly a little later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class SourceError(Exception):
    """One source did not give the file.

    Parameters
    ----------
    message : str
        Why not.
    retry : bool
        Whether trying once more makes sense.
    reached : bool
        Whether there was any answer.
    wait : float
        How many seconds the server asked to wait before that.
    """

    def __init__(self, message: str, *, retry: bool = False, reached: bool = True,
                 wait: float = 0.) -> None:
        super().__init__(message)
        self.retry = retry
        self.reached = reached
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait for servers.

    Parameters
    ----------
    connect : float
        Seconds for the connection.
    read : float
        Seconds between two pieces of the answer.
    answer : float, optional
        Seconds until the answer begins, looking up the name of the server included; `None` sets
        no limit beyond the other two.
    """

    connect: float = 10.
    read: float = 30.
    answer: float | None = None


def ask(url: str, limits: Limits, headers: dict[str, str] | None = None) -> Response:
    """Send a request; the answer is returned when its headers are there.

    Parameters
    ----------
    url : str
        The address.
    limits : Limits
        How long to wait.
    headers : dict, optional
        Additional headers.

    Returns
    -------
    requests.Response
        To be closed by the caller. Its status can be any.

    Raises
    ------
    SourceError
        There is no answer.
    """
    import requests

    def send() -> Response:
        return requests.get(
            url, stream=True, timeout=(limits.connect, limits.read),
            # Compressed on the way, a file would have another length than the one announced.
            headers={'Accept-Encoding': 'identity', 'User-Agent': f'fuel/{__version__}',
                     **(headers or {})})

    try:
        return send() if limits.answer is None else _within(limits.answer, send)
    except requests.Timeout:
        raise SourceError('no answer in time', retry=True, reached=False) from None
    except requests.ConnectionError as error:
        if any(map(_is_unknown_name, _chain(error))):
            raise SourceError('cannot be reached: the name of the server cannot be looked up',
                              reached=False) from None
        # A certificate will be no better the next time.
        raise SourceError(f'cannot be reached: {_reason(error)}', reached=False,
                          retry=not isinstance(error, requests.exceptions.SSLError)) from None
    except (requests.RequestException, ValueError) as error:
        raise SourceError(_reason(error)) from None


def _within(seconds: float, send: Callable[[], Response]) -> Response:
    """Call a function in a thread, and wait for its result for a limited time only.

    The limits of sockets do not cover looking up a name, which alone can take half a minute where
    a firewall swallows the question. A thread that is given up ends when its call does.
    """
    import requests

    results: queue.SimpleQueue[Response | BaseException] = queue.SimpleQueue()
    lock = threading.Lock()
    given_up = False

    def work() -> None:
        result: Response | BaseException
        try:
            result = send()
        except BaseException as error:
            result = error
        with lock:
            results.put(result)
            late = given_up
        if late and not isinstance(result, BaseException):
            result.close()

    threading.Thread(target=work, name='fuel-download-request', daemon=True).start()
    try:
        result = results.get(timeout=seconds)
    except BaseException as reason:
        with lock:
            given_up = True
        # It may have arrived just now.
        with suppress(queue.Empty):
            unused = results.get_nowait()
            if not isinstance(unused, BaseException):
                unused.close()
        if isinstance(reason, queue.Empty):
            raise requests.Timeout(f'no answer after {seconds} s') from None
        raise
    if isinstance(result, BaseException):
        raise result
    return result


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error of requests and those that it wraps, the innermost one last."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = next((entry for entry in (getattr(found, 'reason', None), *found.args)
                      if isinstance(entry, BaseException)), None)


def _is_unknown_name(error: BaseException) -> bool:
    """Tell whether an error says that a name could not be looked up."""
    return any(isinstance(entry, socket.gaierror) or type(entry).__name__ == 'NameResolutionError'
               for entry in (error, error.__cause__, error.__context__))


def _reason(error: BaseException) -> str:
    """Return the innermost reason of an error of requests, without its wrapping."""
    *_, innermost = _chain(error)
    text = re.sub(r'^HTTPS?Connection(Pool)?\(.*?\): ', '', str(innermost))
    return ' '.join(text.split()) or type(innermost).__name__


def check_status(response: Response) -> None:
    """Raise `SourceError` if an answer is not the file that was asked for."""
    if response.status_code not in (200, 206):
        wait = response.headers.get('Retry-After', '')
        raise SourceError(f'answered {response.status_code} {response.reason}'.rstrip(),
                          retry=response.status_code in _TRANSIENT,
                          wait=float(wait) if wait.isdigit() else 0.)


def body(response: Response, chunk_size: int) -> Iterator[bytes]:
    """Give the bytes of an answer, piece by piece.

    Raises
    ------
    SourceError
        The connection broke off or fell silent.
    """
    import urllib3

    # Servers announce static .gz files as if they were compressed on the way only. Those are
    # kept as they are; anything else that was compressed against our wish is decompressed.
    packed = response.url.partition('?')[0].lower().endswith(('.gz', '.tgz', '.z'))
    try:
        yield from response.raw.stream(chunk_size, decode_content=not packed)
    except urllib3.exceptions.ReadTimeoutError:
        raise SourceError('fell silent', retry=True) from None
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise SourceError(f'the connection broke off: {_reason(error)}', retry=True) from None


def body_length(response: Response) -> int | None:
    """Return the number of bytes that an answer announces, if it does and they are the file's."""
    length = response.headers.get('Content-Length', '')
    return int(length) if length.isdigit() and 'Content-Encoding' not in response.headers else None


def copy_body(response: Response, stream: BinaryIO, name: str, chunk_size: int,
              start: int = 0) -> int:
    """Write the body of an answer to a file, showing the progress.

    Parameters
    ----------
    response : requests.Response
        The answer.
    stream : file
        Open for writing.
    name : str
        What the progress is called.
    chunk_size : int
        Bytes to write at a time.
    start : int, optional
        How many bytes of the file there are before this answer.

    Returns
    -------
    int
        How many bytes of the file there are now.

    Raises
    ------
    SourceError
        The body is shorter than announced.
    OSError
        The file cannot be written, as on a full disk.
    """
    length = body_length(response)
    total = None if length is None else start + length
    done = start
    with progress_bar(name, total, 'Downloading', unit='B') as bar:
        for chunk in body(response, chunk_size):
            stream.write(chunk)
            done += len(chunk)
            bar.update(done)
        if total is not None and done != total:
            raise SourceError(f'the connection broke off after {done} of {total} bytes',
                              retry=True)
    return done


def receive(url: str, part: Part, limits: Limits, name: str, chunk_size: int) -> bool:
    """Receive a file, or the rest of it, over HTTP.

    Parameters
    ----------
    url : str
        The address.
    part : Part
        What has arrived so far. It is built upon only if the server says that the remote file is
        still the same version.
    limits : Limits
        How long to wait.
    name : str
        What the progress is called.
    chunk_size : int
        Bytes to write at a time.

    Returns
    -------
    bool
        Whether the file was put together from several pieces.

    Raises
    ------
    SourceError
        The file could not be had, or not to its end. What has arrived is kept in `part`.
    """
    offset = part.size
    version = part.version
    if not offset or version is None or version.url != url or version.condition is None:
        offset, version = 0, None
    headers = ({'Range': f'bytes={offset}-', 'If-Range': version.condition or ''}
               if version is not None else {})
    with ask(url, limits, headers) as response:
        if version is not None and response.status_code == 416 and offset == version.length \
                and _same_version(response, version):
            return True  # everything had arrived before
        if version is not None and response.status_code == 206 \
                and _continues(response, version, offset):
            copy_body(response, part.stream, name, chunk_size, start=offset)
            return True
        if version is None or response.status_code not in (206, 416):
            check_status(response)
            if response.status_code == 206:
                raise SourceError('answered with a part of the file that was not asked for')
            part.restart(_version_of(response, url))
            copy_body(response, part.stream, name, chunk_size)
            return False
    # The rest that was offered belongs to another version: begin anew, without a condition.
    part.restart(None)
    return receive(url, part, limits, name, chunk_size)


def _version_of(response: Response, url: str) -> Version:
    etag = response.headers.get('ETag')
    if etag is not None and etag.startswith('W/'):
        etag = None  # a weak tag does not promise the same bytes
    return Version(url, etag, response.headers.get('Last-Modified'), body_length(response))


def _same_version(response: Response, version: Version) -> bool:
    """Tell whether an answer contradicts neither the tag nor the time of a version."""
    now = _version_of(response, version.url)
    return not ((version.etag and now.etag and version.etag != now.etag)
                or (not version.etag and now.modified and version.modified != now.modified))


def _continues(response: Response, version: Version, offset: int) -> bool:
    """Tell whether a partial answer begins where ours ends, in the same version."""
    unit, _, place = response.headers.get('Content-Range', '').partition(' ')
    piece, _, total = place.partition('/')
    first = piece.partition('-')[0]
    known = str(version.length) if version.length is not None else total
    return (unit == 'bytes' and first == str(offset) and total in ('*', known)
            and _same_version(response, version))
