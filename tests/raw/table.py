"""A table as people have them: measurements of flowers, with what can be awkward about them."""
from __future__ import annotations

import csv
import gzip
import os

import numpy

FILE = 'flowers.csv'
COLUMNS = ['length', 'petals', 'colour', 'where found', 'species']
SPECIES = ['Märzenbecher', 'buttercup', 'daisy, ox-eye']


def rows(count=30):
    """Return the rows of the table, as texts.

    Parameters
    ----------
    count : int, optional
        How many.
    """
    rng = numpy.random.default_rng(11)
    result = []
    for number in range(count):
        kind = number % 3
        result.append([f'{rng.uniform(1, 9) + kind:.2f}', str(rng.integers(4, 8) * (kind + 1)),
                       ('white', 'yellow', 'white')[kind], ('wood', 'meadow "north"')[number % 2],
                       SPECIES[kind]])
    return result


def write(folder, count=30, file=FILE, delimiter=',', encoding='utf-8', header=True):
    """Write the table.

    Parameters
    ----------
    folder : path
        Where it is to be.
    count : int, optional
        How many rows it has.
    file : str, optional
        Its name; with the ending ``.gz`` it is compressed.
    delimiter, encoding : str, optional
        How it is written.
    header : bool, optional
        Whether the first line has the names of the columns.

    Returns
    -------
    list
        The rows, as texts, without the names of the columns.
    """
    found = rows(count)
    path = os.path.join(folder, file)
    opened = gzip.open if file.endswith('.gz') else open
    with opened(path, 'wt', encoding=encoding, newline='') as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        if header:
            writer.writerow(COLUMNS)
        writer.writerows(found)
    return found
