from __future__ import annotations

import sys

import pytest

import fuel
from fuel import plugins
from fuel.converters import all_converters
from fuel.downloaders import all_downloaders


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


@KINDS
def test_clash_among_modules(kind, built_in, collect, write_module):
    write_module('one_extra', PAIRS.format(kind=kind, name='one'))
    write_module('two_extra', PAIRS.format(kind=kind, name='one'))
    setattr(fuel.config, f'extra_{kind}', ['one_extra', 'two_extra'])
    with pytest.raises(ValueError, match=r"two_extra.*'one'.*one_extra"):
        collect()


@KINDS
def test_missing_module(kind, built_in, collect):
    setattr(fuel.config, f'extra_{kind}', ['not_there.downloaders'])
    with pytest.raises(ValueError, match=f'not_there.*FUEL_EXTRA_{kind.upper()}.*PYTHONPATH'):
        collect()


@KINDS
@pytest.mark.parametrize(('text', 'message'), [
    ('', 'does not define all_{kind}'), ('all_{kind} = (1,)', 'pairs'),
    ("all_{kind} = (('x', 1),)", 'pairs'), ("all_{kind} = ((1, print),)", 'pairs'),
    ("all_{kind} = 'ab'", 'pairs'), ("all_{kind} = ('x', print)", 'pairs')])
def test_module_without_a_proper_list(kind, built_in, collect, write_module, text, message):
    write_module('odd', text.format(kind=kind))
    setattr(fuel.config, f'extra_{kind}', ['odd'])
    with pytest.raises(ValueError, match=message.format(kind=kind)):
        collect()
