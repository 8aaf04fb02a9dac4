"""Archives of ImageNet made to hang the converters, or to fill the memory."""
from __future__ import annotations

import gzip
import tarfile

import numpy
import pytest

from fuel.converters._imagenet.devkit import read_devkit
from fuel.converters.ilsvrc2010 import convert_ilsvrc2010
from fuel.converters.ilsvrc2012 import convert_ilsvrc2012
from tests.converters.imagenet_expected import stored
from tests.converters.test_imagenet_mistakes import (
    KIT,
    META,
    PICTURE,
    TEST,
    TRAIN,
    TRUTH,
    VALID,
    kit,
    refused,
)
from tests.converters.test_matlab_whole import bomb, saved
from tests.raw import ilsvrc2010, ilsvrc2012, imagenet


@pytest.fixture
def raw(tmp_path):
    """Raw files of 2012, to be spoilt."""
    (tmp_path / 'out').mkdir()
    ilsvrc2012.write(tmp_path)
    return tmp_path


def with_size(content, size, kind=None):
    """Return an archive with another size in its first header."""
    made = bytearray(content)
    made[124:136] = size
    if kind is not None:
        made[156:157] = kind
    made[148:156] = b' ' * 8
    made[148:156] = b'%06o\0 ' % sum(made[:512])
    return bytes(made)


@pytest.mark.parametrize('kind', [None, b'L', b'x', b'V', b'5'])
@pytest.mark.parametrize('archive', [TRAIN, VALID, TEST])
def test_negative_sizes(raw, archive, kind):
    content = imagenet.tar_of({'a.JPEG': PICTURE})
    (raw / archive).write_bytes(with_size(content, b'-0000001000\0', kind))
    refused(raw, archive, 'a.JPEG', 'is no number')


def test_negative_sizes_in_the_archive_of_a_class(raw):
    inner = with_size(imagenet.tar_of({'a.JPEG': PICTURE}), b'-0000001000\0')
    imagenet.write_tar(raw / TRAIN, [(f'{imagenet.wnid(0)}.tar', inner)])
    refused(raw, f'{TRAIN}: {imagenet.wnid(0)}.tar', 'is no number')


def test_negative_sizes_in_the_patches_of_2010(tmp_path):
    (tmp_path / 'out').mkdir()
    ilsvrc2010.write(tmp_path)
    content = imagenet.tar_of({'patch/train/a.JPEG': PICTURE})
    (tmp_path / 'patch_images.tar').write_bytes(with_size(content, b'-0000001000\0'))
    refused(tmp_path, 'patch_images.tar', 'is no number', convert=convert_ilsvrc2010)


def test_names_that_would_give_all_others_their_room(raw):
    with tarfile.open(raw / TEST, 'w', format=tarfile.GNU_FORMAT) as tar:
        imagenet.add(tar, 'a.JPEG', PICTURE)
        imagenet.add(tar, 'b' * 100000 + '.JPEG', PICTURE)
    refused(raw, TEST, 'names of pictures of at most 255 letters; got one of 100005')
    # Folders are left out.
    with tarfile.open(raw / TEST, 'w', format=tarfile.GNU_FORMAT) as tar:
        imagenet.add(tar, 'folder/' * 100 + 'a.JPEG', PICTURE)
    path, = convert_ilsvrc2012(str(raw), str(raw / 'out'))
    assert [name for name, _, _ in stored(path)['test']] == ['a.JPEG']


def test_classes_that_become_large(raw):
    kit(raw, meta=bomb(40))
    refused(raw, KIT, 'data/meta.mat', 'expected variables of at most 33554432 bytes together')


def test_labels_that_become_large(raw):
    kit(raw, truth=b'1\n' * (9 << 20))
    refused(raw, KIT, 'ground_truth.txt to have at most 16777216 bytes; got 18874368')
    kit(raw, truth=b'1' * 1000000)
    refused(raw, KIT, 'ground_truth.txt, line 1', repr(b'1' * 40))


def test_texts_and_numbers_of_classes(raw):
    def classes(**changed):
        values = {'ILSVRC2012_ID': 1., 'WNID': 'n01440764', 'words': 'tench', 'num_children': 0.,
                  'num_train_images': 8., **changed}
        synsets = numpy.empty((1, 1), dtype=[(name, object) for name in values])
        synsets[0, 0] = tuple(values.values())
        return saved({'synsets': synsets})
    for changes in ({'words': 'w' * 2000}, {'words': 7.}, {'WNID': numpy.array(['a', 'b'])},
                    {'num_train_images': numpy.nan}, {'num_train_images': numpy.inf},
                    {'num_train_images': 'text'}, {'num_children': numpy.ones((2, 2))},
                    {'ILSVRC2012_ID': numpy.zeros((0, 0))}):
        kit(raw, meta=classes(**changes))
        refused(raw, KIT, 'entry 1 of synsets is not as expected: expected a')


def test_blank_lines_behind_the_labels_do_no_harm(raw):
    with tarfile.open(raw / KIT) as tar:
        truth = tar.extractfile(TRUTH).read()
    expected = [int(line) - 1 for line in truth.split()]
    kit(raw, truth=truth.replace(b'\n', b' \r\n') + b'\n \n\r\n')
    _, labels = read_devkit(str(raw / KIT), 'ILSVRC2012_ID', TRUTH.rpartition('/')[2])
    assert labels.dtype == 'int16'
    assert labels.tolist() == expected


def test_a_kit_with_one_wrong_byte(raw):
    """A type of values that there is not ended the process."""
    content = bytearray(saved({'synsets': numpy.arange(6, dtype='uint8')}))
    place = content.rindex(b'\2\0\0\0\6\0\0\0')
    content[place] = 0
    members = {META: bytes(content), TRUTH: b'1\n'}
    (raw / KIT).write_bytes(gzip.compress(imagenet.tar_of(members)))
    refused(raw, KIT, 'data/meta.mat, at byte', 'got the type 0')
