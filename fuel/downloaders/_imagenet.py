"""What the downloads of ImageNet's challenges have in common."""
from __future__ import annotations

from argparse import ArgumentParser

__all__ = ['add_url_prefix']


def add_url_prefix(subparser: ArgumentParser) -> None:
    """Declare the option that says where files without a public address are.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download NAME``.
    """
    subparser.add_argument(
        '-P', '--url-prefix', metavar='URL',
        help='the address of the folder with the pictures, which image-net.org tells those who '
             'have registered, with its slash at the end; names of files are appended to it')
