"""Files for the local cache, and programs that use it in processes of their own."""
from __future__ import annotations

import json
import os
import subprocess
import sys

from fuel.utils import cache
from tests.bin.commands import environment

ASK = '''
import json, logging, sys
from fuel.utils import _copies, cache

class Count(logging.Handler):
    seen = []
    def emit(self, record):
        self.seen.append(record.getMessage())

logging.getLogger("fuel").addHandler(Count())
logging.getLogger("fuel").setLevel("INFO")
_copies._BLOCK = 4096
print("ready", flush=True)
for line in sys.stdin:
    place = cache.cache_file(line.strip())
    with open(place, "rb") as stream:
        content = stream.read()
    print(json.dumps([place, len(content), Count.seen]), flush=True)
'''

STOP_MIDWAY = '''
import sys
from fuel.utils import _copies, cache

def stop(lock_file):
    print("midway", flush=True)
    sys.stdin.readline()

_copies._BLOCK, _copies._SIGN_OF_LIFE, _copies.refresh_lock = 4096, -1, stop
print(cache.cache_file(sys.argv[1]), flush=True)
'''


class Program:
    """A program that is spoken with line by line."""

    def __init__(self, code, *args, **variables):
        self.process = subprocess.Popen(
            [sys.executable, '-W', 'error', '-c', code, *map(str, args)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(**variables))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def say(self, line=''):
        self.process.stdin.write(f'{line}\n')
        self.process.stdin.flush()

    def line(self):
        line = self.process.stdout.readline().strip()
        assert line, self.process.stderr.read()
        return line

    def answer(self):
        return json.loads(self.line())


def files_in(folder):
    """Return the names of the files in a folder for copies, without those of the locks."""
    return sorted(name for name in os.listdir(folder) if name != '.fuel-locks')


def write(path, content=b'content', when=None):
    """Write a file, perhaps with a date; return its path as a string."""
    path.write_bytes(content)
    if when is not None:
        os.utime(path, (when, when))
    return str(path)


def unused():
    """Forget which copies this process uses."""
    for known in cache._files._known.values():
        known.forget()
    cache._files._known.clear()
