"""Archives of SVHN that are damaged, or made to do harm."""
from __future__ import annotations

import io
import os
import tarfile

import h5py
import numpy
import pytest

from fuel.converters.svhn import convert_svhn, convert_svhn_format_1
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import run
from tests.raw import svhn as raw
from tests.raw.python2 import write_archive

RNG = numpy.random.default_rng(5)
HOUSES = [raw.house(RNG) for _ in range(4)]
NAMES = [f'{number}.png' for number in range(1, 5)]
PICTURES = [raw.png(picture) for picture, _ in HOUSES]
BOXES = [boxes for _, boxes in HOUSES]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'in').mkdir()
    (tmp_path / 'out').mkdir()
    for split in raw.SPLITS:
        write(tmp_path, split)
    return tmp_path


def write(folder, split='test', *, names=NAMES, boxes=BOXES, pictures=PICTURES, content=None,
          more=()):
    content = raw.digit_struct(names, boxes) if content is None else content
    write_archive(folder / 'in' / f'{split}.tar.gz', [
        (split, None), *((f'{split}/{name}', picture)
                         for name, picture in zip(NAMES, pictures, strict=False)),
        *([(f'{split}/digitStruct.mat', content)] if content else []), *more])


def fails(folder, **storage):
    """Convert, and return the message; nothing is left behind."""
    with pytest.raises(ConversionError) as caught:
        convert_svhn_format_1(str(folder / 'in'), str(folder / 'out'), **storage)
    assert os.listdir(folder / 'out') == []
    assert str(folder / 'in' / 'test.tar.gz') in str(caught.value)
    return str(caught.value)


def test_good_archives(folder):
    convert_svhn_format_1(str(folder / 'in'), str(folder / 'out'))
    assert os.listdir(folder / 'out') == ['svhn_format_1.hdf5']


@pytest.mark.parametrize('name', ['../climbed.png', '/tmp/climbed.png', 'test/../../climbed.png',
                                  '..\\climbed.png', 'C:\\climbed.png'])
def test_members_that_lead_out_of_the_archive(folder, name):
    write(folder, more=[(name, PICTURES[0])])
    assert 'climbed.png' in fails(folder)
    assert not (folder / 'climbed.png').exists()


def test_links(folder):
    link = tarfile.TarInfo('test/5.png')
    link.type, link.linkname = tarfile.SYMTYPE, '/etc'
    write(folder, more=[link, ('test/5.png/climbed', b'')])
    assert 'link or a device' in fails(folder)


def test_names_in_the_description_reach_no_files(folder):
    (folder / 'secret.png').write_bytes(PICTURES[0])
    write(folder, names=[*NAMES[:3], '../../secret.png'])
    assert "the picture '../../secret.png', which the archive does not have" in fails(folder)


def test_archives_cut_off(folder):
    path = folder / 'in' / 'test.tar.gz'
    content = path.read_bytes()
    for length in [0, 5, *range(20, len(content), len(content) // 15), len(content) - 1]:
        path.write_bytes(content[:length])
        fails(folder)


def test_pictures_that_are_none(folder):
    for bad in (b'', b'GIF89a', b'<html></html>', PICTURES[2][:60], PICTURES[2][:-40]):
        write(folder, pictures=[*PICTURES[:2], bad, PICTURES[3]])
        assert 'test.tar.gz: 3.png: expected a picture' in fails(folder)


def test_pictures_made_to_exhaust_the_memory(folder):
    import struct
    import zlib

    def chunk(kind, content):
        return (struct.pack('>I', len(content)) + kind + content
                + struct.pack('>I', zlib.crc32(kind + content)))
    bomb = (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 60000, 60000, 8, 2, 0, 0,
                                                              0))
            + chunk(b'IDAT', zlib.compress(bytes(10 ** 6))) + chunk(b'IEND', b''))
    write(folder, pictures=[*PICTURES[:3], bomb])
    assert '4.png: expected a picture' in fails(folder)


def test_missing_pictures_and_descriptions(folder):
    write(folder, pictures=PICTURES[:3])
    assert "the picture '4.png', which the archive does not have" in fails(folder)
    write(folder, content=b'')
    assert "the member 'digitStruct.mat'" in fails(folder)
    write(folder, more=[('other/2.png', PICTURES[1])])
    assert "'other/2.png'" in fails(folder)


def test_pictures_that_are_not_described_are_left_out(folder, caplog):
    write(folder, names=NAMES[:3], boxes=BOXES[:3])
    path, = convert_svhn(1, str(folder / 'in'), str(folder / 'out'))
    assert 'describes 3 of the 4 pictures' in caplog.text
    with h5py.File(path, 'r') as h5file:
        assert h5file['features'].shape == (11,)


def changed(**changes):
    """Return a description in which the second picture has other boxes."""
    return raw.digit_struct(NAMES, [BOXES[0], {**BOXES[1], **changes}, *BOXES[2:]])


