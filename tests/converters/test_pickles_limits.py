"""Pickles made to fill the memory, and those that end in the middle of something."""
from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile

import pytest

from fuel.converters._formats import pickles as _pickles
from fuel.converters._formats.pickles import read_pickle
from fuel.converters.cifar10 import convert_cifar10
from fuel.exceptions import ConversionError
from tests.bin.commands import environment
from tests.raw.python2 import pickled


def read(content, size=None):
    return read_pickle(io.BytesIO(content), size or len(content), 'a.tar: batch')


def fails(content, size=None):
    with pytest.raises(ConversionError) as caught:
        read(content, size)
    assert str(caught.value).startswith('a.tar: batch, byte ')
    # Nothing of the machine that reads pickles.
    for name in ('_Mark', '_Name', '_NotedDtype', 'NotedArray', 'Kept'):
        assert name not in str(caught.value)
    return str(caught.value)


DTYPE, CLASS = b'cnumpy\ndtype\n', b'cnumpy\nndarray\n'
ARRAY = b'cnumpy.core.multiarray\n_reconstruct\n' + CLASS + b'K\0\x85U\1b\x87R'


@pytest.mark.parametrize('content', [
    b'(.', b'((.', b'K\1(.', b']((.', b'](a.', b'}K\1(s.', b'}((s.', b'(\x85.', b'(K\1\x86.',
    b'}q\0(r\1\0\0\0K\1j\1\0\0\0su.'])
def test_marks_where_values_belong(content):
    message = fails(b'\x80\x02' + content)
    assert 'the beginning of a container without its end' in message or 'mark' in message


@pytest.mark.parametrize(('content', 'words'), [
    (DTYPE + b'.', 'expected a value; got the name of a function or a class'),
    (b'}K\1' + CLASS + b's.', 'expected a value; got the name of a function or a class'),
    (b']' + DTYPE + b'U\2u1\x85Ra.', 'expected a value; got a dtype'),
    (b'(' + DTYPE + b'U\2u1\x85Rl.', 'expected a value; got a dtype'),
    (ARRAY + b'.', 'expected a value; got an array'), (b'K\1]a.', 'expected a list; got a whole'),
    (b'}K\1a.', 'expected a list; got a dictionary'),
    (b'NK\1K\2s.', 'expected a dictionary; got nothing'),
    (b'}' + CLASS + b'K\1s.', 'for the keys of a dictionary; got the name of a function'),
    (b'}(K\1s.', 'for the keys of a dictionary; got the beginning of a container')])
def test_what_came_is_said_in_words(content, words):
    assert words in fails(b'\x80\x02' + content)


def test_instructions_are_limited_by_the_size():
    many = b'\x80\x02' + b'N0' * 200000 + b'N.'
    assert 'at most 262925 instructions' in fails(many)
    assert read(many, 1 << 28) is None          # so many are in order where pictures are
    assert 'at most 1048576 instructions' in fails(b'\x80\x02' + b'N0' * (1 << 20), 1 << 40)


def test_the_largest_public_batch_is_far_from_the_limits():
    # 50000 pictures with two labels and a name each, in 155 MB.
    batch = pickled({'fine_labels': [7] * 50000, 'coarse_labels': [3] * 50000,
                     'filenames': [b'picture_of_something_s_%06d.png' % number
                                   for number in range(50000)]})
    assert len(read(batch)[b'filenames']) == 50000


def test_large_integers_and_texts():
    assert read(b'\x80\x02\x8a\x40' + b'\1' * 64 + b'.') == int.from_bytes(b'\1' * 64, 'little')
    assert 'integers of at most 64 bytes; got one of 65' in fails(b'\x80\x02\x8a\x41' + b'\1' * 65
                                                                  + b'.')


def test_texts_are_limited_together(monkeypatch):
    monkeypatch.setattr(_pickles, '_MOST_BYTES', 1000)
    assert read(b'\x80\x02' + (b'U\x64' + b'a' * 100 + b'0') * 9 + b'N.') is None
    assert 'at most 1000 bytes of texts' in fails(
        b'\x80\x02' + (b'U\x64' + b'a' * 100 + b'0') * 10 + b'N.')


WAYS = {'marks': b'(', 'dictionaries': b'}', 'lists': b']', 'remembered': b'}\x94',
        'floats': b'G\0\0\0\0\0\0\0\1', 'integers': b'\x8a\x40' + b'\x7f' * 64,
        'texts': b'\x8c\x3c' + '\U0001f600'.encode() * 15, 'pairs': b'NN\x86'}


@pytest.mark.parametrize('way', WAYS)
def test_memory(way, tmp_path):
    path = tmp_path / 'pickle'
    path.write_bytes(b'\x80\x02' + WAYS[way] * (1 << 20) + b'.')
    code = ('import resource, sys\n'
            'import fuel.converters._formats.pickles as pickles\n'
            'from fuel.exceptions import ConversionError\n'
            'def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n'
            'before = peak()\n'
            'with open(sys.argv[1], "rb") as stream:\n'
            '    try: pickles.read_pickle(stream, 1 << 29, "a.tar")\n'
            '    except ConversionError: print(peak() - before)\n')
    done = subprocess.run([sys.executable, '-c', code, path], capture_output=True, text=True,
                          check=True, env=environment())
    assert float(done.stdout) < 200


def test_an_archive_made_to_fill_the_memory(tmp_path):
    content = b'\x80\x02' + b'(' * ((1 << 23) - 10) + b'.'
    archive = tmp_path / 'cifar-10-python.tar.gz'
    with tarfile.open(archive, 'w:gz') as tar:
        info = tarfile.TarInfo('cifar-10-batches-py/data_batch_1')
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    assert archive.stat().st_size < 10000
    with pytest.raises(ConversionError, match='data_batch_1, byte .* instructions, for its size'):
        convert_cifar10(str(tmp_path), str(tmp_path))
    assert os.listdir(tmp_path) == [archive.name]
