"""Archives and compressed files from elsewhere: read once, and never trusted."""
from __future__ import annotations

import gzip
import io
import os
import re
import struct
import sys
import tarfile
import zipfile

import numpy
import pytest

from fuel.converters._formats.archives import Zip, tar_members
from fuel.converters._formats.compressed import open_gzip
from fuel.exceptions import ConversionError

RNG = numpy.random.RandomState(1)
FILES = {'folder/one.bin': RNG.bytes(10_000), './two.txt': b'hello ' * 5000, 'empty': b''}


def tar(path, files=FILES, mode='w', infos=()):
    with tarfile.open(path, mode) as archive:
        folder = tarfile.TarInfo('folder')
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in infos:
            archive.addfile(info, io.BytesIO(b'x' * info.size))
    return path


@pytest.fixture(params=['isal', 'zlib'])
def inflate(request, monkeypatch):
    """Both ways to decompress."""
    if request.param == 'zlib':
        monkeypatch.setitem(sys.modules, 'isal', None)


@pytest.mark.parametrize(('name', 'mode'), [('a.tar', 'w'), ('a.tar.gz', 'w:gz'), ('a', 'w:gz')])
def test_members_come_in_order(tmp_path, inflate, name, mode):
    path = tar(tmp_path / name, mode=mode)
    found = [(member.name, member.size, member.read()) for member in tar_members(path)]
    assert found == [(name.removeprefix('./'), len(content), content)
                     for name, content in FILES.items()]


def test_members_need_not_be_read(tmp_path):
    path = tar(tmp_path / 'a.tar.gz', mode='w:gz')
    assert [member.name for member in tar_members(path)] == ['folder/one.bin', 'two.txt', 'empty']


def test_member_can_be_read_in_pieces(tmp_path):
    path = tar(tmp_path / 'a.tar')
    member = next(tar_members(path))
    assert member.stream.read(10) + member.stream.read() == FILES['folder/one.bin']


@pytest.mark.parametrize('name', ['../x', '/x', 'a/../../x', '..', 'C:/x', '..\\x'])
def test_names_that_lead_out(tmp_path, name):
    for path, read in ((tar(tmp_path / 'a.tar', {name: b'x'}), read_all),
                       (zip_of(tmp_path / 'a.zip', {name: b'x'}), Zip)):
        with pytest.raises(ConversionError, match='stay inside the archive') as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert repr(name) in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ['a.tar', 'a.zip']


@pytest.mark.parametrize('kind', [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE,
                                  tarfile.CHRTYPE])
def test_links_and_devices(tmp_path, kind):
    info = tarfile.TarInfo('odd')
    info.type, info.linkname = kind, 'folder/one.bin'
    path = tar(tmp_path / 'a.tar', infos=[info])
    with pytest.raises(ConversionError, match="'odd' is a link or a device"):
        list(tar_members(path))


def test_member_that_is_too_large(tmp_path):
    path = tar(tmp_path / 'a.tar.gz', {'big': bytes(10 ** 6)}, mode='w:gz')
    with pytest.raises(ConversionError, match="at most 1000 bytes; 'big' has 1000000"):
        list(tar_members(path, limit=1000))


def read_all(path):
    return [member.read() for member in tar_members(path)]


@pytest.mark.parametrize('mode', ['w', 'w:gz'])
def test_every_cut(tmp_path, inflate, mode):
    whole = tar(tmp_path / 'whole', mode=mode).read_bytes()
    path = tmp_path / 'cut'
    # One block of zeros is enough of an end.
    end = len(whole) - 10 if mode == 'w:gz' else 512 + 512 + 10_240 + 512 + 30_208 + 512 + 512
    for size in [0, 1, 2, 5, 511, 512, 513, 700, 1024, 5000, 11_000, 11_264, 11_777, 12_000, 42_000,
                 end - 512, end - 1]:
        if size < len(whole):
            path.write_bytes(whole[:size])
            with pytest.raises(ConversionError) as caught:
                read_all(path)
            assert str(path) in str(caught.value)
            assert re.search('Download (it|the archive) again|it has none', str(caught.value))


