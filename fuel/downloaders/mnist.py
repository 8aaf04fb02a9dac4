"""Download of the MNIST data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

#: Folders that have the files, the likeliest to answer first: the home of the data set, which is
#: the last one, has been closed to programs for years.
FOLDERS = ('https://ossci-datasets.s3.amazonaws.com/mnist/',
           'https://storage.googleapis.com/cvdf-datasets/mnist/',
           'http://yann.lecun.com/exdb/mnist/')

#: Name, MD5 and size of every file.
FILES = (('train-images-idx3-ubyte.gz', 'f68b3c2dcbeaaa9fbdd348bbdeb94873', 9912422),
         ('train-labels-idx1-ubyte.gz', 'd53e105ee54ea40749a09fcbcd1e9432', 28881),
         ('t10k-images-idx3-ubyte.gz', '9fb629c4189551a2d022fa330f9573f3', 1648877),
         ('t10k-labels-idx1-ubyte.gz', 'ec29112dd5afa0611ce80d1b7f02629c', 4542))


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the four files of the MNIST data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download mnist``.

    Returns
    -------
    callable
        Downloads the files, each from the first of several addresses that has it.
    """
    subparser.set_defaults(
        urls=[[folder + name for folder in FOLDERS] for name, *_ in FILES],
        filenames=[name for name, *_ in FILES],
        checksums=[f'md5:{digest}' for _, digest, _ in FILES],
        sizes=[size for *_, size in FILES])
    return default_downloader
