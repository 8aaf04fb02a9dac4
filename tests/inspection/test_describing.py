"""Drawings of chains."""
import re
import subprocess
import xml.etree.ElementTree

import h5py
import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import StateError
from fuel.inspection import describe
from fuel.schemes import ConstantScheme, SequentialExampleScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Filter,
    FilterSources,
    Flatten,
    Mapping,
    Merge,
    MultiProcessing,
    MultiThreading,
)

from .common import Clock, FakeEngine, chain

LABELS = {'image': ('batch', 'height', 'width'), 'label': ('batch',)}


def images():
    return IndexableDataset({'image': numpy.zeros((10, 8, 6), 'uint8'),
                             'label': numpy.arange(10)}, axis_labels=LABELS)


def flat(scheme=None):
    return Flatten(DataStream(images(), iteration_scheme=scheme or ShuffledScheme(10, 4)),
                   which_sources=('image',))


def test_sources_labels_shapes_and_lengths_that_are_known_without_reading():
    assert str(describe(flat())).split('\n') == [
        'DataStream: 3 batches, 10 examples',
        '  reads IndexableDataset, 10 examples',
        '  in the order of ShuffledScheme, batch_size 4',
        '  image: uint8 (4, 8, 6), batch x height x width',
        '  label: int64 (4,), batch',
        'Flatten: 3 batches, 10 examples',
        '  changes image',
        '  image: batch x feature']


def test_nothing_is_read_without_being_asked_for():
    stream = flat()
    stream.dataset = None
    stream.data_stream.dataset.get_data = None
    assert 'uint8' in str(describe(stream))
    assert stream.epochs_started == 0


def test_a_step_tells_the_shapes_behind_transformers():
    stream = flat()
    state = stream.state_dict()
    assert str(describe(stream, data=True)).endswith('  image: uint8 (4, 48), batch x feature')
    assert stream.state_dict() == state


def test_a_stream_that_cannot_be_put_back_is_not_read():
    class Keeping(Mapping):
        def get_data(self, request=None):
            raise AssertionError
    stream = Keeping(flat(), len)
    with pytest.raises(StateError):
        describe(stream, data=True)
    assert 'Keeping (len)' in str(describe(stream))

    class Bare:
        sources = ('x',)

        def get_epoch_iterator(self):
            raise AssertionError
    assert str(describe(Bare())) == 'Bare\n  x'
    with pytest.raises(StateError, match='Bare has no state'):
        describe(Bare(), data=True)


def test_files_tell_their_shapes(tmp_path):
    with h5py.File(tmp_path / 'digits.hdf5', 'w') as file:
        file['x'] = numpy.zeros((6, 2), 'float32')
        words = file.create_dataset('words', (6,), h5py.vlen_dtype('uint8'))
        file['shapes'] = numpy.zeros((6, 1), 'int32')
        file['shapes'].make_scale('shapes')
        words.dims[0].attach_scale(file['shapes'])
        file.attrs['split'] = H5PYDataset.create_split_array(
            {'train': {'x': (0, 4), 'words': (0, 4)}, 'test': {'x': (4, 6), 'words': (4, 6)}})
    dataset = H5PYDataset(tmp_path / 'digits.hdf5', ('train',))
    stream = DataStream(dataset, iteration_scheme=SequentialExampleScheme(4))
    text = str(describe(stream))
    stream.close()
    assert '  reads H5PYDataset train of digits.hdf5, 4 examples\n' in text
    assert '  words: uint8 (?,)\n' in text
    assert text.endswith('  x: float32 (2,)')
    assert str(tmp_path) not in text


def test_what_is_merged_has_a_line_at_its_left():
    merged = Merge([flat(), Filter(flat(), len)], ('a', 'b', 'c', 'd'))
    assert [line for line in str(describe(merged)).split('\n') if '  ' not in line] == [
        '┌ DataStream: 3 batches, 10 examples', '│ Flatten: 3 batches, 10 examples',
        '├ DataStream: 3 batches, 10 examples', '│ Flatten: 3 batches, 10 examples',
        '│ Filter (len): batches', 'Merge: batches']


def test_sources_that_are_left_out_are_told():
    assert str(describe(FilterSources(flat(), ('label',)))).endswith('  without image')


def test_lengths_of_examples_and_of_unknown_length():
    assert str(describe(DataStream(IterableDataset(iter([1]))))).startswith('DataStream: examples')
    assert str(describe(DataStream(IterableDataset([1])))).startswith('DataStream: 1 example\n')


