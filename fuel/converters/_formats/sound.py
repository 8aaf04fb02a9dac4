"""Decoding of sound: WAV files by the standard library, everything else by ffmpeg."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import numpy
import numpy.typing as npt

from fuel.exceptions import ConversionError

__all__ = ['decoded', 'samples_of_wav']

_BLOCK_BYTES = 1 << 20
_MESSAGE_CHARACTERS = 500


def decoded(path: str, channels: int, rate: int) -> Iterator[bytes]:
    """Decode a file by the program ffmpeg.

    Parameters
    ----------
    path : str
        The file.
    channels, rate : int
        How many channels the sound is to have, and how many samples a second.

    Yields
    ------
    bytes
        Samples of 16 bits, little-endian, the channels of each after the other.

    Raises
    ------
    ConversionError
        There is no ffmpeg, it fails, or there is no sound. The message has what it says.
    """
    program = shutil.which('ffmpeg')
    if program is None:
        raise ConversionError(f'{path}: the program ffmpeg, which decodes sound, is not installed; '
                              'it is a package of every system: apt install ffmpeg, or brew '
                              'install ffmpeg')
    command = [program, '-nostdin', '-loglevel', 'error', '-xerror',
               # Otherwise a name with a colon would be taken for a protocol.
               '-i', f'file:{os.path.abspath(path)}', '-map', '0:a:0',
               '-f', 's16le', '-acodec', 'pcm_s16le', '-ac', str(channels), '-ar', str(rate), '-']
    size = 0
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL,  # noqa: S603 -- without a shell
                              stdout=subprocess.PIPE, stderr=messages) as process:
            assert process.stdout is not None  # noqa: S101 -- for the type checker
            try:
                while block := process.stdout.read(_BLOCK_BYTES):
                    size += len(block)
                    yield block
            except BaseException:
                process.kill()
                raise
        messages.seek(0)
        said = ' '.join(messages.read().decode('utf-8', 'replace').split())
    if process.returncode:
        raise ConversionError(f'{path}: ffmpeg cannot decode it (code {process.returncode}): '
                              f'{said[-_MESSAGE_CHARACTERS:]}')
    if not size or size % (2 * channels):
        raise ConversionError(f'{path}: expected samples of {2 * channels} bytes from ffmpeg; got '
                              f'{size} bytes. {said[-_MESSAGE_CHARACTERS:]}'.rstrip())


def samples_of_wav(path: str, channels: int, rate: int
                   ) -> tuple[int, Iterator[npt.NDArray[numpy.int16]]] | None:
    """Return the samples of a WAV file that has them as they are wanted.

    Parameters
    ----------
    path : str
        The file.
    channels, rate : int
        How many channels it should have, and how many samples a second.

    Returns
    -------
    tuple or None
        The number of samples, and blocks of them, shape (time, channels). `None` if the file has
        another form, so that it has to be decoded.

    Raises
    ------
    ConversionError
        The file has no samples, or less than it says.
    """
    import wave

    try:
        with wave.open(path, 'rb') as sound:
            form = (sound.getnchannels(), sound.getsampwidth(), sound.getframerate())
            length = sound.getnframes()
    except (wave.Error, EOFError):
        return None
    if form != (channels, 2, rate):
        return None
    if not length:
        raise ConversionError(f'{path}: expected a sound; the file has no samples')
    return length, _frames(path, length, channels)


def _frames(path: str, length: int, channels: int) -> Iterator[npt.NDArray[numpy.int16]]:
    import wave

    step = max(1, _BLOCK_BYTES // (2 * channels))
    with wave.open(path, 'rb') as sound:
        for start in range(0, length, step):
            count = min(step, length - start)
            content = sound.readframes(count)
            if len(content) != count * channels * 2:
                raise ConversionError(
                    f'{path}: expected {length} samples, as the file says; it ends after '
                    f'{start + len(content) // (channels * 2)}. Get it again')
            yield numpy.frombuffer(content, numpy.int16).reshape(-1, channels)
