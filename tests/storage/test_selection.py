import h5py
import hypothesis
import hypothesis.strategies as st
import numpy
import pytest

from fuel.exceptions import DataLayoutError
from fuel.storage.selection import select
from fuel.storage.splits import entries_of, get_provided_sources, read_splits
from tests.storage.files import write_file

ROWS = {'x': 12, 'y': 30}


def selected(tmp_path, splits, which_sets, sources=('x', 'y'), rows=None, edit=None):
    rows = rows or ROWS
    path = write_file(tmp_path / 'f.hdf5', {name: numpy.arange(n) for name, n in rows.items()},
                      splits, edit=edit)
    with h5py.File(path) as h5file:
        chosen = entries_of(read_splits(h5file), which_sets, 'f')
        return select(h5file, chosen, sources, get_provided_sources(chosen, 'f'))


def lists(subsets):
    return {source: subset.get_list_representation() for source, subset in subsets.items()}


def both(rows):
    return {'x': rows, 'y': rows}


def test_one_split_of_slices_is_a_slice(tmp_path):
    subsets = selected(tmp_path, {'a': both((2, 7))}, ['a'])
    assert not any(subset.is_list for subset in subsets.values())
    assert lists(subsets) == both([2, 3, 4, 5, 6])
    assert [subsets[name].original_num_examples for name in 'xy'] == [12, 30]


def test_several_splits_are_merged_in_the_order_of_the_file(tmp_path):
    splits = {'a': both((6, 9)), 'b': both((0, 4)), 'c': both((3, 6))}
    for names in (['a', 'b'], ['b', 'a']):
        assert lists(selected(tmp_path, splits, names)) == both([0, 1, 2, 3, 6, 7, 8])
    subsets = selected(tmp_path, splits, ['a', 'b', 'c'])
    assert lists(subsets) == both(list(range(9)))
    assert not any(subset.is_list for subset in subsets.values())
    assert lists(selected(tmp_path, splits, ['a', 'a'])) == both([6, 7, 8])


def test_the_same_indices_for_all_sources_are_sorted_and_unique(tmp_path):
    splits = {'a': both([7, 2, 9, 2]), 'b': both([9, 0])}
    assert lists(selected(tmp_path, splits, ['a'])) == both([2, 7, 9])
    assert lists(selected(tmp_path, splits, ['a', 'b'])) == both([0, 2, 7, 9])
    assert lists(selected(tmp_path, splits, ['a'], sources=('y',))) == {'y': [2, 7, 9]}


def test_sources_share_one_array_of_indices(tmp_path):
    subsets = selected(tmp_path, {'a': both([7, 2, 9])}, ['a'], rows={'x': 12, 'y': 12})
    assert numpy.shares_memory(subsets['x'].indices, subsets['y'].indices)


def test_different_indices_keep_examples_together(tmp_path):
    splits = {'a': {'x': [7, 2, 5], 'y': [20, 10, 29]}}
    assert lists(selected(tmp_path, splits, ['a'])) == {'x': [2, 5, 7], 'y': [10, 29, 20]}


def test_different_indices_keep_duplicates(tmp_path):
    splits = {'a': {'x': [7, 2, 7, 2], 'y': [20, 10, 5, 10]}}
    assert lists(selected(tmp_path, splits, ['a'])) == {'x': [2, 2, 7, 7], 'y': [10, 10, 20, 5]}


def test_a_slice_beside_indices(tmp_path):
    splits = {'a': {'x': (3, 6), 'y': [20, 10, 29]}, 'b': {'x': [0, 8], 'y': (0, 2)}}
    assert lists(selected(tmp_path, splits, ['a'])) == {'x': [3, 4, 5], 'y': [20, 10, 29]}
    assert lists(selected(tmp_path, splits, ['b', 'a'])) == {
        'x': [0, 3, 4, 5, 8], 'y': [0, 20, 10, 29, 1]}


