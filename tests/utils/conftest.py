"""Folders of the local cache."""
import pytest

import fuel
from fuel.utils import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder for copies, which does not exist yet; nothing is remembered of other tests."""
    monkeypatch.setattr(cache, '_files', cache._Files())
    fuel.config.local_data_path = str(tmp_path / 'local')
    return tmp_path / 'local'


@pytest.fixture
def remote(tmp_path):
    """The folder of the original files."""
    path = tmp_path / 'remote'
    path.mkdir()
    return path
