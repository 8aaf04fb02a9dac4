"""What converters are made of.

A converter is a function ``fill_subparser(subparser)`` that declares its arguments and returns a
function, which ``fuel-convert`` calls with the parsed arguments as keywords. That function reads
raw files in ``directory``, writes HDF5 files into ``output_directory`` and returns their paths.
"""
from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fuel.converters._conversion.inputs import input_path, note_input, note_seed, open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.archives import Zip, tar_members
from fuel.converters._formats.compressed import open_gzip
from fuel.exceptions import MissingInputFiles

# None of these loads h5py yet: the tools import converters to list them, and h5py is slow to
# import.
from fuel.storage.writing.fill import fill_hdf5_file
from fuel.storage.writing.given import Streamed
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.rows import SourceWriter
from fuel.storage.writing.sources import create_source
from fuel.utils.progress import progress_bar

__all__ = ['MissingInputFiles', 'SourceOptions', 'SourceWriter', 'StorageArguments', 'Streamed',
           'Zip', 'add_storage_options', 'check_exists', 'create_source', 'fill_hdf5_file',
           'input_path', 'new_file', 'note_input', 'note_seed', 'open_gzip', 'open_input',
           'progress_bar', 'tar_members']

Result = TypeVar('Result')


def check_exists(required_files: Sequence[str]
                 ) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Make a decorator that looks for the input files of a converter before it runs.

    Parameters
    ----------
    required_files : sequence of str
        Their names, relative to the converter's first argument ``directory``. Looked at when
        the converter is called, so a list may be filled later.

    Returns
    -------
    callable
        The decorator. The decorated function raises `MissingInputFiles` if files are missing.
    """
    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.wraps(function)
        def checked(directory: str, *args: Any, **kwargs: Any) -> Result:
            names = [required_files] if isinstance(required_files, str) else required_files
            missing = [name for name in names
                       if not os.path.isfile(os.path.join(directory, name))]
            if missing:
                raise MissingInputFiles(f'{directory} lacks the required files '
                                        f'{", ".join(missing)}', missing)
            return function(directory, *args, **kwargs)
        return checked
    return decorate
