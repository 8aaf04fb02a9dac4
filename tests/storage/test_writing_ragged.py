"""Examples that differ in shape, in both layouts that there are for them."""
from __future__ import annotations

import itertools

import h5py
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.converters.base import SourceOptions, Streamed, create_source, fill_hdf5_file
from fuel.storage.writing import ragged as writing_ragged
from fuel.storage.writing import rows as writing_rows

LAYOUTS = ['vlen', 'ragged']
LABELS = {'images': ('batch', 'channel', 'height', 'width')}


def some_images(count, dtype='uint8', seed=0):
    """Return arrays of shape (3, h, w) with different sizes, some without values."""
    rng = numpy.random.default_rng(seed)
    return [rng.integers(0, 100, (3, *rng.integers(0, 6, 2))).astype(dtype) for _ in range(count)]


def scales_of(dataset):
    return dict(dataset.dims[0].items())


def read(h5file, name):
    """Return the examples of a source, with nothing but h5py and numpy."""
    dataset = h5file[name]
    scales = scales_of(dataset)
    if 'offsets' in scales:
        offsets = scales['offsets'][...]
        assert offsets[0] == 0
        assert offsets[-1] == len(dataset)
        flat = [dataset[start:stop] for start, stop in itertools.pairwise(offsets)]
    else:
        flat = list(dataset[...])
    if 'shapes' not in scales:
        return flat
    shapes = scales['shapes'][...]
    assert len(shapes) == len(flat)
    return [values.reshape(shape) for values, shape in zip(flat, shapes, strict=True)]


def assert_same(examples, expected):
    assert len(examples) == len(expected)
    for example, array in zip(examples, expected, strict=True):
        assert example.shape == array.shape
        assert numpy.array_equal(example, array)


@pytest.fixture
def h5file(tmp_path):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        yield h5file


def test_vlen_layout_is_that_of_the_documentation(h5file):
    images = some_images(12)
    fill_hdf5_file(h5file, [('train', 'images', images[:8]), ('test', 'images', images[8:])],
                   axis_labels=LABELS)
    dataset = h5file['images']
    assert dataset.shape == (12,)
    assert dataset.maxshape == (12,)
    assert dataset.chunks is None
    assert h5py.check_vlen_dtype(dataset.dtype) == numpy.uint8
    assert dataset.dims[0].label == 'batch'
    scales = scales_of(dataset)
    assert list(scales) == ['shapes', 'shape_labels']
    assert {name: scale.name for name, scale in scales.items()} == {
        'shapes': '/images_shapes', 'shape_labels': '/images_shape_labels'}
    assert scales['shapes'].is_scale
    assert scales['shapes'].dtype == 'int32'
    assert scales['shapes'].shape == (12, 3)
    assert scales['shapes'][...].tolist() == [list(image.shape) for image in images]
    assert scales['shape_labels'][...].tolist() == [b'channel', b'height', b'width']
    assert_same(read(h5file, 'images'), images)
    assert [(row['split'], row['start'], row['stop']) for row in h5file.attrs['split']] == [
        (b'train', 0, 8), (b'test', 8, 12)]


def test_ragged_layout(h5file):
    images = some_images(12)
    fill_hdf5_file(h5file, [('train', 'images', images[:8]), ('test', 'images', images[8:])],
                   layout='ragged', axis_labels=LABELS)
    dataset = h5file['images']
    assert dataset.shape == (sum(image.size for image in images),)
    assert dataset.chunks is None
    assert dataset.dtype == 'uint8'
    assert dataset.dims[0].label == 'batch'
    scales = scales_of(dataset)
    assert {name: scale.name for name, scale in scales.items()} == {
        'offsets': '/images_offsets', 'shapes': '/images_shapes',
        'shape_labels': '/images_shape_labels'}
    assert scales['offsets'].dtype == 'int64'
    assert scales['offsets'].shape == (13,)
    assert scales['offsets'].chunks is None
    assert scales['shape_labels'][...].tolist() == [b'channel', b'height', b'width']
    assert_same(read(h5file, 'images'), images)
    assert [(row['split'], row['start'], row['stop']) for row in h5file.attrs['split']] == [
        (b'train', 0, 8), (b'test', 8, 12)]


