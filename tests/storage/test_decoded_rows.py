"""Rows of compressed data sets: what is kept, what is decoded in place, and damage."""
from types import SimpleNamespace

import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

import fuel
from fuel.exceptions import DataFileError
from fuel.storage.handles import OpenFile
from fuel.storage.readers.cache import CHUNKS
from fuel.storage.readers.reading import fixed_rows

X = numpy.random.default_rng(1).integers(0, 9, (103, 2, 50)).astype('uint8')


@pytest.fixture
def opened(tmp_path):
    """A file whose chunks of 10 rows take up 1000 bytes each; the fourth was never written."""
    with h5py.File(tmp_path / 'packed.hdf5', 'w') as file:
        dataset = file.create_dataset('x', X.shape, 'u1', chunks=(10, 2, 50), compression='gzip',
                                      fletcher32=True, fillvalue=5)
        dataset[:30] = X[:30]
        dataset[40:] = X[40:]
        file.create_dataset('cut', data=X, chunks=(10, 2, 20), compression='gzip')
    with h5py.File(tmp_path / 'packed.hdf5', 'r') as file:
        made = OpenFile(file, file.filename, None)
        yield made
        made.forget()


@pytest.fixture
def expected():
    rows = X.copy()
    rows[30:40] = 5
    return rows


def limit(monkeypatch, value):
    monkeypatch.setitem(fuel.config.config['chunk_cache_bytes'], 'value', value)


def decoded(reader, monkeypatch):
    """Count the chunks that a reader decodes from now on."""
    counted = []
    decode = reader._pipeline.decode

    def counting(sources, *rest):
        counted.extend(sources.tolist())
        decode(sources, *rest)

    monkeypatch.setattr(reader, '_pipeline', SimpleNamespace(decode=counting))
    return counted


@pytest.mark.parametrize('room', [10 ** 6, 2500, 0])
@pytest.mark.parametrize('threads', [1, 3])
def test_rows_are_right_whatever_fits_into_the_cache(opened, expected, monkeypatch, room,
                                                     threads):
    limit(monkeypatch, room)
    monkeypatch.setitem(fuel.config.config['num_threads'], 'value', threads)
    reader = fixed_rows(opened.file['x'], opened)
    assert reader.way == 'decoded'
    assert 'deflate' in reader.reason
    random = numpy.random.default_rng(0)
    for _ in range(20):
        wanted = random.integers(0, 103, random.integers(1, 80))
        assert_array_equal(reader.read(wanted), expected[wanted])
        assert CHUNKS.size <= max(room, 1000 if room else 0)
        start, stop = sorted(random.integers(0, 104, 2).tolist())
        assert_array_equal(reader.read(slice(start, stop, 1)), expected[start:stop])
        assert_array_equal(reader.read(slice(start, stop, 7)), expected[start:stop:7])
    assert_array_equal(reader.read(35), expected[35])
    assert_array_equal(reader.read(102), expected[102])


def test_chunks_that_fit_are_decoded_once(opened, monkeypatch):
    limit(monkeypatch, 10 ** 6)
    reader = fixed_rows(opened.file['x'], opened)
    counted = decoded(reader, monkeypatch)
    for _ in range(3):
        reader.read(numpy.random.permutation(103))
    assert len(counted) == len(set(counted)) == 10


def test_a_large_slice_is_decoded_where_it_is_wanted(opened, expected, monkeypatch):
    limit(monkeypatch, 4000)
    reader = fixed_rows(opened.file['x'], opened)
    counted = decoded(reader, monkeypatch)
    assert_array_equal(reader.read(slice(3, 98, 1)), expected[3:98])
    assert len(counted) == 9                    # of ten; one was never written
    assert CHUNKS.size <= 2000                  # only those at both ends


def test_rows_in_several_chunks(opened, monkeypatch):
    limit(monkeypatch, 10 ** 6)
    reader = fixed_rows(opened.file['cut'], opened)
    assert reader.way == 'decoded'
    counted = decoded(reader, monkeypatch)
    wanted = numpy.array([102, 0, 0, 57, 13])
    assert_array_equal(reader.read(wanted), X[wanted])
    assert len(counted) == 4 * 3
    assert_array_equal(reader.read(slice(0, 103, 1)), X)
    assert len(counted) == 11 * 3


def test_a_chunk_larger_than_the_cache_is_not_decoded_for_every_row(opened, monkeypatch):
    limit(monkeypatch, 10)
    for name, chunks in (('x', 10), ('cut', 33)):
        reader = fixed_rows(opened.file[name], opened)
        counted = decoded(reader, monkeypatch)
        for row in range(103):
            reader.read(row)
        assert len(counted) == chunks
        del reader


@pytest.mark.parametrize('name', ['x', 'cut'])
def test_what_is_loaded_leaves_nothing_in_the_cache(opened, expected, monkeypatch, name):
    limit(monkeypatch, 10 ** 6)
    rows = expected if name == 'x' else X
    reader = fixed_rows(opened.file[name], opened)
    before = CHUNKS.size
    for positions in (slice(0, 103, 1), slice(1, 103, 2), numpy.array([102, 0, 35, 36, 102])):
        assert_array_equal(reader.load(positions), rows[positions])
    assert_array_equal(reader.load(slice(3, 98, 1)), rows[3:98])
    assert CHUNKS.size - before <= 3000         # but for the ends of those, if anything


def test_the_cache_lets_go_of_a_file_that_is_closed(opened, monkeypatch):
    limit(monkeypatch, 10 ** 6)
    before = CHUNKS.size
    reader = opened.reader('x', lambda opened, name: fixed_rows(opened.file[name], opened))
    reader.read(slice(0, 103, 2))
    assert CHUNKS.size > before
    del reader
    opened.forget()
    assert CHUNKS.size == before


def test_damage_is_told_with_the_rows_it_hits(opened, tmp_path):
    info = opened.file['x'].id.get_chunk_info_by_coord((50, 0, 0))
    content = bytearray((tmp_path / 'packed.hdf5').read_bytes())
    content[info.byte_offset + 30] ^= 255
    (tmp_path / 'damaged.hdf5').write_bytes(content)
    with h5py.File(tmp_path / 'damaged.hdf5', 'r') as file:
        damaged = OpenFile(file, file.filename, None)
        reader = fixed_rows(file['x'], damaged)
        assert_array_equal(reader.read(numpy.array([49, 60])), X[[49, 60]])
        with pytest.raises(DataFileError, match=r"damaged.hdf5: source 'x': rows 50 to 59 cannot"):
            reader.read(numpy.array([1, 55, 70]))
        assert_array_equal(reader.read(numpy.array([1, 70])), X[[1, 70]])
        damaged.forget()
