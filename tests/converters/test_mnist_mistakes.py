"""Raw files of MNIST that are not as they should be."""
from __future__ import annotations

import gzip
import os
import re
import struct

import numpy
import pytest

from fuel.bin import fuel_convert
from fuel.converters.mnist import convert_mnist, read_mnist_images, read_mnist_labels
from fuel.exceptions import ConversionError
from tests.raw import mnist

IMAGES, LABELS = mnist.NAMES['train']


@pytest.fixture
def folder(tmp_path):
    mnist.write(tmp_path)
    return tmp_path


def content_of(path):
    return gzip.decompress(path.read_bytes())


def header(*numbers):
    return struct.pack(f'>{len(numbers)}I', *numbers)


def refused(folder, name, content, message, *, compress=True):
    """Check that a file with a certain content is refused, and that nothing is left behind."""
    (folder / name).write_bytes(gzip.compress(content) if compress else content)
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError, match=message) as caught:
        convert_mnist(str(folder), str(folder))
    assert str(caught.value).startswith(str(folder / name))
    assert '\n' not in str(caught.value)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(('name', 'other', 'magic', 'message'), [
    (IMAGES, LABELS, 2051, 'got 2049, that of a file of labels'),
    (LABELS, IMAGES, 2049, 'got 2051, that of a file of images')])
def test_files_that_were_confused(folder, name, other, magic, message):
    refused(folder, name, content_of(folder / other),
            f'expected the magic number {magic} of a file of .* at byte 0; {message}')


@pytest.mark.parametrize('name', [IMAGES, LABELS])
@pytest.mark.parametrize('magic', [0, 2052, 0x0d03, 0x03080000, 0xffffffff])
def test_wrong_magic_number(folder, name, magic):
    refused(folder, name, header(magic) + content_of(folder / name)[4:],
            f'expected the magic number .*; got {magic}$')


@pytest.mark.parametrize(('length', 'message'), [
    (0, 'should have bytes 0 to 3; the file ends at byte 0'),
    (3, 'should have bytes 0 to 3; the file ends at byte 3'),
    (4, 'should have bytes 4 to 15; the file ends at byte 4'),
    (15, 'should have bytes 4 to 15; the file ends at byte 15')])
def test_end_within_the_header(folder, length, message):
    refused(folder, IMAGES, content_of(folder / IMAGES)[:length], message)


@pytest.mark.parametrize(('missing', 'images'), [(1, 59), (784, 59), (785, 58), (784 * 59, 1)])
def test_fewer_images_than_the_header_says(folder, missing, images):
    content = content_of(folder / IMAGES)
    refused(folder, IMAGES, content[:-missing],
            f'the header says 60 images; the file ends after {images}, at byte '
            f'{len(content) - missing} ')


def test_fewer_labels_than_the_header_says(folder):
    refused(folder, LABELS, content_of(folder / LABELS)[:-3],
            'the header says 60 labels; the file ends after 57, at byte 65 ')


@pytest.mark.parametrize(('name', 'place'), [(IMAGES, 16 + 60 * 784), (LABELS, 8 + 60)])
@pytest.mark.parametrize('more', [b'\0', b'x' * 2000])
def test_more_than_the_header_says(folder, name, place, more):
    refused(folder, name, content_of(folder / name) + more,
            f'the header says 60 .*; there is more behind them, from byte {place} ')


def test_header_of_labels_alone_says_another_number(folder):
    # The old library took such a file.
    path = folder / LABELS
    path.write_bytes(gzip.compress(header(2049, 100) + bytes([7, 2, 1])))
    with pytest.raises(ConversionError, match='says 100 labels; the file ends after 3'):
        read_mnist_labels(str(path))


@pytest.mark.parametrize('count', [59, 61])
def test_other_number_of_labels_than_of_images(folder, count):
    refused(folder, LABELS, mnist.idx(numpy.zeros(count)),
            f'expected one label for each of the 60 images of {re.escape(str(folder / IMAGES))}; '
            f'the header says {count}')


def test_splits_with_images_of_different_sizes(folder):
    name = mnist.NAMES['test'][0]
    refused(folder, name, mnist.idx(numpy.zeros((20, 28, 14))),
            'expected images of 28 x 28 pixels, like those of .*; got 28 x 14')


@pytest.mark.parametrize('shape', [(0, 28, 28), (60, 0, 28)])
def test_nothing(folder, shape):
    refused(folder, IMAGES, mnist.idx(numpy.zeros(shape)),
            f'expected at least one of the images; .* {" x ".join(map(str, shape))}$')


def test_number_that_no_file_of_this_size_can_have(folder):
    content = content_of(folder / IMAGES)
    refused(folder, IMAGES, header(2051, 2 ** 32 - 1, 2 ** 32 - 1, 28) + content[16:],
            'the header, from byte 4 on, says 4294967295 x 4294967295 x 28 images, which')


@pytest.mark.parametrize('share', [.3, .999])
@pytest.mark.parametrize('name', [IMAGES, LABELS])
def test_truncated_gzip(folder, name, share):
    content = (folder / name).read_bytes()
    refused(folder, name, content[:int(len(content) * share)],
            'the compressed file is cut off or damaged, behind .* bytes of its content',
            compress=False)


@pytest.mark.parametrize('name', [IMAGES, LABELS])
def test_damaged_gzip(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-6] ^= 1                                                # in the checksum at the end
    refused(folder, name, bytes(content), 'the compressed file is cut off or damaged',
            compress=False)


@pytest.mark.parametrize('name', [IMAGES, LABELS])
def test_not_compressed(folder, name):
    refused(folder, name, content_of(folder / name), 'gzip', compress=False)


def test_page_of_a_website_in_its_place(folder):
    refused(folder, IMAGES, b'<html>404</html>', 'expected a file compressed by gzip',
            compress=False)


def test_empty_file(folder):
    refused(folder, IMAGES, b'', 'ends at byte 0|the file is empty', compress=False)


def test_command_says_it_in_one_line(folder, capsys):
    (folder / IMAGES).write_bytes(gzip.compress(content_of(folder / IMAGES)[:1000]))
    before = sorted(os.listdir(folder))
    with pytest.raises(SystemExit) as caught:
        fuel_convert.main(['mnist', '-d', str(folder), '-o', str(folder)])
    assert caught.value.code == 2
    assert f'{folder / IMAGES}: the header says 60 images; the file ends after 1, at byte 1000 ' \
        in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == before


def test_images_are_checked_when_read_alone(folder):
    path = folder / IMAGES
    path.write_bytes(gzip.compress(content_of(path)[:-1]))
    with pytest.raises(ConversionError, match='ends after 59'):
        read_mnist_images(str(path))