def test_slices_at_different_places_stay_slices(tmp_path):
    splits = {'train': {'x': (0, 6), 'y': (0, 6)}, 'test': {'x': (6, 10), 'y': (10, 14)}}
    subsets = selected(tmp_path, splits, ['test', 'train'])
    assert lists(subsets) == {'x': list(range(10)), 'y': [0, 1, 2, 3, 4, 5, 10, 11, 12, 13]}
    assert not subsets['x'].is_list


def test_slices_in_different_orders_keep_examples_together(tmp_path):
    splits = {'train': {'x': (0, 3), 'y': (10, 13)}, 'test': {'x': (3, 5), 'y': (0, 2)}}
    assert lists(selected(tmp_path, splits, ['train', 'test'])) == {
        'x': [0, 1, 2, 3, 4], 'y': [10, 11, 12, 0, 1]}


def test_what_two_splits_have_in_common_counts_once(tmp_path):
    splits = {'a': {'x': (0, 3), 'y': (10, 13)}, 'b': {'x': (1, 5), 'y': (11, 15)},
              'c': {'x': (1, 3), 'y': (0, 2)}}
    assert lists(selected(tmp_path, splits, ['a', 'b'])) == {
        'x': [0, 1, 2, 3, 4], 'y': [10, 11, 12, 13, 14]}
    assert lists(selected(tmp_path, splits, ['a', 'c'])) == {
        'x': [0, 1, 1, 2, 2], 'y': [10, 11, 0, 12, 1]}
    assert lists(selected(tmp_path, splits, ['c', 'c', 'a'])) == {
        'x': [0, 1, 1, 2, 2], 'y': [10, 0, 11, 1, 12]}


def test_the_order_does_not_depend_on_the_sources_wanted(tmp_path):
    splits = {'a': {'x': [7, 2, 5], 'y': [20, 10, 29]}}
    together = lists(selected(tmp_path, splits, ['a']))
    for source in 'xy':
        assert lists(selected(tmp_path, splits, ['a'], sources=(source,))) == {
            source: together[source]}
    assert lists(selected(tmp_path, splits, ['a'], sources=('y', 'x'))) == together


def test_sources_that_are_not_wanted_may_be_wrong(tmp_path):
    splits = {'a': {'w': (0, 99), 'x': [7, 2, 5], 'y': (0, 2)}}
    rows = {'w': 3, **ROWS}
    assert lists(selected(tmp_path, splits, ['a'], sources=('x',), rows=rows)) == {'x': [2, 5, 7]}


def test_empty_splits(tmp_path):
    splits = {'none': both((0, 0)), 'a': both((1, 3)), 'listed': both(numpy.array([], dtype=int))}
    assert selected(tmp_path, splits, ['none'])['x'].is_empty
    assert selected(tmp_path, splits, ['listed'])['x'].is_empty
    assert lists(selected(tmp_path, splits, ['none', 'a', 'listed'])) == both([1, 2])
    uneven = {'none': {'x': (0, 0), 'y': (5, 5)}, 'a': {'x': (0, 3), 'y': (2, 5)}}
    assert lists(selected(tmp_path, uneven, ['none', 'a'])) == {'x': [0, 1, 2], 'y': [2, 3, 4]}


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'uint64', '>i4'])
def test_indices_may_be_integers_of_any_kind(tmp_path, dtype):
    subsets = selected(tmp_path, {'a': both(numpy.array([7, 2], dtype=dtype))}, ['a'])
    assert lists(subsets) == both([2, 7])


def test_different_lengths_are_refused(tmp_path):
    splits = {'a': {'x': (0, 3), 'y': (0, 4)}, 'b': {'x': (3, 7), 'y': (4, 7)}}
    with pytest.raises(DataLayoutError, match="split 'a'.*'x' has 3, 'y' has 4"):
        selected(tmp_path, splits, ['a'])
    with pytest.raises(DataLayoutError, match='different lengths'):
        selected(tmp_path, splits, ['a', 'b'])           # 7 each, but they do not correspond


