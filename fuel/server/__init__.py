"""Serving a stream to other programs."""
from fuel.server.serving import Server
from fuel.server.starting import start_server
from fuel.wire.messages import recv_arrays, send_arrays

__all__ = ['Server', 'recv_arrays', 'send_arrays', 'start_server']
