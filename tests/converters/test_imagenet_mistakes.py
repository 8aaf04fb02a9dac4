from __future__ import annotations

import gzip
import io
import tarfile

import numpy
import pytest
import scipy.io

from fuel.converters.ilsvrc2010 import convert_ilsvrc2010
from fuel.converters.ilsvrc2012 import convert_ilsvrc2012
from fuel.exceptions import ConversionError
from tests.converters.imagenet_expected import expected, stored
from tests.raw import ilsvrc2010, ilsvrc2012, imagenet

TRAIN, VALID, TEST = (f'ILSVRC2012_img_{split}.tar' for split in ('train', 'val', 'test'))
KIT = 'ILSVRC2012_devkit_t12.tar.gz'
META = 'ILSVRC2012_devkit_t12/data/meta.mat'
TRUTH = 'ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt'
PICTURE = imagenet.jpeg(0)


@pytest.fixture
def raw(tmp_path):
    """Raw files of 2012, to be spoilt."""
    (tmp_path / 'out').mkdir()
    ilsvrc2012.write(tmp_path)
    return tmp_path


def refused(folder, *words, convert=convert_ilsvrc2012, **options):
    """Convert, and look for words in the error; nothing is left of the output."""
    with pytest.raises(ConversionError) as caught:
        convert(str(folder), str(folder / 'out'), **options)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert list((folder / 'out').iterdir()) == []


def kit(folder, **changed):
    """Write the development kit anew, with other content of one of its files."""
    with tarfile.open(folder / KIT) as tar:
        members = {info.name: tar.extractfile(info).read() for info in tar}
    for name, content in changed.items():
        members[{'meta': META, 'truth': TRUTH}[name]] = content
    (folder / KIT).write_bytes(gzip.compress(imagenet.tar_of(
        {name: content for name, content in members.items() if content is not None})))


@pytest.mark.parametrize(('content', 'words'), [
    (b'<html>sign in</html>' * 50, ['is no tar archive', "b'<html>sign in</html><htm'"]),
    (b'<html>', ['is no tar archive']),
    (b'', ['is no tar archive', 'it is empty']),
    (bytes(10240), ['is no tar archive', 'it is empty'])])
@pytest.mark.parametrize('archive', [TRAIN, VALID, TEST])
def test_what_is_no_archive(raw, archive, content, words):
    (raw / archive).write_bytes(content)
    refused(raw, archive, *words)


@pytest.mark.parametrize('archive', [VALID, TEST])
def test_archives_that_are_cut_off(raw, archive):
    content = (raw / archive).read_bytes()
    with tarfile.open(raw / archive) as tar:
        last = tar.getmembers()[-1]
    end = last.offset_data + last.size
    for length in (end - 1, last.offset_data + 1, last.offset_data, last.offset + 511):
        (raw / archive).write_bytes(content[:length])
        refused(raw, f'{archive} is cut off', *([repr(last.name.removeprefix('./'))]
                                                if length >= last.offset_data else []))
    # Behind the last member there must be the mark of the end.
    (raw / archive).write_bytes(content[:last.offset])
    refused(raw, f'{archive} is cut off', f'at byte {last.offset}')


def test_archives_of_a_class_that_are_cut_off(raw):
    with tarfile.open(raw / TRAIN) as tar:
        members = {info.name: tar.extractfile(info).read() for info in tar}
    wnid = imagenet.wnid(2)
    with tarfile.open(fileobj=io.BytesIO(members[f'{wnid}.tar'])) as inner:
        last = inner.getmembers()[-1]
    members[f'{wnid}.tar'] = members[f'{wnid}.tar'][:last.offset_data + 10]
    imagenet.write_tar(raw / TRAIN, members.items())
    refused(raw, f'{TRAIN}: {wnid}.tar is cut off', repr(last.name), 'ends after 10')
    members[f'{wnid}.tar'] = b'<html>' * 200
    imagenet.write_tar(raw / TRAIN, members.items())
    refused(raw, f'{TRAIN}: {wnid}.tar is no tar archive')


def test_a_header_in_the_middle_that_is_none(raw):
    content = bytearray((raw / VALID).read_bytes())
    with tarfile.open(raw / VALID) as tar:
        third = tar.getmembers()[2]
    content[third.offset + 100] ^= 1
    (raw / VALID).write_bytes(content)
    refused(raw, f'{VALID} is damaged', f'at byte {third.offset}')


@pytest.mark.parametrize('name', ['../a.JPEG', 'test/../../a.JPEG', '/etc/a.JPEG', 'C:\\a.JPEG'])
def test_names_that_lead_out(raw, name):
    (raw / TEST).write_bytes(imagenet.tar_of({name: PICTURE}))
    refused(raw, TEST, repr(name))
    imagenet.write_tar(raw / TRAIN, [(f'{imagenet.wnid(0)}.tar',
                                      imagenet.tar_of({name: PICTURE}))])
    refused(raw, f'{TRAIN}: {imagenet.wnid(0)}.tar', repr(name))