@pytest.mark.parametrize(('changes', 'message'), [
    ({'label': [11.]}, 'labels from 1 to 10'), ({'label': [-1.]}, 'labels from 1 to 10'),
    ({'label': [1.5]}, 'labels from 1 to 10'), ({'top': [numpy.nan]}, 'numbers up to 65535'),
    ({'left': [70000.]}, 'whole numbers up to 65535 for left; got 70000'),
    ({'left': [numpy.inf]}, 'for left; got inf'), ({'left': [-numpy.inf]}, 'for left; got -inf'),
    ({'left': [2.5]}, 'expected whole numbers up to 65535 for left; got 2.5'),
    ({'label': [0.]}, 'labels from 1 to 10'), ({'label': [numpy.nan]}, 'labels from 1 to 10'),
    ({'label': []}, 'column of at most'),
    ({'height': [1., 2.]}, 'expected 1 values of height, one for each label')])
def test_boxes_that_are_not_as_expected(folder, changes, message):
    one = {name: [5.] for name in raw.ATTRIBUTES}
    write(folder, content=changed(**{**one, **changes}))
    found = fails(folder)
    assert 'test.tar.gz: digitStruct.mat, picture 2: ' in found
    assert message in found


@pytest.mark.parametrize('name', ['height', 'width', 'left', 'top'])
@pytest.mark.parametrize('count', [1, 2, 4, 7, 4000])
def test_more_or_less_values_than_labels(folder, name, count):
    several = {name: [5., 6., 7.] for name in raw.ATTRIBUTES}
    write(folder, content=changed(**{**several, name: [8.] * count}))
    assert (f'picture 2: expected 3 values of {name}, one for each label; got the shape '
            f'({count}, 1)') in fails(folder)


def test_a_picture_that_is_described_twice(folder):
    write(folder, names=[*NAMES[:3], NAMES[1]])
    assert "tells of the picture '2.png' twice" in fails(folder)
    # Other splits have pictures of the same names.
    write(folder)
    convert_svhn_format_1(str(folder / 'in'), str(folder / 'out'))


def with_file(change):
    """Return a description that was changed by a function of its HDF5 file."""
    stream = io.BytesIO(changed(**{name: [5., 6.] for name in raw.ATTRIBUTES}))
    with h5py.File(stream, 'r+') as h5file:
        change(h5file)
    return stream.getvalue()


def second(h5file):
    return h5file[h5file['digitStruct/bbox'][1, 0]]


def no_top(h5file):
    del second(h5file)['top']


def fewer_tops(h5file):
    del second(h5file)['top']
    second(h5file)['top'] = numpy.ones((1, 1))


def numbers_for_references(h5file):
    del second(h5file)['top']
    second(h5file)['top'] = numpy.ones((2, 1))


def references_to_columns(h5file):
    second(h5file)['top'][0, 0] = h5file['digitStruct/name'].ref


def references_to_nothing(h5file):
    second(h5file)['top'][0, 0] = h5py.Reference()


def references_to_groups(h5file):
    second(h5file)['top'][0, 0] = h5file['digitStruct'].ref


def box_of_a_number(h5file):
    h5file['digitStruct/bbox'][1, 0] = h5file['digitStruct/name'].ref


def name_of_a_group(h5file):
    h5file['digitStruct/name'][1, 0] = h5file['digitStruct'].ref


def long_name(h5file):
    h5file['long'] = numpy.full((1000, 1), 65, 'uint16')
    h5file['digitStruct/name'][1, 0] = h5file['long'].ref


def many_digits(h5file):
    group = second(h5file)
    for name in raw.ATTRIBUTES:
        del group[name]
        group[name] = numpy.zeros((10 ** 6, 1))


@pytest.mark.parametrize('change', [
    no_top, fewer_tops, numbers_for_references, references_to_columns, references_to_nothing,
    references_to_groups, box_of_a_number, name_of_a_group, long_name, many_digits])
def test_references_that_lead_elsewhere(folder, change):
    write(folder, content=with_file(change))
    assert 'test.tar.gz: digitStruct.mat, picture 2: ' in fails(folder)


def no_names(h5file):
    del h5file['digitStruct/name']


def other_names(h5file):
    no_names(h5file)
    h5file['digitStruct/name'] = numpy.zeros((5, 1))


def a_group_of_names(h5file):
    no_names(h5file)
    h5file.create_group('digitStruct/name')


@pytest.mark.parametrize('change', [no_names, other_names, a_group_of_names])
def test_descriptions_of_another_kind(folder, change):
    write(folder, content=with_file(change))
    assert 'expected the data sets /digitStruct/name and /digitStruct/bbox' in fails(folder)


@pytest.mark.parametrize('content', [b'no', b'MATLAB 5.0 MAT-file' + bytes(600), bytes(5000)])
def test_descriptions_that_are_no_hdf5_files(folder, content):
    write(folder, content=content)
    assert 'digitStruct.mat: expected a MATLAB file of version 7.3' in fails(folder)


def test_missing_archives(folder):
    os.remove(folder / 'in' / 'train.tar.gz')
    with pytest.raises(MissingInputFiles) as caught:
        convert_svhn(1, str(folder / 'in'), str(folder / 'out'))
    assert caught.value.filenames == ['train.tar.gz']


def test_command_says_it_in_one_line(folder):
    write(folder, pictures=[*PICTURES[:3], b'none'])
    done = run('convert', 'svhn', '1', '-d', 'in', '-o', 'out', cwd=folder)
    line = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert 'Traceback' not in done.stderr
    assert 'test.tar.gz: 4.png: expected a picture' in line
    assert os.listdir(folder / 'out') == []
