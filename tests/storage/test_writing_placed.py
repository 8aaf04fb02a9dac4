from __future__ import annotations

import h5py
import numpy
import pytest

from fuel.storage.provenance.checksums import keeping_checksums
from fuel.storage.provenance.verifying import verify_source
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.placed import can_be_placed, create_placed_source
from fuel.storage.writing.sources import create_source

LABELS = ('batch', 'time')
LAYOUTS = ('vlen', 'ragged')


def examples(dtype='uint8', count=50):
    rng = numpy.random.RandomState(0)
    return [rng.randint(0, 100, length).astype(dtype)
            for length in [0, 7000, *rng.randint(0, 60, count - 2)]]


def file(path):
    return h5py.File(path, 'w')


def place(h5file, values, order, group=7, **options):
    options = SourceOptions(**options)
    for array in values:
        array.setflags(write=False)
    with create_placed_source(h5file, 'x', values[0].dtype, [len(array) for array in values],
                              options=options, axis_labels=LABELS) as writer:
        for start in range(0, len(order), group):
            rows = order[start:start + group]
            writer.place(rows, [values[row] for row in rows])
    return writer.dataset


def description(h5file):
    """Names, dtypes, shapes, scales and labels of all data sets."""
    return {name: (h5file[name].dtype, h5file[name].shape, h5file[name].chunks,
                   [(axis.label, [(key, scale.name) for key, scale in axis.items()])
                    for axis in h5file[name].dims]) for name in h5file}


@pytest.mark.parametrize('dtype', ['uint8', '<i4', '>i4', 'float64'])
@pytest.mark.parametrize('options', [{'layout': 'vlen'}, {'layout': 'ragged'},
                                     {'layout': 'vlen', 'chunk_examples': 8}], ids=str)
def test_the_file_is_that_of_examples_in_order(tmp_path, dtype, options):
    values = examples(dtype)
    order = numpy.random.RandomState(1).permutation(len(values)).tolist()
    with file(tmp_path / 'placed') as placed, file(tmp_path / 'ordered') as ordered:
        place(placed, values, order, **options)
        with create_source(ordered, 'x', (None,), dtype, num_examples=len(values),
                           options=SourceOptions(**options), axis_labels=LABELS,
                           num_values=(sum(map(len, values)) if options['layout'] == 'ragged'
                                       else None)) as writer:
            writer.append(values)
        assert description(placed) == description(ordered)
        for name in ordered:
            one, other = placed[name][...], ordered[name][...]
            assert len(one) == len(other)
            if one.dtype.hasobject and one.ndim == 1:
                assert all(map(numpy.array_equal, one, other))
                assert all(map(numpy.array_equal, one, values))
            else:
                assert numpy.array_equal(one, other)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_the_order_does_not_matter_to_what_is_read(tmp_path, layout):
    values = examples()
    found = []
    for number, group in enumerate((1, 7, 1000)):
        order = numpy.random.RandomState(number).permutation(len(values)).tolist()
        with file(tmp_path / f'{layout}{number}') as h5file:
            with keeping_checksums():
                dataset = place(h5file, values, order, group, layout=layout)
            verdict = verify_source(h5file, 'x')
            assert verdict.checked
            assert verdict.good
            found.append((dataset.attrs['fuel_checksum'], dataset[...].tobytes()
                          if layout == 'ragged' else b''.join(map(bytes, dataset[...]))))
    assert found[0] == found[1] == found[2]


def test_the_checksum_does_not_depend_on_the_layout(tmp_path):
    values = examples()
    checksums = set()
    for layout in LAYOUTS:
        with file(tmp_path / layout) as h5file, keeping_checksums():
            checksums.add(place(h5file, values, range(len(values)),
                                layout=layout).attrs['fuel_checksum'])
    assert len(checksums) == 1


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize(('rows', 'arrays', 'words'), [
    ([1], [numpy.zeros(3, 'uint8')], 'example 1: expected 2 values'),
    ([0], [numpy.zeros(3, 'int8')], 'example 0: .*got int8'),
    ([0, 0], [numpy.zeros(3, 'uint8')] * 2, 'example 0 twice'),
    ([0], [numpy.zeros((3, 1), 'uint8')], r'got uint8 of shape \(3, 1\)'),
    ([0], [numpy.zeros(3, 'uint8')], 'expected 2 examples.*1 did not come, such as example 1')])
def test_mistakes(tmp_path, layout, rows, arrays, words):
    with file(tmp_path / 'x') as h5file, pytest.raises(ValueError, match=words), \
            create_placed_source(h5file, 'x', 'uint8', [3, 2], axis_labels=LABELS,
                                 options=SourceOptions(layout=layout)) as writer:
        writer.place(rows, arrays)


def test_compressed_chunks_cannot_be_placed(tmp_path):
    options = SourceOptions(layout='ragged', compression='gzip')
    assert not can_be_placed(options)
    assert can_be_placed(SourceOptions(layout='ragged'))
    assert can_be_placed(SourceOptions())
    with file(tmp_path / 'x') as h5file:
        with pytest.raises(ValueError, match='append the examples'):
            create_placed_source(h5file, 'x', 'uint8', [3], options=options, axis_labels=LABELS)
        with pytest.raises(ValueError, match='two axis labels'):
            create_placed_source(h5file, 'x', 'uint8', [3], options=SourceOptions(),
                                 axis_labels=('batch',))
        assert list(h5file) == []


@pytest.mark.parametrize('layout', LAYOUTS)
def test_a_disk_without_room(tmp_path, layout, monkeypatch):
    import shutil
    monkeypatch.setattr(shutil, 'disk_usage', lambda path: shutil._ntuple_diskusage(9, 9, 5000))
    with file(tmp_path / 'x') as h5file, pytest.raises(OSError, match='are needed'):
        create_placed_source(h5file, 'x', 'uint8', [6000], axis_labels=LABELS,
                             options=SourceOptions(layout=layout))