def test_a_single_axis_needs_no_shapes_where_there_are_offsets(h5file):
    texts = [numpy.arange(size, dtype='uint16') for size in (3, 0, 5)]
    fill_hdf5_file(h5file, [('a', 'flat', texts), ('a', 'single', texts)],
                   layout={'flat': 'ragged', 'single': 'vlen'},
                   axis_labels={'flat': ('batch', 'character'), 'single': ('batch', 'character')})
    assert set(scales_of(h5file['flat'])) == {'offsets', 'shape_labels'}
    assert scales_of(h5file['flat'])['offsets'][...].tolist() == [0, 3, 3, 8]
    assert scales_of(h5file['single'])['shapes'][...].tolist() == [[3], [0], [5]]
    for name in ('flat', 'single'):
        assert_same(read(h5file, name), texts)
        assert scales_of(h5file[name])['shape_labels'][...].tolist() == [b'character']


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('dtype', ['uint8', '>i4', '<f8', 'float16', 'bool', 'complex64', 'S5'])
def test_values_of_any_dtype(h5file, dtype, layout):
    images = some_images(10, dtype)
    fill_hdf5_file(h5file, [('a', 'images', images)], layout=layout)
    assert_same(read(h5file, 'images'), images)
    stored = h5py.check_vlen_dtype(h5file['images'].dtype) or h5file['images'].dtype
    # h5py reads variable lengths of another byte order wrongly.
    assert stored == (numpy.dtype(dtype).newbyteorder('=') if layout == 'vlen' else dtype)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_without_labels_the_first_axis_is_the_batch(h5file, layout):
    fill_hdf5_file(h5file, [('a', 'x', some_images(3))], layout=layout)
    assert h5file['x'].dims[0].label == 'batch'
    assert scales_of(h5file['x'])['shape_labels'][...].tolist() == [b'', b'', b'']


@pytest.mark.parametrize('layout', LAYOUTS)
def test_labels_outside_ascii(h5file, layout):
    fill_hdf5_file(h5file, [('a', 'x', some_images(3))], layout=layout,
                   axis_labels={'x': ('Stapel', 'Kanal', 'Höhe', 'Breite')})
    assert h5file['x'].dims[0].label == 'Stapel'
    assert scales_of(h5file['x'])['shape_labels'][1].decode() == 'Höhe'


def test_values_of_the_ragged_layout_can_be_filtered(h5file):
    images = some_images(3000, 'int32')
    fill_hdf5_file(h5file, [('a', 'x', images)], layout='ragged', compression='gzip',
                   checksum=True)
    dataset = h5file['x']
    assert (dataset.compression, dataset.shuffle, dataset.fletcher32) == ('gzip', True, True)
    assert dataset.chunks == (16384,)
    assert h5file['x_offsets'].chunks is None
    assert h5file['x_shapes'].chunks is None
    assert_same(read(h5file, 'x'), images)


@pytest.mark.parametrize('options', [
    {'compression': 'gzip'}, {'checksum': True}, {'shuffle': True}])
def test_variable_lengths_cannot_be_filtered_and_it_says_so(h5file, options):
    data = [('a', 'x', some_images(3)), ('a', 'y', numpy.zeros((3, 2)))]
    with pytest.raises(ValueError, match=r"x: HDF5 neither .* layout='ragged'"):
        fill_hdf5_file(h5file, data, **options)
    assert not list(h5file)
    option, value = next(iter(options.items()))
    fill_hdf5_file(h5file, data, **{option: {'y': value}})
    assert h5file['y'].chunks is not None


