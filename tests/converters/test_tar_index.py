from __future__ import annotations

import io
import itertools
import tarfile

import numpy
import pytest

from fuel.converters._imagenet.tar_index import entries
from fuel.exceptions import ConversionError

NAMES = ['a.JPEG', 'folder/b.JPEG', 'x' * 100 + '.JPEG', 'y' * 99, f'{"d" * 80}/{"e" * 80}',
         'z/' * 120 + 'f.JPEG', 'bäume.JPEG', 'empty.JPEG', '-' * 3000]


def archive(names, form, mode='w'):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=form) as tar:
        folder = tarfile.TarInfo('folder')
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for number, name in enumerate(names):
            content = b'' if name.startswith('empty') else name.encode() * (number * 50 + 1)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize(('form', 'names'), [
    (tarfile.GNU_FORMAT, NAMES), (tarfile.PAX_FORMAT, NAMES), (tarfile.USTAR_FORMAT, [
        name for name in NAMES if len(name) < 100 or name.startswith('d')])],
    ids=['gnu', 'pax', 'ustar'])
def test_files_are_found_where_tarfile_finds_them(form, names):
    content = archive(names, form)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        known = [(info.name, info.offset_data, info.size) for info in tar if info.isfile()]
    assert [name for name, _, _ in known] == names
    assert list(entries(io.BytesIO(content), 'a.tar', 0, len(content))) == known
    # Inside of something else.
    around = b'?' * 777 + content + b'?' * 99
    inside = entries(io.BytesIO(around), 'a.tar', 777, 777 + len(content))
    assert [(name, offset - 777, size) for name, offset, size in inside] == known


def test_archives_of_old_unix():
    content = bytearray(archive(['a.JPEG'], tarfile.USTAR_FORMAT))
    header = content[512:1024]
    header[156] = 0
    header[257:512] = bytes(255)
    header[148:156] = b' ' * 8
    header[148:156] = b'%06o\0 ' % sum(header)
    content[512:1024] = header
    assert list(entries(io.BytesIO(content), 'a.tar', 0, len(content))) == [('a.JPEG', 1024, 6)]


def test_sizes_beyond_eight_gigabytes():
    size = 9 << 30
    info = tarfile.TarInfo('large')
    info.size = size
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        header = info.tobuf(form)

        class Sparse(io.BytesIO):
            """A file whose end is far away."""

            def read(self, count=-1, header=header):
                start = self.place
                return (header + bytes(1024))[start:start + count] if start < len(header) else (
                    bytes(count))

            def seek(self, place, whence=0):
                self.place = place
                return place

        stop = len(header) + size + 1024
        assert list(entries(Sparse(), 'a.tar', 0, stop)) == [('large', len(header), size)]
        with pytest.raises(ConversionError, match='is cut off.*large'):
            list(entries(Sparse(), 'a.tar', 0, stop - 2000))


