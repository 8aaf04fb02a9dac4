"""Download of the binarized MNIST data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

FOLDER = 'http://www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist/'
FILES = ('binarized_mnist_train.amat', 'binarized_mnist_valid.amat', 'binarized_mnist_test.amat')


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the three files of the binarized MNIST data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download binarized_mnist``.

    Returns
    -------
    callable
        Downloads the files.
    """
    subparser.set_defaults(urls=[FOLDER + name for name in FILES], filenames=list(FILES))
    return default_downloader
