"""Writing down how a file came about."""
from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy

from fuel.exceptions import ConfigurationFileError
from fuel.storage.provenance.checksums import GROUP
from fuel.version import __version__

__all__ = ['conversion_date', 'versions', 'write_provenance']

#: Of seconds; with one more, the year could have five.
_DIGITS = 11


def conversion_date() -> str:
    """Return the time of a conversion, in UTC, such as ``'2026-11-30T05:12:27Z'``.

    Returns
    -------
    str
        That of the variable ``SOURCE_DATE_EPOCH`` (seconds since 1970, see
        reproducible-builds.org) where it is set, otherwise now.

    Raises
    ------
    ConfigurationFileError
        The variable is no number of seconds. A ``ValueError``.
    """
    text = os.environ.get('SOURCE_DATE_EPOCH', '')
    if text and not (text.isdecimal() and text.isascii() and len(text) <= _DIGITS):
        raise ConfigurationFileError('expected the variable SOURCE_DATE_EPOCH to be a number of '
                                     f'seconds since 1970; got {text[:80]!r}')
    moment = time.gmtime(int(text) if text else None)
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', moment)


def versions() -> dict[str, str]:
    """Return the versions of Fuel, h5py, the HDF5 library and numpy."""
    import h5py

    return {'fuel_version': __version__, 'h5py_version': h5py.version.version,
            'hdf5_version': h5py.version.hdf5_version, 'numpy_version': numpy.__version__}


def write_provenance(h5file: Any, tags: Mapping[str, str], *, seed: int | None = None,
                     inputs: Iterable[tuple[str, int, str]] = ()) -> None:
    """Write into a file how it came about.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    tags : mapping
        Texts, which become attributes of the root group.
    seed : int, optional
        What random choices were made with: the attribute ``fuel_convert_seed``.
    inputs : iterable of (str, int, str)
        Name, size in bytes and SHA-256, in hexadecimal digits, of each file that was read. They
        become the data set ``fuel_provenance/inputs``, with fields ``name`` (UTF-8), ``size`` and
        ``sha256``.
    """
    import h5py

    for name, value in tags.items():
        encoded = value.encode('utf-8', 'backslashreplace')
        h5file.attrs.create(name, encoded.decode('utf-8'), dtype=h5py.string_dtype(
            'ascii' if encoded.isascii() else 'utf-8'))
    if seed is not None:
        h5file.attrs['fuel_convert_seed'] = numpy.int64(seed)
    rows = [(name.encode('utf-8', 'surrogateescape'), size, digest.encode('ascii'))
            for name, size, digest in inputs]
    if rows:
        longest = max(len(name) for name, _, _ in rows)
        place = f'{GROUP}/inputs'
        if place in h5file:
            del h5file[place]
        h5file.create_dataset(place, data=numpy.array(rows, dtype=[
            ('name', h5py.string_dtype('utf-8', max(1, longest))), ('size', '<i8'),
            ('sha256', 'S64')]))