@pytest.mark.parametrize('content', [b'<html>not found</html>' * 100, RNG.bytes(5000),
                                     gzip.compress(b'<html>' * 1000)])
def test_what_is_no_tar_archive(tmp_path, content):
    (tmp_path / 'a.tar').write_bytes(content)
    with pytest.raises(ConversionError, match=r'a\.tar is no tar archive'):
        read_all(tmp_path / 'a.tar')


def test_tar_archive_without_files(tmp_path):
    with pytest.raises(ConversionError, match='it has none'):
        path = tmp_path / 'a.tar'
        with tarfile.open(path, 'w'):
            pass
        read_all(path)


def test_compressed_file(tmp_path, inflate):
    content = RNG.bytes(3_000_000)
    (tmp_path / 'x.gz').write_bytes(gzip.compress(content[:1_000_000], 1)
                                    + gzip.compress(content[1_000_000:], 1))
    with open_gzip(tmp_path / 'x.gz') as stream:
        assert stream.read(5) == content[:5]
        buffer = bytearray(100_000)
        assert stream.readinto(buffer) == 100_000
        assert stream.read() == content[100_005:]
        assert bytes(buffer) == content[5:100_005]
        assert stream.tell() == len(content)


def damage(content, place):
    changed = bytearray(content)
    changed[place] ^= 255
    return bytes(changed)


PACKED = gzip.compress(RNG.bytes(100_000))


@pytest.mark.parametrize(('content', 'words'), [
    (b'', 'the file is empty'),
    (b'<html>', "begins with b'<h'"),
    (PACKED[:1], 'begins with'),
    (PACKED[:6], 'cut off or damaged, behind 0 bytes'),
    (PACKED[:-1], 'cut off or damaged'),
    (PACKED[:60_000], 'cut off or damaged'),
    (damage(PACKED, 50_000), 'cut off or damaged'),
    (damage(PACKED, len(PACKED) - 6), 'cut off or damaged'),
    (damage(PACKED, 12), 'cut off or damaged'),
    (PACKED + b'garbage', 'cut off or damaged'), (PACKED + b'garbage' * 9, 'cut off or damaged')])
def test_compressed_files_that_are_none(tmp_path, inflate, content, words):
    path = tmp_path / 'x.gz'
    path.write_bytes(content)
    with open_gzip(path) as stream, pytest.raises(ConversionError) as caught:
        stream.read()
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def zip_of(path, files=FILES, **options):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir('folder')
        for name, content in files.items():
            archive.writestr(name, content, **options)
    return path


def test_zip(tmp_path):
    with Zip(zip_of(tmp_path / 'a.zip')) as archive:
        assert archive.names == ['folder/one.bin', 'two.txt', 'empty']
        for name, content in FILES.items():
            name = name.removeprefix('./')
            assert archive.size(name) == len(content)
            assert archive.read(name) == content
        with archive.open('two.txt') as stream:
            assert stream.read(10) == b'hello hell'


def test_zip_bomb(tmp_path):
    path = zip_of(tmp_path / 'a.zip', {'bomb': bytes(1 << 24)})
    announced = "at most 1000 bytes; 'bomb' announces 16777216"
    with Zip(path) as archive, pytest.raises(ConversionError, match=announced):
        archive.read('bomb', limit=1000)
    # One that announces less than it has.
    content = path.read_bytes().replace(struct.pack('<I', 1 << 24), struct.pack('<I', 100))
    path.write_bytes(content)
    with Zip(path) as archive, pytest.raises(ConversionError, match="the member 'bomb'"):
        archive.read('bomb')


