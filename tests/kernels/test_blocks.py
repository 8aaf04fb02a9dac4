"""Rows gathered out of blocks, compiled and in numpy, against numpy's own indexing."""
import pickle
import subprocess
import sys
import threading

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fuel._kernels import BlockTable, copy_whole
from fuel._kernels.reference.blocks import BlockTable as SlowTable
from fuel._kernels.reference.blocks import copy_whole as slow_copy_whole

BOTH = pytest.mark.parametrize('table', [BlockTable, SlowTable])


def blocks_of(rows, per_block):
    """Return rows in separate blocks, padded to full ones, and their addresses."""
    blocks = []
    for start in range(0, len(rows), per_block):
        block = numpy.zeros((per_block, *rows.shape[1:]), dtype=rows.dtype)
        part = rows[start:start + per_block]
        block[:len(part)] = part
        blocks.append(block)
    return blocks, numpy.array([block.ctypes.data for block in blocks], dtype=numpy.int64)


def numbers(count, *shape, dtype=numpy.uint8):
    return numpy.random.default_rng(5).integers(0, 200, (count, *shape)).astype(dtype)


@BOTH
@settings(max_examples=60, deadline=None)
@given(data=st.data(), count=st.integers(1, 40), per_block=st.integers(1, 50),
       width=st.integers(1, 9), wide=st.booleans(), threads=st.integers(1, 3))
def test_rows_are_those_of_numpy(table, data, count, per_block, width, wide, threads):
    rows = numbers(count, width, dtype=numpy.int16)
    blocks, addresses = blocks_of(rows, per_block)
    indices = numpy.array(data.draw(st.lists(st.integers(0, count - 1), max_size=60)),
                          dtype=numpy.int64 if wide else numpy.int32)
    out = numpy.empty((len(indices), width), dtype=numpy.int16)
    made = table(addresses, count, per_block, width * 2, width * 2)
    assert made.gather(indices, out, threads) is None
    assert_array_equal(out, rows[indices])
    del blocks


@BOTH
def test_large_batches_are_divided_among_threads(table):
    rows = numbers(300, 4096)
    blocks, addresses = blocks_of(rows, 7)
    made = table(addresses, 300, 7, 4096, 4096)
    order = numpy.random.default_rng(1).permutation(300)
    for threads in (1, 2, 3, 8, 64):
        out = numpy.empty((300, 4096), dtype=numpy.uint8)
        made.gather(order, out, threads)
        assert_array_equal(out, rows[order])
    del blocks


@BOTH
def test_a_row_is_put_together_from_runs(table):
    # Rows of 2 x 5 bytes in chunks of 3 rows, 2 x 2: three chunks for the same rows.
    rows = numbers(8, 2, 5)
    columns, addresses = [], []
    for start in range(0, 8, 3):
        for left in range(0, 5, 2):
            block = numpy.zeros((3, 2, 2), dtype=numpy.uint8)
            part = rows[start:start + 3, :, left:left + 2]
            block[:len(part), :, :part.shape[2]] = part
            columns.append(block)
            addresses.append(block.ctypes.data)
    runs = [(column, line * 2, line * 5 + column * 2, min(2, 5 - column * 2))
            for column in range(3) for line in range(2)]
    made = table(numpy.array(addresses), 8, 3, 4, 10, numpy.array(runs))
    order = numpy.array([7, 0, 0, 3, 5])
    out = numpy.empty((5, 2, 5), dtype=numpy.uint8)
    assert made.gather(order, out) is None
    assert_array_equal(out, rows[order])


@BOTH
def test_missing_rows_are_told_and_left_alone(table):
    rows = numbers(10, 3)
    blocks, addresses = blocks_of(rows, 2)
    addresses[1] = addresses[4] = 0
    used = numpy.zeros(5, dtype=numpy.uint8)
    made = table(addresses, 10, 2, 3, 3, None, used)
    order = numpy.array([9, 0, 2, 5, 8, 3], dtype=numpy.int32)
    out = numpy.full((6, 3), 255, dtype=numpy.uint8)
    assert_array_equal(made.gather(order, out), [0, 2, 4, 5])
    assert_array_equal(out[[1, 3]], rows[[0, 5]])
    assert (out[[0, 2, 4, 5]] == 255).all()
    assert used.tolist() == [1, 0, 1, 0, 0]
    addresses[1], addresses[4] = blocks[1].ctypes.data, blocks[4].ctypes.data
    assert made.gather(order, out) is None          # the table is looked at every time
    assert_array_equal(out, rows[order])


@BOTH
def test_rows_go_to_their_places(table):
    rows = numbers(6, 3)
    blocks, addresses = blocks_of(rows, 4)
    out = numpy.zeros((5, 3), dtype=numpy.uint8)
    table(addresses, 6, 4, 3, 3).gather(numpy.array([5, 1]), out, 1, numpy.array([4, 0]))
    assert_array_equal(out[[4, 0]], rows[[5, 1]])
    assert not out[1:4].any()
    del blocks


