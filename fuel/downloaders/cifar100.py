"""Download of the CIFAR-100 data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the one file of the CIFAR-100 data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download cifar100``.

    Returns
    -------
    callable
        Downloads the file, and compares its size and MD5 with the published ones.
    """
    subparser.set_defaults(
        urls=['https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz'],
        filenames=['cifar-100-python.tar.gz'],
        checksums=['md5:eb9058c3a382ffc7106e4002c42a8d85'],
        sizes=[169001437])
    return default_downloader
