"""Servers for tests."""
import pytest

from fuel.server import Server
from fuel.streams.remote import ServerDataStream

from .peers import SECONDS


@pytest.fixture
def served():
    """Return a function that serves a stream, and returns a client of the server."""
    held = []

    def serve(served_stream, **kwargs):
        server = Server(served_stream, 0, **kwargs).start()
        client = ServerDataStream(port=server.port, timeout=SECONDS)
        held.extend([client, server])
        return client
    yield serve
    for one in held:
        one.close()
