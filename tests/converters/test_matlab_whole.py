"""Reading of MATLAB files as a whole, against scipy, and of those made to do harm."""
from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib

import numpy
import pytest
import scipy.io
import scipy.sparse

from fuel.converters._formats import matlab_values as _matlab_values
from fuel.converters._formats.matlab import read_mat, read_mat_stream
from fuel.exceptions import ConversionError
from tests.bin.commands import CHECKOUT, environment
from tests.raw import imagenet

CELLS = numpy.array([[1, 'x', numpy.eye(2)], [numpy.zeros((0, 3)), 'words that are long', '']],
                    dtype=object)
VARIABLES = {
    'word': 'text', 'rows': numpy.array(['one', 'two', 'three']), 'accents': 'b\xe4ume \u20ac',
    'plane': numpy.array([['one', 'two'], ['thr', 'x']]), 'cells': CELLS, 'empty': '',
    'structure': {'a': 1, 'b': 'two', 'c': {'d': CELLS, 'e': numpy.arange(3, dtype='int16')}},
    'numbers': numpy.arange(6.).reshape(2, 3), 'true': numpy.eye(3) > 0,
    'nothing': numpy.zeros((0, 0))}


def same(found, expected):
    assert found.shape == expected.shape
    if expected.dtype.names:
        assert found.dtype.names == expected.dtype.names
        for name in expected.dtype.names:
            same(found[name], expected[name])
    elif expected.dtype == object:
        for one, other in zip(found.ravel(), expected.ravel(), strict=True):
            same(one, other)
    else:
        assert found.dtype == expected.dtype
        assert numpy.array_equal(found, expected)


def saved(variables, compress=False):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=compress)
    return stream.getvalue()


def read(content, names=None, **options):
    return read_mat_stream(io.BytesIO(content), 'a.tar: some.mat', names, **options)


def refused(content, words, names=None, **options):
    with pytest.raises(ConversionError, match=words) as caught:
        read(content, names, **options)
    assert str(caught.value).startswith('a.tar: some.mat')


def loaded(content):
    found = scipy.io.loadmat(io.BytesIO(content))
    return {name: value for name, value in found.items() if not name.startswith('__')}


@pytest.mark.parametrize('compress', [False, True])
def test_all_kinds_of_values_are_those_that_scipy_reads(compress):
    content = saved(VARIABLES, compress)
    found, expected = read(content), loaded(content)
    assert list(found) == list(expected) == list(VARIABLES)
    for name, value in expected.items():
        same(found[name], value)


def test_the_classes_of_a_development_kit_are_those_that_scipy_reads():
    content = imagenet.meta(2010, imagenet.Raw([imagenet.wnid(number) for number in range(40)]), 9)
    same(read(content)['synsets'], loaded(content)['synsets'])


def test_only_what_is_asked_for_need_be_readable():
    content = saved({'a': scipy.sparse.csc_array(numpy.eye(3)), 'b': numpy.eye(2) * 1j,
                     'c': numpy.arange(3.), 'd': 'text'}, True)
    assert list(read(content, ['d', 'c'])) == ['c', 'd']
    refused(content, "the variable 'a' to be an array of real numbers; got a sparse", ['c', 'a'])
    refused(content, "the variable 'b' .* got complex numbers", ['b'])
    refused(content, "expected a variable 'e'; the file has 'a', 'b', 'c', 'd'", ['c', 'e'])
    refused(saved({'x': {'y': numpy.eye(2) * 1j}}), 'expected an array in another one to be')


def test_a_variable_that_is_there_twice():
    content = saved({'a': numpy.arange(3.)})
    refused(content + content[128:], "the variable 'a' once")


def test_files_of_version_4(tmp_path):
    scipy.io.savemat(tmp_path / 'old.mat', {'X': numpy.arange(30.)}, format='4')
    with pytest.raises(ConversionError, match=r"old\.mat: expected a MATLAB .* 5.*-v7"):
        read_mat(tmp_path / 'old.mat')


