"""Conversions that are killed at any moment: the old file or none, and nothing is left behind.

The moments are calls and returns of functions, which are counted in a whole run first. So they are
at any place of the work, however fast the machine is.
"""
from __future__ import annotations

import importlib
import os
import random
import shutil
import subprocess
import sys

import h5py
import pytest

from tests.bin.commands import environment

MOMENTS = 20

# Counts calls and returns, and kills the process at one of them.
PROGRAM = '''
import os, signal, sys, threading

moment, count = int(sys.argv[1]), 0

def watch(frame, event, argument):
    global count
    count += 1
    if count == moment:
        os.kill(os.getpid(), signal.SIGKILL)

from fuel.bin.fuel_convert import main
sys.setprofile(watch)
try:
    main(sys.argv[2:])
finally:
    sys.setprofile(None)
print(count)
'''

CASES = {'mnist': ['mnist'], 'cifar10': ['cifar10'], 'dogs_vs_cats': ['dogs_vs_cats'],
         'ilsvrc2012': ['ilsvrc2012']}


@pytest.fixture(params=sorted(CASES))
def case(request, tmp_path):
    (tmp_path / 'raw').mkdir()
    (tmp_path / 'out').mkdir()
    importlib.import_module(f'tests.raw.{request.param}').write(tmp_path / 'raw')
    return [*CASES[request.param], '-d', '../raw'], f'{request.param}.hdf5', tmp_path / 'out'


def convert(arguments, folder, moment=-1):
    return subprocess.run([sys.executable, '-c', PROGRAM, str(moment), *arguments], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=120,
                          env=environment(SOURCE_DATE_EPOCH='0'))


def test_killed_at_any_moment(case):
    arguments, name, folder = case
    arguments = [*arguments, '--force']
    done = convert(arguments, folder)
    assert done.returncode == 0, done.stderr
    count = int(done.stdout.splitlines()[-1])
    finished = (folder / name).read_bytes()
    rng = random.Random(name)
    for old in (False, True):
        shutil.rmtree(folder)
        folder.mkdir()
        if old:
            with h5py.File(folder / name, 'w') as h5file:
                h5file['old'] = 1
            before = (folder / name).read_bytes()
        for _ in range(MOMENTS // 2):
            killed = convert(arguments, folder, rng.randint(1, count))
            assert killed.returncode == -9, killed.stderr
            visible = [entry for entry in os.listdir(folder) if not entry.startswith('.fuel-')]
            if not old:
                # It may have been killed after the file had got its name.
                assert visible in ([], [name])
                if visible:
                    assert (folder / name).read_bytes() == finished
                    os.remove(folder / name)
            else:
                assert visible == [name]
                assert (folder / name).read_bytes() in (before, finished)
    done = convert(arguments, folder)
    assert done.returncode == 0, done.stderr
    assert os.listdir(folder) == [name]
    assert (folder / name).read_bytes() == finished
