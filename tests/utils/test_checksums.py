from __future__ import annotations

import hashlib

import pytest

from fuel.utils.checksums import checksum_of, has_checksum, parse_checksum


@pytest.mark.parametrize('algorithm', ['md5', 'sha1', 'sha256', 'blake2b'])
def test_checksum_of_a_file(tmp_path, algorithm):
    content = bytes(range(256)) * 9000
    (tmp_path / 'x').write_bytes(content)
    expected = f'{algorithm}:{hashlib.new(algorithm, content).hexdigest()}'
    assert checksum_of(tmp_path / 'x', algorithm) == expected
    assert has_checksum(tmp_path / 'x', expected.upper())
    assert not has_checksum(tmp_path / 'x', expected[:-1] + ('0' if expected[-1] != '0' else '1'))


@pytest.mark.parametrize('checksum', [
    '', 'sha256', 'sha256:', 'sha256:12', 'no:1234', 'md5:' + 'g' * 32, '0' * 64,
    'shake_128:' + '0' * 32])
def test_malformed_checksums_are_refused(checksum):
    with pytest.raises(ValueError, match='expected'):
        parse_checksum(checksum)
