"""Text as sequences of numbers: one example for every line of one or several files."""
from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from fuel._types import JSON, Batch, Request
from fuel.datasets._dataset import Dataset
from fuel.datasets._lines import LineReader, missing_file
from fuel.datasets._vocabulary import read_vocabulary
from fuel.exceptions import StateError

__all__ = ['TextFile']


def _place(reader: LineReader | None) -> str:
    """Return the file and the line that a reader gave last."""
    return 'the line' if reader is None else reader.where


class TextFile(Dataset):
    """Lines of text files as lists of numbers.

    A line is divided into words or characters, for each of which a dictionary gives a number.
    The examples have to be visited in the order of the files.

    Parameters
    ----------
    files : list of str or paths
        The files, read one after the other. Those whose name ends in ``.gz`` and those that
        start like a gzip file are decompressed.
    dictionary : mapping of str to int, or path
        The number of every known token. A file can be JSON (``.json``), an object from token to
        number; an HDF5 file that ``fuel-convert`` made of texts (``.hdf5``); a pickle of a dict
        and of nothing else (``.pkl``, ``.pickle``), which is read without running any code in it;
        or else a text in UTF-8 with a token on every line, which are numbered from 0.
    bos_token, eos_token : str or None, optional
        Tokens put before and after every line, by default ``'<S>'`` and ``'</S>'``; ``None`` for
        no such token.
    unk_token : str or None, optional
        The token that stands for all that are not in the dictionary, by default ``'<UNK>'``.
        With ``None`` they are an error.
    level : {'word', 'character'}, optional
        What to divide a line into: words at white space, or characters, without white space at
        either end of the line.
    preprocess : callable, optional
        Given a line, with its newline, returns the string to use in its place.
    encoding : str, optional
        How the files are encoded. By default UTF-8, with or without a byte order mark, whatever
        the locale says.

    Attributes
    ----------
    files : list of str
        The paths.
    dictionary : mapping
        The dictionary, also where the path of one was given.
    num_examples : None
        The number of lines is not known.

    Raises
    ------
    ValueError
        There is no file, a token that was named is not in the dictionary, a level or encoding
        does not exist, or the file of the dictionary does not have the expected form.

    Notes
    -----
    Each call of `open` returns a reader of its own, whose place is saved as the number of the
    file and the position in it. To go back to a place costs nothing in an ordinary file, and to
    decompress everything before it in one made by gzip.
    """

    provides_sources = ('features',)
    independent_states: ClassVar[bool] = True
    num_examples: int | None = None

    def __init__(self, files: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
                 dictionary: Mapping[str, int] | str | os.PathLike[str],
                 bos_token: str | None = '<S>',      # noqa: S107
                 eos_token: str | None = '</S>',     # noqa: S107
                 unk_token: str | None = '<UNK>',    # noqa: S107
                 level: str = 'word',
                 preprocess: Callable[[str], str] | None = None,
                 encoding: str | None = None) -> None:
        if isinstance(files, (str, bytes, os.PathLike)):
            files = [files]
        self.files = [os.fsdecode(path) for path in files]
        if not self.files:
            raise ValueError('TextFile: expected the paths of one or more files; got none')
        if level not in ('word', 'character'):
            raise ValueError(f"TextFile: expected the level 'word' or 'character'; got {level!r}")
        if preprocess is not None and not callable(preprocess):
            raise TypeError('TextFile: expected a function of a line as preprocess; got '
                            f'{preprocess!r}')
        if encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), encoding)
            except LookupError as error:
                raise ValueError(f"TextFile: expected the name of a text encoding, such as "
                                 f"'utf-8'; got {encoding!r} ({error})") from None
        if isinstance(dictionary, (str, bytes, os.PathLike)):
            dictionary = read_vocabulary(os.fsdecode(dictionary))
        if not isinstance(dictionary, Mapping):
            raise TypeError('TextFile: expected a dictionary from tokens to numbers, or the path '
                            f'of one; got a {type(dictionary).__name__}')
        self.dictionary = dictionary
        self.bos_token = bos_token
        self.eos_token = eos_token
        self.unk_token = unk_token
        for name in ('bos_token', 'eos_token', 'unk_token'):
            token = getattr(self, name)
            if token is not None and token not in dictionary:
                raise ValueError(f'TextFile: the {name} {token!r} is not in the dictionary (of '
                                 f'{len(dictionary)} tokens); add it, or give {name}=None')
        self.level = level
        self.preprocess = preprocess
        self.encoding = encoding
        self.example_iteration_scheme = None
        super().__init__()

    def open(self) -> LineReader:
        """Return a reader at the first line.

        Returns
        -------
        LineReader

        Raises
        ------
        FileNotFoundError
            One of the files does not exist. All are looked for, so that the last is not missed
            hours after the first was read.
        """
        for index, path in enumerate(self.files):
            if not os.path.exists(path):
                raise missing_file(self.files, index)
        return LineReader(self.files, self.encoding)

    def close(self, state: Any) -> None:
        """Close the file of a reader, if one is open."""
        if isinstance(state, LineReader):
            state.close()

    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return the numbers of the next line.

        Parameters
        ----------
        state : LineReader
            What `open` returned.
        request : None
            A line cannot be asked for.

        Returns
        -------
        tuple
            A list of int.

        Raises
        ------
        StopIteration
            All lines have been given out.
        KeyError
            A token is not in the dictionary and there is no `unk_token`. The next call goes on
            with the next line.
        UnicodeError
            The line is not encoded as expected.
        ValueError
            A request was made, or there is no state.
        """
        if request is not None:
            raise ValueError(
                f'{type(self).__name__} gives its lines one by one, in order; got the request '
                f'{request!r}. Leave the iteration scheme away; for batches wrap the stream: '
                'Batch(DataStream(dataset), ConstantScheme(batch_size)).')
        if not isinstance(state, LineReader):
            raise ValueError(f'{type(self).__name__}: expected the reader that open() returned as '
                             f'the state; got {state!r}')
        return self.filter_sources((self.encode(state.read(), state),))

    def encode(self, line: str, reader: LineReader | None = None) -> list[int]:
        """Return the numbers of a line, as an example has them.

        Parameters
        ----------
        line : str
            The line, with or without a newline.
        reader : LineReader, optional
            Where it comes from, for messages.

        Returns
        -------
        list of int
            Those of its tokens, between the numbers of `bos_token` and `eos_token`.

        Raises
        ------
        KeyError
            A token is not in the dictionary and there is no `unk_token`.

        Examples
        --------
        >>> dataset = TextFile(['no_file_is_read'], {'<S>': 0, '</S>': 1, '<UNK>': 2, 'bird': 3})
        >>> dataset.encode('early bird')
        [0, 2, 3, 1]
        """
        if self.preprocess is not None:
            line = self._preprocessed(line, reader)
        tokens: Iterable[str] = line.split() if self.level == 'word' else line.strip()
        get = self.dictionary.get
        if self.unk_token is not None:
            unknown = self.dictionary[self.unk_token]
            numbers = [get(token, unknown) for token in tokens]
        else:
            numbers = self._known(tokens, reader)
        if self.bos_token is not None:
            numbers.insert(0, self.dictionary[self.bos_token])
        if self.eos_token is not None:
            numbers.append(self.dictionary[self.eos_token])
        return numbers

    def _preprocessed(self, line: str, reader: LineReader | None) -> str:
        assert self.preprocess is not None  # noqa: S101 -- for the type checker
        try:
            line = self.preprocess(line)
        except StopIteration as error:
            # It would be taken for the end of the data.
            raise RuntimeError(f'{_place(reader)}: preprocess raised StopIteration') from error
        except Exception as error:
            error.add_note(f'in preprocess of {_place(reader)}')
            raise
        if not isinstance(line, str):
            raise TypeError(f'{_place(reader)}: expected a string from preprocess; got {line!r}')
        return line

    def _known(self, tokens: Iterable[str], reader: LineReader | None) -> list[int]:
        numbers = []
        for token in tokens:
            # Not by subscript, which would enter the token into a defaultdict.
            number = self.dictionary.get(token)
            if number is None:
                raise KeyError(f'{_place(reader)}: {token!r} is not in the dictionary (of '
                               f'{len(self.dictionary)} tokens), and unk_token is None')
            numbers.append(number)
        return numbers

    def state_to_plain(self, state: Any, steps: int) -> JSON:
        """Describe the place of a reader; see `Dataset.state_to_plain`."""
        place: JSON = state.place()
        return place

    def state_from_plain(self, plain: JSON, requests: Iterator[Request]) -> LineReader:
        """Return a reader at a place; see `Dataset.state_from_plain`.

        Raises
        ------
        StateError
            It is no such place, or there are fewer files than there were.
        """
        keys = ('index', 'position', 'skip', 'line')
        if not isinstance(plain, dict) or plain.keys() != set(keys) or not all(
                type(number) is int and number >= 0 for number in plain.values()):
            raise StateError(f'TextFile: expected a state with the numbers {", ".join(keys)}; got '
                             f'{plain!r}')
        if plain['index'] > len(self.files):
            raise StateError(f'TextFile: the saved state stands in file {plain["index"] + 1}; '
                             f'there are {len(self.files)} files. Give the files of the saved '
                             'stream.')
        return LineReader(self.files, self.encoding, **plain)
