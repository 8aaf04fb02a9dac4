"""Download of the CIFAR-10 data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the one file of the CIFAR-10 data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download cifar10``.

    Returns
    -------
    callable
        Downloads the file, and compares its size and MD5 with the published ones.
    """
    subparser.set_defaults(
        urls=['https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz'],
        filenames=['cifar-10-python.tar.gz'],
        checksums=['md5:c58f30108f718f92721af3b95e74349a'],
        sizes=[170498071])
    return default_downloader
