"""The readers of text files: resumed at any line, independent, closed in time."""
import copy
import gc
import gzip
import json
import os
import pickle
import subprocess
import sys
import warnings

import pytest

from fuel.datasets.text import TextFile
from fuel.exceptions import StateError
from fuel.streams import DataStream
from tests.datasets.sentences import NUMBERS, SECOND_NUMBERS, WORDS, open_files, remaining

# Resuming

@pytest.mark.parametrize('which', ['files', 'zipped'])
@pytest.mark.parametrize('way', ['pickle', 'plain', 'copy'])
def test_resumes_at_every_line_twice_over(request, which, way):
    dataset = TextFile(request.getfixturevalue(which), WORDS)

    def resumed(state, steps):
        if way == 'pickle':
            return pickle.loads(pickle.dumps(state))
        if way == 'copy':
            return copy.deepcopy(state)
        plain = json.loads(json.dumps(dataset.state_to_plain(state, steps)))
        return dataset.state_from_plain(plain, iter(()))

    for steps in range(len(NUMBERS) + 1):
        state = dataset.open()
        for step in range(steps):
            assert dataset.get_data(state) == (NUMBERS[step],)
            state = resumed(state, step + 1)
        later = resumed(state, steps)
        assert remaining(dataset, later) == NUMBERS[steps:]
        assert remaining(dataset, state) == NUMBERS[steps:]
        assert remaining(dataset, resumed(state, len(NUMBERS))) == []


def test_the_stream_and_its_iterator_resume_in_another_process(files):
    stream = DataStream(TextFile(files, WORDS))
    iterator = stream.get_epoch_iterator()
    for _ in range(3):
        next(iterator)
    program = ('import pickle, sys\n'
               'stream, iterator = pickle.load(sys.stdin.buffer)\n'
               'print([list(iterator), list(stream.get_epoch_iterator())])')
    result = subprocess.run([sys.executable, '-c', program], check=True, capture_output=True,
                            input=pickle.dumps((stream, iterator)))
    assert eval(result.stdout) == [[(NUMBERS[3],)], [(numbers,) for numbers in NUMBERS]]


def test_a_stream_made_anew_goes_on_from_the_state_of_another(files):
    for steps in range(len(NUMBERS) + 1):
        stream = DataStream(TextFile(files, WORDS))
        iterator = stream.get_epoch_iterator()
        for _ in range(steps):
            next(iterator)
        state = json.loads(json.dumps(stream.state_dict()))
        assert len(json.dumps(state)) < 500
        fresh = DataStream(TextFile(files, WORDS))
        fresh.load_state_dict(state)
        for epoch in (NUMBERS[steps:], NUMBERS):
            assert [numbers for numbers, in fresh.get_epoch_iterator()] == epoch


def test_two_iterators_of_one_stream_do_not_mix(files):
    stream = DataStream(TextFile(files, WORDS))
    pairs = list(zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True))
    assert pairs == [((numbers,), (numbers,)) for numbers in NUMBERS]


def test_the_plain_state_is_small_and_does_not_read_on_from_the_start(tmp_path):
    path = tmp_path / 'text'
    line = 'this is a sentence\n'
    path.write_text(line * 200_000, encoding='utf-8')
    dataset = TextFile([path], WORDS)
    state = dataset.state_from_plain(
        {'index': 0, 'position': len(line) * 199_999, 'skip': 0, 'line': 199_999},
        iter(()))
    assert remaining(dataset, state) == [[0, 3, 4, 5, 6, 1]]
    state = dataset.open()
    dataset.get_data(state)
    plain = dataset.state_to_plain(state, 1)
    assert plain == {'index': 0, 'position': len(line), 'skip': 0, 'line': 1}
    assert len(json.dumps(plain)) < 500


def test_resumed_readers_still_count_lines(files):
    dataset = TextFile(files, WORDS, unk_token=None)
    state = dataset.open()
    for _ in range(3):
        dataset.get_data(state)
    plain = dataset.state_to_plain(state, 3)
    for resumed in (pickle.loads(pickle.dumps(state)), dataset.state_from_plain(plain, iter(()))):
        with pytest.raises(KeyError, match=r'second.txt, line 2'):
            dataset.get_data(resumed)


def test_a_pickle_loads_without_the_file_and_reads_once_it_is_back(files):
    dataset = TextFile(files, WORDS)
    state = dataset.open()
    dataset.get_data(state)
    pickled = pickle.dumps((dataset, state))
    os.rename(files[0], files[0] + '.away')
    dataset, state = pickle.loads(pickled)
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=r'first.txt'):
            dataset.get_data(state)
    os.rename(files[0] + '.away', files[0])
    assert remaining(dataset, state) == NUMBERS[1:]


def test_encodings_whose_state_fits_into_no_position_resume_too(tmp_path):
    path = tmp_path / 'text'
    path.write_bytes('한글\n글 한\n\n한\n'.encode('iso2022_kr'))
    dataset = TextFile([path], {'한글': 0, '글': 1, '한': 2}, None, None, None,
                       encoding='iso2022_kr')
    expected = [[0], [1, 2], [], [2]]
    state = dataset.open()
    for step in range(len(expected)):
        assert dataset.get_data(state) == (expected[step],)
        plain = dataset.state_to_plain(state, step + 1)
        assert remaining(dataset, dataset.state_from_plain(plain, iter(()))) == expected[step + 1:]
        state = pickle.loads(pickle.dumps(dataset.state_from_plain(plain, iter(()))))
    state = dataset.state_from_plain({**plain, 'position': 0, 'skip': 3}, iter(()))
    assert dataset.state_to_plain(state, 3)['skip'] == 3
    path.write_bytes(b'\n')
    with pytest.raises(StateError, match='shorter'):
        dataset.get_data(state)


