"""The vocabulary of the One Billion Word benchmark, compared with one counted by hand."""
import gzip
import io
import os
import tarfile
from collections import Counter

import h5py
import numpy
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters._texts.counts import TokenCounts
from fuel.converters.one_billion_word import convert_one_billion_word
from fuel.datasets import H5PYDataset
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import fails
from tests.raw import one_billion_word as raw


@pytest.fixture
def texts(tmp_path):
    """Write the archive and return its texts."""
    return raw.write(tmp_path)


def convert(folder, **kwargs):
    path, = convert_one_billion_word(str(folder), str(folder), **kwargs)
    return path


def read(path):
    """Return tokens and counts."""
    with h5py.File(path, 'r') as h5file:
        return h5file['vocabulary'].asstr()[...].tolist(), h5file['vocabulary_counts'][...].tolist()


def counted(texts):
    """Count the words of the training files."""
    return Counter(word for name, text in texts.items() if name.startswith('training')
                   for word in text.split())


def in_order(counts, least=1):
    return [word for word in sorted(counts, key=lambda word: (-counts[word], word))
            if counts[word] >= least]


@pytest.mark.parametrize(('kwargs', 'least', 'most'), [
    ({}, 3, None), ({'min_count': 1}, 1, None), ({'min_count': 20}, 20, None),
    ({'max_size': 4}, 3, 4)])
def test_words_and_counts(tmp_path, texts, kwargs, least, most):
    counts = counted(texts)
    words = in_order(counts, least)[:most]
    assert words
    vocabulary, found = read(convert(tmp_path, **kwargs))
    assert vocabulary == ['<S>', '</S>', '<UNK>', *words]
    assert found[:2] == [90, 90]
    assert found[2] == sum(counts[word] for word in counts if word not in words)
    assert found[3:] == [counts[word] for word in words]


def test_text_files_are_unpacked_as_they_are(tmp_path, texts):
    convert(tmp_path)
    found = {}
    for folder, _, names in os.walk(tmp_path / raw.FOLDER):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, 'rb') as stream:
                found[os.path.relpath(path, tmp_path / raw.FOLDER)] = stream.read().decode()
    assert found == texts
    assert sorted(os.listdir(tmp_path)) == sorted(
        [raw.FOLDER, raw.ARCHIVE, 'one_billion_word.hdf5'])


def test_texts_can_be_left_in_the_archive(tmp_path, texts):
    with_texts = read(convert(tmp_path))
    (tmp_path / 'out').mkdir()
    path, = convert_one_billion_word(str(tmp_path), str(tmp_path / 'out'), text=False)
    assert read(path) == with_texts
    assert os.listdir(tmp_path / 'out') == ['one_billion_word.hdf5']


def test_the_vocabulary_is_a_split(tmp_path, texts):
    path = convert(tmp_path, compression='gzip')
    dataset = H5PYDataset(path, ('vocabulary',), load_in_memory=True)
    assert dataset.sources == ('vocabulary', 'vocabulary_counts')
    assert dataset.axis_labels == dict.fromkeys(dataset.sources, ('batch',))
    words, counts = dataset.get_data(request=slice(0, 4))
    assert [word.decode() if isinstance(word, bytes) else word for word in words] == read(path)[0][
        :4]
    assert counts.dtype == 'int64'


def test_words_too_many_for_the_memory(tmp_path, texts, monkeypatch):
    expected = read(convert(tmp_path))
    monkeypatch.setattr('fuel.converters.one_billion_word.TokenCounts',
                        lambda folder: TokenCounts(folder, 5))
    assert read(convert(tmp_path)) == expected


@pytest.mark.parametrize('block', [1, 7, 100])
def test_blocks_of_any_size_and_ends_of_lines_of_any_kind(tmp_path, monkeypatch, block):
    monkeypatch.setattr('fuel.converters.one_billion_word._BLOCK', block)
    write(tmp_path, [(raw.training_name(1), 'a £ a\r\nb\rc\n\na'.encode()),
                     (raw.training_name(2), b''), (raw.heldout_name(0), b'z\n')])
    assert read(convert(tmp_path, min_count=1)) == (
        ['<S>', '</S>', '<UNK>', 'a', 'b', 'c', '£'], [5, 5, 0, 3, 1, 1, 1])


def write(folder, members, cut=None):
    """Write an archive with other content."""
    tar = raw.tar_of([(f'{raw.FOLDER}/{name}', content) for name, content in members])
    packed = gzip.compress(tar, mtime=0)
    (folder / raw.ARCHIVE).write_bytes(packed if cut is None else packed[:cut])
    return tar


