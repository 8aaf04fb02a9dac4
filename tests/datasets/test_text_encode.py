"""Lines that are not in a file, as TextFile would give them."""
import pytest

from fuel.datasets import TextFile
from tests.datasets.sentences import WORDS, remaining


@pytest.mark.parametrize('options', [
    {}, {'bos_token': None}, {'eos_token': None, 'unk_token': 'a'}, {'preprocess': str.upper},
    {'level': 'character', 'bos_token': None}])
def test_lines_are_encoded_as_examples_are(tmp_path, options):
    lines = ['this is', '', '  a  new sentence ', 'this\tanother']
    path = tmp_path / 'text'
    path.write_text(''.join(f'{line}\n' for line in lines))
    dataset = TextFile([path], WORDS, **options)
    expected = remaining(dataset, dataset.open())
    path.unlink()
    assert [dataset.encode(line) for line in lines] == expected
    assert [dataset.encode(f'{line}\n') for line in lines] == expected


def test_errors_without_a_file():
    dataset = TextFile(['no file'], WORDS, unk_token=None)
    with pytest.raises(KeyError, match="the line: 'unheard' is not in the dictionary"):
        dataset.encode('this unheard')
    with pytest.raises(TypeError, match='the line: expected a string from preprocess'):
        TextFile(['no file'], WORDS, preprocess=str.split).encode('this')
