"""The other side of the old protocol, as the old library spoke it, and streams to serve.

Written from what was observed on the wire: a header in JSON with a description for each array, a
frame of bytes for each, and ``{"stop": true}`` at the end of an epoch.
"""
import json
import threading

import numpy
import zmq

from fuel.datasets import IndexableDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import AbstractDataStream, DataStream

SECONDS = 30


def stream(examples=40, batch_size=4, seed=1):
    """Return a stream of shuffled batches of two sources, with labels."""
    dataset = IndexableDataset(
        {'x': numpy.arange(examples * 3, dtype='f4').reshape(examples, 3),
         'y': numpy.arange(examples, dtype='i2')},
        axis_labels={'x': ('batch', 'feature'), 'y': ('batch',)})
    return DataStream(dataset, iteration_scheme=ShuffledScheme(
        examples, batch_size, rng=numpy.random.RandomState(seed)))


class Counting(AbstractDataStream):
    """A stream of old, which tells nothing of where it stands."""

    sources = ('x',)
    produces_examples = True

    def get_epoch_iterator(self, as_dict=False):
        return iter([(numpy.array(number),) for number in range(5)])


def equal(left, right):
    """Tell whether two lists of batches are equal, with all dtypes and shapes."""
    return len(left) == len(right) and all(
        len(one) == len(other) and all(
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
            for a, b in zip(one, other, strict=True))
        for one, other in zip(left, right, strict=True))


class OldClient:
    """A client of the old library."""

    def __init__(self, port, hwm=10):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PULL)
        self.socket.rcvhwm = hwm
        self.socket.rcvtimeo = SECONDS * 1000
        self.socket.connect(f'tcp://localhost:{port}')

    def receive(self):
        """Return the arrays of a batch, or `None` at the end of an epoch."""
        header = self.socket.recv_json()
        if 'stop' in header:
            assert header['stop'] is True
            assert not self.socket.rcvmore
            return None
        arrays = []
        for entry in header:
            array = numpy.frombuffer(self.socket.recv(), numpy.dtype(entry['descr']))
            if entry['fortran_order']:
                arrays.append(array.reshape(entry['shape'][::-1]).transpose())
            else:
                arrays.append(array.reshape(entry['shape']))
        assert not self.socket.rcvmore
        return tuple(arrays)

    def epoch(self):
        """Return what is left of the epoch."""
        return list(iter(self.receive, None))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close(linger=0)
        self.context.term()


class OldServer:
    """A server of the old library: it pushes epoch after epoch of some batches."""

    def __init__(self, epochs, port=None, hwm=10):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PUSH)
        self.socket.sndhwm = hwm
        self.socket.linger = 0
        if port is None:
            self.port = self.socket.bind_to_random_port('tcp://127.0.0.1')
        else:
            self.port = port
            self.socket.bind(f'tcp://127.0.0.1:{port}')
        self.ended = False
        self.thread = threading.Thread(target=self.serve, args=(epochs,))
        self.thread.start()

    def serve(self, epochs):
        self.socket.sndtimeo = 20
        for batches in epochs:
            for batch in batches:
                arrays = [numpy.ascontiguousarray(array) for array in batch]
                header = [{'shape': list(array.shape), 'fortran_order': False,
                           'descr': numpy.lib.format.dtype_to_descr(array.dtype)}
                          for array in arrays]
                if not self.send([json.dumps(header).encode(),
                                  *[array.tobytes() for array in arrays]]):
                    return
            if not self.send([b'{"stop": true}']):
                return

    def send(self, frames):
        """Send a message as soon as there is room; tell whether the server still runs."""
        while not self.ended:
            try:
                self.socket.send_multipart(frames)
                return True
            except zmq.Again:
                pass
        return False

    def close(self):
        self.ended = True
        self.thread.join()
        self.socket.close(linger=0)
        self.context.term()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
