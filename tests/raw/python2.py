"""Pickles and tar archives as the authors of CIFAR made them, with Python 2."""
from __future__ import annotations

import io
import struct
import tarfile

import numpy


def pickled(value):
    """Return what ``cPickle.dumps(value, 2)`` of Python 2 returns for plain data and arrays.

    Texts become ``str`` of Python 2, which is bytes; arrays are those of uint8.
    """
    return b'\x80\x02' + b''.join(_instructions(value, iter(range(1 << 30)))) + b'.'


def _put(numbers):
    number = next(numbers)
    return b'q' + bytes([number]) if number < 256 else b'r' + struct.pack('<I', number)


def _text(value):
    value = value.encode() if isinstance(value, str) else value
    return (b'U' + bytes([len(value)]) if len(value) < 256
            else b'T' + struct.pack('<i', len(value))) + value


def _number(value):
    if 0 <= value < 256:
        return b'K' + bytes([value])
    if 0 <= value < 65536:
        return b'M' + struct.pack('<H', value)
    return b'J' + struct.pack('<i', value)


def _batches(items):
    """Yield a thousand items at a time, as pickle does."""
    for start in range(0, len(items), 1000):
        yield items[start:start + 1000]


def _instructions(value, numbers):
    if isinstance(value, dict):
        yield b'}' + _put(numbers)
        for items in _batches(list(value.items())):
            yield b'('
            for pair in items:
                for item in pair:
                    yield from _instructions(item, numbers)
            yield b'u'
    elif isinstance(value, list):
        yield b']' + _put(numbers)
        for items in _batches(value):
            yield b'('
            for item in items:
                yield from _instructions(item, numbers)
            yield b'e'
    elif isinstance(value, (str, bytes)):
        yield _text(value) + _put(numbers)
    elif isinstance(value, int):
        yield _number(value)
    else:
        yield from _array(value, numbers)


def _array(array, numbers):
    array = numpy.ascontiguousarray(array, dtype='uint8')
    yield b'cnumpy.core.multiarray\n_reconstruct\n' + _put(numbers)
    yield b'cnumpy\nndarray\n' + _put(numbers) + b'K\x00\x85' + _put(numbers)
    yield _text('b') + _put(numbers) + b'\x87' + _put(numbers) + b'R' + _put(numbers) + b'(K\x01'
    yield b'(' + b''.join(map(_number, array.shape)) + b't' + _put(numbers)
    yield b'cnumpy\ndtype\n' + _put(numbers) + _text('u1') + _put(numbers) + b'K\x00K\x01\x87'
    yield _put(numbers) + b'R' + _put(numbers) + b'(K\x03' + _text('|') + _put(numbers)
    yield b'NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t' + _put(numbers) + b'b\x89'
    content = array.tobytes()
    if len(content) < 256:
        yield _text(content)
    else:
        yield b'T' + struct.pack('<i', len(content))
        yield content
    yield _put(numbers) + b't' + _put(numbers) + b'b'


def compressing(path, level):
    """Open a file that is compressed by gzip, quickly where that is possible."""
    if level <= 1:
        try:
            from isal import igzip
        except ImportError:
            pass
        else:
            return igzip.IGzipFile(path, 'wb', compresslevel=level, mtime=0)
    import gzip
    return gzip.GzipFile(path, 'wb', compresslevel=level, mtime=0)


def write_archive(path, members, level=6):
    """Write a tar archive compressed by gzip.

    Parameters
    ----------
    path : path
        The archive.
    members : iterable
        Pairs of a name and the content, which is `None` for a folder; or objects `TarInfo`.
    level : int, optional
        Of the compression.
    """
    with (compressing(path, level) as stream,
          tarfile.open(fileobj=stream, mode='w|', format=tarfile.GNU_FORMAT,
                       bufsize=1 << 18) as archive):
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, content = member
            info = tarfile.TarInfo(name)
            if content is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
