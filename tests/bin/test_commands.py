"""What the three commands have in common."""
from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from importlib import import_module

import pytest

import fuel
from fuel.bin import _common
from tests.bin.commands import CHECKOUT, environment, fails, run

COMMANDS = ('download', 'convert', 'info')


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize('flag', ['-h', '--help'])
def test_help(command, flag, capsys):
    with pytest.raises(SystemExit) as caught:
        import_module(f'fuel.bin.fuel_{command}').main([flag])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f'usage: fuel-{command} ')
    if command != 'info':
        assert 'iris' in text


@pytest.mark.parametrize(('command', 'options'), [
    ('download', ['-d', '--directory', '--clear']),
    ('convert', ['-d', '--directory', '-o', '--output-directory', '-r', '--output-filename'])])
def test_help_of_a_data_set(command, options, capsys):
    with pytest.raises(SystemExit) as caught:
        import_module(f'fuel.bin.fuel_{command}').main(['iris', '-h'])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f'usage: fuel-{command} iris ')
    for option in options:
        assert f'{option} ' in text
    assert 'SUPPRESS' not in text


@pytest.mark.parametrize('command', COMMANDS)
def test_missing_argument_is_one_line(command, capsys):
    assert 'required' in fails(command, [], capsys)


@pytest.mark.parametrize('command', ['download', 'convert'])
def test_unknown_data_set_is_one_line(command, capsys):
    line = fails(command, ['no_such_set'], capsys)
    assert 'no_such_set' in line
    assert 'iris' in line


@pytest.mark.parametrize('command', ['download', 'convert'])
@pytest.mark.parametrize(('name', 'meant'), [
    ('mnits', "'mnist'"), ('CIFAR-10', "'cifar10' or 'cifar100'"), ('ilsvrc', "'ilsvrc2012'")])
def test_name_that_is_nearly_one(command, name, meant, capsys):
    line = fails(command, [name], capsys)
    assert f'invalid choice: {name!r}; did you mean' in line
    assert meant in line
    assert line.endswith(f'(see fuel-{command} -h)')
    assert 'iris' not in line


@pytest.mark.parametrize('command', ['download', 'convert'])
def test_unknown_option_is_one_line(command, capsys):
    line = fails(command, ['iris', '--nonsense', '-Q', 'x'], capsys)
    assert line.endswith(f'unrecognized arguments: --nonsense -Q x (see fuel-{command} iris -h)')


@pytest.mark.parametrize('command', COMMANDS)
def test_version(command, capsys):
    with pytest.raises(SystemExit) as caught:
        import_module(f'fuel.bin.fuel_{command}').main(['--version'])
    assert caught.value.code == 0
    assert capsys.readouterr() == (f'fuel-{command} {fuel.__version__}\n', '')


@pytest.mark.parametrize(('name', 'output'), [
    ('iris', 'iris.hdf5'), ('mnist', 'mnist.hdf5'),
    ('celeba', 'celeba_aligned_cropped.hdf5 or celeba_64.hdf5'),
    ('svhn', 'svhn_format_1.hdf5 or svhn_format_2.hdf5'), ('youtube_audio', 'ID.hdf5'),
    ('one_billion_word', 'one_billion_word.hdf5')])
def test_help_names_the_file_that_will_be_made(name, output, capsys):
    with pytest.raises(SystemExit):
        import_module('fuel.bin.fuel_convert').main([name, '-h'])
    assert capsys.readouterr().out.splitlines()[-1] == f'output: {output}'


def test_missing_format_is_called_so(capsys):
    with pytest.raises(SystemExit):
        import_module('fuel.bin.fuel_convert').main(['celeba'])
    assert 'required: FORMAT (see fuel-convert celeba -h)' in capsys.readouterr().err


@pytest.mark.parametrize('command', COMMANDS)
def test_scripts_of_a_checkout(command, tmp_path):
    script = os.path.join(CHECKOUT, 'bin', f'fuel-{command}')
    assert os.access(script, os.X_OK)
    result = subprocess.run([sys.executable, script, '-h'], cwd=tmp_path, capture_output=True,
                            text=True, check=True, timeout=60)
    assert result.stdout.startswith(f'usage: fuel-{command} ')


