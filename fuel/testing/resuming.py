"""Checks that a stream can be stopped anywhere and goes on exactly."""
from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from fuel.testing.comparing import assert_same, copied, drawn, ensure

__all__ = ['check_resume']

# Run by the new interpreter: takes saved streams on its standard input, gives what they give.
_GO_ON = '''
import pickle, sys
request = pickle.load(sys.stdin.buffer)
sys.path[:] = request['path']
from fuel.testing.resuming import go_on_all
pickle.dump(go_on_all(request['cases'], request['epochs']), sys.stdout.buffer)
'''

_Case = tuple[str, bytes]


def check_resume(make_stream: Callable[[], Any], epochs: int = 2, *, by_state: bool = True,
                 new_process: bool = True) -> None:
    """Check that a stream stopped at any step goes on with exactly what was left.

    The stream is stopped before every step of some epochs and after the last, by pickling the
    pair (stream, epoch iterator) and by `state_dict`. What is left of the epoch, and the next two
    epochs, must be the same to the bit. Further, a stream that was resumed is stopped and resumed
    again, and what was saved of the resumed stream must be what was saved of the original.

    Parameters
    ----------
    make_stream : callable
        Returns a new stream, always in the same form. It must be importable by its name, as
        functions of a module are, unless `new_process` is off.
    epochs : int, optional
        How many epochs are gone through.
    by_state : bool, optional
        Check `state_dict` too, as JSON.
    new_process : bool, optional
        Go on in a new interpreter, too.

    Raises
    ------
    AssertionError
        Something differs; the message says where.
    """
    ahead = drawn(make_stream(), epochs + 2)
    cases: list[_Case] = []
    expected: list[list[list[Any]]] = []
    for epoch, step, stream, iterator in _stops(make_stream, epochs):
        left = [ahead[epoch][step:], ahead[epoch + 1], ahead[epoch + 2]]
        cases.append(('pickle', pickle.dumps((stream, iterator))))
        expected.append(left)
        if by_state:
            payload = json.dumps(stream.state_dict())
            cases.append(('state', _pickled_maker(make_stream if new_process else None, payload)))
            expected.append(left)
            _check_again(make_stream, payload, left, f'epoch {epoch}, step {step}')
    results = [_go_on(case, 2, make_stream) for case in cases]
    _compare(cases, results, expected, 'in this process')
    if new_process:
        _compare(cases, _in_new_process(cases, 2), expected, 'in a new process')


def _pickled_maker(make_stream: Callable[[], Any] | None, payload: str) -> bytes:
    try:
        return pickle.dumps((make_stream, payload))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f'make_stream cannot be sent to a new process: {error}. Give a function of a module, '
            'or check with new_process=False') from error


def _stops(make_stream: Callable[[], Any], epochs: int) -> Any:
    """Yield epoch, step, stream and iterator before every step, and after the end was reached."""
    stream = make_stream()
    for epoch in range(epochs):
        iterator = stream.get_epoch_iterator()
        step = 0
        while True:
            yield epoch, step, stream, iterator
            try:
                next(iterator)
            except StopIteration:
                break
            step += 1
        # The end was seen, so nothing is left of this epoch; the iterator still says so.
        ensure(next(iterator, None) is None, f'epoch {epoch} goes on after its end')


def _check_again(make_stream: Callable[[], Any], payload: str, left: list[list[Any]],
                 where: str) -> None:
    """Resume, and after a step save and resume again."""
    first = make_stream()
    first.load_state_dict(json.loads(payload))
    ensure(json.dumps(first.state_dict()) == payload,
           f'{where}: a state that was just loaded is saved differently')
    iterator = first.get_epoch_iterator()
    ensure(json.dumps(first.state_dict()) == payload,
           f'{where}: the state changes when the iteration is taken up again')
    taken = [copied(data) for _, data in zip(range(1), iterator, strict=False)]
    second = make_stream()
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    if len(taken) == 1:
        taken += [copied(data) for data in second.get_epoch_iterator()]
    assert_same(taken, left[0], f'{where}, resumed twice')
    assert_same(drawn(second, 2), left[1:], f'{where}, resumed twice, later epochs')


def go_on_all(cases: list[_Case], epochs: int) -> list[list[list[Any]]]:
    """Take up saved streams, and return what they give; see `check_resume`."""
    return [_go_on(case, epochs) for case in cases]


def _go_on(case: _Case, epochs: int, make_stream: Any = None) -> list[list[Any]]:
    kind, payload = case
    if kind == 'pickle':
        stream, iterator = pickle.loads(payload)
    else:
        make, state = pickle.loads(payload)
        stream = (make or make_stream)()
        stream.load_state_dict(json.loads(state))
        iterator = stream.get_epoch_iterator()
    return [[copied(data) for data in iterator], *drawn(stream, epochs)]


def _in_new_process(cases: list[_Case], epochs: int) -> list[list[list[Any]]]:
    request = pickle.dumps({'path': sys.path, 'cases': cases, 'epochs': epochs})
    done = subprocess.run([sys.executable, '-c', _GO_ON], input=request,  # noqa: S603
                          capture_output=True, check=False, timeout=300)
    ensure(done.returncode == 0, f'the new process failed: {done.stderr.decode()}')
    result: list[list[list[Any]]] = pickle.loads(done.stdout)
    return result


def _compare(cases: list[_Case], results: Any, expected: Any, where: str) -> None:
    for number, ((kind, _), result, wanted) in enumerate(
            zip(cases, results, expected, strict=True)):
        assert_same(result, wanted, f'stop {number}, by {kind}, {where}')
