"""Download of the pictures of ImageNet's challenge of 2010."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from fuel._registry import BY_HAND
from fuel.downloaders._imagenet import add_url_prefix
from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser']

FOLDER = 'http://www.image-net.org/challenges/LSVRC/2010/download/'
#: Files that can be had without a registration, beside the corrected pictures.
PUBLIC_FILES = ('ILSVRC2010_devkit-1.0.tar.gz', 'ILSVRC2010_test_ground_truth.txt')
IMAGE_TARS = ('ILSVRC2010_images_train.tar', 'ILSVRC2010_images_val.tar',
              'ILSVRC2010_images_test.tar')
PATCH_IMAGES_TAR = 'patch_images.tar'


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the six files of the challenge of 2010.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download ilsvrc2010``.

    Returns
    -------
    callable
        Downloads the files. The three archives of pictures have no public address; the folder
        that has them is to be given with ``--url-prefix``.
    """
    add_url_prefix(subparser)
    subparser.set_defaults(
        urls=[*(FOLDER + name for name in PUBLIC_FILES), *[None] * len(IMAGE_TARS),
              FOLDER + PATCH_IMAGES_TAR],
        # The names of the first two are those of their addresses.
        filenames=[*[None] * len(PUBLIC_FILES), *IMAGE_TARS, PATCH_IMAGES_TAR],
        home=BY_HAND['ilsvrc2010'])
    return default_downloader
