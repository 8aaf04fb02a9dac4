"""What an import of the library loads and touches, in fresh interpreters."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {'h5py', 'tables', 'zmq', 'PIL', 'scipy', 'requests', 'tqdm', 'filelock'}
FRAMEWORKS = {'torch', 'tensorflow', 'jax', 'theano', 'keras', 'blocks'}
LIGHT = ['fuel', 'fuel.config_parser', 'fuel.exceptions', 'fuel.iterator', 'fuel.schemes',
         'fuel.streams', 'fuel.transformers', 'fuel.transformers.defaults', 'fuel.datasets',
         'fuel.datasets.base', 'fuel.datasets.text', 'fuel.datasets.toy']


def run(program, **variables):
    """What a program prints as JSON, with warnings as errors."""
    result = subprocess.run([sys.executable, '-W', 'error', '-c', program], capture_output=True,
                            text=True, cwd=ROOT, env={**os.environ, **variables}, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ''
    return json.loads(result.stdout)


@pytest.mark.parametrize('module', LIGHT)
def test_the_import_loads_no_heavy_library_and_no_framework(module):
    loaded = run(f'import json, sys\nimport {module}\nprint(json.dumps(sorted(sys.modules)))')
    assert module in loaded
    assert not {name.partition('.')[0] for name in loaded} & (HEAVY | FRAMEWORKS)


def test_the_import_of_fuel_loads_only_the_lowest_floors():
    loaded = run('import json, sys\nimport fuel\nprint(json.dumps(sorted(sys.modules)))')
    assert {name for name in loaded if name.partition('.')[0] == 'fuel'} == {
        'fuel', 'fuel._itertools', 'fuel.config_parser', 'fuel.exceptions', 'fuel.version'}


def test_logging_is_left_to_the_program():
    assert run('import json, logging\n'
               'before = logging.root.level, list(logging.root.handlers), logging.lastResort\n'
               'import fuel, fuel.datasets, fuel.streams, fuel.transformers\n'
               'after = logging.root.level, list(logging.root.handlers), logging.lastResort\n'
               'handlers = [name for name, logger in logging.root.manager.loggerDict.items()\n'
               '            if name.startswith("fuel") and getattr(logger, "handlers", None)]\n'
               'print(json.dumps([before == after, handlers]))') == [True, []]


def test_global_random_states_are_left_alone():
    assert run('import json, random, numpy\n'
               'numpy.random.seed(1)\n'
               'random.seed(1)\n'
               'before = numpy.random.get_state()[1].tolist(), random.getstate()\n'
               'import fuel, fuel.schemes, fuel.streams, fuel.datasets, fuel.transformers\n'
               'after = numpy.random.get_state()[1].tolist(), random.getstate()\n'
               'print(json.dumps(before == after))') is True


def test_signals_warnings_and_threads_are_left_alone():
    assert run('import json, signal, threading, warnings\n'
               'def state():\n'
               '    return [warnings.filters[:], threading.active_count(),\n'
               '            [signal.getsignal(number) for number in (2, 15)]]\n'
               'import numpy\n'
               'before = state()\n'
               'import fuel, fuel.streams, fuel.datasets, fuel.transformers\n'
               'print(json.dumps(before == state()))') is True


def test_no_home_is_needed():
    assert run('import json, os\n'
               'os.environ.pop("HOME", None)\n'
               'import fuel\n'
               'print(json.dumps(fuel.config.floatX))') == 'float64'


def test_the_version_and_the_public_names():
    import fuel
    from fuel.version import __version__
    assert fuel.__version__ == __version__
    assert sorted(fuel.__all__) == ['__version__', 'config', 'get_worker_info']
    assert fuel.get_worker_info() is None
    assert not hasattr(fuel, 'something_else')
    assert all(part.isdigit() for part in __version__.split('.')[:2])
