"""What a process holds: processes, threads, file descriptors, memory."""
import gc
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


# Python's own helpers, which stay until the interpreter ends.
HELPERS = ('multiprocessing.resource_tracker', 'multiprocessing.forkserver')


def descendants(pid=None):
    """Return the numbers of the living processes that a process started, and those they did."""
    pid = os.getpid() if pid is None else pid
    listing = subprocess.run(['ps', '-A', '-ww', '-o', 'pid=,ppid=,stat=,args='],
                             capture_output=True, text=True, check=True).stdout
    children, helpers = {}, set()
    for line in listing.splitlines():
        child, parent, state, *rest = line.split(maxsplit=3)
        if not state.startswith('Z'):
            children.setdefault(int(parent), []).append(int(child))
            if int(parent) == pid and any(helper in rest[0] for helper in HELPERS if rest):
                helpers.add(int(child))
    found, wanted = [], [pid]
    while wanted:
        below = children.get(wanted.pop(), [])
        found += below
        wanted += below
    return [child for child in found if child not in helpers and is_there(child)]  # not ps itself


def is_there(pid):
    """Tell whether a process is alive."""
    try:
        os.kill(pid, 0)
        return Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path('/proc/self').exists()


def threads():
    """Return the names of the running threads, those that Python does not know as a number."""
    known = sorted(thread.name for thread in threading.enumerate())
    folder = Path('/proc/self/task')
    return known, len(list(folder.iterdir())) if folder.exists() else None


def descriptors():
    """Return what the open file descriptors lead to."""
    found = []
    for name in os.listdir('/dev/fd'):
        try:
            leads_to = os.readlink(f'/dev/fd/{name}')
        except OSError:
            leads_to = ''
        try:
            os.fstat(int(name))
        except OSError:
            continue  # that of the listing
        # The numbers of sockets and pipes are new ones each time.
        found.append(leads_to.split(':[')[0])
    return sorted(found)


def mapped():
    """Return how many pieces of memory without a name in the file system are mapped."""
    maps = Path('/proc/self/maps')
    return maps.read_text().count('memfd:') if maps.exists() else 0


def memory(pid=None):
    """Return the bytes of memory of a process, without files; what it shares counts in parts."""
    folder = Path(f'/proc/{os.getpid() if pid is None else pid}')
    try:
        lines = (folder / 'smaps_rollup').read_text().splitlines()
    except OSError:
        return 0  # it has just ended, or the system has no such file
    return sum(int(line.split()[1]) * 1024 for line in lines
               if line.startswith(('Pss_Anon:', 'Pss_Shmem:')))


def held():
    """Return all that this process holds, by name."""
    gc.collect()
    return {'children': descendants(), 'threads': threads(), 'descriptors': descriptors(),
            'mapped': mapped()}


def until(holds, seconds=2.0):
    """Wait until something holds, for some seconds at most; tell whether it does."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.005)
    return True


@contextmanager
def nothing_left(seconds=2.0):
    """Check that what is done in a block leaves nothing behind, soon after it at the latest."""
    before = held()
    yield
    if not until(lambda: held() == before, seconds):
        after = held()
        raise AssertionError('left, and gone: ' + '; '.join(
            f'{what} were {before[what]}, are {after[what]}' for what in before
            if before[what] != after[what]))


def ended(pids, seconds):
    """Wait until processes have ended, whoever's children they are; return those that have not."""
    deadline = time.monotonic() + seconds
    left = []
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            wait = max(0, deadline - time.monotonic())
            if not select.select([descriptor], [], [], wait)[0]:
                left.append(pid)
        finally:
            os.close(descriptor)
    return left


@contextmanager
def program(text, folder, *arguments, how='file'):
    """Run a program in an interpreter of its own, and kill it at the end of the block.

    Parameters
    ----------
    text : str
        The program.
    folder : path
        Where its file is written, and where it runs.
    *arguments : str
        For the program.
    how : {'file', 'command', 'stdin'}
        How the interpreter is given it.
    """
    path = Path(folder) / 'program.py'
    path.write_text(text)
    given = {'file': [str(path)], 'command': ['-c', text], 'stdin': ['-']}[how]
    process = subprocess.Popen(
        [sys.executable, '-W', 'error', *given, *arguments], cwd=folder, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, 'PYTHONPATH': str(ROOT)}, start_new_session=True)
    try:
        if how == 'stdin':
            process.stdin.write(text)
            process.stdin.close()
            process.stdin = None
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finished(process, seconds=60):
    """Wait for a program; return its exit status, what it printed, and its errors."""
    printed, errors = process.communicate(timeout=seconds)
    return process.returncode, printed, errors
