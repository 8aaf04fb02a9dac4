"""Texts, for the converter of texts."""
from __future__ import annotations

import gzip
import os

import numpy

#: What is written: one plain file and one that is compressed.
FILES = ('rhymes.txt', 'more.txt.gz')
_RHYMES = ('The owl and the pussycat went to sea', 'In a beautiful pea green boat',
           'They took some honey and plenty of money', 'Wrapped up in a five pound note', '',
           'The owl looked up to the stars above', 'And sang to a small guitar')


def write(folder, lines=40):
    """Write the two files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    lines : int, optional
        In each of them.

    Returns
    -------
    dict
        Maps the names of the files to their lines, without newlines.
    """
    rng = numpy.random.default_rng(1)
    written = {}
    for name in FILES:
        text = [_RHYMES[number] for number in rng.integers(0, len(_RHYMES), lines)]
        written[name] = text
        content = ''.join(f'{line}\n' for line in text).encode()
        with open(os.path.join(folder, name), 'wb') as stream:
            stream.write(gzip.compress(content, mtime=0) if name.endswith('.gz') else content)
    return written
