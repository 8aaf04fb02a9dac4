"""Download of the Iris data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from importlib import resources

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the one file of the Iris data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download iris``.

    Returns
    -------
    callable
        Downloads the file. A copy comes with the library, for machines without a network.
    """
    subparser.set_defaults(
        urls=['https://archive.ics.uci.edu/ml/machine-learning-databases/iris/iris.data'],
        filenames=['iris.data'],
        checksums=['sha256:6f608b71a7317216319b4d27b4d9bc84e6abd734eda7872b71a458569e2656c0'],
        sizes=[4551],
        bundled=[str(resources.files('fuel.downloaders') / 'bundled' / 'iris.data')])
    return default_downloader
