"""The form of saved states, and what is said about those that do not fit."""
import json

import pytest

from fuel import state
from fuel.exceptions import StateError


class Stream:
    """Stands for the owner of a state."""


class Other:
    """Stands for another class."""


def test_a_state_is_plain_data_with_version_and_owner():
    made = state.new_state(Stream(), epoch=3, child={'step': 2})
    assert made == {'version': 1, 'class': 'Stream', 'epoch': 3, 'child': {'step': 2}}
    loaded = state.checked(Stream(), made)
    assert loaded == made
    loaded['child']['step'] = 3
    assert made['child']['step'] == 2
    assert state.checked(Stream(), json.loads(json.dumps(made))) == made
    assert state.VERSION == 1


@pytest.mark.parametrize('content', [None, 3, 'state', [], {}, {'version': 1}, {'class': 'Stream'}])
def test_what_is_no_state_is_refused(content):
    with pytest.raises(StateError, match=r'the dict that state_dict\(\) of a Stream returns; got'):
        state.checked(Stream(), content)


@pytest.mark.parametrize('version', [0, -1, 2, 1.5, '1', None])
def test_versions_that_cannot_be_read_are_refused(version):
    with pytest.raises(StateError, match=f'version 1 or earlier .* got version {version!r}'):
        state.checked(Stream(), {'version': version, 'class': 'Stream'})


def test_the_state_of_another_class_is_refused():
    with pytest.raises(StateError, match='state of a Other; got that of a Stream'):
        state.checked(Other(), state.new_state(Stream()))


def test_the_error_is_a_value_error():
    with pytest.raises(ValueError, match='expected'):
        state.checked(Stream(), None)
