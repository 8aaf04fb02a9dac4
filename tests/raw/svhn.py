"""Raw files of the Street View House Numbers."""
from __future__ import annotations

import io
import os

import h5py
import numpy

from tests.raw.glyphs import DOTS
from tests.raw.python2 import write_archive

SPLITS = ('train', 'test', 'extra')
ATTRIBUTES = ('height', 'left', 'top', 'width', 'label')


def _digit(digit, height, width, rng):
    """Draw one digit, shape (height, width, 3)."""
    rows = numpy.arange(height) * 7 // height
    columns = numpy.arange(width) * 5 // width
    ink, wall = rng.integers(150, 256, 3), rng.integers(20, 110, 3)
    return numpy.where(DOTS[digit][rows][:, columns, None] > 0, ink, wall).astype('uint8')


def house(rng):
    """Draw a house number.

    Returns
    -------
    picture : numpy.ndarray
        Shape (height, width, 3), uint8.
    boxes : dict
        Maps attributes to lists with an entry for each digit, as in the raw files: 10 stands for
        the digit 0, and an edge may be left of the picture.
    """
    digits = rng.integers(0, 10, rng.integers(1, 5))
    high, wide = int(rng.integers(14, 29)), int(rng.integers(10, 16))
    left, top = int(rng.integers(-1, 9)), int(rng.integers(1, 7))
    picture = numpy.empty((high + top + 5, left + wide * len(digits) + 6, 3), dtype='uint8')
    picture[...] = rng.integers(80, 160, 3)
    boxes = {name: [] for name in ATTRIBUTES}
    for place, digit in enumerate(digits):
        start = left + place * wide
        drawn = _digit(digit, high, wide, rng)[:, max(0, -start):]
        picture[top:top + high, max(0, start):start + wide] = drawn
        for name, value in (('height', high), ('left', start), ('top', top), ('width', wide),
                            ('label', int(digit) or 10)):
            boxes[name].append(float(value))
    return picture, boxes


def png(picture):
    """Return a picture as the content of a PNG file."""
    from PIL import Image
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, 'PNG')
    return stream.getvalue()


def digit_struct(names, boxes):
    """Return the content of ``digitStruct.mat``, a MATLAB file of version 7.3.

    Parameters
    ----------
    names : list of str
        Of the pictures.
    boxes : list of dict
        What `house` returns for each of them.
    """
    stream = io.BytesIO()
    with h5py.File(stream, 'w', userblock_size=512) as h5file:
        reference = h5py.ref_dtype
        kept = h5file.create_group('#refs#')
        struct = h5file.create_group('digitStruct')
        columns = {name: struct.create_dataset(name, (len(names), 1), reference)
                   for name in ('bbox', 'name')}
        for number, (name, of_picture) in enumerate(zip(names, boxes, strict=True)):
            codes = numpy.array([[ord(letter)] for letter in name], dtype='uint16')
            columns['name'][number, 0] = kept.create_dataset(f'n{number}', data=codes).ref
            group = kept.create_group(f'b{number}')
            columns['bbox'][number, 0] = group.ref
            for attribute, values in of_picture.items():
                if len(values) == 1:
                    group[attribute] = numpy.array([values])
                    continue
                column = group.create_dataset(attribute, (len(values), 1), reference)
                for place, value in enumerate(values):
                    column[place, 0] = kept.create_dataset(
                        f'{attribute}{number}_{place}', data=numpy.array([[value]])).ref
    content = bytearray(stream.getvalue())
    content[:128] = (b'MATLAB 7.3 MAT-file, Platform: GLNXA64'.ljust(116) + bytes(8) + b'\0\2IM')
    return bytes(content)


def _write_archives(folder, count, rng):
    written = {}
    for split in SPLITS:
        houses = [house(rng) for _ in range(count)]
        # The public archive has its members in an order of its own.
        names = [f'{number}.png' for number in range(1, count + 1)]
        members = {name: png(picture) for name, (picture, _) in zip(names, houses, strict=True)}
        content = digit_struct(names, [boxes for _, boxes in houses])
        write_archive(os.path.join(folder, f'{split}.tar.gz'), [
            (split, None), *((f'{split}/{name}', members[name]) for name in sorted(names)),
            (f'{split}/digitStruct.mat', content), (f'{split}/see_bboxes.m', b'load')], level=1)
        written[split] = houses
    return written


def _write_matrices(folder, count, rng, compressed):
    import scipy.io
    written = {}
    for split in SPLITS:
        labels = rng.integers(1, 11, (count, 1)).astype('uint8')
        images = numpy.empty((32, 32, 3, count), dtype='uint8', order='F')
        for number, label in enumerate(labels[:, 0] % 10):
            images[..., number] = _digit(label, 32, 32, rng)
        scipy.io.savemat(os.path.join(folder, f'{split}_32x32.mat'), {'X': images, 'y': labels},
                         do_compression=compressed)
        written[split] = images, labels
    return written


def write(folder, which_format=2, count=40, compressed=True):
    """Write the three files of one format.

    Parameters
    ----------
    folder : path
        Where they are to be.
    which_format : {2, 1}
        Pictures of digits, or whole pictures.
    count : int, optional
        Pictures in each split.
    compressed : bool, optional
        Whether MATLAB files are compressed, as the public ones are.

    Returns
    -------
    dict
        Maps splits to arrays ``X`` and ``y`` as in the MATLAB files, or to lists of what `house`
        returned.
    """
    rng = numpy.random.default_rng(which_format)
    if which_format == 1:
        return _write_archives(folder, count, rng)
    return _write_matrices(folder, count, rng, compressed)
