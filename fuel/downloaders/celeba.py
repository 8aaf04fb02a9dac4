"""Download of the CelebA data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel._registry import BY_HAND
from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

#: Name and MD5 of every file. Their public folder is one for browsers, not for programs.
FILES = (('img_align_celeba.zip', '00d2c5bc6d35e252742224ab0c1e8fcb'),
         ('list_attr_celeba.txt', '75e246fa4810816ffd6ee81facbd244c'))


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the two files of the CelebA data set.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download celeba``.

    Returns
    -------
    callable
        Downloads the files from a folder that has to be named with ``--url-prefix``.
    """
    subparser.add_argument('-P', '--url-prefix', metavar='URL',
                           help='address of a folder that has the files, with the slash at its '
                                'end; they have no public address that programs can use')
    subparser.set_defaults(urls=[None] * len(FILES), filenames=[name for name, _ in FILES],
                           checksums=[f'md5:{digest}' for _, digest in FILES],
                           home=BY_HAND['celeba'])
    return default_downloader
