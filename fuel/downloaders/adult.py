"""Download of the Adult data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

FOLDER = 'https://archive.ics.uci.edu/ml/machine-learning-databases/adult/'
FILES = ('adult.data', 'adult.test')


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the two files of the Adult data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download adult``.

    Returns
    -------
    callable
        Downloads the files.
    """
    subparser.set_defaults(urls=[FOLDER + name for name in FILES], filenames=list(FILES))
    return default_downloader
