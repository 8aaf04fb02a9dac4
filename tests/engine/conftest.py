"""Files for the data sets that the engines are tried with."""
import os

import pytest

from tests.contracts import chains


@pytest.fixture(scope='session')
def files(tmp_path_factory):
    """Write the files of the contract suite."""
    folder = tmp_path_factory.mktemp('engine')
    before = os.environ.get(chains.FOLDER)
    os.environ[chains.FOLDER] = str(folder)
    chains.write_files(folder)
    yield
    if before is None:
        os.environ.pop(chains.FOLDER, None)
    else:
        os.environ[chains.FOLDER] = before
