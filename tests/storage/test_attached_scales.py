"""Dimension scales as files have them, also damaged ones and those of other programs."""
from __future__ import annotations

import h5py
import numpy
import pytest

from fuel.converters.base import fill_hdf5_file
from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import DataLayoutError
from fuel.storage.variable.attached import attached_scales
from fuel.storage.variable.scales import axis_labels

LISTS = h5py.vlen_dtype(h5py.ref_dtype)


@pytest.fixture(params=['vlen', 'ragged'])
def path(request, tmp_path):
    examples = [numpy.full((2, length, 3), length, 'uint8') for length in range(1, 6)]
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        fill_hdf5_file(h5file, [('train', 'x', examples)], layout=request.param,
                       axis_labels={'x': ('batch', 'channel', 'height', 'width')})
        h5file.create_group('folder')
        h5file['gone'] = 1
        h5file['lost'] = h5file['gone'].ref
        del h5file['gone']
    return tmp_path / 'x.hdf5'


def references(*entries):
    """Return a list of references for each of some axes."""
    found = numpy.empty(len(entries), LISTS)
    for place, entry in enumerate(entries):
        found[place] = numpy.array(entry, h5py.ref_dtype)
    return found


def replace(h5file, value, dtype=None, name='DIMENSION_LIST', owner='x'):
    h5file[owner].attrs.create(name, value, dtype=dtype)


def _scale(h5file):
    return next(iter(h5file['x'].dims[0].values())).name


def _integers():
    lists = numpy.empty(1, object)
    lists[0] = numpy.arange(8)
    return lists


DAMAGED = {
    'a number': lambda h5file: replace(h5file, 5),
    'numbers': lambda h5file: replace(h5file, numpy.arange(3)),
    'text': lambda h5file: replace(h5file, ['shapes']),
    'lists of numbers': lambda h5file: replace(h5file, _integers(), h5py.vlen_dtype('int64')),
    'references without lists': lambda h5file: replace(h5file, h5file['x'].ref, h5py.ref_dtype),
    'too many axes': lambda h5file: replace(h5file, references([], []), LISTS),
    'no axes': lambda h5file: replace(h5file, references(), LISTS),
    'nothing': lambda h5file: replace(h5file, h5py.Empty('f4')),
    'a reference to nothing': lambda h5file: replace(h5file, references([h5py.Reference()]), LISTS),
    'a reference to what was deleted': lambda h5file: replace(
        h5file, references([h5file['lost'][()]]), LISTS),
    'a scale without class': lambda h5file: h5file[_scale(h5file)].attrs.__delitem__('CLASS'),
    'a scale of another class': lambda h5file: replace(
        h5file, numpy.bytes_('IMAGE'), name='CLASS', owner=_scale(h5file)),
}


@pytest.mark.parametrize('damage', DAMAGED)
def test_damaged_lists_of_scales(path, damage):
    """HDF5's own functions would read beyond what the attribute has, and end the process."""
    with h5py.File(path, 'a') as h5file:
        DAMAGED[damage](h5file)
    with h5py.File(path) as h5file, pytest.raises(DataLayoutError, match='DIMENSION_LIST') as error:
        axis_labels(h5file['x'])
    assert 'x.hdf5' in str(error.value)
    assert "source 'x'" in str(error.value)
    with pytest.raises(DataLayoutError, match="x.hdf5: source 'x'.*'DIMENSION_LIST'"):
        H5PYDataset(path, ('train',))


@pytest.mark.parametrize('other', ['folder', 'number', 'list'])
def test_scales_without_a_name_are_not_meant(path, other):
    """Of what is not asked for, nothing is asked but its name."""
    with h5py.File(path, 'a') as h5file:
        entries = list(h5file['x'].attrs['DIMENSION_LIST'][0])
        if other == 'folder':
            entries.append(h5file['folder'].ref)
        else:
            h5file['other'] = numpy.zeros(5)
            h5file['other'].make_scale('nameless')
            h5file['other'].attrs['NAME'] = 5 if other == 'number' else ['shapes', 'offsets']
            entries.append(h5file['other'].ref)
        replace(h5file, references(entries[::-1]), LISTS)
    with h5py.File(path) as h5file:
        assert axis_labels(h5file['x']) == ('batch', 'channel', 'height', 'width')


@pytest.mark.parametrize('name', [
    'shapes', b'shapes', numpy.bytes_(b'shapes'), numpy.array(['shapes'], object),
    numpy.array([b'shapes']), numpy.array(b'shapes', 'S20')])
def test_names_are_stored_in_several_forms(tmp_path, name):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file['x'], h5file['scale'] = numpy.zeros(3), numpy.zeros((3, 2))
        h5file['scale'].make_scale('something')
        h5file['x'].dims[0].attach_scale(h5file['scale'])
        h5file['scale'].attrs['NAME'] = name
        assert attached_scales(h5file['x'], 'shapes', 'offsets') == {'shapes': h5file['scale']}
        assert attached_scales(h5file['x'], 'offsets') == {}


def test_what_hdf5_finds_is_found(tmp_path):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file['x'], h5file['plain'] = numpy.zeros((3, 4)), numpy.zeros((3, 4))
        for name, axis in (('b', 0), ('größe', 0), ('a', 0), ('b', 0), ('of others', 1)):
            place = f'scale {len(h5file)}'
            h5file[place] = numpy.zeros(3 + axis)
            h5file[place].make_scale(name)
            h5file['x'].dims[axis].attach_scale(h5file[place])
        theirs = h5file['x'].dims[0].items()
        names = [name for name, _ in theirs]
        ours = attached_scales(h5file['x'], *names, 'of others')
        assert ours == dict(reversed(theirs))
        assert list(ours) == ['b', 'größe', 'a']
        assert list(attached_scales(h5file['x'], *names, most=1)) == ['b']
        assert attached_scales(h5file['plain'], *names) == {}
