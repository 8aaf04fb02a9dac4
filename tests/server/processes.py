"""Servers and clients in processes of their own."""
import multiprocessing
import pickle
import socket
import subprocess
import sys

from fuel.server import start_server
from fuel.streams.remote import ServerDataStream

from .peers import SECONDS, stream

SPAWN = multiprocessing.get_context('spawn')


def free_port():
    """Return a port that was free a moment ago."""
    with socket.create_server(('127.0.0.1', 0)) as listening:
        return listening.getsockname()[1]


def served(port, examples, **kwargs):
    start_server(stream(examples), port, **kwargs)


class ServerProcess:
    """A server in a process, which can be killed and started again at its port."""

    def __init__(self, examples=40, **kwargs):
        self.port = free_port()
        self.examples = examples
        self.kwargs = kwargs
        self.start()

    def start(self):
        self.process = SPAWN.Process(target=served, args=(self.port, self.examples),
                                     kwargs=self.kwargs, daemon=True)
        self.process.start()

    def kill(self):
        self.process.kill()
        self.process.join()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.kill()


def command(*args, **kwargs):
    """Start the command in a process."""
    return subprocess.Popen([sys.executable, '-W', 'error', '-m', 'fuel.server', *map(str, args)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def taking(port, pipe, pause):
    """Take steps, telling of each; after some of them wait to be killed."""
    with ServerDataStream(port=port, timeout=SECONDS, hwm=4) as client:
        for count, (_, y) in enumerate(client.get_epoch_iterator()):
            pipe.send(y.tolist())
            if count == pause:
                pipe.recv()
    pipe.send(None)


class ClientProcess:
    """A client in a process, which says what it was given."""

    def __init__(self, port, pause=None):
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=taking, args=(port, theirs, pause), daemon=True)
        self.process.start()
        theirs.close()

    def given(self):
        """Return what it was given next; `None` at the end."""
        assert self.pipe.poll(SECONDS)
        return self.pipe.recv()

    def kill(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.kill()


def pickled(path, *objects):
    """Write a pickle, and return its path."""
    path.write_bytes(pickle.dumps(objects[0] if len(objects) == 1 else objects))
    return path
