"""What is wrong with arrays is told in one line, and nothing is left behind."""
from __future__ import annotations

import io
import os
import struct
import zipfile

import numpy
import pytest

from fuel.bin.fuel_convert import main
from tests.bin.commands import fails
from tests.converters.reading import by_split


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(**arrays):
    for name, array in arrays.items():
        numpy.save(f'{name}.npy', array)


def message(capsys, *args):
    before = sorted(os.listdir())
    line = fails('convert', ['arrays', *args], capsys)
    assert sorted(os.listdir()) == before
    return line


def npy(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def header(text):
    """Return the beginning of a .npy file."""
    body = text.encode() + b'\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(body)) + body


def test_missing_files(capsys, folder):
    with pytest.raises(SystemExit):
        main(['arrays', 'x=nothing.npy'])
    line = capsys.readouterr().err
    assert f'{folder}/nothing.npy: there is no such file' in line
    assert 'download' not in line
    os.mkfifo('pipe.npy')
    assert 'pipe.npy: expected a file' in message(capsys, 'pipe.npy')


def test_arrays_that_do_not_go_together(capsys):
    saved(x=numpy.zeros((5, 2)), y=numpy.zeros(4), s=numpy.float64(1), e=numpy.zeros((0, 2)))
    assert "'x' has 5, 'y' has 4" in message(capsys, 'x.npy', 'y.npy')
    assert '--drop s' in message(capsys, 'x.npy', 's.npy')
    assert 'expected examples; got the shape (0, 2)' in message(capsys, 'e.npy')
    assert "both called 'x'" in message(capsys, 'x.npy', 'x=y.npy')
    assert "slashes" in message(capsys, 'a/b=x.npy')
    assert 'expected 2 labels' in message(capsys, 'x.npy', '--labels', 'x=batch')
    assert "'z'; the sources are x" in message(capsys, 'x.npy', '--labels', 'z=batch')
    assert 'all of them are left out' in message(capsys, 'x.npy', '--drop', 'x')
    assert "no array 'q'; the arrays are x" in message(capsys, 'x.npy', '--drop', 'q')
    assert '0:9' in message(capsys, 'x.npy', '--split', 'train=0:9')
    assert 'none would be in test' in message(capsys, 'x.npy', '--test-fraction', '0.01')
    assert 'one way' in message(capsys, 'x.npy', '--split', 'a=0:1', '--test-fraction', '0.5')
    assert 'or --test-fraction with --seed' in message(capsys, 'x.npy', '--seed', '4')
    assert 'with --stratify' in message(capsys, 'x.npy', '--stratify', 'x')
    assert 'a whole number or a text' in message(capsys, 'x.npy', '--stratify', 'x',
                                                 '--test-fraction', '0.5')


def test_names_of_splits(capsys):
    numpy.savez('a.npz', x_train=numpy.zeros(3), y_train=numpy.zeros(4))
    assert "'x_train' has 3, 'y_train' has 4" in message(capsys, 'a.npz')
    numpy.savez('a.npz', x_train=numpy.zeros(3), x_test=numpy.zeros((3, 1)))
    assert 'of one kind' in message(capsys, 'a.npz')
    numpy.savez('a.npz', x_train=numpy.zeros(3), other=numpy.zeros(3))
    assert "got 'other'" in message(capsys, 'a.npz', '--splits', 'names')
    numpy.savez('a.npz', x_train=numpy.zeros(3), train_x=numpy.zeros(3))
    assert 'one array for the source' in message(capsys, 'a.npz')
    numpy.savez('a.npz', x_train=numpy.zeros(3), Train_x=numpy.zeros(3))
    assert 'one array for the source' in message(capsys, 'a.npz')


def test_names_of_splits_that_differ_in_capital_letters_are_the_same():
    numpy.savez('a.npz', x_Train=numpy.zeros(3), y_train=numpy.ones(3), TEST_x=numpy.zeros(2))
    main(['arrays', 'a.npz'])
    assert {split: sorted(sources) for split, sources in by_split('a.hdf5').items()} == {
        'train': ['x', 'y'], 'test': ['x']}


def test_names_that_are_reserved_or_cannot_be_stored(capsys):
    numpy.savez('a.npz', fuel_provenance=numpy.zeros(3), x=numpy.zeros(3))
    line = message(capsys, 'a.npz')
    assert 'fuel_provenance is reserved' in line
    assert '--drop fuel_provenance' in line
    main(['arrays', 'a.npz', '--drop', 'fuel_provenance'])
    saved(x=numpy.zeros(3))
    capsys.readouterr()
    assert 'half a surrogate pair' in message(capsys, '\udcff=x.npy')


def test_more_sources_than_a_file_can_hold(capsys):
    numpy.savez('a.npz', **{f'a name that is longer {number}': numpy.zeros(3)
                            for number in range(1500)})
    assert '1 splits and 1500 sources are too many' in message(capsys, 'a.npz')
    numpy.savez('a.npz', **{f'array{number}_{split}': numpy.zeros(3) for number in range(600)
                            for split in ('train', 'valid', 'test')})
    assert '3 splits and 600 sources are too many' in message(capsys, 'a.npz')


def test_objects_are_never_loaded(capsys, folder):
    class Bomb:
        def __reduce__(self):
            return open, (str(folder / 'exploded'), 'w')

    numpy.savez('o.npz', x=numpy.array([Bomb(), None]))
    numpy.save('o.npy', numpy.array([[1], [2, 3]], dtype=object))
    for file in ('o.npz', 'o.npy'):
        assert 'Python objects' in message(capsys, file)
    assert not os.path.exists('exploded')


def test_times_and_too_many_texts(capsys):
    saved(t=numpy.array(['2020-01-01'], 'M8[D]'), many=numpy.arange(70000).astype('U'))
    assert "array.view('i8')" in message(capsys, 't.npy')
    assert 'more than 65536 different texts' in message(capsys, 'many.npy')


@pytest.mark.parametrize('order', '<>')
def test_texts_that_cannot_be_stored(capsys, order):
    beyond = numpy.array(['ab', 'cd'], dtype=f'{order}U2')
    beyond.view(f'{order}u4')[2] = 0x110000
    saved(pair=numpy.array(['a', '\ud800'], dtype=f'{order}U1'), beyond=beyond,
          nul=numpy.array(['a\0b', 'c'], dtype=f'{order}U3'))
    assert "pair.npy: expected text that can be stored; '\\ud800' has half a surrogate" in message(
        capsys, 'pair.npy')
    assert 'beyond.npy: expected texts; got the number 0x110000' in message(capsys, 'beyond.npy')
    assert "'a\\x00b' has the character NUL" in message(capsys, 'nul.npy')


@pytest.mark.parametrize(('content', 'words'), [
    (b'', 'is empty'),
    (b'a,b\n1,2\n', "begins with b'a,b"),
    (npy(numpy.arange(100))[:-1], 'It is cut off'),
    (npy(numpy.arange(100)) + npy(numpy.arange(3)), 'another array behind it'),
    (b'\x93NUMPY\x09\x00' + bytes(100), '9.0'),
    (b'\x93NUMPY\x01\x00', 'expected an array'),
    (header('__import__("os").system("touch exploded")'), 'expected an array'),
    (header("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,)}"),
     'It is cut off'),
    (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), 'got the shape (-1,)'),
    (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8)}") + bytes(64),
     'got the shape (-1, -8)'),
    (header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 0)}"),
     'expected examples with values; got the shape (1000000000000, 0)'),
    (header(f"{{'descr': '<f8', 'fortran_order': True, 'shape': ({2 ** 70}, 0)}}"),
     'expected examples with values'),
    (header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}"),
     'got the dtype <U0'),
    (header("{'descr': ('<f8', (3,)), 'fortran_order': False, 'shape': (2,)}") + bytes(48),
     "expected numbers or texts; got the dtype ('<f8', (3,))"),
    (header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {(1,) * 33}}}") + bytes(8),
     'expected at most 32 axes, as HDF5 has; got 33'),
    (header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {(1,) * 70}}}") + bytes(8),
     'got 70'),
    (header("{'descr': 'nonsense', 'fortran_order': False, 'shape': (1,)}"),
     'expected an array')])
