"""Files that hold a dictionary from tokens to numbers."""
from __future__ import annotations

import errno
import gzip
import io
import json
import os
import pickle
import zlib
from typing import Any

from fuel.datasets._lines import PositionedFile, decompressed
from fuel.exceptions import DataLayoutError

__all__ = ['read_vocabulary']

_HDF5_MAGIC = b'\x89HDF\r\n\x1a\n'


class _PlainUnpickler(pickle.Unpickler):
    """Reads pickles of built-in values only, so that no code in them is run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(
            f'it holds a {module}.{name}, and only plain dicts of str to int are read from '
            'pickles; save the dictionary as JSON')


def _unpickled(content: bytes) -> Any:
    try:
        # Python 2 wrote its words as bytes.
        return _PlainUnpickler(io.BytesIO(content), encoding='utf-8').load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # damaged pickles raise nearly anything
        raise pickle.UnpicklingError(f'the pickle is damaged ({error})') from None


def read_vocabulary(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read a dictionary from tokens to numbers.

    Parameters
    ----------
    path : str or path
        A JSON object (``.json``), a pickled dict (``.pkl``, ``.pickle``), or a text in UTF-8
        with a token on every line; each may be compressed by gzip. Or an HDF5 file in which
        ``fuel-convert`` has put a dictionary: data set ``vocabulary`` has the tokens, and
        ``vocabulary_ids`` their numbers where these are not 0, 1, 2 and so on.

    Returns
    -------
    dict of str to int

    Raises
    ------
    FileNotFoundError
        The file does not exist.
    DataLayoutError
        The content does not have that form. A ``ValueError``.
    """
    path = os.fsdecode(path)
    try:
        raw = PositionedFile(path)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, 'the file of the dictionary does not exist', path
                                ) from None
    name = path.removesuffix('.gz')
    try:
        with raw, decompressed(raw, path) as stream:
            content = stream.read(len(_HDF5_MAGIC))
            if content == _HDF5_MAGIC or path.endswith(('.hdf5', '.hdf', '.h5')):
                return _stored(path)
            content += stream.read()
        if name.endswith(('.pkl', '.pickle')) or content[:1] == b'\x80':
            loaded = _unpickled(content)
        elif name.endswith('.json'):
            loaded = json.loads(content)
        else:
            return _numbered(content.decode('utf-8-sig'), path)
    except (pickle.UnpicklingError, UnicodeDecodeError, json.JSONDecodeError, EOFError,
            gzip.BadGzipFile, zlib.error) as error:
        raise DataLayoutError(f'{path}: this is no dictionary from tokens to numbers: {error}'
                              ) from None
    if not isinstance(loaded, dict):
        raise DataLayoutError(f'{path}: expected a dictionary from tokens to numbers; got a '
                              f'{type(loaded).__name__}')
    for token, number in loaded.items():
        if not isinstance(token, str) or type(number) is not int:
            raise DataLayoutError(f'{path}: expected a dictionary from tokens to numbers; got the '
                                  f'entry {token!r}: {number!r}')
    return loaded


def _stored(path: str) -> dict[str, int]:
    """Read the dictionary in an HDF5 file.

    Raises
    ------
    DataLayoutError
        There is none in it, or it is damaged.
    """
    import h5py

    expected = (f'{path}: expected an HDF5 file with a data set vocabulary, as fuel-convert text '
                'and fuel-convert one_billion_word make it')
    try:
        with h5py.File(path, 'r') as h5file:
            if 'vocabulary' not in h5file:
                raise DataLayoutError(f'{expected}; it has {", ".join(h5file) or "nothing"}')
            stored = h5file['vocabulary']
            if (not isinstance(stored, h5py.Dataset) or stored.ndim != 1
                    or h5py.check_string_dtype(stored.dtype) is None):
                raise DataLayoutError(f'{expected}; that data set has no list of strings')
            tokens = stored.asstr()[...].tolist()
            numbers = (h5file['vocabulary_ids'][...].tolist() if 'vocabulary_ids' in h5file
                       else list(range(len(tokens))))
    except (OSError, KeyError, RuntimeError, UnicodeDecodeError) as error:
        raise DataLayoutError(f'{expected}; it cannot be read: {error}') from None
    dictionary = dict(zip(tokens, numbers, strict=False))
    if len(dictionary) != len(tokens) or len(numbers) != len(tokens) or not all(
            type(number) is int for number in numbers):
        raise DataLayoutError(f'{expected}; its {len(tokens)} tokens are not all different, or do '
                              'not have one number each')
    return dictionary


def _numbered(text: str, path: str) -> dict[str, int]:
    """Give the tokens of a text, one on every line, the numbers of their lines."""
    numbers: dict[str, int] = {}
    for number, token in enumerate(io.StringIO(text, newline=None)):
        token = token.removesuffix('\n')
        if len(token) != 1 and len(token.split()) != 1:
            raise DataLayoutError(
                f'{path}, line {number + 1}: expected one token on every line; got {token!r}. '
                'Save tokens with numbers of their own as JSON.')
        if token in numbers:
            raise DataLayoutError(f'{path}, line {number + 1}: {token!r} stands on line '
                                  f'{numbers[token] + 1} already')
        numbers[token] = number
    return numbers