def test_zips_that_are_none(tmp_path):
    whole = zip_of(tmp_path / 'a.zip').read_bytes()
    for content in (b'', b'<html>' * 100, whole[:500], whole[:-1], whole[len(whole) // 2:-30]):
        (tmp_path / 'b.zip').write_bytes(content)
        with pytest.raises(ConversionError, match=r'b\.zip is no zip archive, or is cut off'):
            Zip(tmp_path / 'b.zip')


def test_damaged_and_encrypted_members(tmp_path):
    whole = zip_of(tmp_path / 'a.zip', {'one': FILES['folder/one.bin']}).read_bytes()
    (tmp_path / 'b.zip').write_bytes(damage(whole, len(whole) // 2))
    with Zip(tmp_path / 'b.zip') as archive, pytest.raises(ConversionError, match="member 'one'"):
        archive.read('one')
    encrypted = bytearray(whole)
    for signature, place in ((b'PK\x03\x04', 6), (b'PK\x01\x02', 8)):
        encrypted[whole.rindex(signature) + place] |= 1
    (tmp_path / 'c.zip').write_bytes(encrypted)
    with Zip(tmp_path / 'c.zip') as archive, pytest.raises(ConversionError, match='encrypted'):
        archive.read('one')


def test_zip_with_two_members_of_a_name(tmp_path):
    with zipfile.ZipFile(tmp_path / 'a.zip', 'w') as archive:
        archive.writestr('x', b'one')
        archive.writestr('./x', b'other')
    with pytest.raises(ConversionError, match="there are two of the name 'x'"):
        Zip(tmp_path / 'a.zip')


@pytest.mark.parametrize('kind', [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_flipped_byte_of_a_zip_is_noticed_or_harmless(tmp_path, kind):
    path, content = tmp_path / 'a.zip', b'hello ' * 50
    with zipfile.ZipFile(path, 'w', kind) as archive:
        archive.writestr('one', content)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(damage(whole, place))
        try:
            with Zip(path) as archive:
                found = {name: archive.read(name) for name in archive.names}
        except ConversionError as error:
            assert str(path) in str(error)
        else:
            assert list(found.values()) in ([content], [])


@pytest.mark.parametrize('headers', [{'GNU.sparse.map': 'abc'}, {'GNU.sparse.size': 'x'},
                                     {'size': '-5'}, {'GNU.sparse.major': '1'}])
def test_odd_headers_of_a_tar_archive(tmp_path, headers):
    path = tmp_path / 'a.tar'
    with tarfile.open(path, 'w', format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo('one')
        info.pax_headers = {'GNU.sparse.minor': '0', **headers}
        info.size = 1000
        archive.addfile(info, io.BytesIO(bytes(1000)))
    try:
        assert len(read_all(path)) == 1
    except ConversionError as error:
        assert str(path) in str(error)


def test_what_stands_in_the_place_of_a_member(tmp_path):
    whole = tar(tmp_path / 'whole').read_bytes()
    second = 512 + 512 + 10_240
    for block in (bytes(512), b'x' * 512, whole[second:second + 256] + b'x' * 256):
        path = tmp_path / 'a.tar'
        path.write_bytes(whole[:second] + block + whole[second + 512:])
        with pytest.raises(ConversionError, match=f'at byte {second} of the archive'):
            read_all(path)


@pytest.mark.parametrize('size', [b'-0000001000\0', b'\xff' * 11 + b'\x00'])
def test_member_of_a_negative_size(tmp_path, size):
    whole = bytearray(tar(tmp_path / 'whole', {'a': bytes(512), 'b': bytes(512)}).read_bytes())
    header = whole[512:1024]
    header[124:136] = size
    header[148:156] = b' ' * 8
    header[148:156] = b'%06o\0 ' % sum(header)
    path = tmp_path / 'a.tar'
    path.write_bytes(bytes(whole[:512] + header + whole[1024:]))
    with pytest.raises(ConversionError, match=r'a\.tar'):
        read_all(path)


def test_errors_of_the_machine_are_not_called_damage(tmp_path, monkeypatch):
    with Zip(zip_of(tmp_path / 'a.zip')) as archive:
        for error in (MemoryError, OSError(5, 'Input/output error')):
            def fail(*args, error=error):
                raise error

            monkeypatch.setattr(zipfile.ZipFile, 'open', fail)
            with pytest.raises((MemoryError, OSError)) as caught:
                archive.read('two.txt')
            assert not isinstance(caught.value, ConversionError)