@pytest.mark.parametrize('which', ['files', 'zipped'])
def test_a_file_that_shrank_is_an_error_and_not_the_end(request, which):
    paths = request.getfixturevalue(which)
    dataset = TextFile(paths, WORDS)
    state = dataset.open()
    dataset.get_data(state)
    plain = dataset.state_to_plain(state, 1)
    dataset.close(state)
    short = b'this\n'
    with open(paths[0], 'wb') as stream:
        stream.write(gzip.compress(short) if which == 'zipped' else short)
    for _ in range(2):
        with pytest.raises(StateError, match=r'first.*end of line 1.*shorter'):
            dataset.get_data(state)
    with pytest.raises(StateError, match='shorter'):
        dataset.get_data(dataset.state_from_plain(plain, iter(())))
    assert remaining(dataset, dataset.open()) == [[0, 3, 1], *SECOND_NUMBERS]


def test_lines_added_to_a_file_are_read(files):
    dataset = TextFile(files[:1], WORDS)
    state = dataset.open()
    dataset.get_data(state)
    dataset.get_data(state)
    state = pickle.loads(pickle.dumps(state))
    with open(files[0], 'a', encoding='utf-8') as stream:
        stream.write('a\n')
    assert remaining(dataset, state) == [[0, 5, 1]]


@pytest.mark.parametrize('change', [None, [], {}, 3, {'line': None}, {'position': -1},
                                    {'position': 1.5}, {'skip': True}, {'extra': 0}])
def test_states_of_another_form_are_refused(files, change):
    dataset = TextFile(files, WORDS)
    plain = dataset.state_to_plain(dataset.open(), 0)
    plain = {**plain, **change} if isinstance(change, dict) and change else change
    with pytest.raises(StateError, match='index, position, skip, line'):
        dataset.state_from_plain(plain, iter(()))


def test_a_state_in_a_file_that_is_not_listed_any_more_is_refused(files):
    with pytest.raises(StateError, match='file 3; there are 1'):
        TextFile(files[:1], WORDS).state_from_plain(
            {'index': 2, 'position': 0, 'skip': 0, 'line': 0}, iter(()))


# Readers and their files

def test_readers_are_independent(files):
    dataset = TextFile(files, WORDS)
    assert TextFile.independent_states
    first, second = dataset.open(), dataset.open()
    pairs = [(dataset.get_data(first), dataset.get_data(second)) for _ in NUMBERS]
    assert pairs == [((numbers,), (numbers,)) for numbers in NUMBERS]


def test_a_forked_process_and_its_parent_both_read_every_line(tmp_path):
    path = tmp_path / 'text'
    count = 20_000  # several read-ahead buffers
    path.write_text('this is a sentence\n' * count, encoding='utf-8')
    dataset = TextFile([path], WORDS)
    state = dataset.open()
    dataset.get_data(state)
    with warnings.catch_warnings():
        # Newer Pythons warn about a fork where other threads run.
        warnings.simplefilter('ignore', DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if len(remaining(dataset, state)) == count - 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(remaining(dataset, state)) == count - 1


@pytest.mark.parametrize('which', ['files', 'zipped'])
def test_files_are_closed_at_the_end_on_close_and_when_collected(request, which):
    paths = set(request.getfixturevalue(which))
    dataset = TextFile(sorted(paths), WORDS)
    state = dataset.open()
    assert not open_files(paths)
    dataset.get_data(state)
    assert len(open_files(paths)) == 1
    remaining(dataset, state)
    assert not open_files(paths)
    state = dataset.next_epoch(state)
    dataset.get_data(state)
    dataset.close(state)
    dataset.close(state)
    assert not open_files(paths)
    with dataset.open() as state:
        dataset.get_data(state)
    assert not open_files(paths)
    state = dataset.open()
    dataset.get_data(state)
    state.itself = state  # a cycle, so that the order in which its parts go is not fixed
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        del state
        gc.collect()
    assert not open_files(paths)


def test_a_closed_reader_goes_on_where_it_was(files):
    dataset = TextFile(files, WORDS)
    state = dataset.open()
    dataset.get_data(state)
    dataset.close(state)
    assert remaining(dataset, state) == NUMBERS[1:]
    dataset.close(state)
    assert remaining(dataset, state) == []


def test_close_and_reset_as_the_first_calls_after_unpickling(files):
    dataset = TextFile(files, WORDS)
    state = dataset.open()
    dataset.get_data(state)
    pickle.loads(pickle.dumps(dataset)).close(pickle.loads(pickle.dumps(state)))
    again = dataset.reset(pickle.loads(pickle.dumps(state)))
    assert remaining(dataset, again) == NUMBERS
    dataset.close(state)


def test_pickles_hold_neither_file_nor_text(files):
    dataset = TextFile(files, WORDS)
    state = dataset.open()
    dataset.get_data(state)
    assert len(pickle.dumps(state)) < 1000
    assert b'sentence' not in pickle.dumps(state)
    dataset.close(state)