def test_bad_files_of_one_array(capsys, folder, content, words):
    (folder / 'x.npy').write_bytes(content)
    line = message(capsys, 'x.npy')
    assert words in line
    assert 'x.npy' in line
    assert not os.path.exists('exploded')


def archive(members, file='a.npz', **kwargs):
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, **kwargs) as opened:
        for name, content in members.items():
            opened.writestr(name, content)


def test_bad_archives(capsys, folder):
    archive({})
    assert 'there are none' in message(capsys, 'a.npz')
    archive({'x.npy': npy(numpy.arange(3)), 'notes.txt': 'hello'})
    assert "'notes.txt'" in message(capsys, 'a.npz')
    archive({'../x.npy': npy(numpy.arange(3))})
    assert 'stay inside' in message(capsys, 'a.npz')
    archive({'sub/x.npy': npy(numpy.arange(3))})
    assert 'slashes' in message(capsys, 'a.npz')
    archive({'x.npy': npy(numpy.arange(3))})
    assert 'Give it without a name' in message(capsys, 'x=a.npz')
    whole = (folder / 'a.npz').read_bytes()
    (folder / 'a.npz').write_bytes(whole[:-30])
    assert 'no zip archive' in message(capsys, 'a.npz')
    archive({'x.npy': npy(numpy.random.default_rng(0).random(20000))})
    damaged = bytearray((folder / 'a.npz').read_bytes())
    damaged[60000] ^= 255
    (folder / 'a.npz').write_bytes(damaged)
    assert "'x.npy' cannot be read" in message(capsys, 'a.npz')


def test_an_archive_that_would_grow_without_end(capsys, folder):
    # The array says three numbers; what would be unpacked behind it are 200 MB.
    archive({'x.npy': npy(numpy.arange(3)) + bytes(200 << 20)})
    assert os.path.getsize('a.npz') < 1 << 20
    assert 'another array behind it' in message(capsys, 'a.npz')
    # A member that announces less than it unpacks to is cut off there, and its checksum is wrong.
    archive({'x.npy': npy(numpy.zeros(1 << 20))})
    content = bytearray((folder / 'a.npz').read_bytes())
    size = struct.pack('<I', len(npy(numpy.zeros(1 << 20))))
    lie = struct.pack('<I', len(npy(numpy.zeros(3))))
    (folder / 'a.npz').write_bytes(bytes(content).replace(size, lie))
    assert 'a.npz' in message(capsys, 'a.npz')


def test_a_file_that_is_there_is_not_replaced(capsys):
    saved(x=numpy.zeros(3))
    with open('arrays.hdf5', 'w') as stream:
        stream.write('mine')
    assert '--force' in message(capsys, 'x.npy')
    with open('arrays.hdf5') as stream:
        assert stream.read() == 'mine'
