"""The configuration: where settings come from, which wins, and what is wrong with a file."""
import copy
import os
import pickle
import subprocess
import sys

import numpy
import pytest

import fuel
from fuel.config_parser import Configuration, config, default_data_path
from fuel.exceptions import ConfigurationError
from fuel.schemes import ShuffledScheme

DEFAULTS = {'local_data_path': '', 'local_data_limit': 0.9, 'default_seed': 1,
            'extra_downloaders': [], 'extra_converters': [], 'floatX': 'float64'}


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """A configuration of its own, like that of the library, without file and variables."""
    for key in config.config:
        monkeypatch.delenv(f'FUEL_{key.upper()}', raising=False)
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.delenv('FUEL_CONFIG', raising=False)
    fresh = Configuration()
    for key, entry in config.config.items():
        fresh.add_config(key, entry['type'], entry['default'], entry['env_var'])
    return fresh


@pytest.fixture
def rc_file(tmp_path, settings):
    """Writes a file and reads it into the configuration."""
    def write(text):
        path = tmp_path / '.fuelrc'
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        settings.load_yaml()
    return write


def in_new_process(program, home, **variables):
    """What a program prints, run without any configuration but the given one."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith('FUEL_')}
    return subprocess.run([sys.executable, '-c', f'import fuel\n{program}'], text=True,
                          capture_output=True, cwd=os.path.dirname(os.path.dirname(__file__)),
                          env={**environment, 'HOME': str(home), **variables}, check=False)


# Defaults

def test_every_setting_has_a_default(settings):
    assert {key: getattr(settings, key) for key in DEFAULTS} == DEFAULTS
    assert set(settings.config) == {*DEFAULTS, 'data_path', 'num_threads', 'chunk_cache_bytes'}
    assert 1 <= settings.num_threads <= 4
    assert settings.chunk_cache_bytes > 0


@pytest.mark.parametrize(('given', 'count'), [
    (0, 0), (1000, 1000), ('1000', 1000), ('2 GB', 2 * 10 ** 9), ('1.5MiB', 3 * 2 ** 19),
    (' 4 kB ', 4000)])
def test_amounts_of_memory_may_have_units(settings, given, count):
    settings.chunk_cache_bytes = given
    assert settings.chunk_cache_bytes == count


@pytest.mark.parametrize('wrong', [True, -1, '2 gb', '1e9', 'much', None, 1.5e300])
def test_other_amounts_of_memory_are_refused(settings, wrong):
    settings.chunk_cache_bytes = wrong
    with pytest.raises(ValueError, match="chunk_cache_bytes.*number of bytes.*'2 GB'"):
        settings.chunk_cache_bytes


@pytest.mark.parametrize(('given', 'limit'), [
    (0.5, 0.5), ('0.5', 0.5), ('50%', 0.5), (' 12.5 % ', 0.125), (1.0, 1.0), ('1.', None),
    ('100 %', 1.0), ('.25', 0.25), (1000, 1000), ('1000', 1000), ('1', 1), ('1.5 kB', 1500),
    ('200 GB', 200 * 10 ** 9), (0, 0)])
def test_parts_of_a_disk_and_amounts_of_it(settings, given, limit):
    settings.local_data_limit = given
    if limit is None:
        with pytest.raises(ValueError, match='part of the disk'):
            settings.local_data_limit
    else:
        assert settings.local_data_limit == limit
        assert type(settings.local_data_limit) is type(limit)


@pytest.mark.parametrize('wrong', [True, -1, 1.5, '1.5', '0.0', '0%', '101 %', '5 gb', 'all', None])
def test_other_limits_of_a_disk_are_refused(settings, wrong):
    settings.local_data_limit = wrong
    with pytest.raises(ValueError, match="local_data_limit.*part of the disk.*'80 %'.*'200 GB'"):
        settings.local_data_limit


@pytest.mark.parametrize('wrong', [True, -1, 65, 1.5, 'two', None])
def test_numbers_of_threads_are_checked(settings, wrong):
    settings.num_threads = wrong
    with pytest.raises(ValueError, match='num_threads.*from 0 to 64'):
        settings.num_threads


def test_the_data_path_defaults_to_a_folder_of_the_user(settings, tmp_path, monkeypatch):
    monkeypatch.delenv('XDG_DATA_HOME', raising=False)
    monkeypatch.setattr(sys, 'platform', 'linux')
    assert settings.data_path == [str(tmp_path / '.local' / 'share' / 'fuel')]
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    assert settings.data_path == default_data_path() == [str(tmp_path / 'data' / 'fuel')]
    monkeypatch.setattr(sys, 'platform', 'darwin')
    assert settings.data_path == [str(tmp_path / 'Library' / 'Application Support' / 'fuel')]
    monkeypatch.setattr(sys, 'platform', 'win32')
    monkeypatch.setenv('LOCALAPPDATA', str(tmp_path / 'local'))
    assert settings.data_path == [str(tmp_path / 'local' / 'fuel')]


def test_defaults_in_a_new_process_without_any_configuration(tmp_path):
    result = in_new_process('print(fuel.config.floatX, fuel.config.default_seed,\n'
                            '      hasattr(fuel.config, "data_path"), len(fuel.config.data_path))',
                            tmp_path)
    assert (result.stdout, result.stderr) == ('float64 1 True 1\n', '')


def test_lists_are_the_callers_to_change(settings):
    for key in ('extra_downloaders', 'data_path'):
        before = getattr(settings, key)
        getattr(settings, key).append('more')
        assert getattr(settings, key) == before
    settings.extra_converters = modules = ['one']
    settings.extra_converters.append('two')
    assert settings.extra_converters == modules == ['one']


# Precedence

@pytest.mark.parametrize(('key', 'in_file', 'in_variable', 'from_file', 'from_variable'), [
    ('data_path', '/a', '/b', ['/a'], ['/b']),
    ('local_data_path', '/a', '/b', '/a', '/b'),
    ('default_seed', '5', '6', 5, 6),
    ('extra_downloaders', 'a.b c', 'd', ['a.b', 'c'], ['d']),
    ('extra_converters', '[a.b, c]', 'd e', ['a.b', 'c'], ['d', 'e']),
    ('floatX', 'float32', 'float16', 'float32', 'float16')])
def test_assignment_beats_variable_beats_file_beats_default(
        settings, rc_file, monkeypatch, key, in_file, in_variable, from_file, from_variable):
    default = getattr(settings, key)
    rc_file(f'{key}: {in_file}\n')
    assert getattr(settings, key) == from_file != default
    monkeypatch.setenv(f'FUEL_{key.upper()}', in_variable)
    assert getattr(settings, key) == from_variable
    setattr(settings, key, default)
    assert getattr(settings, key) == default
    monkeypatch.delenv(f'FUEL_{key.upper()}')
    assert getattr(settings, key) == default
    del settings.config[key]['value']
    assert getattr(settings, key) == from_file
    del settings.config[key]['yaml']
    assert getattr(settings, key) == default


def test_file_and_variables_in_a_new_process(tmp_path):
    (tmp_path / '.fuelrc').write_text('default_seed: 5\nfloatX: float32\ndata_path: /x:/y\n')
    program = 'print(fuel.config.default_seed, fuel.config.floatX, fuel.config.data_path)'
    assert in_new_process(program, tmp_path).stdout == "5 float32 ['/x', '/y']\n"
    assert in_new_process(program, tmp_path, FUEL_DEFAULT_SEED='7', FUEL_FLOATX='float16',
                          FUEL_DATA_PATH='/z').stdout == "7 float16 ['/z']\n"
    other = tmp_path / 'other.yaml'
    other.write_text('default_seed: 9\n')
    assert in_new_process(program, tmp_path, FUEL_CONFIG=str(other),
                          FUEL_DATA_PATH='').stdout == "9 float64 ['']\n"
    assert in_new_process(program, tmp_path, FUEL_CONFIG='~/other.yaml',
                          FUEL_DATA_PATH='').stdout == "9 float64 ['']\n"


@pytest.mark.parametrize('path', ['/nowhere/at/all', '~'])
def test_a_file_that_is_none_is_ignored(settings, monkeypatch, path):
    monkeypatch.setenv('FUEL_CONFIG', path)
    settings.load_yaml()
    assert settings.default_seed == 1


def test_variables_are_read_each_time(settings, monkeypatch):
    for seed in (3, 4):
        monkeypatch.setenv('FUEL_DEFAULT_SEED', str(seed))
        assert settings.default_seed == seed


# Forms that programs use

def test_data_paths_in_one_string_or_a_list(settings, monkeypatch, tmp_path):
    settings.data_path = 'folder'
    assert settings.data_path == ['folder']
    assert settings.data_path[0] == 'folder'
    settings.data_path = os.pathsep.join(['a', 'b'])
    assert settings.data_path == ['a', 'b']
    settings.data_path = ['a', tmp_path]
    assert settings.data_path == ['a', str(tmp_path)]
    settings.data_path = tmp_path
    assert settings.data_path == [str(tmp_path)]
    settings.data_path = ('a:b',)  # a list is passed through as it is
    assert settings.data_path == ['a:b']
    del settings.config['data_path']['value']
    monkeypatch.setenv('FUEL_DATA_PATH', '')
    assert settings.data_path == ['']


def test_settings_can_be_read_and_changed_by_origin(settings, rc_file):
    rc_file('data_path: /a:/b\n')
    assert settings.config['data_path']['yaml'] == '/a:/b'
    settings.config['data_path']['yaml'] = '/c'
    assert settings.data_path == ['/c']
    settings.config['local_data_path']['yaml'] = '/d'
    assert settings.local_data_path == '/d'


def test_a_seed_assigned_before_a_scheme_is_made_is_its_seed():
    fuel.config.default_seed = 123
    batches = list(ShuffledScheme(8, 4).get_request_iterator())
    expected = list(range(8))
    numpy.random.RandomState(123).shuffle(expected)
    assert [list(batch) for batch in batches] == [expected[:4], expected[4:]]


def test_settings_of_other_programs(settings, monkeypatch):
    settings.add_config('depth', int)
    settings.add_config('width', int, env_var='MY_WIDTH')
    settings.add_config('height', int, '3')
    assert settings.height == 3
    settings.depth = '5'
    assert settings.depth == 5
    with pytest.raises(ConfigurationError, match=r'width.*MY_WIDTH'):
        _ = settings.width
    monkeypatch.setenv('MY_WIDTH', '4')
    assert settings.width == 4
    assert {'depth', 'width', 'height', 'add_config'} <= set(dir(settings))


def test_the_converter_runs_on_every_read(settings):
    calls = []
    settings.add_config('depth', lambda value: calls.append(value) or value, 3)
    assert (settings.depth, settings.depth) == (3, 3)
    assert calls == [3, 3]


# Reading what is not there

def test_unset_settings_and_unknown_names_are_attribute_errors(settings):
    settings.add_config('depth', int)
    assert not hasattr(settings, 'depth')
    assert not hasattr(settings, 'unheard_of')
    assert getattr(settings, 'depth', 7) == 7
    with pytest.raises(ConfigurationError, match=r'depth.*~/\.fuelrc.*fuel\.config\.depth'):
        _ = settings.depth
    with pytest.raises(AttributeError, match='unheard_of'):
        _ = settings.unheard_of
    assert all(hasattr(config, key) for key in config.config)


def test_an_unknown_name_can_be_assigned(settings):
    settings.unheard_of = 3
    assert settings.unheard_of == 3
    assert 'unheard_of' not in settings.config


def test_configurations_can_be_copied_and_pickled(settings):
    settings.default_seed = 9
    for other in (copy.copy(settings), copy.deepcopy(settings),
                  pickle.loads(pickle.dumps(settings))):
        assert other.default_seed == 9
        assert other.floatX == 'float64'


# What is wrong with a value or a file

@pytest.mark.parametrize('content', ['', '\n', '# nothing\n', '---\n', 'null\n', '\ufeff'])
def test_an_empty_file_says_nothing(settings, rc_file, content):
    rc_file(content)
    assert settings.default_seed == 1


def test_an_empty_file_does_not_break_the_import(tmp_path):
    (tmp_path / '.fuelrc').touch()
    result = in_new_process('print(fuel.config.default_seed)', tmp_path)
    assert (result.stdout, result.stderr) == ('1\n', '')


def test_files_with_a_byte_order_mark_and_any_line_ends(settings, rc_file):
    rc_file(b'\xef\xbb\xbfdefault_seed: 4\r\nlocal_data_path: "\xc3\xa9"\r\n')
    assert (settings.default_seed, settings.local_data_path) == (4, 'é')


@pytest.mark.parametrize(('content', 'line', 'message'), [
    ('# x\ndata_pth: /a\n', 2, "no setting 'data_pth'.*data_path, default_seed"),
    ('default_seed: 1\n3: x\n', 2, 'no setting 3'),
    ('default_seed: 1\nyes: x\n', 2, 'no setting True'),
    ('default_seed: 1\n? [a]\n: x\n', 2, r"no setting \['a'\]"),
    ('floatX: float32\ndefault_seed: many\n', 2, "default_seed: expected an integer.*'many'"),
    ('default_seed: 2.5\n', 1, 'default_seed: expected an integer.*2.5'),
    ('default_seed: true\n', 1, 'default_seed: expected an integer.*True'),
    ('default_seed: -1\n', 1, 'default_seed: expected an integer from 0.*-1'),
    ('default_seed: .inf\n', 1, 'default_seed: expected an integer.*inf'),
    ('default_seed:\n', 1, 'default_seed: expected an integer.*None'),
    ('\n\nfloatX: int32\n', 3, "floatX: expected 'float16', 'float32' or 'float64'; got 'int32'"),
    ('floatX: 32\n', 1, 'floatX: expected'),
    ('data_path: 3\n', 1, 'data_path: expected a string of directories'),
    ('data_path:\n  - /a\n  - 3\n', 1, 'data_path: expected a string of directories'),
    ('local_data_path: [a]\n', 1, 'local_data_path: expected a string'),
    ('extra_converters: {a: b}\n', 1, 'extra_converters: expected a list of module names'),
    ('floatX: float32\nfloatX: [\n', 3, 'not valid YAML'),
    ('default_seed: 1\n\tfloatX: float32\n', 2, 'not valid YAML'),
    ('default_seed: 1\nfloatX: !!python/name:os.system\n', 2, 'not valid YAML'),
    ('default_seed: 1\ndata_path: 2001-99-99\n', 2, 'not valid YAML: month'),
    ('default_seed: 1\nfloatX: \x01\n', 2, 'not valid YAML: special characters'),
    (b'default_seed: 1\nfloatX: \xe9\n', 2, 'not text in UTF-8'),
    ('- default_seed\n- 1\n', 1, "expected settings in the form 'key: value'; got a list"),
    ('# x\ndefault_seed=1\n', 2, "in the form 'key: value'; got 'default_seed=1'"),
])
def test_errors_name_file_line_and_key(rc_file, tmp_path, content, line, message):
    with pytest.raises(ValueError, match=f'line {line}: .*{message}') as caught:
        rc_file(content)
    assert str(caught.value).startswith(f'{tmp_path / ".fuelrc"}, line ')
    assert isinstance(caught.value, ConfigurationError)


def test_an_import_with_a_wrong_file_ends_in_the_error(tmp_path):
    other = tmp_path / 'settings.yaml'
    other.write_text('floatX: float32\ndefault_sed: 3\n')
    result = in_new_process('print("not reached")', tmp_path, FUEL_CONFIG=str(other))
    assert result.returncode == 1
    assert result.stdout == ''
    assert f"{other}, line 2: there is no setting 'default_sed'" in result.stderr.splitlines()[-1]


def test_wrong_values_of_variables_and_assignments_name_their_origin(settings, monkeypatch):
    monkeypatch.setenv('FUEL_DEFAULT_SEED', 'many')
    message = r"'default_seed', from .*FUEL_DEFAULT_SEED: .*'many'"
    with pytest.raises(ConfigurationError, match=message):
        _ = settings.default_seed
    settings.default_seed = 1.5
    with pytest.raises(ValueError, match=r"'default_seed', from an assignment: .*1.5"):
        _ = settings.default_seed
    settings.default_seed = numpy.int64(5)
    assert settings.default_seed == 5
    assert type(settings.default_seed) is int


def test_the_program_goes_on_after_a_wrong_variable_that_is_not_used(tmp_path):
    result = in_new_process('print(fuel.config.floatX)', tmp_path, FUEL_DEFAULT_SEED='many')
    assert (result.stdout, result.stderr) == ('float64\n', '')
