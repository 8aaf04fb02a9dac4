import h5py
import numpy
import pytest

from fuel.exceptions import DataLayoutError
from fuel.storage.layout import (
    example_dtype,
    example_shape,
    get_axis_labels,
    get_vlen_sources,
    row_reader,
    source_dataset,
)
from fuel.storage.variable.ragged import objects
from tests.storage.files import some_images, write_file, write_ragged
from tests.storage.ragged_files import as_opened


@pytest.fixture
def images():
    return some_images(12)


@pytest.mark.parametrize('positions', [
    slice(0, 12, 1), slice(1, 12, 4), numpy.array([7, 0, 7]), numpy.array([3]), numpy.arange(5)])
def test_examples_get_their_shapes_back(tmp_path, images, positions):
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', images)) as h5file:
        read = row_reader(as_opened(h5file), 'images').read(positions)
        assert read.dtype == object
        assert read.ndim == 1
        for array, number in zip(read, numpy.arange(12)[positions], strict=True):
            assert array.dtype == numpy.uint8
            assert numpy.array_equal(array, images[number])
            assert array.flags.writeable


def test_one_example_is_one_array(tmp_path, images):
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', images)) as h5file:
        assert numpy.array_equal(row_reader(as_opened(h5file), 'images').read(4), images[4])


def test_examples_of_one_shape_come_as_objects_too(tmp_path):
    same = [numpy.full((1, 2, 2), i, dtype='uint8') for i in range(4)]
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', same)) as h5file:
        read = row_reader(as_opened(h5file), 'images').read(slice(0, 4, 1))
        assert read.shape == (4,)
        assert read.dtype == object


def test_examples_without_values(tmp_path):
    arrays = [numpy.zeros((3, 0, 2), dtype='uint8'), numpy.ones((3, 1, 1), dtype='uint8')]
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', arrays)) as h5file:
        assert row_reader(as_opened(h5file), 'images').read(0).shape == (3, 0, 2)


@pytest.mark.parametrize('dtype', ['uint8', 'uint16', 'int32', 'int64'])
def test_shapes_may_be_integers_of_any_kind(tmp_path, images, dtype):
    def narrow(h5file):
        del h5file['image_shapes']
        h5file['image_shapes'] = numpy.array([image.shape for image in images], dtype=dtype)
        h5file['image_shapes'].make_scale('shapes')
        h5file['images'].dims[0].attach_scale(h5file['image_shapes'])

    path = write_ragged(tmp_path / 'f.hdf5', images)
    with h5py.File(path, 'a') as h5file:
        h5file['images'].dims[0].detach_scale(h5file['image_shapes'])
        narrow(h5file)
    with h5py.File(path) as h5file:
        assert numpy.array_equal(row_reader(as_opened(h5file), 'images').read(2), images[2])


def test_labels_and_kinds_of_sources(tmp_path, images):
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', images)) as h5file:
        assert get_axis_labels(h5file) == {'images': ('batch', 'channel', 'height', 'width'),
                                           'number': ('',)}
        assert get_axis_labels(h5file, ['number']) == {'number': ('',)}
        assert get_vlen_sources(h5file) == ('images',)
        assert example_shape(h5file, 'images') == (None, None, None)
        assert example_shape(h5file, 'number') == ()
        assert example_dtype(h5file, 'images') == numpy.uint8
        assert example_dtype(h5file, 'number') == numpy.int64


def test_labels_of_ordinary_sources(tmp_path):
    path = write_file(tmp_path / 'f.hdf5', {'x': numpy.zeros((4, 2, 2)), 'y': numpy.zeros((4, 1))},
                      {'a': {'x': (0, 4), 'y': (0, 4)}}, labels={'x': ('batch', 'größe')})
    with h5py.File(path) as h5file:
        assert get_axis_labels(h5file) == {'x': ('batch', 'größe', ''), 'y': ('', '')}
        assert example_shape(h5file, 'x') == (2, 2)


