"""Fixtures of the data sets."""
import gzip

import pytest

from tests.datasets.sentences import FIRST, SECOND


@pytest.fixture
def files(tmp_path):
    """Two text files with the sentences."""
    paths = [tmp_path / 'first.txt', tmp_path / 'second.txt']
    for path, text in zip(paths, (FIRST, SECOND), strict=True):
        path.write_text(text, encoding='utf-8')
    return [str(path) for path in paths]


@pytest.fixture
def zipped(tmp_path):
    """The same, compressed; the name of one does not say so."""
    paths = [tmp_path / 'first.txt.gz', tmp_path / 'second.packed']
    for path, text in zip(paths, (FIRST, SECOND), strict=True):
        path.write_bytes(gzip.compress(text.encode()))
    return [str(path) for path in paths]
