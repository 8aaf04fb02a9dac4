"""The command line options of ``fuel-convert images``."""
from __future__ import annotations

import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError

from fuel.converters._conversion.help import add_examples
from fuel.converters._conversion.storage import add_storage_options
from fuel.converters._division.options import add_shares_options
from fuel.converters._pictures.fitting import RESIZES

__all__ = ['COLORS', 'SPLITS', 'add_options', 'size_from_text']

COLORS = ('RGB', 'L')
SPLITS = ('auto', 'folders', 'none')
_DESCRIPTION = """
Convert a folder of pictures to HDF5. The folders in it are the classes:

FOLDER/cat/1.jpg, FOLDER/cat/2.jpg, FOLDER/dog/1.jpg

Or they are splits, with the classes in them: FOLDER/train/cat/1.jpg, FOLDER/test/cat/7.jpg. Without
any folders, pictures have no classes, unless a CSV file has them: see --labels.

Pictures are stored as pixels, each in its own size (the source image_features), or all in one size
(--size; the source features), or as the files are (--encoded; the source encoded_images).
"""
_EXAMPLES = """
fuel-convert images photos
fuel-convert images photos --size 64x64 --test-fraction 0.2 --seed 1
fuel-convert images photos --encoded --splits folders
fuel-convert images photos --labels labels.csv --size 32x32 --color L
"""


def size_from_text(text: str) -> tuple[int, int]:
    """Return height and width, for a word of the command line such as ``48x64`` or ``64``.

    Raises
    ------
    ArgumentTypeError
        It is not like that.
    """
    match = re.fullmatch(r'(\d{1,6})(?:[xX](\d{1,6}))?', text, re.ASCII)
    size = (0, 0) if match is None else (int(match[1]), int(match[2] or match[1]))
    if 0 in size:
        raise ArgumentTypeError(f'expected a height and a width, such as 48x64; got {text!r}')
    return size


def add_options(subparser: ArgumentParser) -> None:
    """Declare the options of the conversion of a folder of pictures."""
    add_examples(subparser, _DESCRIPTION, _EXAMPLES)
    add = subparser.add_argument
    add('folder', metavar='FOLDER', help='the folder with the pictures')
    add('--labels', default=SUPPRESS, metavar='FILE.csv',
        help='a table with the names of the pictures in the first column and their classes, or '
             'numbers, in the others')
    add('--splits', choices=SPLITS, default='auto',
        help='whether the folders in FOLDER are splits; auto looks whether they are called train, '
             'valid, test and the like')
    add('--split-file', default=SUPPRESS, metavar='FILE.csv',
        help='a table with the names of the pictures and, in the second column, their splits')
    add('--encoding', default='utf-8', help='the encoding of these tables')
    add_shares_options(subparser, 'the division, and the order of the training examples')
    add('--no-stratify', action='store_true', default=SUPPRESS,
        help='do not give each split the same part of every class')
    add('--no-shuffle', action='store_true', default=SUPPRESS,
        help='keep the order of the files in the training split too')
    add('--encoded', action='store_true', default=SUPPRESS,
        help='store the files as they are, not their pixels')
    add('--size', type=size_from_text, default=SUPPRESS, metavar='HEIGHTxWIDTH',
        help='the size that all pictures are brought to; if not given, each keeps its own')
    add('--resize', choices=RESIZES, default=SUPPRESS,
        help='how: stretch (if not given) changes proportions, crop cuts off what is too much, pad '
             'adds black')
    add('--color', choices=COLORS, default=SUPPRESS,
        help='whether pixels are stored in colour (RGB, if not given) or grey (L)')
    add('--skip-bad', action='store_true', default=SUPPRESS,
        help='leave out files that are no pictures or are broken, in place of stopping')
    add_storage_options(subparser, variable_length=True)
