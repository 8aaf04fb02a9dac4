"""Download of the CalTech 101 Silhouettes data set."""
from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from fuel.downloaders._files import describe_variants
from fuel.downloaders.base import default_downloader

__all__ = ['fill_subparser', 'silhouettes_downloader']

FOLDER = 'https://people.cs.umass.edu/~marlin/data/'
FILENAME = 'caltech101_silhouettes_{size}_split1.mat'
SIZES = (16, 28)


def silhouettes_downloader(size: int, directory: str | os.PathLike[str], clear: bool = False,
                           **kwargs: Any) -> None:
    """Download the silhouettes of one size, or remove them.

    Parameters
    ----------
    size : {16, 28}
        Height and width of the silhouettes in pixels.
    directory : str or path
        Where the file is to be.
    clear : bool, optional
        Remove the file instead.
    **kwargs
        Handed to `default_downloader`.

    Raises
    ------
    ValueError
        There are no silhouettes of that size.
    DownloadError
        The file could not be had.
    """
    if size not in SIZES:
        raise ValueError(f'expected a size of {" or ".join(map(str, SIZES))}; got {size!r}')
    name = FILENAME.format(size=size)
    default_downloader(directory, [FOLDER + name], [name], clear=clear, **kwargs)


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the argument that chooses one of the files of CalTech 101 Silhouettes.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download caltech101_silhouettes``.

    Returns
    -------
    callable
        `silhouettes_downloader`.
    """
    subparser.add_argument('size', type=int, choices=SIZES, metavar='SIZE',
                           help='height and width of the silhouettes in pixels, 16 or 28')
    describe_variants(subparser, {f'size {size}': [FILENAME.format(size=size)] for size in SIZES})
    return silhouettes_downloader
