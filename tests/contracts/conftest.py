"""Files for the data sets of the contract suite."""
import os

import pytest

from tests.contracts import chains


@pytest.fixture(scope='session', autouse=True)
def _files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('contracts')
    os.environ[chains.FOLDER] = str(folder)
    chains.write_files(folder)
    yield
    del os.environ[chains.FOLDER]