def test_chunks_of_values_are_not_made_of_examples(h5file):
    with pytest.raises(ValueError, match='x: .*whole examples; leave chunk_examples out'):
        fill_hdf5_file(h5file, [('a', 'x', some_images(3))], layout='ragged', chunk_examples=2)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_a_source_that_is_named_is_ragged_whatever_it_has(h5file, layout):
    rows = numpy.arange(24, dtype='int16').reshape(4, 3, 2)
    fill_hdf5_file(h5file, [('a', 'x', list(rows)), ('b', 'x', rows[:2]), ('c', 'x', []),
                            ('a', 'y', list(rows))], layout={'x': layout})
    assert_same(read(h5file, 'x'), [*rows, *rows[:2]])
    assert numpy.array_equal(h5file['y'][...], rows)


def test_a_layout_for_all_sources_leaves_others_alone(h5file):
    rows = numpy.arange(24).reshape(4, 3, 2)
    fill_hdf5_file(h5file, [('a', 'x', rows), ('a', 'y', list(rows)), ('a', 'z', some_images(4))],
                   layout='ragged')
    assert h5file['x'].shape == h5file['y'].shape == (4, 3, 2)
    assert 'offsets' in scales_of(h5file['z'])


@pytest.mark.parametrize('layout', LAYOUTS)
def test_arrays_of_arrays_and_several_parts(h5file, layout):
    images = some_images(9)
    objects = numpy.empty(4, dtype=object)
    objects[:] = images[:4]
    fill_hdf5_file(h5file, [('a', 'x', objects), ('b', 'x', images[4:6]),
                            ('a', 'x', tuple(images[6:]))], layout=layout)
    assert_same(read(h5file, 'x'), [*images[:4], *images[6:], *images[4:6]])


def test_an_array_of_arrays_of_one_shape_is_ragged(h5file):
    objects = numpy.empty(2, dtype=object)
    objects[0], objects[1] = numpy.zeros(3), numpy.ones(3)
    fill_hdf5_file(h5file, [('a', 'x', objects)])
    assert [array.tolist() for array in h5file['x'][...]] == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize('layout', LAYOUTS)
def test_a_source_of_another_file_keeps_its_shapes(h5file, tmp_path, layout):
    images = some_images(5)
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        fill_hdf5_file(other, [('a', 'x', images)], layout='vlen')
        texts = other.create_dataset('texts', (2,), dtype=h5py.vlen_dtype('uint8'))
        texts[0], texts[1] = [1, 2], [3]
        fill_hdf5_file(h5file, [('a', 'x', other['x'])], layout=layout)
        del h5file.attrs['split']
        fill_hdf5_file(h5file, [('a', 'texts', other['texts'])], layout={'texts': layout})
    assert_same(read(h5file, 'x'), images)
    assert_same(read(h5file, 'texts'), [numpy.array([1, 2]), numpy.array([3])])


@pytest.mark.parametrize('layout', [None, 'vlen', 'ragged', {'x': 'vlen', 'flat': 'ragged'}])
@pytest.mark.parametrize('compression', [None, 'gzip'])
def test_a_ragged_source_of_another_file_keeps_its_examples(h5file, tmp_path, layout, compression):
    images, flat = some_images(200, '>i2'), [numpy.arange(n, dtype='f4') for n in (3, 0, 1, 4) * 50]
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        fill_hdf5_file(other, [('a', 'x', images), ('a', 'flat', flat)], layout='ragged',
                       compression=compression)
        fill_hdf5_file(h5file, [('a', 'x', other['x']), ('a', 'flat', other['flat']),
                                ('b', 'flat', flat[:5])], layout=layout)
    assert_same(read(h5file, 'x'), images)
    assert_same(read(h5file, 'flat'), [*flat, *flat[:5]])
    assert h5file['flat'].maxshape == h5file['flat'].shape


