"""The one door to picklable_itertools: it opens with, without and despite pkg_resources."""
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from fuel import _itertools

ROOT = Path(__file__).parents[1]
FAKE = ('class DistributionNotFound(Exception):\n    pass\n'
        'def get_distribution(name):\n    raise RuntimeError("the fake was asked")\n')


def run(program, *folders):
    """What a program prints in a fresh interpreter, which finds modules in the folders first."""
    path = os.pathsep.join(map(str, [*folders, ROOT]))
    return subprocess.run([sys.executable, '-W', 'error', '-c', program], check=True, text=True,
                          capture_output=True, env={**os.environ, 'PYTHONPATH': path}).stdout


@pytest.fixture
def without(tmp_path):
    """A folder that hides pkg_resources, as on new installations."""
    (tmp_path / 'sitecustomize.py').write_text(
        'import sys\n'
        'class Hidden:\n'
        '    def find_spec(self, name, path=None, target=None):\n'
        '        if name == "pkg_resources":\n'
        '            raise ModuleNotFoundError("No module named \'pkg_resources\'", name=name)\n'
        'sys.meta_path.insert(0, Hidden())\n')
    return tmp_path


@pytest.fixture
def fake(tmp_path):
    """A folder with a pkg_resources that breaks when it is asked anything."""
    (tmp_path / 'pkg_resources.py').write_text(FAKE)
    return tmp_path


USE = ('import fuel, sys\n'
       'assert "pkg_resources" not in sys.modules\n'
       'import picklable_itertools\n'
       'from picklable_itertools import imap, chain\n'
       'from picklable_itertools.extras import equizip, partition_all\n'
       'assert "pkg_resources" not in sys.modules\n'
       'print(list(imap(abs, chain([-1], [2]))), list(partition_all(2, [1, 2, 3])),\n'
       '      picklable_itertools.__version__)')
USED = '[1, 2] [(1, 2), (3,)] 0.1.1\n'


def test_importable_after_fuel_without_pkg_resources(without):
    assert run(USE, without) == USED


def test_pkg_resources_that_are_there_are_neither_used_nor_hidden(fake):
    assert run(USE, fake) == USED
    assert run('import fuel, pkg_resources; print(pkg_resources.__file__)', fake) == (
        f'{fake / "pkg_resources.py"}\n')


def test_pkg_resources_loaded_before_stay_as_they_were(fake):
    assert run('import pkg_resources as before, sys\n'
               'import fuel, picklable_itertools\n'
               'assert sys.modules["pkg_resources"] is before\n'
               'print(picklable_itertools.__version__)', fake) == '0.1.1\n'


def test_pkg_resources_that_may_not_be_imported():
    assert run('import sys\n'
               'sys.modules["pkg_resources"] = None\n'
               'import fuel, picklable_itertools\n'
               'assert sys.modules["pkg_resources"] is None\n'
               'print("done")') == 'done\n'


def test_picklable_itertools_loaded_before_is_used():
    assert run('import sys, types\n'
               'stand_in = types.ModuleType("pkg_resources")\n'
               'class DistributionNotFound(Exception):\n'
               '    pass\n'
               'def get_distribution(name):\n'
               '    raise DistributionNotFound\n'
               'stand_in.DistributionNotFound = DistributionNotFound\n'
               'stand_in.get_distribution = get_distribution\n'
               'sys.modules["pkg_resources"] = stand_in\n'
               'import picklable_itertools\n'
               'version = picklable_itertools.__version__\n'
               'import fuel._itertools\n'
               'assert fuel._itertools.imap is picklable_itertools.imap\n'
               'assert picklable_itertools.__version__ == version\n'
               'print("done")') == 'done\n'


@pytest.mark.parametrize(('make', 'expected'), [
    (lambda: _itertools.chain([1, 2], [3]), [1, 2, 3]),
    (lambda: _itertools.imap(abs, [-1, 2, -3]), [1, 2, 3]),
    (lambda: _itertools.islice(range(10), 1, 8, 3), [1, 4, 7]),
    (lambda: _itertools.iter_([1, 2, 3]), [1, 2, 3]),
    (lambda: _itertools.izip([1, 2], 'ab'), [(1, 'a'), (2, 'b')]),
    (lambda: _itertools.partition_all(2, [1, 2, 3]), [(1, 2), (3,)])],
    ids=sorted(_itertools.__all__))
def test_iterators_resume_from_a_pickle(make, expected):
    for steps in range(len(expected) + 1):
        iterator = make()
        assert [next(iterator) for _ in range(steps)] == expected[:steps]
        assert list(pickle.loads(pickle.dumps(iterator))) == expected[steps:]


def test_everything_named_is_there():
    assert all(hasattr(_itertools, name) for name in _itertools.__all__)
