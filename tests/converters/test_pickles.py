"""Reading of plain data out of pickles, against the pickle module."""
from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct
import sys

import numpy
import pytest

from fuel.converters._conversion.spooled import Spool, SpooledArray
from fuel.converters._formats.pickles import read_pickle
from fuel.exceptions import ConversionError
from tests.raw.python2 import pickled

PROTOCOLS = [2, 3, 4, 5]


def read(content, spool=None):
    return read_pickle(io.BytesIO(content), len(content), 'a.tar: batch', spool)


def fails(content):
    with pytest.raises(ConversionError) as caught:
        read(content)
    assert str(caught.value).startswith('a.tar: batch, byte ')
    return str(caught.value)


def plain():
    array = numpy.arange(24, dtype='uint8').reshape(4, 6)
    return {'data': array, 'again': array, 'turned': numpy.asfortranarray(array),
            'big': array.astype('>i4'), 'real': array / 7, 'true': array > 3,
            'empty': array[:0], 'one': numpy.array(7, dtype='int16'),
            'numbers': [0, 255, 256, 65535, 65536, -1, 2 ** 31, -2 ** 70, 1.5, True, False, None],
            'texts': ['', 'h\xe9', 'x' * 300, b'', b'\0\xff', b'y' * 300],
            'nested': ({'a': [[], {}, ()]}, (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
            b'bytes': 1, 3: 'three'}


def same(found, expected):
    if isinstance(expected, numpy.ndarray):
        assert found.dtype == expected.dtype
        assert numpy.array_equal(found, expected)
        assert not found.flags.writeable
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            same(found[key], value)
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        assert type(found) is type(expected)
        assert found == expected


@pytest.mark.parametrize('protocol', PROTOCOLS)
def test_plain_data_and_arrays(protocol):
    expected = plain()
    if protocol == 2:       # has no bytes; they are made by calls of several functions
        expected['texts'] = [text for text in expected['texts'] if text != b'']
        del expected['empty']
    found = read(pickle.dumps(expected, protocol))
    same(found, expected)
    assert found['again'] is found['data']


@pytest.mark.parametrize('length', [0, 1, 3, 999, 1000, 1001, 70000])
def test_pickles_of_python_2(length):
    labels = [number % 300 for number in range(length)]
    batch = {'data': numpy.full((length, 5), 7, dtype='uint8'), 'labels': labels,
             'filenames': [b'picture %d' % number for number in labels], 'title': 'x' * 1000}
    content = pickled(batch)
    if length < 2000:
        pickletools.dis(content, io.StringIO())
    found = read(content)
    expected = pickle.loads(content, encoding='bytes')
    assert list(expected) == [b'data', b'labels', b'filenames', b'title']
    same(found, {key: value if key != b'data' else batch['data'] for key, value
                 in expected.items()})


@pytest.mark.parametrize('protocol', PROTOCOLS)
def test_large_arrays_go_to_a_file(protocol, tmp_path):
    array = numpy.random.default_rng(0).integers(0, 256, (2500, 500), dtype='uint8')
    content = pickle.dumps({'small': array[:3], 'large': array, 'more': array[::-1].copy()},
                           protocol) if protocol > 2 else pickled(
        {'small': array[:3], 'large': array, 'more': array[::-1]})
    with Spool(tmp_path) as spool:
        assert not os.listdir(tmp_path)     # the file has no name
        found = {key if isinstance(key, str) else key.decode(): value
                 for key, value in read(content, spool).items()}
        assert isinstance(found['small'], numpy.ndarray)
        for name, expected in (('large', array), ('more', array[::-1])):
            spooled = found[name]
            assert isinstance(spooled, SpooledArray)
            assert (spooled.shape, spooled.dtype, len(spooled)) == ((2500, 500), 'uint8', 2500)
            assert numpy.array_equal(spooled[:], expected)
            assert numpy.array_equal(spooled[7:1300], expected[7:1300])
            assert spooled[2500:].shape == (0, 500)
            assert numpy.array_equal(spooled.reshape(2500, 5, 100)[3:5],
                                     expected.reshape(2500, 5, 100)[3:5])
            with pytest.raises(ValueError, match='follow each other'):
                spooled[::2]
            with pytest.raises(ValueError, match='1250000 values'):
                spooled.reshape(3, 3)


class Evil:
    def __reduce__(self):
        return os.system, ('touch evil-was-here',)


class Quiet:
    """Looks harmless: an object of a class of Python's."""

    def __reduce__(self):
        return bytearray, (b'abc',)


@pytest.mark.parametrize('protocol', [0, 1, *PROTOCOLS])
def test_code_never_runs(protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = fails(pickle.dumps(Evil(), protocol))
    assert 'the pickle asks for posix.system' in message or 'nt.system' in message
    assert not os.listdir(tmp_path)
    if protocol >= 2:
        assert 'posix.system' in fails(pickle.dumps({'data': [1, 2, Evil()]}, protocol))
    assert 'bytearray' in fails(pickle.dumps(Quiet(), protocol))
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(('content', 'named'), [
    (b'cos\nsystem\n(S"touch evil"\ntR.', 'os.system'),
    (b'(S"touch evil"\nios\nsystem\n.', 'instruction'),
    (b'\x80\x02(U\x04evilios\nsystem\n.', 'os.system'),
    (b'\x80\x02c__builtin__\neval\nU\x011\x85R.', '__builtin__.eval'),
    (b'\x80\x04\x8c\x08builtins\x8c\x04exec\x93.', 'builtins.exec'),
    (b'\x80\x02cnumpy.core.multiarray\nscalar\n.', 'numpy.core.multiarray.scalar'),
    (b'\x80\x02cnumpy\nload\nU\x011\x85R.', 'numpy.load'),
    (b'\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.', 'numpy.ndarray.tofile'),
    (b'\x80\x02ccopyreg\n_reconstructor\n.', 'copyreg._reconstructor'),
    (b'\x80\x02U\x01xQ.', "instruction b'Q'"), (b'\x80\x02\x82\x01.', 'instruction'),
    (b'\x80\x02cnumpy\nndarray\n)\x81.', 'instruction'),        # NEWOBJ
    (b'\x80\x02cnumpy\nndarray\n)R.', 'nothing was run'),
    (b'\x80\x02cnumpy\ndtype\nU\x02O8\x85R.', "numbers; got the dtype b'O8'"),
    (b'\x80\x02cnumpy\ndtype\nU\x03V99\x85R.', 'numbers; got the dtype'),
    (b'\x80\x02K\x01K\x01R.', 'nothing was run'), (b'\x80\x02}}b.', 'state'),
    (b'\x80\x02c_codecs\nencode\nX\x01\0\0\0aX\x03\0\0\0hex\x86R.', 'nothing was run')])
def test_whatever_a_pickle_asks_for_is_named(content, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named in fails(content)
    assert not os.listdir(tmp_path)
    assert 'antigravity' not in sys.modules


def test_modules_are_not_imported(tmp_path, monkeypatch):
    (tmp_path / 'evilmodule.py').write_text('raise SystemExit("imported")')
    monkeypatch.syspath_prepend(tmp_path)
    assert 'evilmodule.f' in fails(b'\x80\x02cevilmodule\nf\n)R.')
    assert 'evilmodule' not in sys.modules


def array_pickle(shape=b'K\x02K\x03\x86', dtype=b'U\x02u1', order=b'U\x01|', fortran=b'\x89',
                 content=b'U\x06abcdef'):
    return (b'\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R'
            b'(K\x01' + shape + b'cnumpy\ndtype\n' + dtype + b'K\x00K\x01\x87R(K\x03' + order
            + b'NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb' + fortran + content + b'tb.')


def test_states_of_arrays_are_checked():
    assert read(array_pickle()).tolist() == [[97, 98, 99], [100, 101, 102]]
    for change, message in [
            ({'shape': b'K\x02K\x04\x86'}, 'expected 8 values'), ({'shape': b'K\x06'}, 'the shape'),
            ({'shape': b'J\xff\xff\xff\xffJ\xfa\xff\xff\xff\x86'}, 'the shape'),
            ({'shape': b'K\x02U\x013\x86'}, 'the shape'), ({'content': b']'}, 'another kind'),
            ({'content': b'N'}, 'another kind'), ({'order': b'U\x01!'}, 'state'),
            ({'shape': b'\x8a\x08' + b'\xff' * 7 + b'\x7f\x85'}, 'expected 9223372036854775807')]:
        assert message in fails(array_pickle(**change))


@pytest.mark.parametrize('protocol', PROTOCOLS)
def test_cut_off_anywhere(protocol):
    content = pickle.dumps(plain(), protocol) if protocol > 2 else pickled(
        {'data': numpy.zeros((3, 100), 'uint8'), 'labels': list(range(300))})
    for length in range(len(content)):
        fails(content[:length])


@pytest.mark.parametrize('content', [
    b'', b'.', b'\x80', b'\x80\x09.', b'\x80\x02', b'hello', b'<html>', b'\x1f\x8b\x08', bytes(100),
    b'\x80\x02t.', b'\x80\x02e.', b'\x80\x02s.', b'\x80\x02]K\x01K\x02s.', b'\x80\x02}K\x01a.',
    b'\x80\x02}(K\x01u.', b'\x80\x02}]K\x01s.', b'\x80\x02\x87.', b'\x80\x02h\x05.', b'\x80\x02R.',
    b'\x80\x02X\x01\0\0\0\xff.', b'\x80\x02(K\x01.e', b'\x80\x02c' + b'a' * 5000])
def test_nonsense(content):
    fails(content) if content != b'\x80\x02(K\x01.e' else read(content)


def test_sizes_that_are_not_there_are_not_taken():
    for code, form in ((b'T', 'I'), (b'B', 'I'), (b'\x8e', 'Q'), (b'\x96', 'Q'), (b'X', 'I')):
        size = 2 ** 62 if form == 'Q' else 2 ** 31 - 1
        message = fails(b'\x80\x02' + code + struct.pack(f'<{form}', size) + b'abc.')
        assert f'expected {size} more bytes; 4 are left' in message
    # Places of the memo are no more than names here; an array of them would take 32 GB.
    assert read(b'\x80\x02K\x01r\xff\xff\xff\xff.') == 1


def test_containers_without_end_are_no_trouble():
    doubled = b'\x80\x02K\x01' + b'2\x86' * 200 + b'.'         # a pair of the same pair of ...
    found = read(doubled)
    assert type(found) is tuple
    fails(b'\x80\x02}' + doubled[2:-1] + b'K\x01s.')
    fails(doubled[:-1] + b'N\x86R.')
    fails(doubled[:-1] + b'b.')
    found = read(b'\x80\x02]q\x00h\x00a.')
    assert found[0] is found
    read(b'\x80\x02' + b'(' * 100000 + b'K\x01' + b't' * 100000 + b'.')


def test_bytes_cannot_be_made_of_nothing():
    text = b'\x80\x02X' + struct.pack('<I', 5000) + b'a' * 5000 + b'q\x00'
    again = b'c_codecs\nencode\nh\x00X\x06\0\0\0latin1\x86R'
    assert read(text + again + b'.') == b'a' * 5000
    assert 'more bytes than it has' in fails(text + again * 3 + b'.')


def test_too_many_instructions(monkeypatch):
    monkeypatch.setattr('fuel.converters._formats.pickles._MOST_INSTRUCTIONS', 100)
    assert 'at most 100 instructions' in fails(b'\x80\x02' + b']' * 200 + b'.')


def test_any_changed_byte_is_an_error_or_other_data():
    rng = numpy.random.default_rng(0)
    for content in (pickled({'data': numpy.zeros((2, 5), 'uint8'), 'labels': [1, 2, 300]}),
                    pickle.dumps(plain(), 5)):
        for _ in range(1500):
            broken = bytearray(content)
            broken[rng.integers(len(content))] = rng.integers(0, 256)
            try:
                read(bytes(broken))
            except ConversionError as error:
                assert str(error).startswith('a.tar: batch, byte ')
