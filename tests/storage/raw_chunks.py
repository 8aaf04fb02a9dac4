"""The stored chunks of data sets, as h5py hands them out, and decoding of them."""
import numpy


def stored_chunks(dataset):
    """Return offset, filter mask and stored bytes of every chunk."""
    chunks = []
    dataset.id.chunk_iter(lambda info: chunks.append(info.chunk_offset))
    return [(offset, *dataset.id.read_direct_chunk(offset)) for offset in chunks]


def decode(pipeline, stored, masks=None, threads=1, margin=64):
    """Decode stored bytes; check that nothing is written beside the targets."""
    sources = [numpy.frombuffer(data or b'-', 'u1').copy() for data in stored]
    targets = numpy.full((len(stored), pipeline.chunk_bytes + margin), 0xA5, 'u1')
    addresses = targets.ctypes.data + numpy.arange(len(stored)) * targets.shape[1]
    try:
        pipeline.decode(
            numpy.array([source.ctypes.data for source in sources], 'i8'),
            numpy.array([len(data) for data in stored], 'i8'),
            numpy.array(masks or [0] * len(stored), 'u4'), addresses, threads)
    finally:
        assert (targets[:, pipeline.chunk_bytes:] == 0xA5).all()
    return [row.tobytes() for row in targets[:, :pipeline.chunk_bytes]]


def check_dataset(dataset, pipeline, threads=1):
    """Check every chunk of a data set against what h5py reads."""
    offsets, masks, stored = zip(*stored_chunks(dataset), strict=True)
    for offset, decoded in zip(offsets, decode(pipeline, stored, masks, threads), strict=True):
        expected = dataset[tuple(slice(start, start + length) for start, length in zip(
            offset, dataset.chunks, strict=True))]
        chunk = numpy.frombuffer(decoded, dataset.dtype).reshape(dataset.chunks)
        chunk = chunk[tuple(slice(length) for length in expected.shape)]
        assert chunk.tobytes() == expected.tobytes()
