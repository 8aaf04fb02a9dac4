"""Long runs under which an engine must neither lose nor leak anything.

Run ``python -m tests.engine.ordeals kills 2000`` for worker after worker killed at random moments,
and ``python -m tests.engine.ordeals epochs 500`` for short epochs, one in three broken off, with
new workers for each. The tests run shorter forms of both.
"""
import contextlib
import faulthandler
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.testing.comparing import copied
from fuel.transformers import Mapping, MultiProcessing
from tests.contracts import chains
from tests.engine.watching import descendants, ended, held, memory


def uneven(data):
    """Give now little, now much."""
    first = int(data[0][0])
    return data[0], numpy.full((1, 100, 30_000)[first % 3], first)


def slowly(data):
    """Take now no time, now some milliseconds."""
    until = time.perf_counter() + (0, 0, 0.001, 0.004)[int(data[0][0]) % 4]
    while time.perf_counter() < until:
        pass
    return data


def stream_of_steps(count):
    """Return a stream of uneven steps in random order, with random numbers in them."""
    dataset = IndexableDataset({'x': numpy.arange(count)})
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(count, 2))
    stream = Mapping(stream, uneven)
    stream.sources = ('x', 'y')
    return chains.Noise(stream)


def born(pid):
    """Return when a process was started, as text; nothing if it is not alive."""
    try:
        fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    except OSError:
        return ''
    return '' if fields[0] == 'Z' else fields[19]


class Announced:
    """A function for `Mapping` that has each process that calls it leave its number in a folder."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self, data):
        path = os.path.join(self.folder, str(os.getpid()))
        if not os.path.exists(path):
            with contextlib.suppress(FileNotFoundError), open(path, 'x') as file:  # may be over
                file.write(born(os.getpid()))
        return slowly(data)


class Killer:
    """Kills child processes at random moments, from a thread.

    Parameters
    ----------
    count : int
        How many.
    victims : callable
        Returns the numbers of those that may be killed.
    seconds : float
        How long to wait for the next one, on average.
    seed : int
        Of the random moments.
    """

    def __init__(self, count, victims, seconds, seed):
        self.left = count
        self._victims = victims
        self._seconds = seconds
        self._random = random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()

    def _work(self):
        while self.left and not self._over.wait(self._random.uniform(0, 2 * self._seconds)):
            victims = self._victims()
            if victims:
                self._over.wait(self._random.uniform(0, 0.01))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._random.choice(victims), signal.SIGKILL)
                    self.left -= 1


def survive_kills(count, seconds=0.09, *, num_workers=3, seed=0, anything=False):
    """Kill workers at random, and check that every epoch is what it should be.

    Parameters
    ----------
    count : int
        How many.
    seconds : float, optional
        Between two of them, on average.
    num_workers, seed : int, optional
        How many workers there are, and what the random moments follow from.
    anything : bool, optional
        Kill any process that belongs to the engine, and not only workers that are at work.

    Returns
    -------
    int
        How many epochs there were.
    """
    plain = stream_of_steps(300)
    epochs = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        def at_work():
            # A number may have been given to another process since.
            return [int(name) for name in os.listdir(folder)
                    if born(int(name)) == Path(folder, name).read_text() != '']

        def all_of_them():
            # Only when somebody is at work again, for a machine may need longer to start them than
            # to kill them. Those whose parent was killed are nobody's descendants.
            working = at_work()
            return sorted({*descendants(), *working}) if working else []

        stream = stack.enter_context(contextlib.closing(MultiProcessing(
            Mapping(stream_of_steps(300), Announced(folder)), num_workers=num_workers,
            restart_workers=True, persistent_workers=True)))
        killer = stack.enter_context(
            Killer(count, all_of_them if anything else at_work, seconds, seed))
        while killer.left:
            expected = [copied(data) for data in plain.get_epoch_iterator()]
            assert_same(list(stream.get_epoch_iterator()), expected, f'epoch {epochs}')
            epochs += 1
        workers = [int(name) for name in os.listdir(folder)]
        stream.close()
        assert ended(workers, 2) == []
    return epochs


def survive_epochs(count, make, seed=0, report=None):
    """Go through short epochs, some of which are broken off, and compare what is held.

    Parameters
    ----------
    count : int
        How many.
    make : callable
        Puts an engine around a stream.
    seed : int, optional
        Says which epochs are broken off.
    report : callable, optional
        Called from time to time with the epoch and what is held.

    Returns
    -------
    tuple
        What is held after a fifth of the epochs and after all of them, and the bytes of memory of
        all processes then.
    """
    chance = random.Random(seed)
    plain = stream_of_steps(12)
    stream = make(stream_of_steps(12))
    marks = []
    with contextlib.closing(stream):
        for epoch in range(count):
            expected = plain.get_epoch_iterator()
            stop = chance.randrange(7) if chance.random() < 1 / 3 else 7
            iterator = stream.get_epoch_iterator()
            for step, data in enumerate(iterator):
                assert_same(data, copied(next(expected)), f'step {step} of epoch {epoch}')
                if step == stop:
                    break
            else:
                assert next(expected, None) is None
            # What was given last may lie in shared memory.
            del iterator
            data = None
            if epoch in (count // 5, count - 1):
                marks.append((held_now(), sum(map(memory, [os.getpid(), *descendants()]))))
            if report is not None and epoch % 50 == 0:
                report(epoch, marks[-1:])
    return marks


def held_now():
    """Return what is held, without what changes from one moment to the next."""
    found = held()
    return {**found, 'children': len(found['children'])}


def main():
    """Run a long form."""
    faulthandler.dump_traceback_later(7200, exit=True)
    what, count = sys.argv[1], int(sys.argv[2])
    begun = time.monotonic()
    if what == 'kills':
        epochs = survive_kills(count)
        print(f'{count} kills in {epochs} epochs, nothing lost and nothing twice, in '
              f'{time.monotonic() - begun:.0f} seconds')
    else:
        first, last = survive_epochs(count, lambda stream: MultiProcessing(stream, num_workers=2))
        print(f'{count} epochs in {time.monotonic() - begun:.0f} seconds; memory '
              f'{first[1] / 1e6:.1f} MB, at the end {last[1] / 1e6:.1f} MB')
        assert first[0] == last[0], (first[0], last[0])


if __name__ == '__main__':
    main()
