"""The sound of a video on YouTube."""
from __future__ import annotations

from typing import Any, ClassVar

from fuel.datasets._built_in import BuiltInDataset
from fuel.datasets._making import with_commands
from fuel.exceptions import DataFileNotFoundError

__all__ = ['YouTubeAudio']


class YouTubeAudio(BuiltInDataset):
    """The sound of a video on YouTube, as one long example.

    Source ``features`` has samples, int16, shape (1, time, channels), labelled ('batch', 'time',
    'feature'). There is one split, ``train``.

    Parameters
    ----------
    youtube_id : str
        The identifier of the video: what stands behind ``watch?v=`` in its address.
    **kwargs
        As for `H5PYDataset`, without ``which_sets``. The data stay in the file unless
        ``load_in_memory=True``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``<youtube_id>.hdf5`` in the data path; the message says which commands make
        it.
    """

    loads_in_memory: ClassVar[bool] = False

    def __init__(self, youtube_id: str, **kwargs: Any) -> None:
        self.youtube_id = youtube_id
        self.filename = f'{youtube_id}.hdf5'
        option = f'youtube_audio --youtube-id={youtube_id}'
        try:
            super().__init__(('train',), **kwargs)
        except DataFileNotFoundError as error:
            raise with_commands(error, f'fuel-download {option} && fuel-convert {option}'
                                ) from None
