"""Conversions that are killed, interrupted, or fail in the middle."""
from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys

import h5py
import numpy
import pytest

import fuel
from fuel.bin.fuel_convert import main
from fuel.utils import atomic
from tests.bin.commands import environment, fails, run
from tests.raw import dogs_vs_cats
from tests.test_plugins import write_module  # noqa: F401
from tests.utils.test_atomic import dead_pid

# A converter that stops in the middle of its work until its standard input is closed.
EXTRA = '''
import os
import sys
import h5py

def convert(directory, output_directory, output_filename='x.hdf5'):
    path = os.path.join(output_directory, output_filename)
    with h5py.File(path, mode='w') as h5file:
        h5file['x'] = list(range(10000))
        h5file.flush()
        {action}
        h5file['y'] = 1
    return (path,)

def fill_subparser(subparser):
    return convert

all_converters = (('extra', fill_subparser),)
'''
WAIT = "print('half', flush=True); sys.stdin.read()"


@pytest.fixture
def converter(write_module, tmp_path, monkeypatch):  # noqa: F811
    """Return a function that makes a converter of the name 'extra'."""
    (tmp_path / 'out').mkdir()
    monkeypatch.chdir(tmp_path / 'out')

    def make(action):
        sys.modules.pop('extra_converters', None)
        write_module('extra_converters', EXTRA.format(action=action))
        # Two versions within a second look the same to the cache of compiled modules.
        monkeypatch.setattr(sys, 'dont_write_bytecode', True)
        fuel.config.extra_converters = ['extra_converters']

    return make


def stopped_in_the_middle(tmp_path, **kwargs):
    """Start a conversion in a process of its own, and return it when it has half done."""
    process = subprocess.Popen(
        [sys.executable, '-c', 'from fuel.bin.fuel_convert import main; main()', 'extra',
         '--force'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(PYTHONPATH=str(tmp_path), FUEL_EXTRA_CONVERTERS='extra_converters',
                        PYTHONDONTWRITEBYTECODE='1'), **kwargs)
    assert process.stdout.readline() == b'half\n'
    return process


def write_old_file():
    with h5py.File('x.hdf5', 'w') as h5file:
        h5file['old'] = 1


def names_in(path='x.hdf5'):
    with h5py.File(path, 'r') as h5file:
        return sorted(h5file)


@pytest.mark.parametrize('old', [False, True])
def test_killed_conversion_leaves_the_old_file_and_the_next_one_sweeps(converter, tmp_path, old):
    converter(WAIT)
    if old:
        write_old_file()
    with stopped_in_the_middle(tmp_path) as process:
        process.kill()
    visible = ['x.hdf5'] if old else []
    assert [name for name in os.listdir('.') if not name.startswith('.')] == visible
    leftover, = (name for name in os.listdir('.') if name.startswith('.fuel-'))
    assert f'-{process.pid}-' in leftover
    assert os.path.getsize(os.path.join(leftover, 'x.hdf5')) > 0
    if old:
        assert names_in() == ['old']
    converter('pass')
    main(['extra', '--force'])
    assert os.listdir('.') == ['x.hdf5']
    assert names_in() == ['x', 'y']


def test_running_conversion_is_not_swept_by_another(converter, tmp_path):
    converter(WAIT)
    with stopped_in_the_middle(tmp_path) as process:
        converter('pass')
        main(['extra', '-r', 'other'])
        assert any(name.startswith('.fuel-') for name in os.listdir('.'))
        process.stdin.close()
        assert process.wait() == 0
    assert sorted(os.listdir('.')) == ['other.hdf5', 'x.hdf5']


def test_ctrl_c(converter, tmp_path):
    converter(WAIT)
    write_old_file()
    with stopped_in_the_middle(tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err.decode() == '\nfuel-convert: interrupted\n'
    assert os.listdir('.') == ['x.hdf5']
    assert names_in() == ['old']


@pytest.mark.parametrize('old', [False, True])
def test_failed_conversion_leaves_the_old_file(converter, capsys, old):
    converter("raise ValueError('Wrong magic number')")
    if old:
        write_old_file()
    line = fails('convert', ['extra', '--force'], capsys)
    assert 'ValueError: Wrong magic number' in line
    assert 'extra_converters.py, line 11' in line
    assert os.listdir('.') == (['x.hdf5'] if old else [])
    if old:
        assert names_in() == ['old']


def test_place_of_an_error_is_in_the_converter_and_not_deeper(converter, capsys):
    converter("h5file['x'].dims[7].label = 'nothing'")
    line = fails('convert', ['extra'], capsys)
    assert 'IndexError' in line
    assert 'extra_converters.py, line 11' in line


def test_leftover_that_belongs_to_a_dead_process(converter):
    leftover = f'.fuel-{atomic._host()}-{dead_pid()}-00000000-x'
    os.mkdir(leftover)
    converter('pass')
    main(['extra'])
    assert os.listdir('.') == ['x.hdf5']


# HDF5 can crash when it closes a file that it could not write, so this runs elsewhere. A limit on
# the size of files makes writes fail as a full disk does.
FULL_DISK = """import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, -1))
        big = h5file.create_dataset('big', (500_000,), dtype='u1', chunks=(1000,))
        big[...] = 1"""


def test_no_space(converter, tmp_path):
    converter(FULL_DISK)
    write_old_file()
    result = run('convert', 'extra', '--force', cwd='.', PYTHONPATH=str(tmp_path),
                 FUEL_EXTRA_CONVERTERS='extra_converters')
    assert result.returncode == 2
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    line, = lines
    assert line.startswith('fuel-convert: error: ')
    assert 'File too large' in line
    assert os.listdir('.') == ['x.hdf5']
    assert names_in() == ['old']


def test_disk_without_enough_room_is_noticed_before(tmp_path, monkeypatch):
    from fuel.converters.base import fill_hdf5_file
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, 'disk_usage', lambda path: usage._replace(free=5000))
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        with pytest.raises(OSError, match=r'8\.0 kB are needed, 5\.0 kB are free') as caught:
            fill_hdf5_file(h5file, [('train', 'x', numpy.zeros((500, 2)))])
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(tmp_path)
        assert not list(h5file)
        fill_hdf5_file(h5file, [('train', 'x', numpy.zeros((300, 2)))])


@pytest.mark.parametrize('number', [errno.ENOSPC, errno.EIO])
def test_failed_sync_leaves_the_old_file(converter, capsys, monkeypatch, number):
    def fail(descriptor):
        raise OSError(number, os.strerror(number))

    converter('pass')
    write_old_file()
    with monkeypatch.context() as patch:
        patch.setattr(os, 'fsync', fail)
        assert os.strerror(number) in fails('convert', ['extra', '--force'], capsys)
    assert os.listdir('.') == ['x.hdf5']
    assert names_in() == ['old']


def test_read_only_folder(converter, capsys, monkeypatch):
    # Permission bits do not stop a test that runs as root, so the refusal is injected.
    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, 'Read-only file system')

    converter('pass')
    monkeypatch.setattr(atomic.tempfile, 'mkdtemp', refuse)
    line = fails('convert', ['extra'], capsys)
    assert os.getcwd() in line
    assert 'cannot write into this folder: Read-only file system' in line
    assert os.listdir('.') == []


