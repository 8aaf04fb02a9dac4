"""Properties of TextFile: nothing depends on where lines lie in files, buffers and encodings."""
import gzip
import json
import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuel.datasets.text import TextFile

ENCODINGS = {
    'utf-8': 'abé€🎈', 'utf-8-sig': 'abé€🎈', 'utf-16': 'abé€🎈',
    'utf-16-le': 'abé€🎈', 'utf-32': 'abé€🎈',
    'utf-7': 'abé€', 'latin-1': 'abé', 'cp1252': 'abé€', 'cp037': 'abé', 'shift_jis': 'abあ漢ア',
    'euc_jp': 'abあ漢ア', 'iso2022_jp': 'abあ漢ア', 'gb18030': 'abé漢🎈', 'gbk': 'ab漢字',
    'big5': 'ab漢字',
    'hz': 'ab汉字', 'euc_kr': 'ab한글', 'iso2022_kr': 'ab한글'}


@st.composite
def corpora(draw):
    """Lines of letters and spaces, cut into files, with long ones among them."""
    encoding = draw(st.sampled_from(sorted(ENCODINGS)))
    line = st.builds(lambda text, times: text * times,
                     st.text(alphabet=ENCODINGS[encoding] + ' ', max_size=8),
                     st.sampled_from([1, 1, 1, 2000]))
    return encoding, draw(st.lists(st.lists(line, max_size=6), min_size=1, max_size=3))


def rest(dataset, state):
    lines = []
    while True:
        try:
            lines += dataset.get_data(state)
        except StopIteration:
            return lines


@settings(max_examples=150, deadline=None)
@given(corpora(), st.sampled_from(['\n', '\r\n', '\r']), st.booleans(), st.booleans(), st.data())
def test_any_text_in_any_encoding_resumes_anywhere(corpus, newline, last_newline, packed, data):
    encoding, contents = corpus
    characters = {char: number for number, char in enumerate(ENCODINGS[encoding] + ' ')}
    expected = []
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, lines in enumerate(contents):
            text = newline.join(lines) + (newline if last_newline else '')
            # A last line without characters and newline is none.
            expected += lines if last_newline or (lines and lines[-1]) else lines[:-1]
            if last_newline and not lines:
                expected.append('')
            path = Path(folder, f'{number}.gz' if packed else f'{number}')
            encoded = text.encode(encoding)
            path.write_bytes(gzip.compress(encoded) if packed else encoded)
            files.append(path)
        expected = [[characters[char] for char in line.strip()] for line in expected]
        dataset = TextFile(files, characters, None, None, None, 'character', encoding=encoding)
        assert rest(dataset, dataset.open()) == expected
        for _ in range(2):
            steps = data.draw(st.integers(0, len(expected)))
            state = dataset.open()
            for step in range(steps):
                assert dataset.get_data(state) == (expected[step],)
            plain = json.loads(json.dumps(dataset.state_to_plain(state, steps)))
            assert rest(dataset, dataset.state_from_plain(plain, iter(()))) == expected[steps:]
            assert rest(dataset, pickle.loads(pickle.dumps(state))) == expected[steps:]
            dataset.close(state)
            assert rest(dataset, state) == expected[steps:]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=6).map(lambda line: line.translate(None, b'\r\n')),
                min_size=1, max_size=12))
def test_lines_that_are_not_utf8_are_refused_and_no_other(lines):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'text')
        path.write_bytes(b'x\n' + b''.join(line + b'\n' for line in lines))
        dataset = TextFile([path], {'?': 0}, None, None, '?')
        state = dataset.open()
        dataset.get_data(state)
        for number, line in enumerate(lines, 2):
            try:
                words = line.decode('utf-8').split()
            except UnicodeDecodeError:
                with pytest.raises(UnicodeError, match=f'text, line {number}: byte 0x'):
                    dataset.get_data(state)
            else:
                assert dataset.get_data(state) == ([0] * len(words),)
        assert rest(dataset, state) == []