@BOTH
def test_wrong_arguments_are_refused(table):
    rows = numbers(6, 3)
    blocks, addresses = blocks_of(rows, 4)
    out = numpy.empty((1, 3), dtype=numpy.uint8)
    made = table(addresses, 6, 4, 3, 3)
    for index in (-1, 6, 2 ** 40):
        with pytest.raises(IndexError, match=f'{index} is out of range for 6 rows'):
            made.gather(numpy.array([index]), out)
    with pytest.raises(IndexError, match='place is out of range for 1 rows'):
        made.gather(numpy.array([0]), out, 1, numpy.array([1]))
    with pytest.raises(ValueError, match='2 rows of output'):
        made.gather(numpy.array([0, 1]), out)
    with pytest.raises(ValueError, match='rows of 3 bytes'):
        made.gather(numpy.array([0]), numpy.empty((1, 4), dtype=numpy.uint8))
    for indices in (numpy.array([0.5]), numpy.array([[0]]), numpy.array([0], dtype='>i8'),
                    numpy.arange(4)[::2]):
        with pytest.raises(TypeError, match='indices'):
            made.gather(indices, numpy.empty((len(indices), 3), dtype=numpy.uint8))
    locked = numpy.empty((1, 3), dtype=numpy.uint8)
    locked.flags.writeable = False
    with pytest.raises(TypeError, match='written'):
        made.gather(numpy.array([0]), locked)
    with pytest.raises(TypeError, match='written'):
        made.gather(numpy.array([0, 1, 2]), numpy.empty((3, 3), dtype=numpy.uint8, order='F'))
    with pytest.raises(ValueError, match='expected the addresses of 2 blocks'):
        table(addresses[:1], 6, 4, 3, 3)
    with pytest.raises(ValueError, match='runs'):
        table(numpy.repeat(addresses, 2), 6, 4, 3, 3)
    with pytest.raises(ValueError, match='leaves its row'):
        table(addresses, 6, 4, 3, 3, numpy.array([[0, 0, 1, 3]]))
    with pytest.raises(ValueError, match='at least one row'):
        table(addresses, 0, 4, 3, 3)
    del blocks


def test_many_threads_gather_at_once():
    rows = numbers(400, 3000)
    blocks, addresses = blocks_of(rows, 16)
    made = BlockTable(addresses, 400, 16, 3000, 3000)
    wrong = []

    def gather(seed):
        for turn in range(20):
            order = numpy.random.default_rng((seed, turn)).permutation(400)[:200]
            out = numpy.empty((200, 3000), dtype=numpy.uint8)
            made.gather(order, out, 4)
            if not (out == rows[order]).all():
                wrong.append((seed, turn))

    workers = [threading.Thread(target=gather, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    del blocks


FORKING = '''
import os, sys
import numpy
from fuel._kernels import BlockTable, copy_whole

rows = numpy.arange(300 * 4096, dtype=numpy.uint8).reshape(300, 4096)
table = BlockTable(numpy.array([rows.ctypes.data]), 300, 300, 4096, 4096)
order = numpy.random.default_rng(0).permutation(300)

def gather():
    for _ in range(50):
        out = numpy.empty_like(rows)
        table.gather(order, out, 3)
        if not (out == rows[order]).all():
            os._exit(1)

gather()
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        gather()
        grandchild = os.fork()
        gather()
        if grandchild and os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]):
            os._exit(2)
        os._exit(0)
    children.append(child)
gather()
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
'''


def test_forked_processes_have_threads_of_their_own():
    subprocess.run([sys.executable, '-W', 'ignore::DeprecationWarning', '-c', FORKING],
                   check=True, timeout=120)


def test_a_table_of_addresses_is_not_pickled():
    blocks, addresses = blocks_of(numbers(4, 2), 4)
    with pytest.raises(TypeError, match='pickle'):
        pickle.dumps(BlockTable(addresses, 4, 4, 2, 2))
    del blocks


@BOTH
def test_unaligned_indices_are_refused(table):
    blocks, addresses = blocks_of(numbers(4, 2), 4)
    indices = numpy.frombuffer(bytes(17), dtype=numpy.int64, offset=1)
    with pytest.raises(TypeError, match='indices'):
        table(addresses, 4, 4, 2, 2).gather(indices, numpy.empty((2, 2), dtype=numpy.uint8))
    del blocks


@pytest.mark.parametrize('copied', [copy_whole, slow_copy_whole])
@pytest.mark.parametrize('threads', [1, 2, 3, 16])
@pytest.mark.parametrize('shape', [(0, 3), (1,), (5, 7), (100, 1000), (3, 4096), (40961,)])
def test_a_whole_array_is_copied(copied, threads, shape):
    for array in (numbers(*shape), numbers(*shape, dtype='>f8'), numbers(*shape).T,
                  numbers(*shape)[::2]):
        copy = copied(array, threads)
        assert_array_equal(copy, array)
        assert copy.dtype == array.dtype
        assert copy.flags.writeable
        assert not numpy.shares_memory(copy, array)
