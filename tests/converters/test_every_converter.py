"""What holds for every converter: of the built-in data sets, and of files of one's own."""
from __future__ import annotations

import hashlib
import importlib
import os

import h5py
import numpy
import pytest

import fuel
from fuel.bin.fuel_convert import main
from fuel.converters import all_converters
from fuel.datasets import H5PYDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.storage.provenance.checksums import stored_checksum
from fuel.storage.provenance.reading import read_provenance
from fuel.storage.provenance.verifying import verify_source, verify_structure
from fuel.streams import DataStream
from fuel.testing import check_dataset
from tests.converters import ffmpegs

# What to type, and what the raw files are like.
CASES = {name: (name.split(), {}) for name, _ in all_converters}
del CASES['caltech101_silhouettes'], CASES['celeba'], CASES['svhn']
CASES.update({
    'caltech101_silhouettes 16': (['caltech101_silhouettes', '16'], {'size': 16}),
    'caltech101_silhouettes 28': (['caltech101_silhouettes', '28'], {'size': 28}),
    'celeba aligned_cropped': (['celeba', 'aligned_cropped'], {}),
    'celeba 64': (['celeba', '64'], {}),
    'mnist float32': (['mnist', '--dtype', 'float32'], {}),
    'mnist bool': (['mnist', '--dtype', 'bool'], {}),
    'svhn 1': (['svhn', '1'], {'which_format': 1}),
    'svhn 2': (['svhn', '2'], {'which_format': 2}),
    'youtube_audio': (['youtube_audio', '--youtube-id', 'abc'], {'youtube_id': 'abc'}),
    'images': (['images', 'pictures'], {}),
    'images resized': (['images', 'pictures', '--size', '16x16'], {}),
    'images encoded': (['images', 'pictures', '--encoded'], {}),
    'arrays': (['arrays', 'mnist.npz'], {}),
    'table': (['table', 'flowers.csv', '--target', 'species'], {}),
    'text': (['text', 'rhymes.txt', 'more.txt.gz'], {}),
})
VARIABLE = ('svhn 1', 'dogs_vs_cats', 'ilsvrc2010', 'ilsvrc2012', 'images', 'images encoded',
            'text')
EVERY = pytest.mark.parametrize('case', sorted(CASES))


@pytest.fixture
def convert(tmp_path, monkeypatch):
    """Return a function that makes raw files and converts them into a folder."""
    ffmpegs.install('stand-in', tmp_path / 'bin', monkeypatch)
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1000000000')
    raw = tmp_path / 'raw'

    def run(case, *options, out='out'):
        arguments, sizes = CASES[case]
        (tmp_path / out).mkdir(exist_ok=True)
        if not raw.exists():
            raw.mkdir()
            folder = raw / 'pictures' if arguments[0] == 'images' else raw
            folder.mkdir(exist_ok=True)
            importlib.import_module(f'tests.raw.{arguments[0]}').write(folder, **sizes)
        monkeypatch.chdir(tmp_path / out)
        main([*arguments, '-d', '../raw', *options])
        written, = (name for name in os.listdir('.') if name.endswith('.hdf5'))
        return tmp_path / out / written

    return run


def sources_of(path):
    with h5py.File(path, 'r') as h5file:
        return H5PYDataset.get_all_sources(h5file), H5PYDataset.get_all_splits(h5file)


def checksums(path):
    sources, _ = sources_of(path)
    with h5py.File(path, 'r') as h5file:
        verdict = verify_structure(h5file)
        assert verdict.checked, verdict
        assert verdict.good, verdict
        for source in sources:
            verdict = verify_source(h5file, source)
            assert verdict.checked, verdict
            assert verdict.good, verdict
        return {source: stored_checksum(h5file[source]) for source in sources}


@EVERY
def test_the_same_bytes_each_time_and_what_they_came_from(convert, case):
    path = convert(case)
    first = path.read_bytes()
    assert convert(case, out='again').read_bytes() == first
    with h5py.File(path, 'r') as h5file:
        found = read_provenance(h5file)
    raw = path.parent.parent / 'raw' / ('pictures' if case.startswith('images') else '')
    expected = {}
    for folder, _, names in os.walk(raw):
        for name in names:
            place = os.path.join(folder, name)
            with open(place, 'rb') as stream:
                content = stream.read()
            expected[os.path.relpath(place, raw)] = len(content), hashlib.sha256(
                content).hexdigest()
    inputs = {entry.name: (entry.size, entry.sha256) for entry in found.inputs}
    assert inputs
    assert inputs.items() <= expected.items()
    # The archive of a converter may come with files that it does not need.
    if case not in ('youtube_audio',):
        assert set(inputs) == set(expected)
    checksums(path)


