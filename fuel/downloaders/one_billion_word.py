"""Download of the One Billion Word benchmark."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

ARCHIVE = '1-billion-word-language-modeling-benchmark-r13output.tar.gz'


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the one file of the One Billion Word benchmark.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download one_billion_word``.

    Returns
    -------
    callable
        Downloads the file, an archive of 1.8 GB.
    """
    subparser.set_defaults(urls=[f'http://www.statmt.org/lm-benchmark/{ARCHIVE}'],
                           filenames=[ARCHIVE], sizes=[1792209805])
    return default_downloader
