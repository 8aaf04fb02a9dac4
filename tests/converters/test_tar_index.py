from __future__ import annotations

import io
import tarfile

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


def test_extended_headers_that_would_fill_the_memory():
    info = tarfile.TarInfo('././@LongLink')
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    content = info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    with pytest.raises(ConversionError, match='long name'):
        list(entries(io.BytesIO(content), 'a.tar', 0, len(content)))
