"""Where the bytes of a data set can lie: one piece, chunks under every index, other files."""
import h5py
import numpy

from tests.storage.layout_entry import SHAPE, Layout, created, stored, values

LATEST = {'libver': 'latest'}
EARLIEST = {'libver': ('earliest', 'v108')}


def partly(fillvalue=None, chunks=(4, 3, 5), rows=((5, 9), (20, 21)), dtype='int32', **kwargs):
    """Write only some rows of a data set; the others have the fill value."""
    def write(h5file):
        dataset = h5file.create_dataset('x', SHAPE, dtype, chunks=chunks, fillvalue=fillvalue,
                                        **kwargs)
        expected = numpy.full(SHAPE, 0 if fillvalue is None else fillvalue, dtype)
        data = values(dtype=dtype)
        for first, last in rows:
            dataset[first:last] = expected[first:last] = data[first:last]
        return expected
    return write


def early(chunks, fill=0):
    """Allocate all chunks at once, and write some rows."""
    def write(h5file):
        def edit(properties):
            properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            properties.set_fill_value(numpy.array(fill, 'int32'))
        expected = numpy.full(SHAPE, fill, 'int32')
        dataset = created(h5file, expected, chunks, edit=edit, write=False)
        dataset[7:30] = expected[7:30] = values()[7:30]
        return expected
    return write


def compact(h5file):
    rows = values()
    created(h5file, rows, edit=lambda properties: properties.set_layout(h5py.h5d.COMPACT))
    return rows


def compact_without_values(h5file):
    def edit(properties):
        properties.set_layout(h5py.h5d.COMPACT)
        properties.set_fill_value(numpy.array(3, 'int32'))
    rows = numpy.full(SHAPE, 3, 'int32')
    created(h5file, rows, edit=edit, write=False)
    return rows


def grown(h5file):
    rows = numpy.concatenate([values(seed=1), numpy.zeros((20, 3, 5), 'int32')])
    dataset = h5file.create_dataset('x', data=rows[:10], maxshape=(None, 3, 5), chunks=(8, 2, 5))
    dataset.resize(37, axis=0)
    dataset[10:37] = rows[10:37]
    dataset.resize(57, axis=0)
    return rows


def first_columns(h5file):
    """Write all rows, but only the first values of each."""
    rows = values((3, 12))
    rows[:, 4:] = 0
    dataset = h5file.create_dataset('x', rows.shape, 'int32', chunks=(1, 1), maxshape=(3, None))
    dataset[:, :4] = rows[:, :4]
    return rows


def shrunk(h5file):
    rows = values()
    dataset = h5file.create_dataset('x', data=rows, maxshape=(None, None, 5), chunks=(8, 2, 5))
    dataset.resize((21, 2, 5))
    return rows[:21, :2]


def shrunk_and_grown(h5file):
    rows = values()
    dataset = h5file.create_dataset('x', data=rows, maxshape=(None, 3, 5), chunks=(8, 3, 5),
                                    fillvalue=-1)
    dataset.resize(21, axis=0)
    dataset.resize(37, axis=0)
    expected = rows.copy()
    expected[21:] = -1
    return expected


def out_of_order(h5file):
    """Chunks that stand in the file in another order than their rows."""
    rows = values()
    dataset = h5file.create_dataset('x', SHAPE, 'int32', chunks=(4, 3, 5))
    for start in (16, 0, 32, 8, 36, 4, 28, 12, 24, 20):
        dataset[start:start + 4] = rows[start:start + 4]
    return rows


def while_others_read(h5file):
    rows = values((60, 4))
    dataset = h5file.create_dataset('x', (0, 4), 'int32', maxshape=(None, 4), chunks=(7, 4))
    h5file.swmr_mode = True
    for start in range(0, 60, 10):
        dataset.resize(start + 10, axis=0)
        dataset[start:start + 10] = rows[start:start + 10]
        dataset.flush()
    return rows


def virtual(h5file):
    rows = values()
    h5file['first'], h5file['second'] = rows[:20], rows[20:30]
    together = h5py.VirtualLayout(SHAPE, 'int32')
    together[:20] = h5py.VirtualSource(h5file['first'])
    together[20:30] = h5py.VirtualSource(h5file['second'])
    h5file.create_virtual_dataset('x', together, fillvalue=9)
    expected = rows.copy()
    expected[30:] = 9
    return expected