def test_a_ragged_source_of_another_file_whose_offsets_are_wrong(h5file, tmp_path):
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        fill_hdf5_file(other, [('a', 'x', [numpy.arange(n) for n in (3, 1, 4)])], layout='ragged')
        other['x_offsets'][1] = 5
        with pytest.raises(ValueError, match=r"other\.hdf5: source 'x': expected offsets that"):
            fill_hdf5_file(h5file, [('a', 'x', other['x'])])
        other['x_offsets'][-1] = 9
        with pytest.raises(ValueError, match='to end with 8'):
            fill_hdf5_file(h5file, [('a', 'x', other['x'])])
    assert not list(h5file)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_a_refused_example_does_not_count(h5file, layout):
    with create_source(h5file, 'x', (None,), 'u1', options=SourceOptions(layout=layout)) as writer:
        writer.append([numpy.zeros(3, 'u1')])
        with pytest.raises(ValueError, match='x: example 2: expected dtype uint8'):
            writer.append([numpy.zeros(1, 'u1'), numpy.zeros(2, 'f4')])
        assert writer.num_examples == 1
        writer.append([numpy.ones(2, 'u1')])
        assert writer.num_examples == 2
    assert_same(read(h5file, 'x'), [numpy.zeros(3, 'u1'), numpy.ones(2, 'u1')])


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('declared', [True, False])
def test_examples_of_an_iterable(h5file, layout, declared):
    images = some_images(20)
    stream = Streamed(iter(images), 20) if declared else iter(images)
    fill_hdf5_file(h5file, [('a', 'x', stream), ('b', 'x', images[:2])], layout={'x': layout},
                   axis_labels={'x': ('batch', 'c', 'h', 'w')})
    assert_same(read(h5file, 'x'), [*images, *images[:2]])
    growing = {name for name in h5file if h5file[name].maxshape[0] is None}
    # The number of values is not known although that of the examples is.
    assert growing == ({'x', 'x_offsets', 'x_shapes'} - ({'x_offsets'} if layout == 'vlen' else
                                                         set()) if not declared else
                       {'x'} if layout == 'ragged' else set())


@given(st.data())
def test_examples_in_groups_of_any_size(tmp_path, data):
    layout = data.draw(st.sampled_from(LAYOUTS))
    images = some_images(data.draw(st.integers(1, 30)))
    cut = data.draw(st.integers(0, len(images)))
    with pytest.MonkeyPatch.context() as patch, h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        patch.setattr(writing_ragged, '_GROUP', data.draw(st.sampled_from([1, 3, 4096])))
        for module in (writing_ragged, writing_rows):
            patch.setattr(module, 'BLOCK_BYTES', data.draw(st.sampled_from([1, 100, 1 << 20])))
        fill_hdf5_file(h5file, [('a', 'x', images[:cut]), ('a', 'x', iter(images[cut:]))
                                ][:1 if cut == len(images) else 2], layout={'x': layout})
        assert_same(read(h5file, 'x'), images)


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('make', [list, iter])
def test_the_same_examples_give_the_same_bytes(tmp_path, layout, make):
    contents = []
    for number in range(2):
        with h5py.File(tmp_path / f'{number}.hdf5', 'w') as h5file:
            fill_hdf5_file(h5file, [('a', 'x', make(some_images(200)))], layout={'x': layout})
        contents.append((tmp_path / f'{number}.hdf5').read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize(('examples', 'message'), [
    ([numpy.zeros((1, 2)), numpy.zeros((2, 2), 'f4')], 'a/x: example 1: expected dtype float64'),
    ([numpy.zeros((1, 2)), numpy.zeros(2)], 'a/x: example 1: expected 2 axes, .* shape .2,.'),
    ([numpy.zeros(1), None, numpy.zeros(2)], 'example 1: expected an array.*NoneType'),
    ([numpy.zeros(1), 'abc'], "example 1: expected an array, .* got 'abc' of type str"),
    ([numpy.float64(1), numpy.zeros(2)], 'example 0: expected an array of at least one axis'),
    ([numpy.array(['a']), numpy.array(['b', 'c'])], 'string_dtype')])
def test_examples_that_do_not_go_together(h5file, layout, examples, message):
    objects = numpy.empty(len(examples), dtype=object)
    objects[:] = examples
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, [('a', 'x', objects)], layout={'x': layout})
    assert not list(h5file)


