"""A few sentences, their numbers, and how to read all that is left of them."""
import contextlib
import os

from fuel.datasets.text import TextFile

WORDS = {'<S>': 0, '</S>': 1, '<UNK>': 2, 'this': 3, 'is': 4, 'a': 5, 'sentence': 6, 'another': 7}
FIRST = 'this is a sentence\nthis another\n'
SECOND = 'another sentence\nis this unheard\n'
FIRST_NUMBERS = [[0, 3, 4, 5, 6, 1], [0, 3, 7, 1]]
SECOND_NUMBERS = [[0, 7, 6, 1], [0, 4, 3, 2, 1]]
NUMBERS = FIRST_NUMBERS + SECOND_NUMBERS


def remaining(dataset, state):
    """Every example from a state to the end, without the tuples."""
    examples = []
    while True:
        try:
            example, = dataset.get_data(state)
        except StopIteration:
            return examples
        examples.append(example)


def everything(*args, **kwargs):
    dataset = TextFile(*args, **kwargs)
    return remaining(dataset, dataset.open())


def open_files(paths):
    """Return those of the paths that this process has open."""
    opened = []
    for descriptor in range(256):
        with contextlib.suppress(OSError):
            opened.append(os.fstat(descriptor))
    return {path for path in paths
            if any(os.path.samestat(os.stat(path), status) for status in opened)}
