"""Damages copies of small HDF5 files and reads them: what comes of each.

Run ``python -m tests.faults.fuzz_hdf5 --copies 2000``. Each copy has up to eight bytes changed, or
is cut off. It is read in another process, whose end is part of the outcome: an error that names
the file, the right rows, other rows that plain h5py reads too (no checksum tells), or a failure.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field

import numpy

from tests.faults.fuzz_reading import KINDS, write_originals

HANG_SECONDS = 15
FINE = ('error', 'right', 'unknowable', 'memory')


def damaged(content, number):
    """Return a copy of a file with some bytes changed, or without its end."""
    rng = numpy.random.default_rng([number, 7])
    copy = bytearray(content)
    if number % 10 == 9:
        return bytes(copy[:int(rng.integers(0, len(copy)))])
    for place in rng.integers(0, len(copy), int(rng.integers(1, 9))).tolist():
        # Sizes and addresses are small numbers: one bit, or a byte like its neighbours.
        change = rng.integers(0, 3)
        if change == 0:
            copy[place] ^= 1 << int(rng.integers(0, 8))
        elif change == 1:
            copy[place] = int(rng.choice([0, 1, 255, copy[place - 1]]))
        else:
            copy[place] = int(rng.integers(0, 256))
    return bytes(copy)


@dataclass
class Report:
    """What came of the copies.

    Attributes
    ----------
    outcomes : Counter
        How often each outcome was seen.
    failures : list of str
        What must not happen, one line each.
    of_library : list of str
        Crashes and hangs that plain h5py has with the same bytes.
    """

    outcomes: collections.Counter = field(default_factory=collections.Counter)
    failures: list = field(default_factory=list)
    of_library: list = field(default_factory=list)

    def summary(self):
        """Return one line."""
        counted = ', '.join(f'{count} {name}' for name, count in sorted(self.outcomes.items()))
        return (f'{sum(self.outcomes.values())} copies: {counted}; {len(self.failures)} failures, '
                f'{len(self.of_library)} crashes or hangs of the HDF5 library itself')


class _Worker:
    """A process that reads copies and tells how it goes, line by line."""

    def __init__(self, folder, numbers, how='both'):
        self._process = subprocess.Popen(
            [sys.executable, '-u', '-m', 'tests.faults.fuzz_reading', str(folder), how],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=pathlib.Path(__file__).parents[2], env={**os.environ, 'PYTHONFAULTHANDLER': '1'})
        self._lines = queue.Queue()
        self._errors = collections.deque(maxlen=60)
        self._readers = [threading.Thread(target=target, daemon=True)
                         for target in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(' '.join(map(str, numbers)) + '\n')
            self._process.stdin.close()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip('\n').split('\t'))
        self._lines.put(None)

    def _read_errors(self):
        self._errors.extend(self._process.stderr)

    def lines(self):
        """Yield lines as lists of words; a last one of its own if the process ended badly."""
        try:
            while (words := self._lines.get(timeout=HANG_SECONDS)) is not None:
                yield words
            code = self._process.wait(HANG_SECONDS)
            for reader in self._readers:
                reader.join(HANG_SECONDS)
            if code:
                where = [line.strip() for line in self._errors if 'File "' in line][:4]
                yield ['ended', f'crash {code} {" < ".join(where) or list(self._errors)[-1:]}']
        except queue.Empty:
            yield ['ended', f'hang for {HANG_SECONDS} s']
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            for reader in self._readers:
                reader.join()
            self._process.stdout.close()
            self._process.stderr.close()


def _library_fails(folder, number):
    """Return whether plain h5py crashes or hangs too with a copy."""
    return any(words[0] == 'ended' for words in _Worker(folder, [number], 'h5py').lines())


def fuzz(folder, copies, first=0):
    """Damage and read copies.

    Parameters
    ----------
    folder : path
        Where the originals and, one at a time, the copies stand.
    copies : int
        How many.
    first : int, optional
        The number of the first; each number is always the same damage.

    Returns
    -------
    Report
    """
    write_originals(folder)
    report = Report()
    numbers = list(range(first, first + copies))
    while numbers:
        current, step = None, 'opening'
        for word, *rest in _Worker(folder, numbers).lines():
            if word == 'begin':
                current = int(rest[0])
            elif word == 'step':
                step = rest[0]
            elif word == 'done':
                numbers = numbers[numbers.index(int(rest[0])) + 1:]
                report.outcomes[rest[1]] += 1
                if rest[1] not in FINE:
                    report.failures.append(
                        f'copy {rest[0]}, {_kind(rest[0])}: {" ".join(rest[1:])}')
            else:
                if current is None or current not in numbers:
                    raise RuntimeError(f'the process that reads does not start: {rest}')
                numbers = numbers[numbers.index(current) + 1:]
                line = f'copy {current}, {_kind(current)}: {rest[0]} (at {step})'
                of_library = _library_fails(folder, current)
                report.outcomes['of the library' if of_library else 'crash or hang'] += 1
                (report.of_library if of_library else report.failures).append(line)
    return report


def _kind(number):
    return KINDS[int(number) % len(KINDS)]


def main():
    """Print the summary, and what failed."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--copies', type=int, default=2000)
    parser.add_argument('--first', type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz(folder, arguments.copies, arguments.first)
    for line in report.failures + [f'(library) {line}' for line in report.of_library]:
        print(line)
    print(report.summary())
    return bool(report.failures)


if __name__ == '__main__':
    sys.exit(main())