@pytest.mark.parametrize(('data', 'layout', 'message'), [
    ([('a', 'x', [[1], [2, 3]])], None, 'a/x: expected an array.*must be arrays each'),
    ([('a', 'x', some_images(2)), ('a', 'y', [1])], None, 'x has 2, y has 1'),
    ([('a', 'x', some_images(2)), ('b', 'x', [numpy.zeros((1, 2))])], None, 'b/x: example 0'),
    ([('a', 'x', [])], {'x': 'vlen'}, 'x: expected at least one example'),
    ([('a', 'x', numpy.zeros(3))], {'x': 'ragged'},
     r'a/x: expected an array of at least one axis for each .* shape \(3,\), whose examples are'),
    ([('a', 'x', some_images(2)), ('a', 'x_shapes', [1, 2])], None, 'x_shapes: .*another'),
    ([('a', 'x', some_images(2)), ('a', 'x_offsets', [1, 2])], 'ragged', 'x_offsets'),
    ([('a', 'x', iter(some_images(2)))], 'ragged', r"no\s+telling .* \{'x': 'ragged'\}"),
    ([('a', 'x', iter(some_images(2) + [numpy.zeros(3, 'u1')]))], {'x': 'ragged'},
     'x: example 2: expected 3 axes'),
    ([('a', 'x', Streamed(some_images(3), 2))], {'x': 'vlen'}, 'a/x: expected 2 .* at least 3'),
    ([('a', 'x', Streamed(some_images(3), 4))], {'x': 'ragged'}, 'a/x: expected 4 .* got 3'),
    ([('a', 'x', iter([3.5]))], {'x': 'ragged'}, 'a/x: example 0: expected an array'),
    ([('a', 'x', iter([]))], {'x': 'ragged'}, 'a/x: expected an iterable of arrays; .* nothing')])
def test_data_that_cannot_be_written(h5file, data, layout, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, data, layout=layout)
    assert not list(h5file)
    assert not list(h5file.attrs)


def test_number_of_labels(h5file):
    with pytest.raises(ValueError, match='x: expected 4 axis labels, .* and the 3 of an example'):
        fill_hdf5_file(h5file, [('a', 'x', some_images(2))], axis_labels={'x': ('batch', 'c')})
    assert not list(h5file)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_source_writer(h5file, layout):
    images = some_images(20)
    options = SourceOptions(layout=layout)
    with (create_source(h5file, 'x', (3, None, None), 'uint8', options=options) as growing,
          create_source(h5file, 'y', (None, None, None), 'uint8', num_examples=20,
                        options=options, axis_labels=('batch', 'c', 'h', 'w')) as declared):
        for start in range(0, 20, 6):
            growing.append(images[start:start + 6])
            declared.append(iter(images[start:start + 6]))
        assert growing.num_examples == declared.num_examples == 20
        with pytest.raises(ValueError, match='y: expected 20 examples, as declared; got more'):
            declared.append(images[:1])
        with pytest.raises(ValueError, match=r'example 20: expected the shape \(3, None, None\)'):
            growing.append([numpy.zeros((2, 1, 1), 'uint8')])
    for name in 'xy':
        assert_same(read(h5file, name), images)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_source_writer_with_less_than_declared(h5file, layout):
    writer = create_source(h5file, 'x', (None,), 'uint8', num_examples=2,
                           options=SourceOptions(layout=layout))
    writer.append([numpy.zeros(3, 'uint8')])
    with pytest.raises(ValueError, match='x: expected 2 examples, as declared; got 1'):
        writer.close()


def test_source_writer_of_ragged_examples_without_axes_or_of_objects(h5file):
    with pytest.raises(ValueError, match='at least one axis'):
        create_source(h5file, 'x', (), 'uint8', options=SourceOptions(layout='ragged'))
    with pytest.raises(ValueError, match='values of a fixed size'):
        create_source(h5file, 'x', (None,), h5py.string_dtype())
    assert not list(h5file)
