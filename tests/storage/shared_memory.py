"""What the tests of shared memory have in common."""
import gc
import os
import subprocess
import sys

import numpy

from fuel.storage.sharing.arrays import SharedArrays

#: Linux tests both kinds of segments.
KINDS = ['memory', 'file'] if sys.platform == 'linux' else ['file']


def open_files():
    """Return how many files are open in this process."""
    gc.collect()
    return len(os.listdir('/proc/self/fd' if os.path.isdir('/proc/self/fd') else '/dev/fd'))


def numbers(kind=None, count=1000):
    """Publish numbers in order, sealed."""
    shared = SharedArrays.publish({'x': [numpy.arange(count)]}, kind)
    shared.seal()
    return shared


def start(*arguments):
    """Start Python with some arguments, and with pipes to its input and from its output."""
    return subprocess.Popen(
        [sys.executable, '-W', 'error', *arguments], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, 'PYTHONPATH': os.getcwd()})
