import pytest

from fuel.inspection import scheduling as module
from fuel.inspection.scheduling import Scheduling, scheduling


def test_what_the_system_says(monkeypatch, tmp_path):
    (tmp_path / 'schedstat').write_text('2500000000 500000000 7\n')
    monkeypatch.setattr(module, '_PATH', tmp_path / 'schedstat')
    assert scheduling() == Scheduling(2.5, .5)


@pytest.mark.parametrize('text', ['', 'none of that', None])
def test_systems_that_do_not_say(monkeypatch, tmp_path, text):
    monkeypatch.setattr(module, '_PATH', tmp_path / 'schedstat')
    if text is not None:
        (tmp_path / 'schedstat').write_text(text)
    assert scheduling() == Scheduling(0., 0.)


def test_crowding():
    assert Scheduling(3., 2.).crowding_since(Scheduling(1., 1.)) == 1.5
    assert Scheduling(1., 9.).crowding_since(Scheduling(1., 1.)) == 1.
