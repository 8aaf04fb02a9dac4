"""The archive of the One Billion Word benchmark, with few and short files."""
from __future__ import annotations

import gzip
import io
import os
import tarfile

import numpy

FOLDER = '1-billion-word-language-modeling-benchmark-r13output'
ARCHIVE = f'{FOLDER}.tar.gz'
WORDS = ('the', ',', '.', 'of', '"', 'a', 'in', 'said', 'and', 'report', 'on', 'that', 'minister',
         'it', 'Friday', '£', 'naïve', 'police', 'he', 'is', 'was', 'market', 'year', 'for', 'its')


def training_name(partition):
    return f'training-monolingual.tokenized.shuffled/news.en-{partition:05d}-of-00100'


def heldout_name(partition):
    return f'heldout-monolingual.tokenized.shuffled/news.en.heldout-{partition:05d}-of-00050'


def tar_of(members):
    """Return the bytes of a tar archive with files, given pairs of a name and bytes."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def write(folder, training=3, heldout=2, sentences=30):
    """Write the archive.

    Parameters
    ----------
    folder : path
        Where it is to be.
    training, heldout : int, optional
        How many files it has of each set; 99 and 50 in truth.
    sentences : int, optional
        In each file; about 306 000 in truth.

    Returns
    -------
    dict
        Maps the names of the text files, inside the folder of the archive, to their texts.
    """
    rng = numpy.random.default_rng(1)
    names = [*map(training_name, range(1, 1 + training)), *map(heldout_name, range(heldout))]
    texts = {}
    for name in names:
        lines = []
        for _ in range(sentences):
            ranks = numpy.minimum(rng.zipf(1.5, rng.integers(3, 15)) - 1, len(WORDS) - 1)
            lines.append(' '.join(WORDS[rank] for rank in ranks))
        texts[name] = '\n'.join(lines) + '\n'
    # As in the true archive, some other files stand beside them.
    members = [(f'{FOLDER}/README', b'One Billion Word\n'),
               *((f'{FOLDER}/{name}', text.encode()) for name, text in texts.items())]
    with open(os.path.join(folder, ARCHIVE), 'wb') as stream:
        stream.write(gzip.compress(tar_of(members), mtime=0))
    return texts
