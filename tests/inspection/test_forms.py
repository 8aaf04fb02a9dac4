import numpy
import pytest

from fuel.collate import Rows, as_objects
from fuel.inspection.forms import bytes_in, form_of, forms_of, steps_in

RAGGED = as_objects([numpy.zeros(2, 'float32'), numpy.zeros(5, 'float32')])


@pytest.mark.parametrize(('data', 'number'), [
    (numpy.zeros((2, 3)), 48), (numpy.float32(1), 4), (RAGGED, 28), ('word', 4), (b'abc', 3),
    ((numpy.zeros(2), [1, 2.]), 32), ({'x': numpy.zeros(2, 'uint8')}, 2), (None, 0), (object(), 0),
    (Rows((numpy.zeros((2, 3)), [1, 2]), 2), 64), (numpy.zeros((0, 4)), 0), (memoryview(b'ab'), 2)])
def test_bytes(data, number):
    assert bytes_in(data) == number


@pytest.mark.parametrize(('item', 'form'), [
    (numpy.zeros((2, 3), 'uint8'), 'uint8 (2, 3)'), (numpy.float32(1), 'float32'),
    (numpy.array(3), 'int64'), (RAGGED, 'object (2,): float32 (2,)'),
    ([numpy.zeros(3)], 'list of 1: float64 (3,)'), ([], 'list of 0'), ((1, 2), 'tuple of 2: int'),
    (b'abc', 'bytes of 3'), (None, 'NoneType'), (as_objects([]), 'object (0,)')])
def test_form_of_an_item(item, form):
    assert form_of(item) == form


def test_forms_of_a_step():
    assert forms_of((1, 'a')) == ['int', 'str of 1']
    assert forms_of({'x': 1, 'y': numpy.zeros(2)}) == ['int', 'float64 (2,)']
    assert forms_of(Rows((numpy.zeros((2, 3)), [1, 2]), 2)) == ['float64 (3,)', 'int']
    assert forms_of(None) == []
    assert steps_in((1,)) == 1 and steps_in(Rows(([1, 2, 3],), 3)) == 3