def test_engines_tell_who_computes_what():
    examples = Mapping(DataStream(images(), iteration_scheme=SequentialExampleScheme(10)), tuple)
    batches = Batch(examples, ConstantScheme(4))
    where = re.compile(r'^(?:│ |├ |┌ )?(\w+).*\n(?:  |│   )(runs in .*|hands out .*)', re.MULTILINE)
    assert dict(where.findall(str(describe(MultiProcessing(batches, num_workers=3))))) == {
        'DataStream': 'runs in the 3 workers of MultiProcessing',
        'Mapping': 'runs in the 3 workers of MultiProcessing',
        'Batch': 'runs in this process', 'MultiProcessing': 'hands out what 3 workers do'}
    assert dict(where.findall(str(describe(MultiThreading(batches))))) == {
        'DataStream': 'runs in the worker of MultiThreading',
        'Mapping': 'runs in the worker of MultiThreading',
        'Batch': 'runs in the worker of MultiThreading',
        'MultiThreading': 'hands out what 1 worker does'}
    assert dict(where.findall(str(describe(MultiProcessing(batches, num_workers=0))))) == {
        'DataStream': 'runs in this process', 'Mapping': 'runs in this process',
        'Batch': 'runs in this process', 'MultiProcessing': 'runs in this process, without workers'}
    assert 'runs in' not in str(describe(batches))


def test_shapes_of_what_workers_compute_are_seen_too():
    with MultiThreading(flat(), num_workers=2) as stream:
        assert 'image: uint8 (4, 48), batch x feature' in str(describe(stream, data=True))


def test_mermaid():
    assert describe(flat()).mermaid().split('\n') == [
        'flowchart TD',
        '    s0["DataStream<br>3 batches, 10 examples<br>reads IndexableDataset, 10 examples<br>in '
        'the order of ShuffledScheme, batch_size 4<br>image: uint8 (4, 8, 6), batch x height x '
        'width<br>label: int64 (4,), batch"]',
        '    s1["Flatten<br>3 batches, 10 examples<br>changes image<br>image: batch x feature"]',
        '    s0 -->|"image, label"| s1']
    engine = describe(FakeEngine(chain(Clock()), Clock(), 1)).mermaid()
    assert '    subgraph workers0 ["the 2 workers of FakeEngine"]\n        s0[' in engine
    assert describe(flat())._repr_markdown_().startswith('```mermaid\nflowchart TD\n')


def test_names_that_mean_something_in_the_languages_are_escaped():
    stream = Mapping(DataStream(IndexableDataset({'a "b" <c> #d \\': numpy.zeros(3)}),
                                iteration_scheme=ShuffledScheme(3, 1)), tuple)
    drawn = describe(stream)
    assert 'a #quot;b#quot; #lt;c#gt; #35;d' in drawn.mermaid()
    assert 'a \\"b\\" <c> #d \\\\: float64' in drawn.dot()


def test_graphviz():
    graph = describe(FakeEngine(flat(), Clock(), 1)).dot()
    assert graph.startswith('digraph stream {\n') and graph.endswith('\n}')
    assert '    s1 -> s2 [label="image, label"];' in graph
    assert '    subgraph cluster_0 {\n        label="the 2 workers of FakeEngine";' in graph
    assert graph.count('{') == graph.count('}')


def test_a_picture_is_drawn_by_graphviz(monkeypatch, tmp_path):
    program = tmp_path / 'dot'
    program.write_text('#!/bin/sh\ncat > "$0.input"\necho "<svg $1/>"\n')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    drawn = describe(flat())
    assert drawn.svg() == '<svg -Tsvg/>\n'
    assert (tmp_path / 'dot.input').read_text() == drawn.dot()
    program.write_text('#!/bin/sh\nexit 3\n')
    with pytest.raises(subprocess.CalledProcessError):
        drawn.svg()


def test_without_graphviz_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(FileNotFoundError, match='Graphviz, which is not installed; install'):
        describe(flat()).svg()


def test_a_real_picture_where_graphviz_is_there():
    drawn = describe(flat())
    try:
        picture = drawn.svg()
    except FileNotFoundError:
        return
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith('svg')


def test_what_is_no_stream_is_refused():
    with pytest.raises(TypeError, match='expected a data stream; got 3'):
        describe(3)
    assert repr(describe(flat())) == '<Description of Flatten>'
