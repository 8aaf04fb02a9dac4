"""Where a server is."""
from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ['Address']


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and with which keys to speak to it.

    Attributes
    ----------
    host : str
        The host.
    port : int
        The port.
    server_key : path or None
        The file of the server's public key.
    client_key : path or None
        The file of the client's secret key.
    """

    host: str
    port: int
    server_key: str | os.PathLike[str] | None = None
    client_key: str | os.PathLike[str] | None = None

    def __str__(self) -> str:
        return f'{self.host}, port {self.port}'
