"""Damages copies of small MATLAB files and reads them, in this process.

Run ``python -m tests.converters.fuzz_matlab 20000``. Each copy has one or two bytes changed, or is
cut off; some are compressed anew behind the damage, so that no checksum tells. Nothing but
`ConversionError` may come of it: a crash ends the process, a hang or another error is printed.
"""
import collections
import io
import logging
import resource
import signal
import struct
import sys
import zlib

import numpy
import scipy.io

from fuel.converters._formats.matlab import read_mat, read_mat_stream, stream_mat
from fuel.converters._imagenet.devkit import _read_classes
from fuel.exceptions import ConversionError
from tests.raw import imagenet

HANG_SECONDS = 10
# So much address space more than the process has at the beginning, and no more.
ROOM = 1 << 30


def meta():
    """Return the file of a development kit, not compressed."""
    raw = imagenet.Raw([imagenet.wnid(number) for number in range(3)])
    return unpacked(imagenet.meta(2012, raw, 8))


def unpacked(content):
    """Return a file with all variables decompressed."""
    made, start = content[:128], 128
    while start < len(content):
        kind, size = struct.unpack('<II', content[start:start + 8])
        part = content[start + 8:start + 8 + size]
        made += zlib.decompress(part) if kind == 15 else content[start:start + 8 + size]
        start += 8 + size
    return made


def packed(content):
    """Return a file whose first variable is compressed, with all that follows."""
    part = zlib.compress(bytes(content[128:]), 1)
    return bytes(content[:128]) + struct.pack('<II', 15, len(part)) + part


def saved(**variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables)
    return stream.getvalue()


def originals():
    """Return small files of all kinds, none compressed."""
    rng = numpy.random.default_rng(0)
    return [saved(X=rng.integers(0, 256, (3, 4, 5)).astype('uint8')),
            saved(X=rng.random((2, 3)), y=numpy.arange(4, dtype='int16'), z='text'),
            saved(X=numpy.array([[1, 'x'], [numpy.eye(2), 'words']], dtype=object)), meta()]


def damaged(content, rng):
    """Return a copy with some bytes changed, or without its end."""
    copy = bytearray(content)
    if rng.random() < .08:
        return copy[:int(rng.integers(100, len(copy)))]
    for _ in range(int(rng.integers(1, 3))):
        place = int(rng.integers(120, len(copy)))
        change = rng.integers(0, 3)
        if change == 0:
            copy[place] ^= 1 << int(rng.integers(0, 8))
        elif change == 1:       # sizes and types are small numbers
            copy[place] = int(rng.integers(0, 20))
        else:
            copy[place] = int(rng.choice([0, 1, 127, 128, 255, rng.integers(0, 256)]))
    return copy


def copies(count, seed=0):
    """Yield damaged files."""
    rng = numpy.random.default_rng(seed)
    whole = originals()
    for _ in range(count):
        content = whole[int(rng.integers(len(whole)))]
        way = rng.integers(0, 3)
        if way == 0:
            yield bytes(damaged(content, rng))
        elif way == 1:
            yield packed(damaged(content, rng))
        else:
            yield bytes(damaged(packed(content), rng))


def read_all(path, content):
    """Yield functions that read a file in every way that there is."""
    def streamed():
        for block in stream_mat(path, 'X')[2]:
            block.sum()
    yield lambda: read_mat(path)
    yield lambda: read_mat_stream(io.BytesIO(content), path, ['X'], most=1 << 20)
    yield streamed
    yield lambda: _read_classes(path, content, 'ILSVRC2012_ID')


def main(path, count):
    """Read copies; return how often which kind of outcome was seen."""
    logging.disable()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)       # the end of a process that hangs
    with open('/proc/self/statm') as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    outcomes = collections.Counter()
    for number, content in enumerate(copies(count)):
        signal.alarm(HANG_SECONDS)
        with open(path, 'wb') as stream:
            stream.write(content)
        for read in read_all(path, content):
            try:
                read()
                outcomes['read'] += 1
            except ConversionError as error:
                assert str(error).startswith(path), (number, error)
                outcomes['error'] += 1
    return outcomes


if __name__ == '__main__':
    print(dict(main(sys.argv[2], int(sys.argv[1]))))
