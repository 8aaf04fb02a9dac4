"""Raw files of ImageNet's challenges: what those of 2010 and 2012 have in common.

Pictures show a bright shape on a dark ground, one shape and colour for each class. A few are
really drawn; the others are copies of these, made different by a comment, so that there can be
many thousands of them.
"""
from __future__ import annotations

import io
import struct
import tarfile
from dataclasses import dataclass, field

import numpy

# What the true sets have: the numbers in WordNet of some classes, with what they are called.
CLASSES = [('n01440764', 'tench, Tinca tinca'), ('n02123045', 'tabby, tabby cat'),
           ('n02084071', 'dog, domestic dog, Canis familiaris'), ('n07753592', 'banana'),
           ('n02958343', 'car, auto, automobile'), ('n04254777', 'sock')]
_GROUPS = [('n00015388', 'animal, animate being'), ('n00021939', 'artifact')]
_SHAPES, _VARIANTS = 6, 4


@dataclass
class Raw:
    """What was written, for tests: picture files by member name."""

    wnids: list[str]
    train: dict[str, dict[str, bytes]] = field(default_factory=dict)
    valid: dict[str, bytes] = field(default_factory=dict)
    test: dict[str, bytes] = field(default_factory=dict)
    valid_ids: list[int] = field(default_factory=list)
    test_ids: list[int] = field(default_factory=list)
    patches: dict[str, dict[str, bytes]] = field(default_factory=dict)


def wnid(number):
    """The number in WordNet of a class."""
    return CLASSES[number][0] if number < len(CLASSES) else f'n1{number:07}'


def words(number):
    """What a class is called."""
    return CLASSES[number][1] if number < len(CLASSES) else f'thing {number}'


def _pixels(kind, variant, height, width):
    """A shape, in a colour and at a place that depend on kind and variant."""
    y, x = numpy.mgrid[:height, :width]
    cy, cx = height * (.42 + .05 * variant), width * (.58 - .05 * variant)
    size = min(height, width) * (.28 + .02 * variant)
    dy, dx = (y - cy) / size, (x - cx) / size
    inside = [dy ** 2 + dx ** 2 < 1, numpy.maximum(abs(dy), abs(dx)) < .85,
              abs(dy) + abs(dx) < 1.1, (dy > -1) & (dy < 1) & (abs(dx) < (dy + 1) / 2),
              (abs(dy) < .3) | (abs(dx) < .3), (dy ** 2 + dx ** 2 < 1) & (dy ** 2 + dx ** 2 > .4)]
    mask = inside[kind % _SHAPES] & (dy ** 2 + dx ** 2 < 2)
    colour = numpy.array([[230, 90, 60], [80, 200, 90], [90, 130, 240], [240, 210, 70],
                          [210, 90, 210], [90, 210, 220]])[kind % 6]
    ground = (30 + 40 * y / height)[:, :, None] + numpy.array([5, 10, 20])
    return numpy.where(mask[:, :, None], colour, ground).astype('uint8')


def jpeg(kind, variant=0, size=(48, 64), mode='RGB', form='JPEG'):
    """An encoded picture."""
    from PIL import Image
    stream = io.BytesIO()
    Image.fromarray(_pixels(kind, variant, *size)).convert(mode).save(stream, form)
    return stream.getvalue()


def with_comment(content, text):
    """A JPEG with a comment behind its first two bytes."""
    return content[:2] + b'\xff\xfe' + struct.pack('>H', len(text) + 2) + text + content[2:]


class Pool:
    """Gives any number of different pictures, for each class its own shape.

    Parameters
    ----------
    padding : int, optional
        How many bytes they have more than they need, in comments.
    """

    def __init__(self, padding=0):
        self._drawn = {}
        noise = numpy.random.RandomState(3).bytes(padding)
        self._padding = [noise[start:start + 60_000] for start in range(0, padding, 60_000)]

    def picture(self, kind, number):
        """A JPEG of a class; those of different numbers differ."""
        key = kind % _SHAPES, number % _VARIANTS
        if key not in self._drawn:
            size = [(48, 64), (64, 48), (40, 40), (56, 72)][key[1]]
            self._drawn[key] = jpeg(*key, size=size)
            for noise in self._padding:
                self._drawn[key] = with_comment(self._drawn[key], noise)
        return with_comment(self._drawn[key], b'%d/%d' % (kind, number))


def add(tar, name, content):
    """Write a member into an archive."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def tar_of(members, mode='w'):
    """The bytes of an archive, of pairs or a dictionary."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in (members.items() if isinstance(members, dict) else members):
            add(tar, name, content)
    return stream.getvalue()


def write_tar(path, members):
    """An archive; if its members lie in a folder, that goes before."""
    with tarfile.open(path, 'w') as tar:
        for number, (name, content) in enumerate(members):
            if number == 0 and '/' in name:
                folder = tarfile.TarInfo(name.rpartition('/')[0])
                folder.type = tarfile.DIRTYPE
                tar.addfile(folder)
            add(tar, name, content)


def write_training(path, raw, pool, per_class, shuffled=True):
    """An archive of archives; in each the pictures lie in an order of their own."""
    order = numpy.random.RandomState(7)
    with tarfile.open(path, 'w') as tar:
        for number in order.permutation(len(raw.wnids)).tolist() if shuffled else range(
                len(raw.wnids)):
            name = raw.wnids[number]
            raw.train[name] = {f'{name}_{index}.JPEG': pool.picture(number, index)
                               for index in order.permutation(per_class).tolist()}
            add(tar, f'{name}.tar', tar_of(raw.train[name]))


def meta(year, raw, per_class):
    """The bytes of meta.mat: classes, and groups of them, which are no classes."""
    import scipy.io
    count = len(raw.wnids)
    names = [f'ILSVRC{year}_ID', 'WNID', 'words', 'gloss', 'num_children', 'children',
             'wordnet_height', 'num_train_images']
    synsets = numpy.empty((count + len(_GROUPS), 1), dtype=[(name, object) for name in names])
    for index in range(count):
        synsets[index, 0] = (float(index + 1), raw.wnids[index], words(index), f'a {words(index)}',
                             0., numpy.empty((0, 0)), 0., float(per_class))
    for index, (name, text) in enumerate(_GROUPS, start=count):
        synsets[index, 0] = (float(index + 1), name, text, f'a {text}', 2., numpy.array([[1., 2.]]),
                             1., 0.)
    # The order in the file is not that of the numbers.
    synsets = synsets[::-1].copy()
    stream = io.BytesIO()
    scipy.io.savemat(stream, {'synsets': synsets}, do_compression=True)
    # The header has a date.
    return b'MATLAB 5.0 MAT-file'.ljust(116) + stream.getvalue()[116:]


def truth(ids):
    """A text file with a number in each line."""
    return b''.join(b'%d\n' % number for number in ids)
