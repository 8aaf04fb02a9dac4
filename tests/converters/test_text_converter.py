"""Texts as numbers, compared with the plainest way to make them."""
import gzip
import itertools
import json
from collections import Counter

import h5py
import numpy
import pytest

from fuel.datasets import H5PYDataset, TextFile
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from tests.converters.texts import convert, expected, read
from tests.raw import text as raw


@pytest.fixture
def lines(tmp_path):
    """Write the raw files and return all lines."""
    return list(itertools.chain(*raw.write(tmp_path).values()))


def in_order(lines, divide=str.split):
    """Return the tokens of lines, the most frequent first."""
    counts = Counter(itertools.chain(*map(divide, lines)))
    return sorted(counts, key=lambda token: (-counts[token], token))


def characters(line):
    return list(line.strip())


def by_text_file(paths, vocabulary, *args, **kwargs):
    """Return what TextFile makes of files."""
    dataset = TextFile(paths, vocabulary, *args, **kwargs)
    return [example for example, in dataset.get_example_stream().get_epoch_iterator()]


def test_numbers_vocabulary_and_counts(tmp_path, lines):
    splits, vocabulary, counts = read(convert(tmp_path, *raw.FILES))
    assert vocabulary == ['<S>', '</S>', '<UNK>', *in_order(lines)]
    assert splits == {'train': expected(lines, vocabulary)}
    assert counts == numpy.bincount(sum(splits['train'], []), minlength=len(vocabulary)).tolist()
    assert counts[:3] == [80, 80, 0]


@pytest.mark.parametrize(('options', 'arguments'), [
    ((), {}), (('--level', 'character'), {'level': 'character'}),
    (('--lower',), {'preprocess': str.lower}),
    (('--no-bos', '--eos', ''), {'bos_token': None, 'eos_token': None}),
    (('--bos', 'The', '--eos=</s>', '--unk', 'Wrapped'),
     {'bos_token': 'The', 'eos_token': '</s>', 'unk_token': 'Wrapped'}),
    (('--min-count', '20', '--lower', '--level', 'character'),
     {'preprocess': str.lower, 'level': 'character'}),
    (('--max-size', '3'), {}), (('--no-unk',), {'unk_token': None})])
def test_the_numbers_are_those_of_text_file(tmp_path, lines, options, arguments):
    path = convert(tmp_path, *raw.FILES, *options)
    splits, vocabulary, _ = read(path)
    paths = [tmp_path / name for name in raw.FILES]
    assert splits['train'] == by_text_file(paths, path, **arguments)
    dictionary = {token: number for number, token in enumerate(vocabulary)}
    assert splits['train'] == by_text_file(paths, dictionary, **arguments)


def test_rare_tokens_and_those_beyond_the_size_are_left_out(tmp_path, lines):
    counts = Counter(itertools.chain(*map(str.split, lines)))
    frequent = [token for token in in_order(lines) if counts[token] >= 12]
    assert 0 < len(frequent) < len(counts)
    splits, vocabulary, found = read(convert(tmp_path, *raw.FILES, '--min-count', 12))
    assert vocabulary[3:] == frequent
    assert splits['train'] == expected(lines, vocabulary)
    assert found[2] == sum(counts[token] for token in counts if token not in frequent)
    splits, vocabulary, _ = read(convert(tmp_path, *raw.FILES, '--max-size', 5))
    assert vocabulary[3:] == in_order(lines)[:5]
    assert splits['train'] == expected(lines, vocabulary)


def test_characters(tmp_path):
    (tmp_path / 'a.txt').write_text(' aé b\t€🎈 \n\nb\n', encoding='utf-8')
    splits, vocabulary, _ = read(convert(tmp_path, 'a.txt', '--level', 'character'))
    assert vocabulary[3:] == ['b', '\t', ' ', 'a', 'é', '€', '🎈']
    assert splits['train'] == expected([' aé b\t€🎈 ', '', 'b'], vocabulary, divide=characters)


def test_empty_lines_have_the_markers_only(tmp_path):
    (tmp_path / 'a.txt').write_text('\n \t\nx\n\n')
    assert read(convert(tmp_path, 'a.txt'))[0]['train'] == [[0, 1], [0, 1], [0, 3, 1], [0, 1]]
    assert read(convert(tmp_path, 'a.txt', '--no-bos', '--no-eos'))[0]['train'] == [
        [], [], [1], []]


def test_the_vocabulary_is_made_from_train_only(tmp_path):
    (tmp_path / 'a.txt').write_text('b b a\n')
    (tmp_path / 'b.txt').write_text('c a\nc\n')
    splits, vocabulary, counts = read(convert(tmp_path, 'a.txt', '--split', 'test=b.txt'))
    assert vocabulary == ['<S>', '</S>', '<UNK>', 'b', 'a']
    assert splits == {'train': [[0, 3, 3, 4, 1]], 'test': [[0, 2, 4, 1], [0, 2, 1]]}
    assert counts == [1, 1, 0, 2, 1]


def test_splits_of_files_are_written_in_the_usual_order(tmp_path):
    for name in 'abcd':
        (tmp_path / name).write_text(f'{name}\n')
    path = convert(tmp_path, '--split', 'test=d', '--split', 'train=b', 'a', '--split', 'valid=c')
    splits, vocabulary, _ = read(path)
    assert list(splits) == ['train', 'valid', 'test']
    assert splits['train'] == expected('ba', vocabulary)


