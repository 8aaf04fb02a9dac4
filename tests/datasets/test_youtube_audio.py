import pickle

import numpy
import pytest

from fuel import config
from fuel.converters.youtube_audio import convert_youtube_audio
from fuel.datasets.youtube_audio import YouTubeAudio
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialExampleScheme
from fuel.streams import DataStream
from tests.raw import youtube_audio as raw


@pytest.fixture
def samples(tmp_path):
    samples = raw.write(tmp_path, '-a_B9', channels=2)
    convert_youtube_audio(str(tmp_path), str(tmp_path), '-a_B9', channels=2)
    config.data_path = str(tmp_path)
    return samples


def test_the_sound_is_one_example(samples):
    dataset = YouTubeAudio('-a_B9')
    assert dataset.which_sets == ('train',)
    assert not dataset.load_in_memory
    assert dataset.num_examples == 1
    assert dataset.sources == ('features',)
    assert dataset.axis_labels == {'features': ('batch', 'time', 'feature')}
    assert dataset.default_transformers == ()
    features, = dataset.get_data(request=[0])
    assert features.dtype == 'int16'
    assert numpy.array_equal(features, samples[None])


@pytest.mark.parametrize('kwargs', [{}, {'load_in_memory': True}])
def test_streamed_and_pickled(samples, kwargs):
    dataset = pickle.loads(pickle.dumps(YouTubeAudio('-a_B9', **kwargs)))
    stream = DataStream.default_stream(dataset, iteration_scheme=SequentialExampleScheme(1))
    (features,), = stream.get_epoch_iterator()
    assert numpy.array_equal(features, samples)


def test_the_missing_file_and_the_commands_are_named(samples):
    with pytest.raises(DataFileNotFoundError, match=r'abc\.hdf5 not found') as caught:
        YouTubeAudio('abc')
    assert ('fuel-download youtube_audio --youtube-id=abc && '
            'fuel-convert youtube_audio --youtube-id=abc') in str(caught.value)