def test_folder_in_the_place_of_the_output(converter, capsys):
    converter('pass')
    os.mkdir('x.hdf5')
    for options in ([], ['--force']):
        assert 'x.hdf5' in fails('convert', ['extra', *options], capsys)
        assert os.listdir('.') == ['x.hdf5']


def test_converter_called_from_python_writes_elsewhere_first(tmp_path, monkeypatch):
    from fuel.converters import iris
    raw = os.path.join(os.path.dirname(fuel.__file__), 'downloaders', 'bundled')
    (tmp_path / 'iris.hdf5').write_bytes(b'old')

    def fail(h5file, data, **options):
        h5file['half'] = numpy.zeros(1000)
        raise RuntimeError('in the middle')

    monkeypatch.setattr(iris, 'fill_hdf5_file', fail)
    with pytest.raises(RuntimeError, match='in the middle'):
        iris.convert_iris(raw, str(tmp_path))
    assert os.listdir(tmp_path) == ['iris.hdf5']
    assert (tmp_path / 'iris.hdf5').read_bytes() == b'old'


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_signals_that_ask_for_the_end(converter, tmp_path, number):
    converter(WAIT)
    write_old_file()
    with stopped_in_the_middle(tmp_path) as process:
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == 128 + number
    assert err.decode() == f'fuel-convert: ended by {number.name}\n'
    assert os.listdir('.') == ['x.hdf5']
    assert names_in() == ['old']


def test_file_of_another_process_that_was_quicker_is_kept(converter, capsys):
    converter("open(os.path.join(directory, 'x.hdf5'), 'w').close()")
    assert 'x.hdf5 is there already; give --force' in fails('convert', ['extra'], capsys)
    assert os.listdir('.') == ['x.hdf5']
    assert os.path.getsize('x.hdf5') == 0


@pytest.mark.parametrize('number', [errno.EPERM, errno.EOPNOTSUPP])
def test_file_system_without_links(converter, capsys, monkeypatch, number):
    def refuse(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, 'link', refuse)
    converter('pass')
    main(['extra'])
    assert names_in() == ['x', 'y']
    assert 'is there already' in fails('convert', ['extra'], capsys)
    assert os.listdir('.') == ['x.hdf5']


def test_limit_for_the_size_of_files_with_examples_of_different_shapes(tmp_path):
    # HDF5 would end the process.
    (tmp_path / 'raw').mkdir()
    (tmp_path / 'out').mkdir()
    dogs_vs_cats.write(tmp_path / 'raw')
    code = ('import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, -1)); '
            'from fuel.bin.fuel_convert import main; main()')
    for options in ([], ['--layout', 'ragged']):
        result = subprocess.run([sys.executable, '-c', code, 'dogs_vs_cats', '-d', '../raw',
                                 *options], cwd=tmp_path / 'out', env=environment(), text=True,
                                capture_output=True, check=False, timeout=60)
        assert result.returncode == 2, result.stderr
        line = result.stderr.splitlines()[-1]
        assert 'File too large' in line
        assert '.fuel-' not in line
        assert '--traceback' not in line
        assert os.listdir(tmp_path / 'out') == []
