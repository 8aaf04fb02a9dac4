"""The door to ZeroMQ: sockets of this library, with and without encryption.

No other module of the lower floors imports ``zmq``, and none imports this one before it is about to
open a socket.
"""
from __future__ import annotations

import os
from typing import Any

import zmq
import zmq.auth

__all__ = ['HEARTBEAT', 'address', 'make_keys', 'new_socket', 'public_key', 'secret_keys', 'zmq']

#: Milliseconds between signs of life. The threads of ZeroMQ give them, whatever Python does.
HEARTBEAT = 2000
# After so long without one a connection counts as broken.
_SILENCE = 15000


def address(host: str, port: int) -> str:
    """Return the address of a port of a host, as ZeroMQ writes it."""
    return f'tcp://[{host}]:{port}' if ':' in host else f'tcp://{host}:{port}'


def new_socket(context: Any, kind: int, host: str = '') -> Any:
    """Return a socket that keeps as many messages as its owner lets it, and none when it closes.

    Parameters
    ----------
    context : zmq.Context
        Where it belongs.
    kind : int
        Such as ``zmq.DEALER``.
    host : str, optional
        Whom it is for; with colons for an address of IPv6.
    """
    made = context.socket(kind)
    made.linger = 0
    made.sndhwm = made.rcvhwm = 0
    if ':' in host:
        made.ipv6 = True
    made.heartbeat_ivl = HEARTBEAT
    made.heartbeat_timeout = _SILENCE
    return made


def make_keys(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Make a pair of keys.

    Parameters
    ----------
    path : path
        Where to put them, without an ending. What is there already is not replaced.

    Returns
    -------
    public : str
        The path of the public key, ``PATH.key``, to be given to others.
    secret : str
        The path of the secret key, ``PATH.key_secret``, which only the owner can read.
    """
    folder, name = os.path.split(os.path.abspath(path))
    for ending in ('key', 'key_secret'):
        if os.path.exists(f'{path}.{ending}'):
            raise FileExistsError(f'{path}.{ending} is there already; take another name, or '
                                  'remove it')
    os.makedirs(folder, exist_ok=True)
    before = os.umask(0o077)
    try:
        public, secret = zmq.auth.create_certificates(folder, name)
    finally:
        os.umask(before)
    os.chmod(public, 0o644)
    return os.fspath(public), os.fspath(secret)


def public_key(path: str | os.PathLike[str]) -> bytes:
    """Read the public key of a file that `make_keys` wrote.

    Raises
    ------
    FileNotFoundError, ValueError
        There is none.
    """
    return _keys(path)[0]


def secret_keys(path: str | os.PathLike[str]) -> tuple[bytes, bytes]:
    """Read a pair of public and secret key.

    Raises
    ------
    FileNotFoundError, ValueError
        There is none, or the file has the public key only.
    """
    public, secret = _keys(path)
    if secret is None:
        raise ValueError(f'{os.fspath(path)} has a public key only; expected the file of the '
                         'secret key, NAME.key_secret')
    return public, secret


def _keys(path: str | os.PathLike[str]) -> tuple[bytes, bytes | None]:
    try:
        return zmq.auth.load_certificate(path)
    except OSError as error:
        raise FileNotFoundError(f'there is no file of keys at {os.fspath(path)}; python -m '
                                'fuel.server --make-keys NAME makes a pair') from error
