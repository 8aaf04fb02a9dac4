"""What the pages say of the contact sheets that they show."""
from __future__ import annotations

import importlib
import pathlib
import sys

import pytest

EXTENSIONS = pathlib.Path(__file__).resolve().parents[2] / 'docs' / '_ext'


@pytest.fixture
def sheets(monkeypatch):
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    monkeypatch.syspath_prepend(EXTENSIONS)
    yield importlib.import_module('data_set_sheets')
    sys.modules.pop('data_set_sheets', None)


def test_readers_are_told_that_data_are_invented(sheets):
    stand_in = 'Drawn from invented stand-in data of the same form.'
    assert {sheets.origin(name) for name in (
        'adult', 'celeba', 'cifar100', 'mnist', 'svhn', 'ilsvrc2012', 'youtube_audio')} == {
            stand_in}
    assert {sheets.origin(name) for name in ('images', 'table', 'text')} == {
        'Drawn from invented data.'}
    assert sheets.origin('iris') == ''          # the true file is a part of the library