def test_without_train_the_vocabulary_is_that_of_all(tmp_path):
    (tmp_path / 'a').write_text('x\n')
    (tmp_path / 'b').write_text('y y\n')
    splits, vocabulary, counts = read(convert(tmp_path, '--split', 'one=a', '--split', 'two=b'))
    assert vocabulary[3:] == ['y', 'x']
    assert splits == {'one': [[0, 4, 1]], 'two': [[0, 3, 3, 1]]}
    assert counts == [2, 2, 0, 2, 1]


def test_a_given_vocabulary(tmp_path):
    (tmp_path / 'a.txt').write_text('b a c\n')
    numbers = {'a': 7, '<S>': 70000, '</S>': 3, '<UNK>': 5, 'b': 7}
    (tmp_path / 'words.json').write_text(json.dumps(numbers))
    path = convert(tmp_path, 'a.txt', '--vocabulary', 'words.json')
    splits, vocabulary, counts = read(path)
    assert splits['train'] == [[70000, 7, 7, 5, 3]]
    assert vocabulary == ['</S>', '<UNK>', 'a', 'b', '<S>']
    assert counts == [1, 1, 2, 2, 1]  # a and b share a number
    with h5py.File(path, 'r') as h5file:
        assert h5file['vocabulary_ids'][...].tolist() == [3, 5, 7, 7, 70000]
        assert h5file['features'].dtype == 'uint32'
    assert by_text_file([tmp_path / 'a.txt'], path) == splits['train']


@pytest.mark.parametrize('name', ['words.txt', 'first.hdf5'])
def test_the_vocabulary_of_another_conversion_and_a_list(tmp_path, lines, name):
    first = convert(tmp_path, *raw.FILES)
    _, vocabulary, _ = read(first)
    (tmp_path / 'words.txt').write_text('\n'.join(vocabulary), encoding='utf-8')
    (tmp_path / 'text.hdf5').rename(tmp_path / 'first.hdf5')
    (tmp_path / 'new.txt').write_text('The zebra\n')
    splits, again, _ = read(convert(tmp_path, 'new.txt', '--vocabulary', name))
    assert again == vocabulary
    assert splits['train'] == expected(['The zebra'], vocabulary)


@pytest.mark.parametrize(('count', 'dtype'), [(10, 'uint16'), (65533, 'uint16'),
                                              (65534, 'uint32')])
def test_the_smallest_dtype(tmp_path, count, dtype):
    (tmp_path / 'a.txt').write_text('\n'.join(map(str, range(count))))
    with h5py.File(convert(tmp_path, 'a.txt'), 'r') as h5file:
        assert h5file['features'].dtype == dtype
        assert h5file['features'][...].max() == count + 2


@pytest.mark.parametrize('dtype', ['uint8', 'int64'])
def test_a_chosen_dtype(tmp_path, lines, dtype):
    with h5py.File(convert(tmp_path, *raw.FILES, '--dtype', dtype), 'r') as h5file:
        assert h5file['features'].dtype == dtype


def test_layout_labels_and_what_is_kept_with_the_vocabulary(tmp_path, lines):
    path = convert(tmp_path, *raw.FILES, '--lower', '--no-eos')
    with h5py.File(path, 'r') as h5file:
        assert h5file['features'].chunks is None  # and so can be mapped
        assert h5file['features'].dims[0].label == 'batch'
        assert h5file['features_shape_labels'][...].tolist() == [b'time']
        assert dict(h5file['vocabulary'].attrs)['bos_token'] == '<S>'
        assert set(h5file['vocabulary'].attrs) - {'fuel_checksum'} == {
            'bos_token', 'unk_token', 'level', 'lower'}
        assert h5file['vocabulary'].attrs['lower']
    assert H5PYDataset(path, ('train',)).axis_labels == {'features': ('batch', 'time')}


@pytest.mark.parametrize('options', [('--layout', 'vlen'), ('--compression', 'gzip'),
                                     ('--layout', 'vlen', '--chunk-examples', '10')])
def test_other_ways_to_store_give_the_same_examples(tmp_path, lines, options):
    splits, _, _ = read(convert(tmp_path, *raw.FILES))
    dataset = H5PYDataset(convert(tmp_path, *raw.FILES, *options), ('train',))
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(dataset.num_examples, 7))
    found = [example.tolist() for batch, in stream.get_epoch_iterator() for example in batch]
    assert found == splits['train']


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16'])
def test_another_encoding_and_gzip(tmp_path, encoding):
    (tmp_path / 'a.gz').write_bytes(gzip.compress('é à\nà\n'.encode(encoding)))
    splits, vocabulary, _ = read(convert(tmp_path, 'a.gz', '--encoding', encoding))
    assert vocabulary[3:] == ['à', 'é']
    assert splits['train'] == [[0, 4, 3, 1], [0, 3, 1]]


def test_many_blocks_of_lines(tmp_path):
    lines = [f'{number % 31} ' * (number % 5) for number in range(10000)]
    (tmp_path / 'a.txt').write_text('\n'.join(lines) + '\n')
    splits, vocabulary, counts = read(convert(tmp_path, 'a.txt'))
    assert splits['train'] == expected(lines, vocabulary)
    assert counts == numpy.bincount(sum(splits['train'], [])).tolist()


def test_the_same_texts_give_the_same_bytes(tmp_path, lines):
    contents = []
    for name in ('one', 'two'):
        path = convert(tmp_path, *raw.FILES, '--valid-fraction', '0.25', '--seed', '5')
        (tmp_path / 'text.hdf5').rename(tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert path.endswith('text.hdf5')
    assert contents[0] == contents[1]
