"""Programs without a guard, with functions and classes of their own, just work."""
import json

import pytest

from tests.engine.watching import finished, program

pytestmark = pytest.mark.timeout(60)

SCRIPT = '''
import json
import os
import numpy
from fuel.datasets import IndexableDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import AgnosticTransformer, Mapping, MultiProcessing

print('once')
FACTOR = 3


class Own(AgnosticTransformer):
    def transform_any(self, data):
        return tuple(item * FACTOR + self.generator().integers(100) for item in data)


class OwnData(IndexableDataset):
    def get_data(self, state=None, request=None):
        return tuple(item + 1 for item in super().get_data(state, request))


def closure(number):
    def add(data):
        return tuple(helper(item) + number for item in data)
    return add


def helper(item):
    return item - FACTOR


def make():
    stream = DataStream(OwnData({'x': numpy.arange(40)}), iteration_scheme=ShuffledScheme(40, 4))
    stream = Mapping(Own(stream), closure(17))
    return Mapping(stream, lambda data: tuple(item.astype(float) for item in data))


expected = [x.tolist() for x, in make().get_epoch_iterator()]
stream = MultiProcessing(make(), num_workers=2, SETTINGS)
got = [x.tolist() for x, in stream.get_epoch_iterator()]
print(json.dumps([got == expected, len(got)]))
'''
SETTINGS = {'usual': '', 'forked': "multiprocessing_context='fork'",
            'whole': 'whole_chain=True'}


@pytest.mark.parametrize(('settings', 'how'), [
    ('usual', 'file'), ('usual', 'command'), ('usual', 'stdin'), ('forked', 'file'),
    ('whole', 'stdin')])
def test_a_script_without_a_guard(settings, how, tmp_path):
    text = SCRIPT.replace('SETTINGS', SETTINGS[settings])
    if settings == 'whole':
        text = text.replace('num_workers=2', 'num_workers=1')
    if settings == 'forked':
        text = 'import warnings; warnings.simplefilter("ignore", DeprecationWarning)\n' + text
    with program(text, tmp_path, how=how) as process:
        status, printed, errors = finished(process)
    assert (status, errors) == (0, '')
    once, result = printed.splitlines()
    assert once == 'once'
    assert json.loads(result) == [True, 10]


OWN_ERROR = SCRIPT.replace('expected = ', '''
class OwnError(Exception):
    pass

def fail(data):
    raise OwnError('of the script')

failing = MultiProcessing(Mapping(make(), fail), num_workers=2)
try:
    next(failing.get_epoch_iterator())
except OwnError as error:
    assert str(error) == 'of the script'
else:
    raise SystemExit('no error')
expected = ''', 1).replace('SETTINGS', '')


def test_an_error_class_of_the_script(tmp_path):
    with program(OWN_ERROR, tmp_path) as process:
        status, printed, errors = finished(process)
    assert (status, errors) == (0, '')
    assert printed.splitlines()[0] == 'once'


SWITCHED = '''
import sys, numpy, h5py
from fuel.datasets import H5PYDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import MultiProcessing

X = numpy.random.default_rng(0).integers(0, 2 ** 60, size=(5000, 4))
with h5py.File('x.hdf5', 'w') as file:
    file['x'], file['y'] = X, numpy.arange(5000)
    file.attrs['split'] = H5PYDataset.create_split_array({'all': {'x': (0, 5000), 'y': (0, 5000)}})
dataset = H5PYDataset('x.hdf5', ('all',))
dataset.open()
assert dataset.get_data(None, [17, 3])[1].tolist() == [17, 3]
with MultiProcessing(DataStream(dataset, iteration_scheme=ShuffledScheme(5000, 20)),
                     num_workers=4, multiprocessing_context=sys.argv[1] or None) as stream:
    for x, y in stream.get_epoch_iterator():
        assert numpy.array_equal(x, X[y])
        assert dataset.get_data(None, int(y[0]))[0].tolist() == X[y[0]].tolist()
dataset.close(None)
'''


@pytest.mark.parametrize('context', ['', 'fork'])
def test_a_file_that_is_open_in_the_program_is_opened_in_workers(context, tmp_path):
    text = SWITCHED
    if context:
        text = 'import warnings; warnings.simplefilter("ignore", DeprecationWarning)\n' + text
    with program(text, tmp_path, context) as process:
        status, _, errors = finished(process)
    assert (status, errors) == (0, '')
