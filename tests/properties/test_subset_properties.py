"""Subsets against sets and lists of Python."""
import pickle

import hypothesis
import hypothesis.strategies as st
import numpy

from fuel.utils.subset import Subset

COUNT = 12


@st.composite
def definitions(draw):
    """Return what a subset is defined by, and its examples in order."""
    kind = draw(st.sampled_from(['slice', 'list', 'tuple', 'array', 'mask', 'range']))
    if kind == 'slice':
        start = draw(st.integers(0, COUNT - 1))
        stop = draw(st.integers(start, COUNT))
        return slice(start, stop), list(range(start, stop))
    if kind == 'range':
        chosen = range(draw(st.integers(0, 5)), COUNT, draw(st.integers(1, 4)))
        return chosen, list(chosen)
    if kind == 'mask':
        mask = numpy.array(draw(st.lists(st.booleans(), min_size=COUNT, max_size=COUNT)))
        return mask, numpy.flatnonzero(mask).tolist()
    indices = draw(st.lists(st.integers(0, COUNT - 1), max_size=15))
    made = {'list': list, 'tuple': tuple,
            'array': lambda values: numpy.array(values, dtype='int32')}[kind](indices)
    return made, sorted(set(indices))


subsets = definitions().map(lambda pair: Subset(pair[0], COUNT))


@hypothesis.given(definitions())
def test_a_subset_is_a_sorted_set(defined):
    definition, examples = defined
    subset = Subset(definition, COUNT)
    assert subset.get_list_representation() == examples
    assert subset.indices.tolist() == examples
    assert subset.num_examples == len(examples)
    assert subset.is_empty == (not examples)
    kept = subset.list_or_slice
    assert (list(range(COUNT))[kept] if isinstance(kept, slice) else kept) == examples
    assert subset.is_list == isinstance(kept, list)
    copy = pickle.loads(pickle.dumps(subset))
    assert copy.list_or_slice == kept


@hypothesis.given(subsets, subsets, subsets)
def test_addition_is_union(first, second, third):
    union = first + second
    together = sorted({*first.get_list_representation(), *second.get_list_representation()})
    assert union.get_list_representation() == together
    assert (second + first).get_list_representation() == together
    assert ((first + second) + third).get_list_representation() == (
        first + (second + third)).get_list_representation()
    contiguous = together == list(range(COUNT))[together[0]:together[-1] + 1] if together else True
    if not first.is_empty and not second.is_empty:
        assert union.is_list == (not contiguous)


@hypothesis.given(subsets, st.data())
def test_requests_are_translated_as_lists_are_indexed(subset, data):
    hypothesis.assume(not subset.is_empty)
    examples = subset.get_list_representation()
    index = st.integers(0, len(examples) - 1)
    request = data.draw(st.one_of(
        index, st.lists(index, min_size=1, max_size=15),
        st.tuples(index, st.integers(1, 3)).map(lambda pair: slice(pair[0], None, pair[1]))))
    if isinstance(request, list):
        wanted = [examples[place] for place in request]
        assert subset[numpy.array(request)].tolist() == wanted
        assert subset[tuple(request)] == wanted
    else:
        wanted = examples[request]
    translated = subset[request]
    assert (list(range(COUNT))[translated] if isinstance(translated, slice)
            else translated) == wanted
    values = numpy.arange(COUNT) * 11
    taken = subset.index_within_subset(values, request)
    assert numpy.array_equal(taken, values[wanted])
    assert numpy.array_equal(subset.index_within_subset(values, request, sort_indices=True),
                             values[wanted])
    of_list = subset.index_within_subset(values.tolist(), request)
    assert of_list == values[wanted].tolist()


@hypothesis.given(subsets, st.data())
def test_parts_of_parts(subset, data):
    hypothesis.assume(not subset.is_empty)
    examples = subset.get_list_representation()
    for _ in range(2):
        count = len(examples)
        index = st.integers(0, count - 1)
        if data.draw(st.booleans()):
            request = data.draw(st.lists(index, min_size=1))
            examples = [examples[place] for place in sorted(set(request))]
        else:
            start = data.draw(index)
            request = slice(start - data.draw(st.sampled_from([0, count])) or None, None,
                            data.draw(st.integers(1, 3)))
            examples = examples[request]
        subset = Subset.subset_of(subset, request)
        assert subset.get_list_representation() == examples
        assert subset.num_examples == len(examples)


@hypothesis.given(st.lists(st.integers(0, COUNT - 1), min_size=1))
def test_an_order_of_its_own(positions):
    subset = Subset.in_order(numpy.array(positions), COUNT)
    assert subset.get_list_representation() == positions
    assert subset[list(range(len(positions)))] == positions
