"""``fuel-download``: download the raw files of a data set."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from fuel.bin._common import (
    CommandParser,
    add_data_sets,
    add_version_option,
    arguments_of,
    current_folder,
    reporting,
)
from fuel.bin._endings import of_download
from fuel.plugins import downloaders

__all__ = ['main']

PROGRAM = 'fuel-download'


def main(args: Sequence[str] | None = None) -> None:
    """Download the raw files of a data set, or remove them.

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
            prog=PROGRAM, description='Download the raw files of a data set.',
            epilog='fuel-convert turns the files into one that the data sets of Fuel read.')
        add_version_option(parser)
        add_data_sets(parser, downloaders(), 'Download', _add_options, lambda name: of_download)
        namespace = parser.parse_args(arguments)
        namespace.fuel_function(**arguments_of(namespace))


def _add_options(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument('-d', '--directory', default=current_folder(),
                           help='where the files are to be; it is made if needed')
    subparser.add_argument('--clear', action='store_true',
                           help='remove the files instead of downloading them')


if __name__ == '__main__':
    main()