def test_special_tokens_in_the_text_keep_their_numbers(tmp_path):
    write(tmp_path, [(raw.training_name(1), b'<UNK> a <S> <UNK>\n' * 3)])
    assert read(convert(tmp_path)) == (['<S>', '</S>', '<UNK>', 'a'], [6, 3, 6, 3])


def test_the_same_archive_gives_the_same_bytes(tmp_path, texts):
    paths = [convert(tmp_path, output_filename=name) for name in ('a.hdf5', 'b.hdf5')]
    with open(paths[0], 'rb') as one, open(paths[1], 'rb') as other:
        assert one.read() == other.read()


def test_numbers_of_files_other_than_the_true_ones_are_told(tmp_path, texts, caplog):
    convert(tmp_path)
    told = [record.getMessage() for record in caplog.records if record.levelname == 'WARNING']
    assert len(told) == 2
    assert "99 files of the set 'training'; this file has 3" in told[0]
    assert "50 files of the set 'heldout'; this file has 2" in told[1]


def test_the_archive_is_missing(tmp_path):
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path)
    assert caught.value.filenames == [raw.ARCHIVE]


GOOD = (raw.training_name(1), b'a b\n' * 1000)


@pytest.mark.parametrize(('members', 'words'), [
    ([('README', b'nothing')], 'such as training-monolingual'),
    ([(raw.heldout_name(1), b'a\n')], 'such as training-monolingual'),
    ([(raw.training_name(0), b'a\n')], 'such as training-monolingual'),
    ([GOOD, GOOD], 'news.en-00001-of-00100 twice'),
    ([GOOD, ('../x', b'')], "'1-billion-word-language-modeling-benchmark-r13output/../x'"),
    ([GOOD, (raw.training_name(2), b'a\nb \xff c\n')], r"00002-of-00100', line 2; got byte 0xff")])
def test_archives_that_are_not_as_expected(tmp_path, members, words):
    write(tmp_path, members)
    with pytest.raises(ConversionError, match=words):
        convert(tmp_path)
    assert os.listdir(tmp_path) == [raw.ARCHIVE]


@pytest.mark.parametrize('left', [0.3, 0.6, 0.9, 0.999])
def test_an_archive_that_is_cut_off(tmp_path, texts, left):
    path = tmp_path / raw.ARCHIVE
    path.write_bytes(path.read_bytes()[:int(left * path.stat().st_size)])
    with pytest.raises(ConversionError, match=raw.ARCHIVE):
        convert(tmp_path)
    assert os.listdir(tmp_path) == [raw.ARCHIVE]


@pytest.mark.parametrize('size', [700, 1600, 3000])
def test_a_tar_that_is_cut_off_before_it_was_compressed(tmp_path, size):
    tar = raw.tar_of([(f'{raw.FOLDER}/{GOOD[0]}', GOOD[1])])
    (tmp_path / raw.ARCHIVE).write_bytes(gzip.compress(tar[:size]))
    with pytest.raises(ConversionError, match=raw.ARCHIVE):
        convert(tmp_path)


def test_links_are_refused(tmp_path):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w:gz') as archive:
        info = tarfile.TarInfo(f'{raw.FOLDER}/{raw.training_name(1)}')
        info.type, info.linkname = tarfile.SYMTYPE, '/etc/passwd'
        archive.addfile(info)
    (tmp_path / raw.ARCHIVE).write_bytes(stream.getvalue())
    with pytest.raises(ConversionError, match='link'):
        convert(tmp_path)


def test_the_command_keeps_texts_that_are_there(tmp_path, texts, capsys):
    args = ['one_billion_word', '-d', str(tmp_path), '-o', str(tmp_path)]
    main([*args, '--max-size', '2'])
    capsys.readouterr()
    os.remove(tmp_path / 'one_billion_word.hdf5')
    victim = tmp_path / raw.FOLDER / raw.training_name(2)
    victim.write_text('mine')
    message = fails('convert', args, capsys)
    assert raw.FOLDER in message
    assert '--no-text' in message
    assert victim.read_text() == 'mine'
    main([*args, '--no-text', '--min-count', '1'])
    assert read(tmp_path / 'one_billion_word.hdf5')[0][3:] == in_order(counted(texts))
    assert victim.read_text() == 'mine'
    main([*args, '--force'])
    assert victim.read_text() == texts[raw.training_name(2)]
    with h5py.File(tmp_path / 'one_billion_word.hdf5', 'r') as h5file:
        record, = h5file['fuel_provenance/inputs'][...]
        assert record['name'].decode() == raw.ARCHIVE
        assert record['size'] == (tmp_path / raw.ARCHIVE).stat().st_size
        assert numpy.all([h5file[name].attrs['fuel_checksum'].startswith('sha256:')
                          for name in ('vocabulary', 'vocabulary_counts')])