@pytest.mark.parametrize('rows', [(0, 13), (13, 14), [12], [0, -1], [2 ** 40]])
def test_rows_past_the_end_are_refused(tmp_path, rows):
    with pytest.raises(DataLayoutError, match=r"split 'a', source 'x': .*past the end.*12 rows"):
        selected(tmp_path, {'a': {'x': rows}}, ['a'], sources=('x',))


def corrupt_bounds(h5file):
    array = h5file.attrs['split']
    array['start'], array['stop'] = 5, 3
    h5file.attrs['split'] = array


def test_bounds_that_make_no_sense_are_refused(tmp_path):
    with pytest.raises(DataLayoutError, match='start 5 and stop 3'):
        selected(tmp_path, {'a': {'x': (0, 3)}}, ['a'], sources=('x',), edit=corrupt_bounds)


@pytest.mark.parametrize(('target', 'said'), [
    (numpy.array([0.5]), 'float64'), (numpy.zeros((2, 2), dtype=int), r'\(2, 2\)'),
    (numpy.array(3), r'shape \(\)'), (b'text', 'object|S4'), (None, 'Group')])
def test_references_to_something_else_are_refused(tmp_path, target, said):
    def refer(h5file):
        if target is None:
            h5file.create_group('target')
        else:
            h5file['target'] = target
        array = h5file.attrs['split']
        array['indices'][0] = h5file['target'].ref
        h5file.attrs['split'] = array

    with pytest.raises(DataLayoutError, match=f"integers; got '/target', .*({said})"):
        selected(tmp_path, {'a': {'x': (0, 3)}}, ['a'], sources=('x',), edit=refer)


def test_a_dangling_reference_is_refused(tmp_path):
    def unlink(h5file):
        del h5file['a_x_rows']

    with pytest.raises(DataLayoutError, match="split 'a', source 'x': .*leads nowhere"):
        selected(tmp_path, {'a': {'x': [1, 2]}}, ['a'], sources=('x',), edit=unlink)


def expected(splits, which_sets):
    """Return the examples of the splits, by the rules, one by one."""
    if all(rows['x'] == rows['y'] for rows in (splits[name] for name in which_sets)):
        return [(row, row) for row in sorted({row for name in which_sets
                                              for row in splits[name]['x']})]
    examples = []
    for name in dict.fromkeys(which_sets):
        pairs = list(zip(splits[name]['x'], splits[name]['y'], strict=True))
        examples += [pair for pair in pairs if pair not in examples]
    return sorted(examples, key=lambda pair: pair[0])


@st.composite
def split_dicts(draw):
    splits = {}
    for name in 'abc'[:draw(st.integers(1, 3))]:
        count = draw(st.integers(1, 5))
        rows = {}
        for source in 'xy':
            if draw(st.booleans()):
                start = draw(st.integers(0, 8 - count))
                rows[source] = list(range(start, start + count))
            else:
                rows[source] = draw(st.lists(st.integers(0, 7), min_size=count, max_size=count))
        if draw(st.booleans()):
            rows['y'] = rows['x']
        splits[name] = rows
    names = draw(st.lists(st.sampled_from(sorted(splits)), min_size=1, max_size=4))
    return splits, names


@hypothesis.given(split_dicts())
def test_examples_stay_together_whatever_the_splits(tmp_path, drawn):
    splits, names = drawn
    stored = {name: {source: (rows[0], rows[-1] + 1)
                     if rows == list(range(rows[0], rows[0] + len(rows))) else rows
                     for source, rows in of_split.items()} for name, of_split in splits.items()}
    chosen = lists(selected(tmp_path, stored, names, rows={'x': 8, 'y': 8}))
    found = list(zip(chosen['x'], chosen['y'], strict=True))
    wanted = expected(splits, names)
    assert [pair[0] for pair in found] == [pair[0] for pair in wanted]
    assert sorted(found) == sorted(wanted)