@EVERY
def test_axes_are_labelled_and_every_split_is_streamed(convert, case):
    path = convert(case)
    _, splits = sources_of(path)
    for split in splits:
        dataset = H5PYDataset(str(path), (split,))
        for source in dataset.sources:
            labels = dataset.axis_labels[source]
            assert labels[0] == 'batch', (source, labels)
            # Nobody knows what the axes of somebody's arrays are.
            assert all(labels) or case == 'arrays', (source, labels)
        count = dataset.num_examples
        read = []
        stream = DataStream(dataset, iteration_scheme=SequentialScheme(count, 7))
        for batch in stream.get_epoch_iterator():
            assert len({len(part) for part in batch}) == 1
            read.append(len(batch[0]))
        assert sum(read) == count
        stream.close()
        check_dataset(lambda split=split: H5PYDataset(str(path), (split,)),
                      list(ShuffledScheme(count, 5).get_request_iterator())[:6])


@EVERY
def test_stored_in_another_way_the_data_are_the_same(convert, case):
    plain = checksums(convert(case))
    options = ['--compression', 'gzip:1']
    # In the layout ragged, chunks are not made of whole examples.
    options += ['--layout', 'ragged'] if case in VARIABLE else ['--chunk-examples', '3']
    path = convert(case, *options, out='packed')
    sources, _ = sources_of(path)
    with h5py.File(path, 'r') as h5file:
        filters = {source: h5file[source].compression for source in sources}
        assert 'gzip' in filters.values(), filters
    assert checksums(path) == plain
    for split in sources_of(path)[1]:
        one, other = (H5PYDataset(str(place), (split,), load_in_memory=True) for place in (
            path, convert(case, '--force')))
        for left, right in zip(one.data_sources, other.data_sources, strict=True):
            assert len(left) == len(right)
            for a, b in zip(left, right, strict=True):
                numpy.testing.assert_array_equal(a, b)


@EVERY
def test_file_that_is_there_is_kept(convert, case, capsys):
    path = convert(case)
    before = path.read_bytes()
    left = os.listdir('.')
    assert 'is there already; give --force' in one_error(case, capsys)
    assert path.read_bytes() == before
    assert os.listdir('.') == left


def one_error(case, capsys, *options):
    """Run a converter that fails, and return the one line about it."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        main([*CASES[case][0], '-d', '../raw', *options])
    assert caught.value.code == 2
    text = capsys.readouterr().err
    line, = (line for line in text.splitlines() if not line.startswith('warning: '))
    assert line.startswith('fuel-convert: error: ')
    assert '--traceback' not in line, line      # nobody foresaw it
    return line


@EVERY
def test_missing_raw_files_are_named(tmp_path, monkeypatch, case, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(CASES[case][0])
    assert caught.value.code == 2
    text = capsys.readouterr().err
    assert text.startswith('fuel-convert: error: ')
    assert 'Traceback' not in text
    assert os.listdir('.') == []


@EVERY
def test_raw_files_that_are_something_else(convert, case, capsys, tmp_path):
    convert(case)
    bad = tmp_path / 'bad'
    bad.mkdir()
    for content in (b'', b'<html>no such page</html>\n' * 50, b'\x00\xff\x1f\x8b' * 1000):
        # Each file in turn is not what it should be.
        places = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path / 'raw')
                  for name in names]
        for place in places[:8]:
            if case == 'text' and b'\xff' not in content:
                continue        # any text is a text
            with open(place, 'rb') as stream:
                before = stream.read()
            with open(place, 'wb') as stream:
                stream.write(content)
            line = one_error(case, capsys, '-o', '../bad')
            assert os.path.basename(place) in line, (place, line)
            assert os.listdir(bad) == []
            with open(place, 'wb') as stream:
                stream.write(before)


@pytest.mark.parametrize('name', [name for name, _ in all_converters])
def test_help_names_every_option(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([name, '-h'])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    for option in ('--compression', '--chunk-examples', '--force', '-r ', '-d ', '-o '):
        assert option in text, option
    variable = any(case.split()[0] == name for case in VARIABLE)
    assert ('--layout' in text) == variable
    for word in ('SUPPRESS', 'default: None', 'default: False', '%('):
        assert word not in text


def test_every_converter_is_here():
    assert {arguments[0] for arguments, _ in CASES.values()} == {
        name for name, _ in all_converters}
    assert fuel.config.extra_converters == []