def test_without_labels_of_shapes_the_labels_are_unknown(tmp_path, images):
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', images, shape_labels=None)) as h5file:
        assert get_axis_labels(h5file)['images'] is None
        assert numpy.array_equal(row_reader(as_opened(h5file), 'images').read(2), images[2])


def test_variable_length_without_shapes_stays_flat(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        flat = h5file.create_dataset('x', (3,), dtype=h5py.vlen_dtype('u1'))
        flat[0], flat[1] = [1, 2], [3]
        flat.dims[0].label = 'batch'
        read = row_reader(as_opened(h5file), 'x').read(slice(0, 3, 1))
        assert [values.tolist() for values in read] == [[1, 2], [3], []]
        assert get_vlen_sources(h5file, ['x']) == ()
        assert get_axis_labels(h5file, ['x']) == {'x': ('batch',)}
        assert example_shape(h5file, 'x') == (None,)


def test_shapes_shorter_than_the_data_are_refused(tmp_path, images):
    path = write_ragged(tmp_path / 'f.hdf5', images, shapes=[image.shape for image in images[:9]])
    with h5py.File(path) as h5file, pytest.raises(
            DataLayoutError, match=r"source 'images'.*shorter.*12.*9"):
        row_reader(as_opened(h5file), 'images')


@pytest.mark.parametrize('shapes', [[3] * 12, [[0.5, 1.5, 1.0]] * 12])
def test_shapes_of_another_form_are_refused(tmp_path, images, shapes):
    path = write_ragged(tmp_path / 'f.hdf5', images)
    with h5py.File(path, 'a') as h5file:
        h5file['images'].dims[0].detach_scale(h5file['image_shapes'])
        del h5file['image_shapes']
        h5file['other'] = numpy.array(shapes)
        h5file['other'].make_scale('shapes')
        h5file['images'].dims[0].attach_scale(h5file['other'])
        with pytest.raises(DataLayoutError, match='one row for each example'):
            row_reader(as_opened(h5file), 'images')


def test_a_shape_that_does_not_fit_names_the_example(tmp_path, images):
    shapes = [image.shape for image in images]
    shapes[5] = (1, 1, 99)
    with h5py.File(write_ragged(tmp_path / 'f.hdf5', images, shapes=shapes)) as h5file:
        reader = row_reader(as_opened(h5file), 'images')
        assert numpy.array_equal(reader.read(4), images[4])
        for positions in (5, slice(0, 12, 1), numpy.array([7, 5])):
            with pytest.raises(DataLayoutError, match=r"'images': example 5 .*\(1, 1, 99\)"):
                reader.read(positions)


def test_data_of_variable_length_has_one_axis(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file.create_dataset('x', (3, 2), dtype=h5py.vlen_dtype('u1'))
        with pytest.raises(DataLayoutError, match=r'a single axis.*\(3, 2\)'):
            row_reader(as_opened(h5file), 'x')


def test_shapes_belong_to_data_of_variable_length(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['x'] = numpy.arange(3)
        h5file['s'] = numpy.ones((3, 1), dtype=int)
        h5file['s'].make_scale('shapes')
        h5file['x'].dims[0].attach_scale(h5file['s'])
        with pytest.raises(DataLayoutError, match='expected data of variable length.*int64'):
            row_reader(as_opened(h5file), 'x')


def test_sources_that_are_no_data_sets_are_refused(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['x'], h5file['one'] = numpy.arange(3), 5
        h5file.create_group('group')
        for name in ('gone', 'group'):
            with pytest.raises(DataLayoutError, match=f"'{name}'.*no data set.*'one', 'x'"):
                source_dataset(h5file, name)
        with pytest.raises(DataLayoutError, match='single value'):
            source_dataset(h5file, 'one')


def test_objects_makes_one_slot_for_each_value():
    for values in ([numpy.zeros(2), numpy.zeros(2)], [numpy.zeros(1), numpy.zeros(2)], [], [3]):
        assert objects(values).shape == (len(values),)
        assert objects(values).dtype == object
