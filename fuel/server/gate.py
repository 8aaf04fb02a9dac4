"""Who may connect to a server that has keys.

ZeroMQ asks, through a socket of a fixed name (ZAP, https://rfc.zeromq.org/spec/27/), before it lets
a peer in.
"""
from __future__ import annotations

import logging
import os
from typing import Any

from fuel.wire.sockets import public_key, secret_keys, zmq

__all__ = ['Gate']

log = logging.getLogger(__name__)


class Gate:
    """Lets those in whose keys are known.

    Parameters
    ----------
    context : zmq.Context
        That of the server alone.
    server : zmq.Socket
        Is made to demand encryption.
    keys : path
        The file of the server's secret key.
    client_keys : path, optional
        A folder of public keys. By default everybody is let in who knows the server's public key.

    Attributes
    ----------
    socket : zmq.Socket
        Where questions come in.
    """

    def __init__(self, context: Any, server: Any, keys: str | os.PathLike[str],
                 client_keys: str | os.PathLike[str] | None) -> None:
        server.curve_publickey, server.curve_secretkey = secret_keys(keys)
        server.curve_server = True
        server.zap_domain = b'fuel'
        self._known: set[bytes] | None = None
        if client_keys is not None:
            names = [entry.path for entry in os.scandir(client_keys)
                     if entry.name.endswith('.key')]
            if not names:
                raise FileNotFoundError(f'there is no public key, NAME.key, in the folder '
                                        f'{os.fspath(client_keys)}; nobody could connect')
            self._known = {zmq.utils.z85.decode(public_key(name)) for name in names}
        self.socket = context.socket(zmq.REP)
        self.socket.linger = 0
        self.socket.bind('inproc://zeromq.zap.01')

    def answer(self) -> None:
        """Answer a question."""
        version, number, _, place, _, mechanism, *credentials = self.socket.recv_multipart()
        known = mechanism == b'CURVE' and (self._known is None or credentials[0] in self._known)
        if not known:
            log.warning('a client at %s is refused: its key is not known',
                        place.decode('ascii', 'replace'))
        self.socket.send_multipart([version, number, b'200' if known else b'400',
                                    b'OK' if known else b'unknown key', b'', b''])

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()
