"""Shared arrays in other processes: one copy for all, and owners who are killed."""
import json
import os
import signal

import numpy
import pytest

from fuel.storage.sharing.arrays import SharedArrays
from fuel.storage.sharing.file_segments import sweep
from tests.storage.shared_memory import KINDS, start

both_kinds = pytest.mark.parametrize('kind', KINDS)

# Every process reads all, and waits for the others before it looks how much memory is its own.
WORKERS = '''
import multiprocessing, os, sys
import numpy
from fuel.storage.sharing.arrays import SharedArrays, shared_arrays

def memory_of_segments():
    sizes = {}
    for line in open('/proc/self/smaps', encoding='utf-8'):
        name, *values = line.split()
        if not name.endswith(':'):
            counted = 'fuel-shared' in line
        elif counted and values[-1:] == ['kB']:
            sizes[name[:-1]] = sizes.get(name[:-1], 0) + int(values[0]) * 1024
    return sizes

def work(given, token, barrier, answers):
    shared = given or shared_arrays('key', lambda: SharedArrays.attach(token))
    x, y = shared.arrays['x'][0], shared.arrays['y'][0]
    right = numpy.array_equal(x[:, 0], numpy.arange(len(x))) and y.tolist() == [1, 2]
    right = bool(right and (x == x[:, :1]).all())
    try:
        x[0] = 1
    except ValueError:
        refused = True
    barrier.wait(60)
    sizes = memory_of_segments() if os.path.exists('/proc/self/smaps') else None
    barrier.wait(60)
    answers.put((right, refused, sizes))

if __name__ == '__main__':
    kind, method, way = sys.argv[1:]
    shared = SharedArrays.publish({'x': [('<i8', (4096, 1024))], 'y': [numpy.array([1, 2])]}, kind)
    shared.arrays['x'][0][:] = numpy.arange(4096)[:, None]
    shared.seal()
    context = multiprocessing.get_context(method)
    barrier, answers = context.Barrier(5), context.Queue()
    arguments = (shared, None) if way == 'inherit' else (None, shared.token())
    workers = [context.Process(target=work, args=(*arguments, barrier, answers)) for _ in range(4)]
    for worker in workers:
        worker.start()
    total = shared.arrays['x'][0].sum()
    work(shared, None, barrier, answers)
    told = [answers.get(timeout=60) for _ in range(5)]
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert all(right and refused for right, refused, _ in told), told
    assert SharedArrays.attach(shared.token()) is not None
    if told[0][2] is not None:
        for _, _, sizes in told:
            assert sizes['Rss'] >= 1 << 25, told
            assert sizes['Private_Clean'] == sizes['Private_Dirty'] == 0, told
        # What several processes use counts for each of them by its share.
        assert sum(sizes['Pss'] for _, _, sizes in told) < 1.05 * (1 << 25), told
    print('one copy')
'''


@both_kinds
@pytest.mark.parametrize(('method', 'way'), [('spawn', 'token'), ('fork', 'token'),
                                             ('fork', 'inherit')])
def test_all_workers_read_one_copy(kind, method, way, tmp_path):
    program = tmp_path / 'workers.py'
    program.write_text(WORKERS)
    with start(str(program), kind, method, way) as process:
        output, _ = process.communicate(timeout=120)
    assert output == 'one copy\n' and process.returncode == 0


OWNER = '''
import json, os, signal, sys
from fuel.storage.sharing.arrays import SharedArrays
import numpy
shared = SharedArrays.publish({'x': [numpy.arange(1000)]}, sys.argv[1])
shared.seal()
token = shared.token()
if os.fork():
    print(json.dumps([os.getpid(), token]), flush=True)
    signal.pause()
for line in sys.stdin:
    if line == 'read\\n':
        answer = int(shared.arrays['x'][0].sum()), shared.token() == token
    elif line == 'token\\n':
        answer = shared.token()
    else:
        shared.close()
        answer = 'closed'
    print(json.dumps(answer), flush=True)
'''


def ask(process, line):
    process.stdin.write(f'{line}\n')
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@both_kinds
def test_an_owner_who_is_killed(kind):
    with start('-c', OWNER, kind) as owner:
        try:
            pid, token = json.loads(owner.stdout.readline())
            assert pid == owner.pid
            mine = SharedArrays.attach(token)
            assert ask(owner, 'read') == [499500, True]         # the token is that of the owner
            owner.kill()
            owner.wait()
            assert owner.returncode == -signal.SIGKILL
            # Nobody finds it through the owner, but who has it keeps it.
            assert SharedArrays.attach(token) is None
            assert numpy.array_equal(mine.arrays['x'][0], numpy.arange(1000))
            assert ask(owner, 'read') == [499500, False]
            # Its child has it, and can tell others where.
            of_child = ask(owner, 'token')
            found = SharedArrays.attach(of_child)
            assert found.arrays['x'][0].sum() == 499500
            if kind == 'file':
                path = token['block']['place']
                assert path not in sweep(os.path.dirname(path))     # the child uses it
            assert ask(owner, 'close') == 'closed'
            if kind == 'file':
                assert path in sweep(os.path.dirname(path))
            assert SharedArrays.attach(of_child) is None
            assert mine.arrays['x'][0].sum() == found.arrays['x'][0].sum() == 499500
        finally:
            owner.kill()
            owner.stdin.close()


@pytest.mark.parametrize('kind', KINDS[:-1])
def test_who_attached_can_pass_it_on_after_the_owner(kind):
    with start('-c', OWNER, kind) as owner:
        try:
            _, token = json.loads(owner.stdout.readline())
            mine = SharedArrays.attach(token)
            assert mine.token() == token
        finally:
            owner.kill()
            owner.stdin.close()
            owner.stdout.read()                     # to the end of its child
    assert SharedArrays.attach(token) is None
    found = SharedArrays.attach(mine.token())
    assert found.arrays['x'][0].sum() == 499500
    mine.close()
    assert SharedArrays.attach(found.token()).arrays['x'][0].sum() == 499500


ENDS = '''
import json, multiprocessing, os, sys
import numpy
from fuel.storage.sharing.arrays import SharedArrays, shared_arrays

def make(kind, pipe):
    global kept
    kept = shared_arrays('key', lambda: SharedArrays.publish({'x': [numpy.arange(9)]}, kind))
    pipe.send(kept.token())
    pipe.close()

if __name__ == '__main__':
    kind, method = sys.argv[1:]
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe()
    process = context.Process(target=make, args=(kind, sender))
    process.start()
    token = receiver.recv()
    process.join()
    assert SharedArrays.attach(token) is None
    kept = SharedArrays.publish({'x': [numpy.arange(9)]}, kind)
    kept.seal()
    print(json.dumps([token, kept.token()]))
'''


@both_kinds
@pytest.mark.parametrize('method', ['spawn', 'fork'])
def test_processes_that_end_leave_nothing(kind, method, tmp_path):
    program = tmp_path / 'ends.py'
    program.write_text(ENDS)
    with start(str(program), kind, method) as process:
        output, _ = process.communicate(timeout=120)
    for token in json.loads(output):
        assert SharedArrays.attach(token) is None
        assert kind == 'memory' or not os.path.exists(token['block']['place'])
