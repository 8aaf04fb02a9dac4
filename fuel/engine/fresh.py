"""Workers that are fresh interpreters, which never run the user's script."""
from __future__ import annotations

import functools
import marshal
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

from fuel.engine.channel import Channel
from fuel.engine.hatching import Hatched, Nest
from fuel.engine.launch import Station

__all__ = ['FreshLauncher', 'has_nests']

# What numeric libraries take from the environment when they are imported: where several workers
# share the cores, threads of each of them only get in each other's way.
_ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1',
               'VECLIB_MAXIMUM_THREADS': '1', 'NUMEXPR_NUM_THREADS': '1'}
# They would make a worker wait for input when it is done, or end at once.
_UNWANTED = ('PYTHONINSPECT', 'PYTHONSTARTUP')

# What a nest imports if the program has: most workers need it, and it is safe to fork afterwards.
_SAFE = ('cloudpickle', 'h5py', 'PIL.Image', 'simplejpeg')
_FLOORS = ('fuel.datasets', 'fuel.engine', 'fuel.iterator', 'fuel.schemes', 'fuel.storage',
           'fuel.streams', 'fuel.transformers', 'fuel.utils')

# All that can be done before sys.path is that of the parent. A worker whose imports fail says so.
_PROGRAM = '''
import marshal, os, sys
def receive(size):
    content = b''
    while len(content) < size:
        piece = os.read(control, size - len(content))
        if not piece:
            os._exit(0)
        content += piece
    return content
control = int(sys.argv[1])
given = marshal.loads(receive(int.from_bytes(receive(8), 'little')))
sys.path[:], sys.argv[:] = given['path'], given['argv']
try:
    from fuel.engine import worker
except BaseException as error:
    try:
        import traceback
        text = traceback.format_exc().encode('utf-8', 'replace')
    except ImportError:
        text = repr(error).encode('utf-8', 'replace')
    os.write(control, b'\\6' + bytes(8) + len(text).to_bytes(8, 'little') + text)
    os._exit(1)
worker.main_of_fresh(given)
'''


class Fresh:
    """A fresh interpreter.

    Parameters
    ----------
    process : Popen
        The interpreter.
    """

    failure = ''

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid
        self.sentinel = -1
        if hasattr(os, 'pidfd_open'):
            with suppress(OSError):  # an old kernel
                self.sentinel = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        return self._process.poll()

    def send_signal(self, number: int) -> None:
        # It looks first whether the process has ended, and nobody else can reap it meanwhile.
        self._process.send_signal(number)

    def abandon(self) -> None:
        pass

    def forget(self) -> None:
        self._process.returncode = 0
        self.close()

    def close(self) -> None:
        if self.sentinel >= 0:
            os.close(self.sentinel)
            self.sentinel = -1


class FreshLauncher:
    """Starts fresh interpreters, all with the environment of the program at this moment.

    They have the flags, `sys.path`, `sys.argv` and the folder of their parent, and no input. Where
    the system allows it, one interpreter is started, and forked for each worker.
    """

    ships = True

    def __init__(self) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
        self._environment = _ONE_THREAD | inherited
        self._nest: Nest | None = None
        # Those before, some of whose workers may still be there.
        self._old_nests: list[Nest] = []

    def launch(self, station: Station, channel: Channel) -> Fresh | Hatched:
        """Start a worker."""
        if not has_nests():
            process = self._interpreter(station.control, station.descriptors())
            for packet in _greeting({'station': station.plain()}):
                channel.send_raw(packet)
            return Fresh(process)
        if self._nest is not None and not self._nest.is_alive:
            self._nest.end()
            self._old_nests.append(self._nest)
            self._nest = None
        if self._nest is None:
            self._nest = Nest(self._start_nest)
        return self._nest.hatch(station)

    def _start_nest(self, control: int) -> tuple[subprocess.Popen[bytes], list[bytes]]:
        imports = [name for name in sys.modules if name.startswith(_FLOORS) or name in _SAFE]
        return self._interpreter(control, [control]), _greeting(
            {'control': control, 'imports': imports})

    def _interpreter(self, control: int, descriptors: list[int]) -> subprocess.Popen[bytes]:
        if not sys.executable or getattr(sys, 'frozen', False):
            raise RuntimeError('this Python is part of another program and does not say where its '
                               "interpreter is: assign sys.executable, or use threads or "
                               "multiprocessing_context='fork'")
        flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        return subprocess.Popen(  # noqa: S603 (nothing of it comes from outside)
            [sys.executable, *flags, '-c', _PROGRAM, str(control)], stdin=subprocess.DEVNULL,
            env=self._environment, pass_fds=descriptors)

    def forget(self) -> None:
        """Let go of all in a child of the parent."""
        for nest in self._nests():
            nest.forget()

    def close(self) -> None:
        """End what made the workers, when all of these have ended."""
        for nest in self._nests():
            nest.close()

    def _nests(self) -> list[Nest]:
        return self._old_nests if self._nest is None else [*self._old_nests, self._nest]


@functools.cache
def has_nests() -> bool:
    """Tell whether the system has descriptors of processes."""
    if sys.platform != 'linux':
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # an old kernel, or one that forbids it
        return False
    return True


def _greeting(given: dict[str, Any]) -> list[bytes]:
    """Return what an interpreter must be told before it can import anything of ours."""
    path = [os.fspath(entry) for entry in sys.path if isinstance(entry, (str, os.PathLike))]
    content = marshal.dumps({'path': path, 'argv': list(map(str, sys.argv)), **given})
    return [len(content).to_bytes(8, 'little'), content]
