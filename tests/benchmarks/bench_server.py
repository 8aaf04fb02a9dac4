"""A server and its client, each in a process of its own, against plain sockets and plain copying.

Run ``python tests/benchmarks/bench_server.py``; prints ``name: figure`` lines. A figure is a
throughput divided by that of the floor, in the same run; higher is better. Batches have 9.6 MB, and
who gets them looks at every byte.
"""
import mmap
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path

import numpy
import zmq

if __name__ in ('__main__', '__mp_main__'):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from fuel.server import Server
from fuel.streams import AbstractDataStream, ServerDataStream

SHAPE = 64, 3, 224, 224
# So many different batches, that they do not all lie in the cache of the processor.
DIFFERENT = 16
STEPS = 60
RUNS = 7


def batches():
    """Return batches of images."""
    rng = numpy.random.RandomState(0)
    return [rng.randint(256, size=SHAPE).astype('uint8') for _ in range(DIFFERENT)]


class Ready(AbstractDataStream):
    """Gives batches that are there already, so that only what the server does is measured."""

    sources = ('x',)
    produces_examples = False

    def __init__(self):
        super().__init__()
        self.batches = batches()

    def get_epoch_iterator(self, as_dict=False):
        return iter([(self.batches[step % DIFFERENT],) for step in range(STEPS)])


def look(array):
    """Look at every byte."""
    return numpy.bitwise_xor.reduce(array.reshape(-1).view('u8'))


def serve(pipe, shared_bytes, hwm):
    """Run a server until it is killed."""
    with Server(Ready(), 0, hwm, shared_bytes=shared_bytes) as server:
        pipe.send(server.port)
        server.serve()


def push(pipe):
    """Push batches through a plain socket, without a copy."""
    data = batches()
    context = zmq.Context()
    socket = context.socket(zmq.PUSH)
    socket.sndhwm = 10
    pipe.send(socket.bind_to_random_port('tcp://127.0.0.1'))
    step = 0
    while True:
        socket.send(data[step % DIFFERENT], copy=False)
        step += 1


class Process:
    """Another process, and the port that it listens at."""

    def __init__(self, target, *args):
        context = multiprocessing.get_context('spawn')
        pipe, theirs = context.Pipe()
        self.process = context.Process(target=target, args=(theirs, *args), daemon=True)
        self.process.start()
        self.port = pipe.recv()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.join()


def server_epoch(client):
    """Return how long a batch takes from a server."""
    iterator = client.get_epoch_iterator()
    look(next(iterator)[0])
    start = time.perf_counter()
    for x, in iterator:
        look(x)
    return (time.perf_counter() - start) / (STEPS - 1)


def plain_epoch(socket):
    """Return how long a batch takes from a plain socket."""
    start = time.perf_counter()
    for _ in range(STEPS):
        look(numpy.frombuffer(socket.recv(copy=False), 'u1'))
    return (time.perf_counter() - start) / STEPS


def copying(data, out):
    """Return how long it takes to copy a batch to memory that is warm, and nothing else."""
    times = []
    for batch in data * 2:
        start = time.perf_counter()
        numpy.copyto(out, batch)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Ring:
    """The least that two processes need: one copies to shared memory, the other one is told."""

    BLOCKS = 3

    def __init__(self, data):
        self.data = data
        memory = mmap.mmap(-1, self.BLOCKS * data[0].nbytes)
        self.blocks = numpy.frombuffer(memory, 'u1').reshape(self.BLOCKS, *SHAPE)
        self.blocks[:] = 1

    def epoch(self):
        """Return how long a batch takes."""
        filled, free = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            for step in range(STEPS):
                if step >= self.BLOCKS:
                    os.read(free[0], 1)
                numpy.copyto(self.blocks[step % self.BLOCKS], self.data[step % DIFFERENT])
                os.write(filled[1], b'.')
            os._exit(0)
        for step in range(STEPS):
            os.read(filled[0], 1)
            if step == 1:
                start = time.perf_counter()
            look(self.blocks[step % self.BLOCKS])
            os.write(free[1], b'.')
        seconds = (time.perf_counter() - start) / (STEPS - 1)
        os.waitpid(pid, 0)
        for end in (*filled, *free):
            os.close(end)
        return seconds


def main():
    """Print the figures."""
    data = batches()
    nbytes = data[0].nbytes
    out = numpy.ones_like(data[0])
    ring = Ring(data)
    hwm = 10
    with (Process(serve, 0, hwm) as over_tcp, Process(serve, None, hwm) as shared,
          Process(push) as plain, zmq.Context() as context, context.socket(zmq.PULL) as socket,
          ServerDataStream(port=over_tcp.port) as tcp_client,
          ServerDataStream(port=shared.port) as shared_client):
        socket.rcvhwm = 10
        figures = {'tcp': [], 'shared': [], 'ring': []}
        for run in range(RUNS + 1):
            tcp = server_epoch(tcp_client)
            socket.connect(f'tcp://127.0.0.1:{plain.port}')
            plain_epoch(socket)
            bare = plain_epoch(socket)
            socket.disconnect(f'tcp://127.0.0.1:{plain.port}')
            while socket.poll(50):
                socket.recv(copy=False)
            memory = server_epoch(shared_client)
            least, floor = ring.epoch(), copying(data, out)
            if run:
                figures['tcp'].append(bare / tcp)
                figures['shared'].append(floor / memory)
                figures['ring'].append(floor / least)
            if 'verbose' in sys.argv[1:]:
                print(*[f'{what} {nbytes / seconds / 1e9:.2f} GB/s' for what, seconds in (
                    ('tcp', tcp), ('plain', bare), ('shared', memory), ('ring', least),
                    ('copying', floor))])
    print(f"server over TCP, 9.6 MB batches / plain pyzmq with copy=False: "
          f"{statistics.median(figures['tcp']):.2f}")
    print(f"server through shared memory, 9.6 MB batches / memcpy: "
          f"{statistics.median(figures['shared']):.2f}")
    print(f"a bare ring of blocks between two processes, 9.6 MB batches / memcpy: "
          f"{statistics.median(figures['ring']):.2f}")


if __name__ == '__main__':
    main()