def part(kind, content):
    return struct.pack('<II', kind, len(content)) + content.ljust(-(-len(content) // 8) * 8, b'\0')


def array(flags, sizes, *parts, name=b''):
    """Return an array of a MATLAB file, of which everything can be set."""
    return part(14, part(6, struct.pack('<II', flags, 0))
                + part(5, struct.pack(f'<{len(sizes)}i', *sizes)) + part(1, name) + b''.join(parts))


def file(flags, sizes, *parts):
    return b'MATLAB 5.0'.ljust(124) + b'\0\1IM' + array(flags, sizes, *parts, name=b'X')


NUMBER = array(9, (1, 1), part(2, b'\7'))
FIELDS = part(5, struct.pack('<i', 8)), part(1, b'one\0\0\0\0\0two\0\0\0\0\0')


def test_files_made_by_hand_are_good():
    assert read(file(1, (1, 2), NUMBER, NUMBER))['X'].tolist() == [[[[7]], [[7]]]]
    assert read(file(2, (1, 1), *FIELDS, NUMBER, NUMBER))['X']['two'][0, 0] == 7
    assert read(file(1, (1, 1), struct.pack('<II', 14, 0)))['X'][0, 0].shape == (0, 0)
    assert read(file(4, (1, 2), part(16, b'ab')))['X'].tolist() == ['ab']


# A type of values that there is not, for which scipy's reader ends the process.
@pytest.mark.parametrize('kind', [0, 8, 10, 14, 19, 255, 0x15800 >> 1])
def test_values_of_a_type_that_there_is_not(kind):
    refused(file(9, (2, 3), struct.pack('<II', kind, 6) + bytes(8)), 'expected numbers')
    refused(file(1, (1, 1), array(9, (2, 3), struct.pack('<II', kind, 6) + bytes(8))),
            'expected numbers')


@pytest.mark.parametrize(('content', 'words'), [
    (file(1, (1, 2), NUMBER), 'expected 8 more bytes of the variable'),
    (file(1, (1, 2), NUMBER, part(9, bytes(8))), 'expected an array in another one'),
    (file(1, (1, 1), struct.pack('<II', 14, 1 << 30)), 'expected an array in another one, of at'),
    (file(1, (1 << 20, 1), NUMBER), 'at most 131072 arrays'),
    (file(1, (0, 2 ** 31 - 1, 2 ** 31 - 1), NUMBER), 'that memory can hold'),
    (file(2, (1 << 17, 1), *FIELDS), 'at most 131072 arrays'),
    (file(2, (1 << 18, 1), FIELDS[0], part(1, b'')), 'at most 131072 arrays'),
    (file(2, (1, 1), part(5, struct.pack('<i', 0)), FIELDS[1]), 'names of fields of 1 to 256'),
    (file(2, (1, 1), part(5, struct.pack('<i', -8)), FIELDS[1]), 'names of fields of 1 to 256'),
    (file(2, (1, 1), part(5, struct.pack('<i', 5)), FIELDS[1]), 'of 5 bytes each'),
    (file(2, (1, 1), FIELDS[0], part(1, b'one\0\0\0\0\0' * 2)), 'fields of different names'),
    (file(2, (1, 1), FIELDS[0], part(1, bytes(16))), 'fields of different names'),
    (file(4, (2, 2), part(16, b'abc')), 'expected 4 letters; got 3'),
    (file(4, (1, 2), part(16, b'abc')), 'expected 2 letters; got 3'),
    (file(4, (1, 2), part(9, bytes(8))), 'expected letters; got the type 9'),
    (file(4, (1, 1 << 30), part(16, b'abc')), 'texts of at most 4194304 letters'),
    (file(9, (2, 2), part(2, b'abc')), 'expected 4 values'),
    (file(9, (2, 2), struct.pack('<II', 2, 4)), 'expected 4 more bytes')])
def test_structures_that_cannot_be(content, words):
    refused(content, words)
    packed = zlib.compress(content[128:])
    refused(content[:128] + struct.pack('<II', 15, len(packed)) + packed, words)


def test_arrays_in_arrays_have_an_end():
    nested = NUMBER
    for _ in range(40):
        nested = array(1, (1, 1), nested)
    refused(file(1, (1, 1), nested), 'to a depth of 16')


def test_texts_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(_matlab_values, '_MOST_LETTERS', 10)
    refused(saved({'a': 'sixsix', 'b': 'sixsix'}), 'texts of at most 10 letters')


def bomb(megabytes, announced=None):
    """Return a small file with a variable of so many bytes, all of them 0."""
    size = megabytes << 20 if announced is None else announced
    head = (part(6, struct.pack('<II', 9, 0)) + part(5, struct.pack('<ii', 1, size))
            + part(1, b'synsets') + struct.pack('<II', 2, size))
    squeeze = zlib.compressobj(9)
    packed = squeeze.compress(struct.pack('<II', 14, len(head) + size) + head)
    packed += b''.join(squeeze.compress(bytes(1 << 20)) for _ in range(megabytes))
    packed += squeeze.flush()
    return b'MATLAB 5.0'.ljust(124) + b'\0\1IM' + struct.pack('<II', 15, len(packed)) + packed


def test_small_files_that_become_large_are_refused():
    refused(bomb(200), 'expected variables of at most 134217728 bytes together')
    refused(bomb(3), 'at most 1048576 bytes together', most=1 << 20)
    refused(bomb(3), 'at most 1048576 bytes together', ['other'], most=1 << 20)
    refused(bomb(3, 1 << 20), 'more bytes than it announces')
    assert read(bomb(3))['synsets'].shape == (1, 3 << 20)


def test_memory_of_files_that_become_large(tmp_path):
    path = tmp_path / 'bomb.mat'
    path.write_bytes(bomb(300))
    assert path.stat().st_size < 1 << 20
    code = ('import resource, sys\n'
            'from fuel.converters._formats.matlab import read_mat\n'
            'from fuel.exceptions import ConversionError\n'
            'def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n'
            'before = peak()\n'
            'try: read_mat(sys.argv[1])\n'
            'except ConversionError: print(peak() - before)\n')
    done = subprocess.run([sys.executable, '-c', code, path], capture_output=True, text=True,
                          check=True, env=environment())
    assert float(done.stdout) < 30


def test_damaged_files_end_no_process(tmp_path):
    """``python -m tests.converters.fuzz_matlab 20000 PATH`` reads more of them."""
    done = subprocess.run(
        [sys.executable, '-W', 'error', '-m', 'tests.converters.fuzz_matlab', '1500',
         str(tmp_path / 'some.mat')], capture_output=True, text=True, check=False, cwd=CHECKOUT,
        env=environment())
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert "'error': " in done.stdout
    assert "'read': " in done.stdout
    assert os.path.exists(tmp_path / 'some.mat')
