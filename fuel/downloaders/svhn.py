"""Download of the Street View House Numbers (SVHN) data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from fuel.downloaders._files import describe_variants
from fuel.downloaders.base import default_downloader

__all__ = ['download_svhn', 'fill_subparser']

URL_PREFIX = 'http://ufldl.stanford.edu/housenumbers/'
#: For each format the names of the files, and their MD5 where it is publicly known.
FILES: dict[int, dict[str, str | None]] = {
    1: dict.fromkeys(('train.tar.gz', 'test.tar.gz', 'extra.tar.gz')),
    2: {'train_32x32.mat': 'md5:e26dedcc434d2e4c54c9b2d4a06d8373',
        'test_32x32.mat': 'md5:eb5a983be6a315427106f1b164d9cef3',
        'extra_32x32.mat': 'md5:a93ce644f1a588dc4d68dda5feec44a7'},
}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the arguments of the download of SVHN.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-download svhn``.

    Returns
    -------
    callable
        `download_svhn`.
    """
    subparser.add_argument('which_format', type=int, choices=tuple(FILES), metavar='FORMAT',
                           help='1 for whole pictures with bounding boxes of digits (2.6 GB), 2 '
                                'for pictures of single digits, 32 by 32 pixels (1.6 GB)')
    describe_variants(subparser, {f'format {number}': files for number, files in FILES.items()})
    return download_svhn


def download_svhn(which_format: int, directory: str, clear: bool = False, *,
                  url_prefix: str | None = None, **kwargs: Any) -> None:
    """Download the files of one format of SVHN, or remove them.

    Parameters
    ----------
    which_format : {1, 2}
        Whole pictures, or pictures of digits.
    directory : str
        Where the files are to be.
    clear : bool, optional
        Remove them instead.
    url_prefix : str, optional
        The address of a folder that has them, with the slash at its end; by default the public
        one.
    **kwargs
        As for `default_downloader`.

    Raises
    ------
    ValueError
        There is no such format.
    DownloadError
        A file could not be had.
    """
    if which_format not in FILES:
        raise ValueError(f'expected which_format to be {" or ".join(map(str, FILES))}; got '
                         f'{which_format!r}')
    files = FILES[which_format]
    default_downloader(directory, [None] * len(files), list(files), url_prefix or URL_PREFIX,
                       clear, checksums=list(files.values()), **kwargs)
