"""Errors: what they can be caught as, and that they travel between processes."""
import copy
import pickle
import subprocess
import sys
import traceback

import pytest

from fuel import exceptions
from fuel.exceptions import (
    AxisLabelsMismatchError,
    ConfigurationError,
    FuelError,
    MissingInputFiles,
    NeedURLPrefix,
)

BUILT_IN = {
    'AxisLabelsMismatchError': ValueError, 'ChecksumError': OSError,
    'ConfigurationError': Exception,
    'ConfigurationFileError': ValueError, 'ConfigurationUnsetError': AttributeError,
    'ConversionError': ValueError, 'DataFileError': OSError,
    'DataFileNotFoundError': FileNotFoundError, 'DataLayoutError': ValueError,
    'DownloadError': OSError, 'FuelError': Exception, 'LockTimeoutError': TimeoutError,
    'MissingInputFiles': FileNotFoundError, 'OutputExistsError': FileExistsError,
    'NeedURLPrefix': ValueError, 'StateError': ValueError, 'SupersededIteratorError': RuntimeError,
    'WorkerError': RuntimeError, 'WorkerLostError': RuntimeError,
    'WorkerTimeoutError': TimeoutError,
}
MESSAGE = 'expected 3 sources; got 2'


def made(name):
    cls = getattr(exceptions, name)
    return cls(MESSAGE, ['a.gz', 'b.gz']) if name == 'MissingInputFiles' else cls(MESSAGE)


def test_all_errors_are_listed_in_order():
    defined = [name for name, value in vars(exceptions).items()
               if isinstance(value, type) and issubclass(value, Exception)]
    assert exceptions.__all__ == sorted(defined)
    assert set(BUILT_IN) <= set(exceptions.__all__)


@pytest.mark.parametrize('name', sorted(BUILT_IN))
def test_errors_are_of_the_library_and_of_the_built_in_kind(name):
    error = made(name)
    assert isinstance(error, FuelError)
    assert isinstance(error, BUILT_IN[name])


@pytest.mark.parametrize('name', exceptions.__all__)
@pytest.mark.parametrize('protocol', range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_survive_pickling(name, protocol):
    error = made(name)
    error.extra = 'kept'
    for loaded in (pickle.loads(pickle.dumps(error, protocol=protocol)), copy.copy(error),
                   copy.deepcopy(error)):
        assert type(loaded) is type(error)
        assert str(loaded) == str(error) == MESSAGE
        assert loaded.args == error.args
        assert loaded.__dict__ == error.__dict__


def test_errors_arrive_from_another_process():
    program = ('import pickle, sys\n'
               'from fuel import exceptions\n'
               'errors = []\n'
               'for name in exceptions.__all__:\n'
               '    cls = getattr(exceptions, name)\n'
               '    arguments = (["x"],) if name == "MissingInputFiles" else ()\n'
               '    try:\n'
               '        raise cls(name, *arguments)\n'
               '    except cls as error:\n'
               '        errors.append(error)\n'
               'sys.stdout.buffer.write(pickle.dumps(errors))\n')
    result = subprocess.run([sys.executable, '-c', program], capture_output=True, check=True)
    assert [(type(error).__name__, str(error)) for error in pickle.loads(result.stdout)] == [
        (name, name) for name in exceptions.__all__]


def test_missing_input_files_keep_the_names():
    names = ['a.gz', 'b.gz']
    error = pickle.loads(pickle.dumps(MissingInputFiles('two are missing', names)))
    assert error.filenames == names
    assert error.message == str(error) == 'two are missing'
    assert MissingInputFiles(message='m', filenames=names).filenames is names
    assert traceback.format_exception_only(error)[-1].endswith('two are missing\n')


def test_the_documented_four_can_be_caught_as_before():
    for cls in (AxisLabelsMismatchError, ConfigurationError, NeedURLPrefix):
        with pytest.raises(cls, match='message'):
            raise cls('message')
        assert isinstance(cls(), cls)
    with pytest.raises(Exception, match='message'):
        raise MissingInputFiles('message', [])
