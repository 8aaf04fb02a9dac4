"""What a converted file tells about how it came about."""
from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import threading

import h5py
import numpy
import pytest
import tables

import fuel
from fuel.bin.fuel_convert import main
from fuel.converters._conversion.inputs import input_path, note_input, note_seed, open_input
from fuel.converters._conversion.record import recording
from fuel.storage.provenance.reading import read_provenance
from tests.bin.commands import fails
from tests.test_plugins import write_module  # noqa: F401

CONTENT = numpy.random.RandomState(0).bytes(5_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()

EXTRA = '''
import os
import numpy
from fuel.converters._conversion.inputs import input_path, note_seed, open_input
from fuel.converters._conversion.output import new_file
from fuel.converters.base import fill_hdf5_file

def convert(directory, output_directory, output_filename='x.hdf5'):
    with new_file(output_directory, output_filename) as h5file:
        with open_input(os.path.join(directory, 'a.bin')) as stream:
            rows = numpy.frombuffer(stream.read(1000), dtype='uint8').reshape(100, 10)
        input_path(directory, 'deep/b.bin')
        note_seed(7)
        fill_hdf5_file(h5file, [('train', 'features', rows)])
        h5file['more'] = rows
    return (os.path.join(output_directory, output_filename),)

all_converters = (('extra', lambda subparser: convert),)
'''


@pytest.fixture
def raw(tmp_path, monkeypatch, write_module):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'deep').mkdir()
    (tmp_path / 'a.bin').write_bytes(CONTENT)
    (tmp_path / 'deep' / 'b.bin').write_bytes(b'b')
    write_module('extra_converters', EXTRA)
    fuel.config.extra_converters = ['extra_converters']
    return tmp_path


def test_file_tells_how_it_came_about(raw, monkeypatch):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1000000000')
    main(['extra'])
    with h5py.File('x.hdf5', 'r') as h5file:
        found = read_provenance(h5file)
        checksum = h5file['features'].attrs['fuel_checksum']
    assert dict(found.tags) == {
        'h5py_interface_version': '0.3', 'fuel_convert_version': '0.2',
        'fuel_convert_command': 'fuel-convert extra', 'fuel_version': fuel.__version__,
        'h5py_version': h5py.__version__, 'hdf5_version': h5py.version.hdf5_version,
        'numpy_version': numpy.__version__, 'fuel_convert_date': '2001-09-09T01:46:40Z'}
    assert found.seed == 7
    assert [(entry.name, entry.size, entry.sha256) for entry in found.inputs] == [
        ('a.bin', len(CONTENT), SHA256), ('deep/b.bin', 1, hashlib.sha256(b'b').hexdigest())]
    # One block, of less than 16 kB.
    block = hashlib.sha256(CONTENT[:1000]).digest()
    assert checksum == 'sha256:' + hashlib.sha256(b'|u1 10\n' + block).hexdigest()


def test_the_same_bytes_each_time(raw, monkeypatch):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1000000000')
    main(['extra'])
    first = (raw / 'x.hdf5').read_bytes()
    main(['extra', '-r', 'x', '--force'])
    os.replace('x.hdf5', 'y.hdf5')
    main(['extra'])
    assert (raw / 'x.hdf5').read_bytes() == first


@pytest.mark.parametrize('value', ['soon', '1e9', '-5', '99999999999999999999'])
def test_date_that_is_none(raw, monkeypatch, capsys, value):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', value)
    line = fails('convert', ['extra'], capsys)
    assert value in line
    assert '--traceback' not in line
    assert not os.path.exists('x.hdf5')


def with_h5py(path):
    with h5py.File(path, 'r') as h5file:
        return ' '.join(map(str, [dict(h5file.attrs), dict(h5file['features'].attrs),
                                  h5file['fuel_provenance/inputs'][...]]))


def with_h5dump(path):
    found = [subprocess.run(['h5dump', *options, path], capture_output=True, text=True,
                            check=True, timeout=60).stdout
             for options in (['-H'], ['-d', 'fuel_provenance/inputs'], ['-A'])]
    return ' '.join(found)


READERS = [with_h5py, *([with_h5dump] if shutil.which('h5dump') else [])]


def test_pytables_reads_inputs_and_checksums(raw):
    # It cannot open the root group, whose attribute split has references.
    main(['extra'])
    with tables.open_file('x.hdf5', 'r', root_uep='/fuel_provenance') as h5file:
        inputs = h5file.root.inputs.read()
        digests = h5file.root.checksums.features_sha256.read()
    assert inputs['name'].tolist() == [b'a.bin', b'deep/b.bin']
    assert inputs['size'].tolist() == [len(CONTENT), 1]
    assert inputs['sha256'][0].decode() == SHA256
    assert digests.tobytes() == hashlib.sha256(CONTENT[:1000]).digest()


