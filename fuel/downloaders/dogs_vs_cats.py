"""Download of the Dogs vs. Cats data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel._registry import BY_HAND
from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

FILENAMES = ('dogs_vs_cats.train.zip', 'dogs_vs_cats.test1.zip')


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the two files of the Dogs vs. Cats data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download dogs_vs_cats``.

    Returns
    -------
    callable
        Downloads the files from a folder that has to be named with ``--url-prefix``.
    """
    subparser.add_argument('-P', '--url-prefix', metavar='URL',
                           help='address of a folder that has the files, with the slash at its '
                                'end; their home asks for a registration')
    subparser.set_defaults(urls=[None] * len(FILENAMES), filenames=list(FILENAMES),
                           home=f'{BY_HAND["dogs_vs_cats"]}, which calls them train.zip and '
                                'test1.zip')
    return default_downloader
