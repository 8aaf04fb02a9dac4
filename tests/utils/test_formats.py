"""Opening archives."""
import io
import tarfile

import pytest

from fuel.utils.formats import tar_open


@pytest.mark.parametrize('mode', ['w', 'w:gz', 'w:bz2', 'w:xz'])
def test_archives_from_files_and_file_objects(tmp_path, mode):
    (tmp_path / 'hello.txt').write_bytes(b'hello')
    archive = tmp_path / 'archive'
    with tarfile.open(archive, mode) as tar:
        tar.add(tmp_path / 'hello.txt', 'hello.txt')
    with open(archive, 'rb') as stream:
        for given in (archive, str(archive), stream, io.BytesIO(archive.read_bytes())):
            with tar_open(given) as tar:
                assert tar.getnames() == ['hello.txt']
                assert tar.extractfile('hello.txt').read() == b'hello'
        assert not stream.closed
