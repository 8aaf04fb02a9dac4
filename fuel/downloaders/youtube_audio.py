"""Download of the sound of a video on YouTube."""
from __future__ import annotations

import importlib
import logging
import os
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable

from fuel.downloaders._fetch import remove
from fuel.downloaders.base import ensure_directory_exists
from fuel.exceptions import DownloadError
from fuel.utils.atomic import move_into_place, temporary_directory
from fuel.utils.progress import format_amount

__all__ = ['download', 'fill_subparser']

logger = logging.getLogger(__name__)

_ID = re.compile(r'[A-Za-z0-9_-]{1,64}')


def _youtube_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ArgumentTypeError(
            'expected the identifier of a video: letters, digits, - and _, as they stand behind '
            f'watch?v= in its address; got {text!r}')
    return text


def fill_subparser(subparser: ArgumentParser) -> Callable[..., None]:
    """Declare the arguments of ``fuel-download youtube_audio``.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of that command.

    Returns
    -------
    callable
        The downloader.
    """
    subparser.add_argument('--youtube-id', type=_youtube_id, required=True, metavar='ID',
                           help='which video: what stands behind watch?v= in its address; write '
                                '--youtube-id=ID if it begins with -')
    subparser.epilog = 'raw file: ID.m4a'
    return download


def download(directory: str | os.PathLike[str], youtube_id: str, clear: bool = False) -> None:
    """Download the sound of a video, or remove it.

    Parameters
    ----------
    directory : str or path
        Where the file ``<youtube_id>.m4a`` is to be. It is made if needed.
    youtube_id : str
        The identifier of the video.
    clear : bool, optional
        Remove the file instead. Needs no network; if it is not there that is no error.

    Raises
    ------
    DownloadError
        The package yt-dlp is not installed, or could not get the sound. There is no file then;
        one from before stays as it is.
    """
    path = os.path.join(directory, f'{youtube_id}.m4a')
    if clear:
        logger.info('removed %s' if remove(path) else '%s is not there', path)
        return
    ensure_directory_exists(directory)
    with temporary_directory(directory) as folder:
        fresh = os.path.join(folder, os.path.basename(path))
        _fetch_audio(f'https://www.youtube.com/watch?v={youtube_id}', fresh)
        if not os.path.isfile(fresh) or not os.path.getsize(fresh):
            raise DownloadError(f'{youtube_id}: yt-dlp wrote no m4a file; has the video a sound?')
        move_into_place(fresh, path)
    logger.info('%s: %s', path, format_amount(os.path.getsize(path), 'B'))


class _Messages:
    """What yt-dlp has to say, of which only its last error is of interest, and that it raises."""

    def debug(self, message: str) -> None:
        logger.debug('%s', message)

    info = warning = error = debug


def _fetch_audio(url: str, path: str) -> None:
    """Have yt-dlp write the best sound in the format m4a to a path."""
    try:
        yt_dlp = importlib.import_module('yt_dlp')
    except ImportError:
        raise DownloadError("the package yt-dlp, which gets videos, is not installed: pip install "
                            "'fuel[youtube]'") from None
    parameters = {'format': 'bestaudio[ext=m4a]', 'outtmpl': path.replace('%', '%%'),
                  'noplaylist': True, 'noprogress': True, 'quiet': True, 'fixup': 'never',
                  'logger': _Messages()}
    try:
        with yt_dlp.YoutubeDL(parameters) as library:
            library.download([url])
    except Exception as error:
        text = ' '.join(str(error).split()).removeprefix('ERROR: ')
        raise DownloadError(f'{url} could not be downloaded: {text or type(error).__name__}. If '
                            'the video can be seen in a browser, a newer yt-dlp may help: pip '
                            'install -U yt-dlp') from error