@pytest.mark.parametrize('read', READERS)
def test_other_programs_can_read_it(raw, monkeypatch, read):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1000000000')
    main(['extra'])
    text = read('x.hdf5')
    for word in ('2001-09-09T01:46:40Z', 'fuel-convert extra', 'deep/b.bin', SHA256[:60],
                 'sha256:'):
        assert word in text


def inputs_of(work, directory):
    with recording(str(directory), str(directory)) as record:
        work()
        return record.inputs()


def test_input_is_hashed_however_it_is_read(raw):
    path = raw / 'a.bin'

    def forwards():
        with open_input(path) as stream:
            while stream.read(12345):
                pass

    def jumping():
        with open_input(path) as stream:
            stream.seek(-100, os.SEEK_END)
            stream.read()
            for place in (0, 4_000_000, 100_000, 1_000_000, 3):
                stream.seek(place)
                stream.read(1_500_000)

    def partly():
        with open_input(path) as stream:
            stream.read(10)

    def twice():
        for _ in range(2):
            with open_input(path) as stream:
                stream.read()

    def by_path():
        input_path(raw, 'a.bin')
        forwards()

    for work in (forwards, jumping, partly, twice, by_path, lambda: note_input(path)):
        assert inputs_of(work, raw) == [('a.bin', len(CONTENT), SHA256)]


def test_what_is_read_in_order_is_not_read_again(raw, monkeypatch):
    from fuel.converters._conversion import record as _record
    opened = []

    def watched(path, *args, **kwargs):
        stream = open(path, *args, **kwargs)  # noqa: SIM115
        opened.append(Watched(stream))
        return opened[-1]

    class Watched:
        def __init__(self, stream):
            self.stream, self.read = stream, 0

        def __enter__(self):
            return self

        def __exit__(self, *details):
            self.stream.close()

        def seek(self, place):
            self.stream.seek(place)

        def readinto(self, buffer):
            count = self.stream.readinto(buffer)
            self.read += count
            return count

    monkeypatch.setattr(_record, 'open', watched, raising=False)

    def work():
        with open_input(raw / 'a.bin') as stream:
            stream.read()

    assert inputs_of(work, raw) == [('a.bin', len(CONTENT), SHA256)]
    stream, = opened
    assert stream.read == 0


def test_names_of_inputs(raw):
    (raw / 'deep' / 'c.bin').write_bytes(b'')

    def work():
        note_input(raw / 'deep' / 'c.bin')
        note_input('a.bin', 'another name')
        note_input(raw / 'deep' / '..' / 'deep' / 'b.bin')

    assert [name for name, _, _ in inputs_of(work, raw / 'deep')] == ['another name', 'b.bin',
                                                                      'c.bin']


def test_nothing_is_noted_where_a_program_converts(raw):
    before = threading.active_count()
    with open_input(raw / 'a.bin') as stream:
        assert stream.read() == CONTENT
    note_input(raw / 'missing')
    note_seed(3)
    assert input_path('x', 'y') == os.path.join('x', 'y')
    assert threading.active_count() == before


def test_no_thread_is_left_after_an_error(raw):
    before = threading.active_count()
    with pytest.raises(RuntimeError), recording(str(raw), str(raw)):
        for _ in range(50):
            note_input(raw / 'a.bin')
        raise RuntimeError
    assert threading.active_count() == before


def test_input_that_cannot_be_read(raw, monkeypatch):
    from fuel.converters._conversion import record as _record

    def fail(*args, **kwargs):
        raise OSError(5, 'Input/output error', args[0])

    monkeypatch.setattr(_record, 'open', fail, raising=False)
    with pytest.raises(OSError, match='Input/output error'):
        inputs_of(lambda: note_input(raw / 'a.bin'), raw)


def test_gzip_is_hashed_as_it_is_stored(raw):
    from fuel.converters._formats.compressed import open_gzip
    packed = gzip.compress(CONTENT, 1)
    (raw / 'x.gz').write_bytes(packed)

    def work():
        with open_gzip(raw / 'x.gz') as stream:
            assert stream.read() == CONTENT

    assert inputs_of(work, raw) == [('x.gz', len(packed), hashlib.sha256(packed).hexdigest())]
