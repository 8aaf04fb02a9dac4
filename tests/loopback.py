"""A small HTTP server on the loopback address, with the habits and faults of real ones."""
from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    timeout = 20

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        route = self.server.routes.get(self.path)
        if route is None:
            reply(self, b'<html>no such page</html>', status=404)
        else:
            route(self)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    """Answers as its `routes` say, and keeps a list of `requests` as (path, headers)."""

    daemon_threads = True
    block_on_close = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.routes = {}
        self.requests = []
        self.release = threading.Event()

    def url(self, path):
        return f'http://127.0.0.1:{self.server_address[1]}{path}'

    def handle_error(self, request, client_address):
        pass  # clients that go away are part of the tests


@contextmanager
def serving(**routes):
    """Run a server; keywords are routes, with their names as paths."""
    with Server() as server:
        server.routes.update({f'/{name}': route for name, route in routes.items()})
        thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
            thread.join()


def reply(handler, content, status=200, length=None, sent=None, **headers):
    """Answer with content. `length` is announced, `sent` bytes are really sent."""
    handler.send_response(status)
    handler.send_header('Content-Length', str(len(content) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name.replace('_', '-'), value)
    handler.end_headers()
    handler.wfile.write(content if sent is None else content[:sent])


def whole(content, **headers):
    """A route that knows nothing of ranges."""
    return lambda handler: reply(handler, content, **headers)


def ranged(content, etag='"v1"', breaks=(), **headers):
    """A route that honours Range and If-Range; `breaks` has after how many bytes each of the
    first answers breaks off."""
    breaks = list(breaks)

    def route(handler):
        sent = breaks.pop(0) if breaks else None
        wanted = handler.headers.get('Range')
        if wanted and handler.headers.get('If-Range') in (etag, None):
            start = int(wanted.removeprefix('bytes=').removesuffix('-'))
            if start >= len(content):
                reply(handler, b'', 416, ETag=etag, Content_Range=f'bytes */{len(content)}')
                return
            reply(handler, content[start:], 206, sent=sent, ETag=etag, **headers,
                  Content_Range=f'bytes {start}-{len(content) - 1}/{len(content)}')
        else:
            reply(handler, content, sent=sent, ETag=etag, **headers)
    return route


def silent(handler):
    """A route that never answers, until the server is shut down."""
    handler.server.release.wait()
    handler.close_connection = True


def closed_port():
    """Return an address where nobody listens."""
    import socket
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return f'http://127.0.0.1:{probe.getsockname()[1]}/'
