from __future__ import annotations

import io
import pickle

import numpy
import pytest
from PIL import Image

from fuel.converters.ilsvrc2010 import convert_ilsvrc2010
from fuel.converters.ilsvrc2012 import convert_ilsvrc2012
from fuel.datasets.imagenet import ILSVRC2010, ILSVRC2012
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from tests.converters.imagenet_expected import expected
from tests.raw import ilsvrc2010, ilsvrc2012

SETS = {2010: (ILSVRC2010, convert_ilsvrc2010, ilsvrc2010.write),
        2012: (ILSVRC2012, convert_ilsvrc2012, ilsvrc2012.write)}


@pytest.fixture(params=[(2010, 'vlen'), (2012, 'vlen'), (2010, 'ragged'), (2012, 'ragged')],
                ids=str)
def converted(request, tmp_path, monkeypatch):
    year, layout = request.param
    kind, convert, write = SETS[year]
    write(tmp_path)
    convert(str(tmp_path), str(tmp_path), layout=layout)
    monkeypatch.setenv('FUEL_DATA_PATH', str(tmp_path))
    return kind, expected(tmp_path, year)


def test_the_class_gives_what_is_in_the_raw_files(converted):
    kind, known = converted
    for split, pictures in known.items():
        dataset = kind((split,))
        assert dataset.num_examples == len(pictures)
        assert not dataset.load_in_memory
        labelled = pictures[0][2] is not None
        assert dataset.sources == (('encoded_images', 'filenames', 'targets') if labelled
                                   else ('encoded_images', 'filenames'))
        labels = dataset.axis_labels
        assert labels['encoded_images'] == ('batch', 'bytes')
        assert labels['targets'] == labels['filenames'] == ('batch', 'index')
        images, names, *targets = dataset.get_data(request=slice(0, len(pictures)))
        for number, (name, content, label) in enumerate(pictures):
            assert names[number].tolist() == [name.encode()]
            assert images[number].tobytes() == content
            if labelled:
                assert targets[0][number].tolist() == [label]


def test_the_default_stream_decodes(converted):
    kind, known = converted
    dataset = kind(('train', 'valid'))
    scheme = ShuffledScheme(dataset.num_examples, batch_size=5)
    stream = DataStream.default_stream(dataset, iteration_scheme=scheme)
    assert stream.axis_labels['encoded_images'] == ('batch', 'channel', 'height', 'width')
    content = {name: content for split in ('train', 'valid')
               for name, content, _ in known[split]}
    seen = 0
    for images, names, targets in stream.get_epoch_iterator():
        assert targets.dtype == numpy.int16
        for image, (name,) in zip(images, names, strict=True):
            pixels = numpy.asarray(Image.open(io.BytesIO(content[name.decode()])).convert('RGB'))
            assert image.dtype == numpy.uint8
            assert numpy.abs(image.transpose(1, 2, 0).astype(int) - pixels).max() <= 1
            seen += 1
    assert seen == dataset.num_examples


def test_the_stream_goes_on_after_pickling(converted):
    dataset = converted[0](('test',), sources=('filenames',))
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(dataset.num_examples, 2))
    epoch = stream.get_epoch_iterator()
    first = next(epoch)
    rest = pickle.loads(pickle.dumps(epoch))
    names = [name for names, in [first, *rest] for name in names.ravel().tolist()]
    assert names == [name.encode() for name, _, _ in converted[1]['test']]


@pytest.mark.parametrize('year', [2010, 2012])
def test_a_missing_file(tmp_path, monkeypatch, year):
    monkeypatch.setenv('FUEL_DATA_PATH', str(tmp_path))
    with pytest.raises(DataFileNotFoundError, match=f'ilsvrc{year}.hdf5 not found'):
        SETS[year][0](('train',))
