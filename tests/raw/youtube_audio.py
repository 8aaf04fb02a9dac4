"""A raw file of youtube_audio: a tune, as a WAV file, which is converted without ffmpeg."""
from __future__ import annotations

import os
import wave

import numpy

YOUTUBE_ID = 'tune'
#: Of the notes, in hertz.
NOTES = (262, 330, 392, 523)


def tune(seconds, rate, channels):
    """Return notes that fade away, int16, shape (time, channels); channels differ."""
    time = numpy.arange(int(seconds * rate))
    length = max(1, len(time) // len(NOTES))
    note = numpy.minimum(time // length, len(NOTES) - 1)
    fading = numpy.exp(-4. * (time - note * length) / length)
    columns = [numpy.sin(2 * numpy.pi * numpy.roll(NOTES, channel)[note] * time / rate) * fading
               for channel in range(channels)]
    return numpy.round(20000 * numpy.stack(columns, axis=1)).astype('<i2')


def write_wav(path, samples, rate):
    """Write samples of 16 bits, shape (time, channels)."""
    with wave.open(os.fspath(path), 'wb') as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(samples.astype('<i2').tobytes())


def write(folder, youtube_id=YOUTUBE_ID, seconds=1., rate=16000, channels=1):
    """Write the file.

    Parameters
    ----------
    folder : path
        Where it is to be.
    youtube_id : str, optional
        Its name, without the ending.
    seconds : float, optional
        How long the tune is.
    rate, channels : int, optional
        Samples a second, and channels.

    Returns
    -------
    array
        The samples, int16, shape (time, channels).
    """
    samples = tune(seconds, rate, channels)
    write_wav(os.path.join(folder, f'{youtube_id}.wav'), samples, rate)
    return samples
