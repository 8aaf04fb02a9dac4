"""Files that make the HDF5 library end the process, or wait for ever."""
from __future__ import annotations

import os
import subprocess
import sys

import h5py
import pytest

from tests.bin import info_files
from tests.bin.commands import environment, fails, run

PROGRAM = '''
import os, signal, sys
from fuel.bin._info.alone import alone
from fuel.exceptions import DataFileError

def crash(path):
    os.kill(os.getpid(), signal.SIGSEGV)

def hang(path):
    os.kill(os.getpid(), signal.SIGALRM)        # as happens after a while

def leave(path):
    os._exit(0)

def fail(path):
    raise ValueError(f'{path} is odd')

def look(path):
    return path, os.getpid() != parent

parent = os.getpid()
try:
    print(alone(globals()[sys.argv[1]], 'x.hdf5'))
except DataFileError as error:
    print(error)
'''


@pytest.mark.parametrize(('what', 'words'), [
    ('look', "('x.hdf5', True)"),
    ('crash', 'x.hdf5: the HDF5 library ended the process (SIGSEGV) when the file was read'),
    ('hang', 'x.hdf5: the HDF5 library gave nothing for 120 s when the file was read'),
    ('leave', 'x.hdf5: the process that read the file ended before it was done'),
    ('fail', 'x.hdf5 is odd')])
def test_process_of_its_own(what, words):
    done = subprocess.run([sys.executable, '-W', 'error', '-c', PROGRAM, what], text=True,
                          capture_output=True, check=True, timeout=60, env=environment())
    assert words in done.stdout
    assert done.stderr == ''


def test_verify_as_a_command(tmp_path):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(count=120))
    done = run('info', '--verify', str(path), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, '')
    assert 'All rows are as they were written.' in done.stdout
    info_files.flip(path, 50)
    done = run('info', '--verify', '--json', str(path), 'missing.hdf5', cwd=tmp_path)
    assert done.returncode == 2
    assert '"sound": false' in done.stdout
    assert 'missing.hdf5: No such file or directory' in done.stderr


def test_pipes_and_devices(tmp_path, capsys):
    os.mkfifo(tmp_path / 'pipe')
    for path in (str(tmp_path / 'pipe'), '/dev/null'):
        for options in ([], ['--verify']):
            line = fails('info', [*options, path], capsys)
            assert f'{path} is not an HDF5 file but a pipe or a device' in line


def test_checksums_that_are_damaged_are_not_compared(tmp_path, capsys):
    from fuel.bin.fuel_info import main
    one, other = (info_files.write(tmp_path / name, *info_files.arrays(count=120))
                  for name in ('one.hdf5', 'other.hdf5'))
    with h5py.File(other, 'a') as h5file:
        del h5file['fuel_provenance/checksums/features_stops']
        h5file['fuel_provenance/checksums/features_stops'] = [[1.5]]
    main(['--compare', str(one), str(other)])
    assert 'The data are the same' in capsys.readouterr().out