def external(h5file):
    rows = values()
    name = h5file.filename + '.raw'
    h5file.create_dataset('x', SHAPE, 'int32', external=[(name, 10, h5py.h5f.UNLIMITED)])
    h5file['x'][...] = rows
    return rows


def written_again(h5file):
    """A data set that stands where another was deleted."""
    h5file['x'] = values(seed=5)
    h5file['y'] = values(seed=6)
    del h5file['x']
    rows = values(seed=7)
    h5file.create_dataset('x', data=rows, chunks=(5, 3, 5))
    return rows


def empty_contiguous(h5file):
    h5file.create_dataset('x', SHAPE, 'float32', fillvalue=2.5)
    return numpy.full(SHAPE, 2.5, 'float32')


PLACES = {
    'contiguous': Layout(stored(), 'mapped'),
    'contiguous, rows of one value': Layout(stored((37,)), 'mapped'),
    'contiguous, one row': Layout(stored((1, 6)), 'mapped'),
    'contiguous, five axes': Layout(stored((11, 2, 3, 1, 4), 'int16'), 'mapped'),
    'contiguous, early': Layout(lambda h5file: created(
        h5file, values(), edit=lambda properties: properties.set_alloc_time(
            h5py.h5d.ALLOC_TIME_EARLY))[...], 'mapped'),
    'contiguous, never written': Layout(empty_contiguous, 'mapped'),
    'contiguous, with maxshape': Layout(stored(maxshape=SHAPE, chunks=None), None),
    'contiguous, a checksum over the heads': Layout(stored(), 'mapped', LATEST),
    'contiguous, oldest format': Layout(stored(), 'mapped', EARLIEST),
    'compact': Layout(compact, 'mapped'),
    'compact, latest': Layout(compact, 'mapped', LATEST),
    'compact, never written': Layout(compact_without_values, 'mapped'),
    'userblock of 512, contiguous': Layout(stored(), 'mapped', {'userblock_size': 512}),
    'userblock of 2048, contiguous': Layout(stored(), 'mapped', {'userblock_size': 2048}),
    'userblock of 512, chunks': Layout(stored(chunks=(4, 3, 5)), 'mapped',
                                       {'userblock_size': 512}),
    'userblock of 2048, gzip': Layout(stored(chunks=(4, 3, 5), compression='gzip'), 'decoded',
                                      {'userblock_size': 2048}),
    'userblock of 512, latest': Layout(stored(chunks=(4, 2, 5)), 'mapped',
                                       {'userblock_size': 512, **LATEST}),
    'userblock of 512, never written': Layout(empty_contiguous, 'mapped',
                                              {'userblock_size': 512}),
    'userblock of 512, chunks never written': Layout(partly(7), 'mapped',
                                                     {'userblock_size': 512}),
    'userblock of 512, gzip never written': Layout(partly(7, compression='gzip'), 'decoded',
                                                   {'userblock_size': 512, **LATEST}),
    'userblock of 512, no chunk ever written': Layout(partly(rows=()), 'mapped',
                                                      {'userblock_size': 512}),
    'userblock of 512, compact': Layout(compact, 'mapped', {'userblock_size': 512}),
    'pages': Layout(stored(chunks=(4, 3, 5)), 'mapped',
                    {'fs_strategy': 'page', 'fs_persist': True, 'fs_page_size': 4096}),
    'chunks of rows': Layout(stored(chunks=(4, 3, 5)), 'mapped'),
    'chunks of one row': Layout(stored(chunks=(1, 3, 5)), 'mapped'),
    'chunks of one value': Layout(stored((13, 3), chunks=(1, 1)), 'mapped'),
    'chunks that split the second axis': Layout(stored(chunks=(4, 2, 5)), 'mapped'),
    'chunks that split the last axis': Layout(stored(chunks=(4, 3, 2)), 'mapped'),
    'chunks that split all axes': Layout(stored(chunks=(5, 2, 3)), 'mapped'),
    'chunks of one row that split it': Layout(stored(chunks=(1, 2, 2)), 'mapped'),
    'chunks of single values of one axis': Layout(stored((37,), chunks=(6,)), 'mapped'),
    'chunks longer than the rows': Layout(stored(maxshape=(None, 8, None), chunks=(50, 4, 9)),
                                          'mapped'),
    'one chunk of another shape': Layout(stored(maxshape=(40, 8, 8), chunks=(40, 8, 8)),
                                         'mapped'),
    'chunks out of order': Layout(out_of_order, 'mapped'),
    'chunks never written': Layout(partly(), 'mapped'),
    'chunks never written, fill value': Layout(partly(7), 'mapped'),
    'chunks never written, split rows': Layout(partly(-2, (4, 2, 3)), 'mapped'),
    'chunks never written, latest': Layout(partly(7), 'mapped', LATEST),
    'chunks never written, big-endian': Layout(partly(1000, dtype='>i4'), 'mapped'),
    'chunks never written, gzip': Layout(partly(7, compression='gzip'), 'decoded'),
    'chunks never written, gzip, latest': Layout(partly(7, compression='gzip'), 'decoded',
                                                 LATEST),
    'no chunk ever written': Layout(partly(5, rows=()), 'mapped'),
    'no chunk ever written, gzip': Layout(partly(5, rows=(), compression='gzip'), 'decoded'),
    'chunks allocated early, v1 B-tree': Layout(early((4, 3, 5), 11), 'mapped', EARLIEST),
    'chunks under a v1 B-tree': Layout(stored((300, 4), chunks=(1, 3)), 'mapped', EARLIEST),
    'chunks under a v1 B-tree, gzip': Layout(
        stored((300, 4), chunks=(1, 3), compression='gzip'), 'decoded', EARLIEST),
    'single chunk': Layout(stored(chunks=SHAPE), 'mapped', LATEST),
    'single chunk, gzip': Layout(stored(chunks=SHAPE, compression='gzip'), 'decoded', LATEST),
    'implicit index': Layout(early((4, 3, 5)), 'mapped', LATEST),
    'implicit index, split rows': Layout(early((4, 2, 3), 8), 'mapped', LATEST),
    'fixed array': Layout(stored(chunks=(4, 3, 5)), 'mapped', LATEST),
    'fixed array, pages': Layout(stored((3000, 2), 'uint8', chunks=(1, 2)), 'mapped', LATEST),
    'fixed array, gzip': Layout(stored(chunks=(4, 3, 2), compression='gzip'), 'decoded', LATEST),
    'extensible array': Layout(stored(chunks=(4, 3, 5), maxshape=(None, 3, 5)), 'mapped', LATEST),
    'extensible array, many': Layout(stored((3000, 2), 'uint8', chunks=(1, 2),
                                            maxshape=(None, 2)), 'mapped', LATEST),
    'extensible array, gzip': Layout(stored((300, 5), chunks=(2, 2), maxshape=(None, 5),
                                            compression='gzip'), 'decoded', LATEST),
    # HDF5 lists these chunks with the wrong coordinates.
    'extensible array, second axis grows': Layout(
        stored(chunks=(4, 1, 5), maxshape=(37, None, 5)), None, LATEST),
    'extensible array, last axis grows': Layout(
        stored(chunks=(4, 2, 2), maxshape=(37, 3, None)), None, LATEST),
    'extensible array, last axis grows, square': Layout(
        stored((6, 6), chunks=(1, 1), maxshape=(6, None)), None, LATEST),
    'extensible array, last axis grows, partly written': Layout(first_columns, None, LATEST),
    'extensible array, last axis grows, gzip': Layout(
        stored((6, 6), chunks=(1, 2), maxshape=(6, None), compression='gzip'), None, LATEST),
    'v2 B-tree': Layout(stored(chunks=(4, 2, 5), maxshape=(None, None, 5)), 'mapped', LATEST),
    'v2 B-tree, many': Layout(stored((3000, 2), 'uint8', chunks=(1, 1), maxshape=(None, None)),
                              'mapped', LATEST),
    'v2 B-tree, gzip': Layout(stored((300, 5), chunks=(2, 2), maxshape=(None, None),
                                     compression='gzip'), 'decoded', LATEST),
    'grown': Layout(grown, 'mapped'),
    'grown, latest': Layout(grown, 'mapped', LATEST),
    'shrunk': Layout(shrunk, 'mapped'),
    'shrunk, latest': Layout(shrunk, 'mapped', LATEST),
    'shrunk and grown': Layout(shrunk_and_grown, 'mapped'),
    'shrunk and grown, latest': Layout(shrunk_and_grown, 'mapped', LATEST),
    'in the place of another': Layout(written_again, 'mapped'),
    'while others read': Layout(while_others_read, 'mapped', LATEST),
    'rows of no values': Layout(stored((6, 0, 3)), None),
    'rows of no values, chunks': Layout(stored((6, 0), maxshape=(None, None), chunks=(2, 2)),
                                        None),
    'virtual': Layout(virtual, 'library', LATEST),
    'external': Layout(external, 'library'),
}
