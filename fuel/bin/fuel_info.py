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
            description='Print by which command, and by which versions of what, a file was made, '
                        'and how its sources are stored and read.')
        parser.add_argument('filename', help='a file that fuel-convert or fill_hdf5_file made')
        add_traceback_option(parser)
        print(_description(parser.parse_args(arguments).filename), flush=True)


def _description(path: str) -> str:
    """Return what is known about a file."""
    (interface, converters, command), sources = _look_into(path)
    title = f'Metadata for {os.path.basename(path)}'
    return '\n'.join((
        '', title, '=' * len(title), '',
        '    The command used to generate this file is', '',
        f'        {command}', '',
        '    Relevant versions are', '',
        f'        H5PYDataset     {interface}',
        f'        fuel.converters {converters}', '', *sources))


_TAGS = ('h5py_interface_version', 'fuel_convert_version', 'fuel_convert_command')


def _look_into(path: str) -> tuple[list[str], list[str]]:
    """Return attributes of a file as text, N/A for missing ones, and lines on its sources."""
    import h5py

    with open(path, 'rb'):
        pass  # raises the proper error if there is no such file, or only a folder
    if not h5py.is_hdf5(path):
        raise ConversionError(f'{path} is not an HDF5 file')
    try:
        with h5py.File(path, mode='r') as h5file:
            tags = [_text(h5file.attrs[name]) if name in h5file.attrs else 'N/A'
                    for name in _TAGS]
            return tags, _sources(path, h5file) if 'split' in h5file.attrs else []
    except (OSError, RuntimeError) as error:
        raise ConversionError(f'{path} cannot be read; it may be truncated or damaged: '
                              f'{error}') from error


def _sources(path: str, h5file: Any) -> list[str]:
    """Return what to print about the sources: how they are stored, and how they are read."""
    from fuel.storage import layout
    from fuel.storage.describe import describe_source
    from fuel.storage.handles import OpenFile
    from fuel.storage.splits import get_all_sources

    opened = OpenFile(h5file, path, None)
    lines = ['    How the sources are stored, and how they are read', '']
    for source in get_all_sources(h5file):
        try:
            found = str(describe_source(opened, source, opened.reader(source, layout.row_reader)))
        except ValueError as error:  # one that is not as it should be hides no other
            found = f'{source}: {error}'
        lines.append(f'        {found}')
    opened.forget()
    return [*lines, '']


def _text(value: Any) -> str:
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)


if __name__ == '__main__':
    main()