@pytest.mark.parametrize('kind', [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE,
                                  tarfile.FIFOTYPE])
def test_links_and_devices(raw, kind):
    info = tarfile.TarInfo('a.JPEG')
    info.type, info.linkname = kind, '/etc/passwd'
    with tarfile.open(raw / TEST, 'w') as tar:
        tar.addfile(info)
    refused(raw, TEST, "'a.JPEG'", 'link')


@pytest.mark.parametrize('content', [b'', b'no picture', PICTURE[:-2], PICTURE[:300],
                                     b'\xff\xd8\xff\xd9', imagenet.jpeg(0, form='PNG')[:-40]],
                         ids=len)
@pytest.mark.parametrize('check', ['header', 'decode'])
def test_pictures_that_are_none(raw, content, check):
    imagenet.write_tar(raw / TEST, [('test/a.JPEG', PICTURE), ('test/b.JPEG', content)])
    refused(raw, f"{TEST}: the member 'b.JPEG' is no picture", f'It has {len(content)} bytes',
            check=check)
    convert_ilsvrc2012(str(raw), str(raw / 'out'), check='none')


def test_a_picture_that_is_damaged_inside_is_found_by_decoding(raw):
    # Tables that are needed are called something else.
    damaged = PICTURE.replace(b'\xff\xdb', b'\xff\xeb')
    assert damaged != PICTURE
    imagenet.write_tar(raw / TEST, [('test/a.JPEG', damaged)])
    refused(raw, f"{TEST}: the member 'a.JPEG' is no picture", check='decode')
    path, = convert_ilsvrc2012(str(raw), str(raw / 'out'), check='header')
    assert stored(path)['test'] == [('a.JPEG', damaged, None)]


def test_a_class_that_there_is_not(raw):
    inner = imagenet.tar_of({'a.JPEG': PICTURE})
    imagenet.write_tar(raw / TRAIN, [('n99999999.tar', inner)])
    refused(raw, TRAIN, "'n99999999.tar' is that of no class", 'n01440764.tar')
    # A group of classes is none.
    imagenet.write_tar(raw / TRAIN, [('n00015388.tar', inner)])
    refused(raw, TRAIN, "'n00015388.tar' is that of no class")
    imagenet.write_tar(raw / TRAIN, [('n01440764.tar', inner), ('n01440764.tar', inner)])
    refused(raw, TRAIN, "'n01440764.tar' is there twice")


def test_a_picture_that_is_there_twice(raw):
    imagenet.write_tar(raw / VALID, [('a/b.JPEG', PICTURE), ('b.JPEG', PICTURE)])
    refused(raw, VALID, "'b.JPEG' twice")


@pytest.mark.parametrize('archive', [TRAIN, VALID, TEST])
def test_archives_without_pictures(raw, archive):
    imagenet.write_tar(raw / archive, [('readme.txt', b'text')])
    refused(raw, archive, 'expected pictures')


@pytest.mark.parametrize(('truth', 'words'), [
    (b'1\n2\n', ['expected a line for each of the 7 pictures', 'got 2']),
    (b'1\n2\n3\n1\n2\n3\n1\n2\n', ['7 pictures', 'got 8']),
    (b'1\n2\n3\n4\n1\n1\n1\n', ['line 4', 'from 1 to 3', "b'4'"]),
    (b'1\n2\n0\n1\n1\n1\n1\n', ['line 3', "b'0'"]),
    (b'1\n\n1\n1\n1\n1\n1\n', ['line 2', "b''"]),
    (b'1\n1\n1\n1\n1\n1\n1.5\n', ['line 7', "b'1.5'"]),
    (b'1\n1\n1\n1\n1\n1\n-1\n', ['line 7', "b'-1'"]),
    (b'1\n1\n1\n1\n1\n1\n' + b'9' * 5000, ['line 7']),
    (None, ['it lacks data/ILSVRC2012_validation_ground_truth.txt'])])
def test_labels_that_cannot_be(raw, truth, words):
    kit(raw, truth=truth)
    refused(raw, KIT, 'ILSVRC2012_validation_ground_truth.txt', *words)


def _two_fields(synsets):
    fewer = numpy.empty(synsets.shape, dtype=[('WNID', object), ('words', object)])
    for name in fewer.dtype.names:
        fewer[name] = synsets[name]
    return fewer


def _number(value):
    def change(synsets):
        synsets[-1, 0]['ILSVRC2012_ID'] = numpy.array([[value]])
        return synsets
    return change