def test_every_cut_is_an_error_or_gives_what_came_before():
    content = archive(NAMES[:4], tarfile.GNU_FORMAT)
    whole = list(entries(io.BytesIO(content), 'a.tar', 0, len(content)))
    end = whole[-1].offset + -(-whole[-1].size // 512) * 512
    for length in [*range(0, end, 97), end - 1, end]:
        found = []
        with pytest.raises(ConversionError, match=r'a\.tar is (cut off|no tar archive)'):
            for entry in entries(io.BytesIO(content[:length]), 'a.tar', 0, length):
                found.append(entry)
        assert found == whole[:len(found)]
    assert list(entries(io.BytesIO(content[:end + 512]), 'a.tar', 0, end + 512)) == whole


def test_every_damaged_byte_of_a_header_is_noticed():
    content = archive(NAMES[:2], tarfile.GNU_FORMAT)
    first = next(entries(io.BytesIO(content), 'a.tar', 0, len(content)))
    for place in range(first.offset - 512, first.offset):
        damaged = bytearray(content)
        damaged[place] ^= 0x11
        with pytest.raises(ConversionError, match=r'a\.tar'):
            list(entries(io.BytesIO(damaged), 'a.tar', 0, len(damaged)))


def header(name, size=b'00000000010\0', kind=b'0', magic=b'ustar\x0000'):
    """Return the header of a member, of which everything can be set."""
    made = bytearray(512)
    made[:len(name)], made[100:108], made[124:136] = name, b'0000644\0', size
    made[156:157], made[257:265], made[148:156] = kind, magic, b' ' * 8
    made[148:156] = b'%06o\0 ' % sum(made)
    return bytes(made)


def record(key, value):
    """Return a record of an extended header, which begins with its own length."""
    text = b' %s=%s\n' % (key.encode(), value)
    length = len(text)
    while len(b'%d' % length) + len(text) != length:
        length = len(b'%d' % length) + len(text)
    return b'%d' % length + text


END = bytes(1024)


def found(content):
    return list(itertools.islice(entries(io.BytesIO(content), 'a.tar', 0, len(content)), 1000))


def refused(content, words):
    with pytest.raises(ConversionError, match=rf'^a\.tar.*{words}'):
        found(content)


@pytest.mark.parametrize('size', [
    b'-0000001000\0', b'-0000000777\0', b'+0000000010\0', b'00000_00010\0', b'0o000000010\0',
    b'0000000001 1', b'00000000018\0', b'\xff' * 10 + b'\xfe\0', b'\xff' * 12,
    b'\x81' + bytes(10) + b'\x08'])
@pytest.mark.parametrize('kind', [b'0', b'\0', b'5', b'L', b'K', b'x', b'g', b'V', b'2'])
def test_sizes_that_are_no_numbers(size, kind):
    refused(header(b'a.jpg', size, kind) + bytes(512) + END, 'a.jpg.*no number')


@pytest.mark.parametrize('size', [b'10\0' + bytes(9), b'        10 \0', b'000000000010',
                                  b'\x80' + bytes(10) + b'\x08'])
def test_ways_to_write_a_size(size):
    content = header(b'a.jpg', size) + b'x' * 512 + END
    assert found(content) == [('a.jpg', 512, 8)]
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        assert [(info.offset_data, info.size) for info in tar] == [(512, 8)]


def extended(records, kind=b'x', size=None):
    return (header(b'pax', b'%011o\0' % (len(records) if size is None else size), kind)
            + records.ljust(-(-len(records) // 512) * 512, b'\0'))


FILE = header(b'a.jpg') + b'x' * 512 + END


@pytest.mark.parametrize('records', [
    b'99999' * 1000 + b' path=x\n', b'9' * 25 + b' path=x\n', b'12 path=b.jpg\n',
    b'20 path=b.jpg\n', b'0 path=b\n', b'5 path=b.jpg\n', b'13 path=b.jpg ', b'path=b.jpg\n',
    b'-13 path=b.jpg\n', b'13 path=b.jpg\nrest', b'1_3 path=b.jpg\n'])
@pytest.mark.parametrize('kind', [b'x', b'g'])
def test_extended_headers_that_are_damaged(records, kind):
    refused(extended(records, kind) + FILE, 'extended header at byte 512')


@pytest.mark.parametrize('size', [b'9' * 5000, b'-512', b'8_0', b'', b'1e3', b'\xb2'])
def test_sizes_of_extended_headers(size):
    refused(extended(record('size', size)) + FILE, 'size of a member')


def test_extended_headers_that_are_as_they_should_be():
    for records in (b'14 path=b.jpg\n', b'14 path=b.jpg\n' + bytes(7),
                    record('a', b'b=\nc') + record('path', b'b.jpg')):
        content = extended(records) + FILE
        assert found(content) == [('b.jpg', 1536, 8)]
    assert found(extended(b'19 comment=0a1b2c3\n', b'g') + FILE) == [('a.jpg', 1536, 8)]
    assert found(extended(b'10 size=3\n') + FILE) == [('a.jpg', 1536, 3)]


@pytest.mark.parametrize('key', ['path', 'size', 'linkpath'])
def test_headers_that_give_one_name_or_size_to_all_files(key):
    refused(extended(record(key, b'9'), b'g') + FILE, 'gives one to all files')


def test_files_with_holes():
    for key in ('major', 'realsize'):
        refused(extended(record(f'GNU.sparse.{key}', b'100')) + FILE, 'without holes')


def test_random_headers_come_to_an_end():
    """Whatever the headers have: no hang, and nothing but `ConversionError`."""
    rng = numpy.random.default_rng(0)
    plain = extended(b'14 path=b.jpg\n') + header(b'long', b'00000000006\0', b'L') + (
        b'c.jpg\0'.ljust(512, b'\0')) + FILE
    for _ in range(3000):
        content = bytearray(plain)
        start = 512 * int(rng.choice([0, 1, 2, 4]))
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.choice([156, *range(124, 136), *range(16)]))
            content[start + place] = int(rng.choice([*b'-_ 0179Lxg5', 0, 0x80, 0xff]))
        if start != 512:
            block = content[start:start + 512]
            block[148:156] = b' ' * 8
            content[start + 148:start + 156] = b'%06o\0 ' % sum(block)
        try:
            assert len(found(bytes(content))) < 10
        except ConversionError as error:
            assert str(error).startswith('a.tar')


def test_extended_headers_that_would_fill_the_memory():
    info = tarfile.TarInfo('././@LongLink')
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    content = info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    with pytest.raises(ConversionError, match='long name'):
        list(entries(io.BytesIO(content), 'a.tar', 0, len(content)))
