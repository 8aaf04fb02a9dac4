"""The decoding kernel and its twin in Python, against bytes made by hand."""
import zlib

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import decode as reference
from fuel.storage.readers import codecs

KERNELS = [_kernels.decode_chunks, reference.decode_chunks]

FLETCHER32 = (3, 0, 0, 0, 0, 0)
LZF = (32000, 0, 0, 0, 0, 0)


def deflate(codec=codecs.inflater):
    return (1, 0, 0, *codec()[1:])


def shuffle(size):
    return (2, size, 0, 0, 0, 0)


def run(kernel, stored, length, steps, masks=None, threads=1, margin=32):
    """Decode chunks; return what was wrong, and the decoded chunks."""
    # Sources end where their memory ends, so that valgrind sees what is read behind them.
    sources = [numpy.frombuffer(data or b'-', 'u1').copy() for data in stored]
    targets = numpy.full((len(stored), length + margin), 0xA5, 'u1')
    failure = kernel(
        numpy.array([source.ctypes.data for source in sources], 'u8'),
        numpy.array([len(data) for data in stored], 'i8'),
        numpy.array([0] * len(stored) if masks is None else masks, 'u4'),
        targets.ctypes.data + numpy.arange(len(stored)) * targets.shape[1], length,
        numpy.array(steps, 'i8').reshape(-1, 6), threads)
    assert (targets[:, length:] == 0xA5).all()
    return failure, [row.tobytes() for row in targets[:, :length]]


def shuffled(data, size):
    whole = len(data) // size * size
    return b''.join(data[:whole][first::size] for first in range(size)) + data[whole:]


def checksum(data):
    """Compute the checksum of HDF5 from its definition."""
    first = second = 0
    data = data + bytes(len(data) % 2)
    for high, low in zip(data[::2], data[1::2], strict=True):
        first = (first + high * 256 + low) % 65535
        second = (second + first) % 65535
    if any(data):
        first, second = first or 65535, second or 65535
    return second * 65536 + first


def with_checksum(data):
    return data + checksum(data).to_bytes(4, 'little')


@pytest.mark.parametrize('kernel', KERNELS)
@given(st.binary(min_size=1, max_size=400), st.integers(1, 20))
def test_unshuffle(kernel, data, size):
    assert run(kernel, [shuffled(data, size)], len(data), [shuffle(size)]) == (None, [data])


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('size', [2, 3, 4, 8, 12, 16, 3000])
def test_unshuffle_of_many_items(kernel, size):
    data = numpy.random.RandomState(0).bytes(20_011)
    assert run(kernel, [shuffled(data, size)], len(data), [shuffle(size)]) == (None, [data])


@pytest.mark.parametrize('kernel', KERNELS)
@given(st.one_of(st.binary(min_size=1, max_size=300),
                 st.builds(lambda byte, count: bytes([byte]) * count,
                           st.sampled_from([0, 1, 255]), st.integers(1, 3000))))
def test_checksum(kernel, data):
    stored = with_checksum(data)
    assert run(kernel, [stored], len(data), [FLETCHER32]) == (None, [data])
    halves_swapped = stored[:-4] + bytes([stored[-3], stored[-4], stored[-1], stored[-2]])
    assert run(kernel, [halves_swapped], len(data), [FLETCHER32]) == (None, [data])
    wrong = stored[:-1] + bytes([stored[-1] ^ 0x10])
    failure, _ = run(kernel, [wrong], len(data), [FLETCHER32])
    assert failure == (0, 0, 'checksum', int.from_bytes(wrong[-4:], 'little'), checksum(data))


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('count', [360, 361, 70_000, 200_001])
def test_checksum_of_large_numbers(kernel, count):
    data = bytes([255]) * count
    assert run(kernel, [with_checksum(data)], count, [FLETCHER32]) == (None, [data])


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('stored', [b'', b'abc'])
def test_no_room_for_a_checksum(kernel, stored):
    assert run(kernel, [stored], 8, [FLETCHER32])[0] == (0, 0, 'length', 12, len(stored))


