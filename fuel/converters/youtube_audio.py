"""Conversion of the sound of a video on YouTube."""
from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Unpack

import numpy
import numpy.typing as npt

from fuel.converters._conversion.argument_types import at_least_one
from fuel.converters._conversion.inputs import input_path
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.sound import decoded, samples_of_wav
from fuel.exceptions import ConversionError, MissingInputFiles
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.space import writing
from fuel.storage.writing.split_table import write_split
from fuel.utils.progress import progress_bar

__all__ = ['convert_youtube_audio', 'fill_subparser']

#: Samples in a chunk, if there are chunks.
_CHUNK = 32768
_BLOCK_BYTES = 1 << 20

Samples = npt.NDArray[numpy.int16]


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments of ``fuel-convert youtube_audio``.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of that command.

    Returns
    -------
    callable
        The converter.
    """
    subparser.add_argument('--youtube-id', required=True, metavar='ID',
                           help='which video: the raw file is ID.m4a, or ID.wav; write '
                                '--youtube-id=ID if it begins with -')
    subparser.add_argument('--channels', type=at_least_one, default=1, metavar='NUMBER',
                           help='how many channels the sound is to have')
    subparser.add_argument('--sample', type=at_least_one, default=16000, metavar='RATE',
                           help='how many samples a second the sound is to have')
    add_storage_options(subparser)
    return convert_youtube_audio


def convert_youtube_audio(directory: str, output_directory: str, youtube_id: str,
                          channels: int = 1, sample: int = 16000,
                          output_filename: str | None = None,
                          **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the sound of a video to HDF5.

    Parameters
    ----------
    directory : str
        Where ``<youtube_id>.m4a`` lies, or ``<youtube_id>.wav`` where there is no such file.
    output_directory : str
        Where the file is to be.
    youtube_id : str
        The identifier of the video.
    channels : int, optional
        How many channels the sound is to have. Default 1.
    sample : int, optional
        How many samples a second. Default 16000.
    output_filename : str, optional
        What the file is to be called; by default ``<youtube_id>.hdf5``.
    **storage
        How to store the samples; see `fill_hdf5_file`. There is a single example, so chunks
        divide its time, and `chunk_examples` only says that there are to be some.

    Returns
    -------
    tuple of str
        The path of the file. Its source ``features`` has the samples as they were decoded,
        int16, shape (1, time, channels), with the labels ('batch', 'time', 'feature'), and the
        attribute ``sample_rate``. It is all in the split ``train``.

    Raises
    ------
    MissingInputFiles
        There is neither of the raw files.
    ConversionError
        The raw file cannot be decoded, or the program ``ffmpeg``, which does that, is not there.
        It is not needed for a WAV file with 16 bits a sample that has the channels and the rate
        asked for.
    """
    if os.path.basename(youtube_id) != youtube_id or youtube_id in ('', os.curdir, os.pardir):
        raise ConversionError('expected the identifier of a video, such as XhtGIhp9PNw, without '
                              f'folders; got {youtube_id!r}. -d says where its file lies')
    output_filename = output_filename or f'{youtube_id}.hdf5'
    names = [f'{youtube_id}.m4a', f'{youtube_id}.wav']
    name = next((name for name in names if os.path.isfile(os.path.join(directory, name))), None)
    if name is None:
        raise MissingInputFiles(f'{directory} lacks {names[0]}', [names[0]])
    with ExitStack() as stack:
        h5file = stack.enter_context(new_file(output_directory, output_filename))
        path = input_path(directory, name)
        found = samples_of_wav(path, channels, sample) if name.endswith('.wav') else None
        if found is None:
            raw = stack.enter_context(tempfile.TemporaryFile(dir=output_directory))
            found = _spooled(raw, decoded(path, channels, sample), channels)
        _write(h5file, youtube_id, *found, channels, storage)
        h5file['features'].attrs['sample_rate'] = sample
        write_split(h5file, {'train': {'features': (0, 1)}})
    return (os.path.join(output_directory, output_filename),)


def _spooled(raw: Any, blocks: Iterable[bytes], channels: int) -> tuple[int, Iterator[Samples]]:
    """Put sound into a file, since its length is not known before its end.

    Returns
    -------
    tuple
        The number of samples, and blocks of them, shape (time, channels).
    """
    size = 0
    for block in blocks:
        raw.write(block)
        size += len(block)
    raw.seek(0)
    step = max(1, _BLOCK_BYTES // (2 * channels)) * 2 * channels
    return size // (2 * channels), (numpy.frombuffer(block, '<i2').reshape(-1, channels)
                                    for block in iter(lambda: raw.read(step), b''))


def _write(h5file: Any, youtube_id: str, length: int, blocks: Iterable[Samples], channels: int,
           storage: StorageArguments) -> None:
    """Write the one example, block by block along its time."""
    options = SourceOptions(compression=storage.get('compression'),
                            chunk_examples=storage.get('chunk_examples'))
    keywords: dict[str, Any] = {}
    if options.filtered or options.chunk_examples:
        keywords = {'chunks': (1, min(length, max(1, _CHUNK // channels)), channels),
                    **options.keywords(2)}
    with writing(), progress_bar(youtube_id, length, unit='samples') as bar:
        features = h5file.create_dataset('features', (1, length, channels), dtype='<i2',
                                         **keywords)
        for axis, label in enumerate(('batch', 'time', 'feature')):
            features.dims[axis].label = label
        start = 0
        for block in blocks:
            features[0, start:start + len(block)] = block
            start += len(block)
            bar.update(start)
