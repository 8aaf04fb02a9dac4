"""Twenty thousand small pictures: memory, and the time it takes."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.bin.commands import environment
from tests.converters.imagenet_expected import expected, stored
from tests.raw import ilsvrc2012

LIMIT = 250     # MB above the interpreter with h5py
PROGRAM = '''
import sys
def most():
    with open('/proc/self/status') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('VmHWM')) // 1024
import h5py
before = most()
from fuel.bin.fuel_convert import main
main(sys.argv[1:])
print(most() - before)
'''


@pytest.fixture(scope='module')
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp('many')
    ilsvrc2012.write(folder, classes=1000, images=18, valid=1000, test=1000)
    return folder


@pytest.mark.parametrize('options', [[], ['--layout', 'ragged']], ids=['vlen', 'ragged'])
def test_twenty_thousand_pictures(many, tmp_path, options):
    command = [sys.executable, '-c', PROGRAM, 'ilsvrc2012', '-d', str(many), '-o', str(tmp_path),
               *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=environment(), timeout=120)
    assert done.returncode == 0, done.stderr
    assert 'Converting ilsvrc2012: done, 20000 examples' in done.stdout
    # Of a million pictures, what is kept of each takes about 100 bytes: this is far below.
    assert int(done.stdout.split()[-1]) < LIMIT / 2
    path = os.path.join(tmp_path, 'ilsvrc2012.hdf5')
    assert stored(path) == expected(many, 2012)
