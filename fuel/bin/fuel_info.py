"""``fuel-info``: say how a converted file came about."""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from fuel.bin._common import CommandParser, add_traceback_option, reporting
from fuel.exceptions import ConversionError

__all__ = ['main']

PROGRAM = 'fuel-info'


def main(args: Sequence[str] | None = None) -> None:
    """Print how a converted file came about.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the command line by default.

    Raises
    ------
    SystemExit
        After an error, which has been printed in one line; the code is 2. After ``-h``; the code
        is 0.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    with reporting(PROGRAM, arguments):
        parser = CommandParser(
            prog=PROGRAM,
            description='Print by which command, and by which versions of what, a file was made.')
        parser.add_argument('filename', help='a file that fuel-convert made')
        add_traceback_option(parser)
        print(_description(parser.parse_args(arguments).filename), flush=True)


def _description(path: str) -> str:
    """Return what is known about a file."""
    interface, converters, command = _tags(path, 'h5py_interface_version', 'fuel_convert_version',
                                           'fuel_convert_command')
    title = f'Metadata for {os.path.basename(path)}'
    return '\n'.join((
        '', title, '=' * len(title), '',
        '    The command used to generate this file is', '',
        f'        {command}', '',
        '    Relevant versions are', '',
        f'        H5PYDataset     {interface}',
        f'        fuel.converters {converters}', ''))


def _tags(path: str, *names: str) -> list[str]:
    """Return attributes of a file as text, N/A for those that it lacks."""
    import h5py

    with open(path, 'rb'):
        pass  # raises the proper error if there is no such file, or only a folder
    if not h5py.is_hdf5(path):
        raise ConversionError(f'{path} is not an HDF5 file')
    try:
        with h5py.File(path, mode='r') as h5file:
            return [_text(h5file.attrs[name]) if name in h5file.attrs else 'N/A'
                    for name in names]
    except (OSError, RuntimeError) as error:
        raise ConversionError(f'{path} cannot be read; it may be truncated or damaged: '
                              f'{error}') from error


def _text(value: Any) -> str:
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)


if __name__ == '__main__':
    main()