@pytest.mark.parametrize(('change', 'words'), [
    (_two_fields, ['lacks ILSVRC2012_ID']),
    (lambda synsets: numpy.ones(3), ['lacks ILSVRC2012_ID, WNID']),
    (_number(7), ['from 1 on', 'from 2 to 7']),
    (_number(2), ['the number 2 belongs to another class']),
    (_number(1.5), ['entry 5', 'expected an integer']),
    (lambda synsets: synsets[:2], ['0 classes'])],
    ids=['fields', 'numbers', 'gap', 'twice', 'fraction', 'groups'])
def test_classes_that_cannot_be(raw, change, words):
    few = imagenet.Raw([imagenet.wnid(number) for number in range(3)])
    synsets = scipy.io.loadmat(io.BytesIO(imagenet.meta(2012, few, 8)))['synsets']
    stream = io.BytesIO()
    scipy.io.savemat(stream, {'synsets': change(synsets)})
    kit(raw, meta=stream.getvalue())
    refused(raw, KIT, *words)


@pytest.mark.parametrize(('meta', 'words'), [
    (None, ['it lacks data/meta.mat']), (b'text', [
        'data/meta.mat: expected a MATLAB file of version 5'])])
def test_kits_without_classes(raw, meta, words):
    kit(raw, meta=meta)
    refused(raw, KIT, *words)


def test_a_kit_that_is_no_archive(raw):
    (raw / KIT).write_bytes(b'<html>' * 100)
    refused(raw, KIT)
    content = gzip.compress(imagenet.tar_of({META: b'x' * 100000}))
    (raw / KIT).write_bytes(content[:-20])
    refused(raw, KIT)


def test_other_numbers_than_those_of_the_kit_are_a_warning(raw, caplog):
    with tarfile.open(raw / TRAIN) as tar:
        members = [(info.name, tar.extractfile(info).read()) for info in tar]
    imagenet.write_tar(raw / TRAIN, [*members[:2], ('notes.txt', b'text')])
    path, = convert_ilsvrc2012(str(raw), str(raw / 'out'))
    assert stored(path)['train'] == expected_without_notes(raw)
    assert (f'{TRAIN}: by the development kit there are 24 training pictures of 3 classes; '
            'this archive has 16 of 2') in caplog.text
    assert f"{TRAIN}: left out 1 members that are no archives of a class, such as 'notes.txt'" \
        in caplog.text


def expected_without_notes(raw):
    with tarfile.open(raw / TRAIN) as tar:
        members = [(info.name, tar.extractfile(info).read()) for info in tar]
    imagenet.write_tar(raw / TRAIN, members[:2])
    return expected(raw, 2012)['train']


def test_what_is_no_picture_by_its_name_is_left_out(raw, caplog):
    imagenet.write_tar(raw / TEST, [('b.JPEG', PICTURE), ('readme.txt', b'x'), ('a.png', PICTURE)])
    path, = convert_ilsvrc2012(str(raw), str(raw / 'out'))
    assert [name for name, _, _ in stored(path)['test']] == ['a.png', 'b.JPEG']
    assert "left out 1 members that are no pictures, such as 'readme.txt'" in caplog.text


def test_mistakes_in_the_files_of_2010_only(tmp_path, caplog):
    (tmp_path / 'out').mkdir()
    ilsvrc2010.write(tmp_path)
    truth = tmp_path / 'ILSVRC2010_test_ground_truth.txt'
    right = truth.read_bytes()
    truth.write_bytes(b'1\nx\n')
    refused(tmp_path, 'ILSVRC2010_test_ground_truth.txt, line 2', convert=convert_ilsvrc2010)
    truth.write_bytes(right[:-2])
    refused(tmp_path, 'ILSVRC2010_test_ground_truth.txt', 'each of the 5 pictures', 'got 4',
            convert=convert_ilsvrc2010)
    truth.write_bytes(right)
    patch = tmp_path / 'patch_images.tar'
    content = patch.read_bytes()
    patch.write_bytes(content[:1200])
    refused(tmp_path, 'patch_images.tar is cut off', convert=convert_ilsvrc2010)
    # Without its patch, the damaged picture shows.
    imagenet.write_tar(patch, [('patch/train/unknown.JPEG', PICTURE), ('other/x.JPEG', PICTURE)])
    refused(tmp_path, 'ILSVRC2010_images_train.tar', 'is no picture', convert=convert_ilsvrc2010)
    assert "patch_images.tar: 1 pictures replace none of " in caplog.text
    assert "such as 'other/x.JPEG'" in caplog.text
    # A patch is looked at like a picture.
    imagenet.write_tar(patch, [(f'patch/train/{imagenet.wnid(1)}_0.JPEG', b'none')])
    refused(tmp_path, f"patch_images.tar: the member '{imagenet.wnid(1)}_0.JPEG' is no picture",
            convert=convert_ilsvrc2010)
