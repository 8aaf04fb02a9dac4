"""Files written with PyTables: nodes of every kind, and what PyTables itself reads of them."""
import numpy
import tables

from fuel.datasets.hdf5 import PytablesDataset

ROWS = 60


class Point(tables.IsDescription):
    """Nested columns."""

    x = tables.Float32Col(pos=0)
    inside = tables.BoolCol(pos=1)


class Record(tables.IsDescription):
    """Columns of many kinds."""

    number = tables.Int64Col(pos=0)
    pixels = tables.UInt8Col(shape=(2, 3), pos=1)
    name = tables.StringCol(5, pos=2)
    good = tables.BoolCol(pos=3)
    wave = tables.ComplexCol(16, pos=4)
    point = Point()


class TimedRecord(tables.IsDescription):
    """A column that only PyTables understands, between others."""

    before = tables.Int16Col(pos=0)
    when = tables.Time64Col(pos=1)
    after = tables.Float64Col(pos=2)


def some_arrays(seed=0):
    """Arrays of many dtypes and shapes."""
    rng = numpy.random.default_rng(seed)
    bits = rng.integers(0, 2 ** 62, size=(ROWS, 3))
    arrays = {f'as_{numpy.dtype(code).name}': bits.astype(code) for code in (
        'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8')}
    return {**arrays, 'halves': rng.random(ROWS).astype('f2'), 'long': rng.random(ROWS).astype('g'),
            'single': rng.random(ROWS), 'images': rng.integers(0, 255, (ROWS, 2, 4, 5), 'u1'),
            'booleans': rng.random((ROWS, 7)) < .5,
            'waves': rng.random((ROWS, 2)) + 1j * rng.random((ROWS, 2)),
            'short_waves': (rng.random(ROWS) + 1j).astype('c8'),
            'words': numpy.array([b'x' * (i % 5) + b'\0' + b'y' * (i % 3) for i in range(ROWS)])}


def swapped(array):
    """The same values in the other byte order."""
    return array.astype(array.dtype.newbyteorder('>'))


def write_arrays(path, filters=None, chunked=False, seed=0):
    """Write `some_arrays`, also those of them that have a byte order in the other one."""
    arrays = some_arrays(seed)
    arrays.update({f'{name}_swapped': swapped(arrays[name]) for name in
                   ('as_int16', 'as_float64', 'as_uint64', 'halves', 'waves')})
    with tables.open_file(path, 'w') as h5file:
        group = h5file.create_group('/', 'Data')
        for name, array in arrays.items():
            if chunked:
                rows = 1 + 700 * ROWS // array.nbytes
                h5file.create_carray(group, name, obj=array, filters=filters,
                                     chunkshape=(rows, *array.shape[1:]))
            else:
                h5file.create_array(group, name, array)
    return str(path)


def write_tables(path, byteorder='little', filters=None):
    """Write the tables 'records' and 'timed'."""
    rng = numpy.random.default_rng(1)
    with tables.open_file(path, 'w') as h5file:
        group = h5file.create_group('/', 'Data')
        table = h5file.create_table(group, 'records', Record, byteorder=byteorder,
                                    filters=filters, chunkshape=(16,))
        for number in range(ROWS):
            row = table.row
            row['number'] = number * 2 ** 40
            row['pixels'] = rng.integers(0, 255, (2, 3))
            row['name'] = b'%d' % number
            row['good'] = number % 3 == 0
            row['wave'] = number + 2j
            row['point/x'] = number / 7
            row['point/inside'] = number % 2
            row.append()
        timed = h5file.create_table(group, 'timed', TimedRecord, byteorder=byteorder)
        timed.append([(number, number + .25, -number) for number in range(ROWS)])
    return str(path)


def write_ragged(path):
    """Write ragged arrays of many kinds, and return what is in them."""
    lengths = [(7 * number) % 5 for number in range(ROWS)]
    rng = numpy.random.default_rng(2)
    rows = {
        'integers': (tables.Int32Atom(), [rng.integers(0, 99, n).astype('i4') for n in lengths]),
        'pairs': (tables.Float64Atom(shape=(2,)), [rng.random((n, 2)) for n in lengths]),
        'switches': (tables.BoolAtom(), [rng.random(n) < .5 for n in lengths]),
        'names': (tables.StringAtom(4),
                  [numpy.array([b'%d' % k for k in range(n)], dtype='S4') for n in lengths]),
        'objects': (tables.ObjectAtom(), [{'number': n, 'list': [n]} for n in range(ROWS)]),
        'bytes': (tables.VLStringAtom(), [b'b' * n for n in lengths]),
        'text': (tables.VLUnicodeAtom(), ['\u00e9' * n for n in lengths])}
    with tables.open_file(path, 'w') as h5file:
        group = h5file.create_group('/', 'Data')
        for name, (atom, values) in rows.items():
            node = h5file.create_vlarray(group, name, atom)
            for value in values:
                node.append(value)
    return str(path), {name: values for name, (_, values) in rows.items()}


def ways(dataset):
    """How each of the sources is read."""
    return {source: entry.way for source, entry in dataset.describe().items()}


def requests(count, seed=0):
    """Requests of every kind."""
    rng = numpy.random.default_rng(seed)
    return [0, count - 1, numpy.int32(1), slice(None), slice(2, count - 1), slice(1, count, 7),
            slice(count - 1, count), [3, 1, 2], [1, 1, 1], (0, count - 1), range(5, 2, -1),
            rng.integers(0, count, size=3 * count), rng.permutation(count).astype('i4'),
            numpy.sort(rng.choice(count, 9, replace=False)), rng.random(count) < .3]


def assert_reads(dataset, expected):
    """Every request gives what numpy gives of the whole, in a memory of its own."""
    for request in requests(len(expected)):
        found, = dataset.get_data(None, request)
        places = list(request) if isinstance(request, (tuple, range)) else request
        wanted = expected[places]
        assert numpy.array_equal(found, wanted), request
        if isinstance(wanted, numpy.ndarray):
            assert found.dtype == wanted.dtype
            assert found.flags.c_contiguous
            assert found.flags.writeable
            assert not numpy.may_share_memory(found, dataset.get_data(None, request)[0])
    dataset.close(None)


def read_by_tables(path, name):
    """What PyTables reads of a node, as an array."""
    with tables.open_file(path) as h5file:
        node = h5file.get_node(f'/Data/{name}')
        return numpy.asarray(node[:])


def one_source(path, name, **arguments):
    """A data set with a node as its only source."""
    return PytablesDataset(path, ('x',), sources_in_file=(name,), **arguments)
