"""``fuel-convert``: turn raw files into an HDF5 file that the data sets of Fuel read."""
from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from fuel._registry import BY_HAND
from fuel.bin._common import (
    CommandParser,
    add_data_sets,
    add_version_option,
    arguments_of,
    current_folder,
    reporting,
)
from fuel.bin._conversion import convert
from fuel.bin._endings import of_conversion
from fuel.converters import all_converters
from fuel.exceptions import MissingInputFiles
from fuel.plugins import converters

__all__ = ['main']

PROGRAM = 'fuel-convert'


def main(args: Sequence[str] | None = None) -> None:
    """Convert the raw files of a data set.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the command line by default.

    Raises
    ------
    SystemExit
        After an error, which has been printed; the code is 2. After ``-h``; the code is 0.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    program = os.path.basename(sys.argv[0]) if args is None else PROGRAM
    with reporting(PROGRAM, arguments, leave_at_once=args is None):
        parser = CommandParser(
            prog=PROGRAM, epilog='fuel-download gets the raw files of data sets.',
            description='Convert the raw files of a data set, or files of your own, to HDF5.')
        add_version_option(parser)
        entries, built_in = converters(), dict(all_converters)
        add_data_sets(parser, entries, 'Convert', _add_options, lambda name: of_conversion(
            name, entries[name] is built_in.get(name)))
        namespace = parser.parse_args(arguments)
        try:
            convert(namespace.fuel_function, arguments_of(namespace),
                    command=shlex.join([program, *arguments]), force=namespace.fuel_force)
        except MissingInputFiles as error:
            lines = '\n'.join(f'   * {name}' for name in error.filenames)
            home = BY_HAND.get(namespace.fuel_data_set)
            by_hand = '' if home is None else (
                f'These files have to be got by hand, from {home}\n')
            parser.exit(2, f'{PROGRAM}: error: The following required files were not found:\n\n'
                           f'{lines}\n\nDid you forget to run fuel-download?\n{by_hand}')


def _add_options(subparser: argparse.ArgumentParser) -> None:
    here = current_folder()
    subparser.add_argument('-d', '--directory', default=here, help='where the raw files lie')
    subparser.add_argument('-o', '--output-directory', default=here,
                           help='an existing folder, where the converted file is to be')
    subparser.add_argument('-r', '--output-filename', default=argparse.SUPPRESS,
                           help='what the converted file is to be called; .hdf5 is added if it '
                                'has no such ending')
    subparser.add_argument('--force', action='store_true', dest='fuel_force',
                           help='replace files that are there already')
    # The old spelling.
    subparser.add_argument('--output_filename', default=argparse.SUPPRESS,
                           help=argparse.SUPPRESS)


if __name__ == '__main__':
    main()