LZF_STREAMS = [
    (b'\x02abc', b'abc'),
    (b'\x00a\x20\x00', b'aaaa'),                                    # from one back: 3 bytes
    (b'\x01ab\x60\x01', b'abababa'),                                # overlaps itself
    (b'\x00a\xe0\xff\x00', b'a' * 265),                             # a long one
    (b'\x08abcdefghi\xe0\x14\x08', b'abcdefghi' * 4 + b'ab'),       # steps of 8 bytes
    (b'\x1f' + bytes(range(32)) + b'\x00x\x20\x20', bytes(range(32)) + b'x\x00\x01\x02'),
]

DAMAGED_LZF_STREAMS = [
    b'\x05ab',                          # a run is cut short
    b'\x00a\x20',                       # no distance
    b'\x00a\xe0',                       # no length
    b'\x00a\x20\x01',                   # from before the beginning
    b'\x20\x00',
]


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize(('stored', 'expected'), LZF_STREAMS)
def test_lzf(kernel, stored, expected):
    assert run(kernel, [stored], len(expected), [LZF]) == (None, [expected])
    assert run(kernel, [stored], len(expected) + 1, [LZF])[0] == (
        0, 0, 'length', len(expected) + 1, len(expected))
    assert run(kernel, [stored], len(expected) - 1, [LZF])[0] == (
        0, 0, 'length', len(expected) - 1, -1)


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('stored', DAMAGED_LZF_STREAMS)
def test_damaged_lzf(kernel, stored):
    assert run(kernel, [stored], 200, [LZF])[0] == (0, 0, 'damaged', 0, 0)


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('codec', [codecs.inflater, codecs.inflater_of_zlib])
@given(st.binary(min_size=1, max_size=2000), st.integers(0, 9))
def test_inflate(kernel, codec, data, level):
    stored = zlib.compress(data, level)
    steps = [deflate(codec)]
    assert run(kernel, [stored], len(data), steps) == (None, [data])
    assert run(kernel, [stored + b'more'], len(data), steps) == (None, [data])
    assert run(kernel, [stored], len(data) + 1, steps)[0] == (
        0, 0, 'length', len(data) + 1, len(data))
    for cut in (1, len(stored) // 2, len(stored)):
        assert run(kernel, [stored[:-cut]], len(data), steps)[0][2] in ('damaged', 'length')


@pytest.mark.parametrize('kernel', KERNELS)
@given(st.data())
def test_filters_one_upon_the_other(kernel, data):
    """Any filters in any order, any of them left out."""
    original = data.draw(st.binary(min_size=1, max_size=500))
    stored, steps, mask = original, [], 0
    apply = {'deflate': (lambda data: zlib.compress(data, 1), deflate()),
             'shuffle': (lambda data: shuffled(data, 4), shuffle(4)),
             'nothing': (lambda data: data, shuffle(1)),
             'checksum': (with_checksum, FLETCHER32),
             'lzf': (lambda data: b''.join(
                 bytes([len(data[i:i + 32]) - 1]) + data[i:i + 32]
                 for i in range(0, len(data), 32)), LZF)}
    for name in data.draw(st.lists(st.sampled_from(sorted(apply)), max_size=6)):
        function, step = apply[name]
        if data.draw(st.booleans()):
            stored = function(stored)
        else:
            mask |= 1 << len(steps)
        steps.append(step)
    assert run(kernel, [stored], len(original), steps, [mask]) == (None, [original])


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('threads', [1, 2, 5, 100])
def test_many_chunks(kernel, threads):
    random = numpy.random.RandomState(0)
    chunks = [random.randint(0, 5, 600).astype('u1').tobytes() for _ in range(50)]
    stored = [with_checksum(zlib.compress(shuffled(chunk, 2))) for chunk in chunks]
    steps = [shuffle(2), deflate(), FLETCHER32]
    assert run(kernel, stored, 600, steps, threads=threads) == (None, chunks)
    stored[40] = stored[11] = stored[11][:-1]
    for _ in range(20):
        failure, decoded = run(kernel, stored, 600, steps, threads=threads)
        assert failure[:3] == (11, 2, 'checksum')
        assert decoded[:11] == chunks[:11]


@pytest.mark.parametrize('kernel', KERNELS)
def test_no_chunks_and_no_filters(kernel):
    assert run(kernel, [], 8, [LZF]) == (None, [])
    assert run(kernel, [b'12345678'], 8, []) == (None, [b'12345678'])
    assert run(kernel, [b'12345678', b'1234567'], 8, [])[0] == (1, -1, 'length', 8, 7)
    assert run(kernel, [b'123456789'], 8, [LZF], [1])[0] == (0, -1, 'length', 8, 9)


@pytest.mark.parametrize('kernel', KERNELS)
def test_wrong_arguments(kernel):
    addresses, masks = numpy.zeros(2, 'i8'), numpy.zeros(2, 'u4')
    steps = numpy.zeros((0, 6), 'i8')
    for change, message in (
            ({'sources': addresses.astype('f8')}, 'expected sources to be a vector of int64'),
            ({'sizes': addresses[:1]}, r'expected sizes .* with 2 numbers; got int64 .*\(1,\)'),
            ({'masks': addresses}, 'expected masks to be a vector of uint32'),
            ({'targets': addresses.reshape(2, 1)}, 'expected targets to be a vector'),
            ({'steps': steps[:, :5]}, 'expected steps to be int64 of shape'),
            ({'steps': numpy.zeros((33, 6), 'i8')}, 'expected steps to be int64 of shape')):
        arguments = {'sources': addresses, 'sizes': addresses, 'masks': masks,
                     'targets': addresses, 'chunk_bytes': 4, 'steps': steps, 'threads': 1}
        with pytest.raises(TypeError, match=message):
            kernel(**{**arguments, **change})
    for change in ({'chunk_bytes': 0}, {'sizes': addresses - 1}):
        with pytest.raises(ValueError, match='at least one byte, and no negative sizes'):
            kernel(**{**arguments, 'steps': steps, **change})


@given(st.data())
def test_kernel_and_twin_agree_on_damaged_bytes(data):
    random = numpy.random.RandomState(data.draw(st.integers(0, 1000)))
    original = random.randint(0, 3, 300).astype('u1').tobytes()
    for step, stored in ((deflate(), zlib.compress(original)),
                         (FLETCHER32, with_checksum(original)),
                         (LZF, random.randint(0, 256, 200).astype('u1').tobytes())):
        damaged = bytearray(stored)
        damaged[random.randint(len(damaged))] ^= 1 << random.randint(8)
        (first, decoded), (second, expected) = (
            run(kernel, [bytes(damaged)], 300, [step]) for kernel in KERNELS)
        assert (first is None) == (second is None)
        if first is None:
            assert decoded == expected
        elif step[0] != 1:
            assert first == second


@pytest.mark.parametrize('kernel', KERNELS)
def test_vectors_that_lie_strewn_about(kernel):
    sources = numpy.frombuffer(b'abcdefgh' * 3, 'u1').reshape(3, 8).copy()
    targets = numpy.zeros((3, 8), 'u1')

    def strewn(values, dtype):
        return numpy.repeat(numpy.array(values, dtype), 2)[::2]

    steps = numpy.repeat(numpy.array([shuffle(2)], 'i8'), 2, axis=1)[:, ::2]
    assert kernel(strewn(sources.ctypes.data + numpy.arange(3) * 8, 'u8'), strewn([8] * 3, 'i8'),
                  strewn([0] * 3, 'u4'), strewn(targets.ctypes.data + numpy.arange(3) * 8, 'i8'),
                  8, steps, 1) is None
    assert targets.tobytes() == b'aebfcgdh' * 3
