"""Reading how a file came about."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuel.storage.provenance.checksums import GROUP

__all__ = ['Input', 'Provenance', 'read_provenance']

#: Attributes of the root group, in the order in which they are told.
TAGS = ('h5py_interface_version', 'fuel_convert_version', 'fuel_convert_command',
        'fuel_version', 'h5py_version', 'hdf5_version', 'numpy_version', 'fuel_convert_date')


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was read for a conversion.

    Attributes
    ----------
    name : str
        Its name, as seen from the folder of the raw files.
    size : int
        In bytes.
    sha256 : str
        In hexadecimal digits.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a file came about.

    Attributes
    ----------
    tags : mapping of str to str
        Those of `TAGS` that the file has.
    seed : int or None
        What random choices were made with.
    inputs : tuple of Input
        What was read, by name.
    """

    tags: Mapping[str, str]
    seed: int | None
    inputs: tuple[Input, ...]


def _text(value: Any) -> str:
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)


def read_provenance(h5file: Any) -> Provenance:
    """Read how a file came about.

    Parameters
    ----------
    h5file : h5py.File
        The file; also one that tells nothing.

    Returns
    -------
    Provenance
    """
    attributes = h5file.attrs
    seed = attributes.get('fuel_convert_seed')
    table = h5file.get(f'{GROUP}/inputs')
    fields = getattr(getattr(table, 'dtype', None), 'names', None) or ()
    rows = table[...] if {'name', 'size', 'sha256'} <= set(fields) else ()
    return Provenance(
        {name: _text(attributes[name]) for name in TAGS if name in attributes},
        None if seed is None else int(seed),
        tuple(Input(_text(row['name']), int(row['size']), _text(row['sha256'])) for row in rows))
