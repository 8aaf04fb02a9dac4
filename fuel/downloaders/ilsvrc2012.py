"""Download of the pictures of ImageNet's challenge of 2012."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel._registry import BY_HAND
from fuel.downloaders._imagenet import add_url_prefix
from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

#: Name and MD5 of every file; the archive of test pictures has been published more than once.
FILES = (('ILSVRC2012_devkit_t12.tar.gz', 'md5:fa75699e90414af021442c21a62c3abf'),
         ('ILSVRC2012_img_train.tar', 'md5:1d675b47d978889d74fa0da5fadfb00e'),
         ('ILSVRC2012_img_val.tar', 'md5:29b22e2961454d5413ddabcf34fc5622'),
         ('ILSVRC2012_img_test.tar', None))


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the four files of the challenge of 2012.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download ilsvrc2012``.

    Returns
    -------
    callable
        Downloads the files from a folder that has to be named with ``--url-prefix``.
    """
    add_url_prefix(subparser)
    subparser.set_defaults(urls=[None] * len(FILES), filenames=[name for name, _ in FILES],
                           checksums=[checksum for _, checksum in FILES],
                           home=BY_HAND['ilsvrc2012'])
    return default_downloader
