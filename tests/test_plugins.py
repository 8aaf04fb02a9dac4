from __future__ import annotations

import sys
from argparse import ArgumentParser

import pytest

import fuel
from fuel import plugins
from fuel.converters import all_converters
from fuel.downloaders import all_downloaders
from fuel.exceptions import ConfigurationFileError


@pytest.fixture
def write_module(tmp_path, monkeypatch):
    """Return a function that makes modules that can be imported during a test."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def write(name, text):
        (tmp_path / f'{name}.py').write_text(text)
        made.append(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)


PAIRS = '''
def fill_subparser(subparser):
    return print
all_{kind} = (({name!r}, fill_subparser),)
'''

KINDS = pytest.mark.parametrize(('kind', 'built_in', 'collect'), [
    ('downloaders', all_downloaders, plugins.downloaders),
    ('converters', all_converters, plugins.converters)])


@KINDS
def test_built_in_entries(kind, built_in, collect):
    assert list(collect().items()) == list(built_in)


@KINDS
def test_extra_modules_come_after_them(kind, built_in, collect, write_module):
    write_module('one_extra', PAIRS.format(kind=kind, name='one'))
    write_module('two_extra', PAIRS.format(kind=kind, name='two'))
    setattr(fuel.config, f'extra_{kind}', ['two_extra', 'one_extra', 'two_extra'])
    names = [name for name, _ in built_in]
    assert list(collect()) == [*names, 'two', 'one']
    setattr(fuel.config, f'extra_{kind}', [])
    assert list(collect()) == names  # nothing is registered for good


@KINDS
def test_environment_variable(kind, built_in, collect, write_module, monkeypatch):
    write_module('one_extra', PAIRS.format(kind=kind, name='one'))
    write_module('two_extra', PAIRS.format(kind=kind, name='two'))
    monkeypatch.setenv(f'FUEL_EXTRA_{kind.upper()}', 'one_extra two_extra')
    assert list(collect())[-2:] == ['one', 'two']


@KINDS
def test_mapping_is_read_only(kind, built_in, collect):
    with pytest.raises(TypeError):
        collect()['x'] = print


@KINDS
def test_entry_that_takes_the_place_of_a_built_in_one(kind, built_in, collect, write_module,
                                                      caplog):
    write_module('better', PAIRS.format(kind=kind, name='iris'))
    setattr(fuel.config, f'extra_{kind}', ['better'])
    with caplog.at_level('INFO'):
        entries = collect()
    assert list(entries) == [name for name, _ in built_in]
    assert entries['iris'] is sys.modules['better'].fill_subparser
    assert 'iris of better takes the place of the built-in one' in caplog.text


def refuses(fill_subparser):
    """Return the message of a function that stands in place of one that cannot be told."""
    with pytest.raises(ConfigurationFileError) as caught:
        fill_subparser(ArgumentParser())
    return str(caught.value)


@KINDS
def test_clash_among_modules(kind, built_in, collect, write_module, caplog):
    write_module('one_extra', PAIRS.format(kind=kind, name='one'))
    write_module('two_extra', PAIRS.format(kind=kind, name='one'))
    write_module('three_extra', PAIRS.format(kind=kind, name='three'))
    setattr(fuel.config, f'extra_{kind}', ['one_extra', 'two_extra', 'three_extra'])
    entries = collect()
    assert f"two_extra and one_extra, named by the setting extra_{kind}, both have 'one'" in (
        caplog.text)
    assert 'two_extra and one_extra' in refuses(entries['one'])
    assert entries['three'](ArgumentParser()) is print


@KINDS
@pytest.mark.parametrize(('text', 'message'), [
    ('import not_there', "cannot be imported: No module named 'not_there'. Is its package"),
    ('def broken(:', 'cannot be imported: SyntaxError: '),
    ('1 / 0', 'cannot be imported: ZeroDivisionError: division by zero'),
    ('raise SystemExit(3)', 'cannot be imported: SystemExit: 3'),
    ('', 'does not define all_{kind}'), ('all_{kind} = 1', 'does not define all_{kind}')])
def test_a_broken_module_does_not_break_others(kind, built_in, collect, write_module, caplog,
                                               text, message):
    write_module('broken', text.format(kind=kind))
    write_module('sound', PAIRS.format(kind=kind, name='one'))
    setattr(fuel.config, f'extra_{kind}', ['broken', 'sound', 'not_there.downloaders'])
    assert list(collect()) == [*(name for name, _ in built_in), 'one']
    first, second = caplog.messages
    assert first.startswith(f'broken, named by the setting extra_{kind} (FUEL_EXTRA_{kind.upper()}')
    assert message.format(kind=kind) in first
    assert second.startswith('not_there.downloaders, named by')
    assert 'PYTHONPATH' in second


@KINDS
@pytest.mark.parametrize('pair', ['1', "('x', 1)", '(1, print)', "'ab'", "('x', print, 1)"])
def test_a_bad_pair_does_not_break_others(kind, built_in, collect, write_module, caplog, pair):
    write_module('odd', f'all_{kind} = ({pair}, ("good", print))')
    setattr(fuel.config, f'extra_{kind}', ['odd'])
    assert list(collect()) == [*(name for name, _ in built_in), 'good']
    message, = caplog.messages
    assert message.startswith(f'odd: expected all_{kind} to have pairs (name, fill_subparser); ')