@pytest.mark.parametrize('command', COMMANDS)
def test_modules_can_be_run(command, tmp_path):
    result = subprocess.run([sys.executable, '-m', f'fuel.bin.fuel_{command}'], cwd=tmp_path,
                            env=environment(), capture_output=True, text=True, check=False,
                            timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith(f'fuel-{command}: error: ')


@pytest.mark.parametrize('command', ['download', 'convert'])
def test_help_loads_no_heavy_library(command, tmp_path):
    code = (f'import sys; from fuel.bin.fuel_{command} import main\n'
            'try:\n    main(["-h"])\nexcept SystemExit:\n    pass\n'
            'heavy = {"h5py", "tables", "zmq", "PIL", "scipy", "requests", "tqdm"}\n'
            'assert not heavy & set(sys.modules), heavy & set(sys.modules)')
    subprocess.run([sys.executable, '-c', code], cwd=tmp_path, env=environment(), check=True,
                   stdout=subprocess.DEVNULL, timeout=60)


def test_logging_is_left_as_it_was(tmp_path, monkeypatch):
    from fuel.bin.fuel_download import main
    logger = logging.getLogger('fuel')
    before = (list(logger.handlers), logger.level, logger.propagate,
              list(logging.getLogger().handlers), warnings.showwarning)
    main(['iris', '-d', str(tmp_path), '--clear'])
    with pytest.raises(SystemExit):
        main(['nonsense'])
    assert before == (list(logger.handlers), logger.level, logger.propagate,
                      list(logging.getLogger().handlers), warnings.showwarning)


def test_messages_go_to_the_stream_that_fits(capsys):
    logger = logging.getLogger('fuel.some.module')
    with _common.reporting('fuel-x', []):
        logger.debug('unheard')
        logger.info('an item %d', 1)
        logger.warning('a doubt')
    assert capsys.readouterr() == ('an item 1\n', 'warning: a doubt\n')


def test_warnings_are_one_line(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter('always')
        with _common.reporting('fuel-x', []):
            warnings.warn('something\nodd', UserWarning, stacklevel=1)
    assert capsys.readouterr().err == 'warning: something odd\n'


@pytest.mark.parametrize(('error', 'line'), [
    (FileNotFoundError(2, 'No such file or directory', '/x/y'),
     '/x/y: No such file or directory'),
    (OSError(28, 'No space left on device'), 'No space left on device'),
    (OSError('several\n   lines'), 'several lines'),
    (PermissionError(13, 'Permission denied', b'/x'), '/x: Permission denied'),
    (UnicodeDecodeError('ascii', b'\xe9', 0, 1, 'bad'), 'UnicodeDecodeError: '),
    (MemoryError(), 'MemoryError: ')])
def test_every_error_is_told_in_one_line(capsys, error, line):
    with pytest.raises(SystemExit) as caught, _common.reporting('fuel-x', []):
        raise error
    assert caught.value.code == 2
    printed, = capsys.readouterr().err.splitlines()
    assert printed.startswith(f'fuel-x: error: {line}')


def test_traceback_on_demand(capsys):
    with pytest.raises(SystemExit) as caught, _common.reporting('fuel-x', ['--traceback']):
        raise KeyError('x')
    assert caught.value.code == 2
    text = capsys.readouterr().err
    assert text.startswith('Traceback')
    assert text.splitlines()[-1].startswith('fuel-x: error: KeyError')
    with pytest.raises(SystemExit), _common.reporting('fuel-x', []):
        raise KeyError('x')
    assert os.path.basename(__file__) in capsys.readouterr().err  # where it was raised


def test_ctrl_c(capsys):
    with pytest.raises(SystemExit) as caught, _common.reporting('fuel-x', []):
        raise KeyboardInterrupt
    assert caught.value.code == 130
    assert capsys.readouterr().err == '\nfuel-x: interrupted\n'


def test_reader_that_goes_away(tmp_path):
    command = f'{sys.executable} -c "from fuel.bin.fuel_download import main; main()"'
    pipeline = f'{command} iris --clear | true; exit ${{PIPESTATUS[0]}}'
    result = subprocess.run(['bash', '-c', pipeline], cwd=tmp_path, env=environment(),
                            capture_output=True, text=True, check=False, timeout=60)
    assert result.stderr == ''
    assert result.returncode in (0, 1)


def test_console_script_form(tmp_path):
    result = run('download', 'iris', '--clear', cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == f'{tmp_path / "iris.data"} is not there\n'


@pytest.mark.parametrize('command', ['convert', 'download', 'info'])
def test_faulty_configuration_file_is_one_line(command, tmp_path):
    (tmp_path / 'fuelrc').write_text('floatX: float32\ndata_paht: /x\n')
    result = run(command, '-h', cwd=tmp_path, FUEL_CONFIG=str(tmp_path / 'fuelrc'))
    assert result.returncode == 2
    line, = result.stderr.splitlines()
    assert line.startswith(f"fuel-{command}: error: {tmp_path / 'fuelrc'}, line 2: there is no "
                           "setting 'data_paht'")
