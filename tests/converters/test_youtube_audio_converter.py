"""Sound in HDF5 files, compared with the samples that went in."""
import argparse
import os
import shutil
import struct
import subprocess

import h5py
import numpy
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters.youtube_audio import convert_youtube_audio, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import fails
from tests.converters.ffmpegs import PROGRAMS, install, write_program
from tests.raw import youtube_audio as raw

RAISES = 'raise SystemExit("it was called")'


def convert(folder, youtube_id=raw.YOUTUBE_ID, **kwargs):
    path, = convert_youtube_audio(str(folder), str(folder), youtube_id, **kwargs)
    return path


def read(path):
    with h5py.File(path, 'r') as h5file:
        return h5file['features'][...]


@pytest.fixture
def bin_folder(tmp_path_factory):
    return tmp_path_factory.mktemp('programs') / 'bin'


@pytest.mark.parametrize('program', PROGRAMS)
@pytest.mark.parametrize(('rate', 'channels'), [(16000, 1), (44100, 2), (8000, 3)])
def test_samples_are_those_that_ffmpeg_gives(tmp_path, bin_folder, monkeypatch, program, rate,
                                             channels):
    install(program, bin_folder, monkeypatch)
    # Whatever its name is, ffmpeg looks at what is in a file. Its name could be a protocol.
    samples = raw.write(tmp_path, 'a:%d', rate=rate, channels=channels)
    os.rename(tmp_path / 'a:%d.wav', tmp_path / 'a:%d.m4a')
    path = convert(tmp_path, 'a:%d', channels=channels, sample=rate)
    assert os.path.basename(path) == 'a:%d.hdf5'
    assert numpy.array_equal(read(path), samples[None])
    assert sorted(os.listdir(tmp_path)) == ['a:%d.hdf5', 'a:%d.m4a']


@pytest.mark.parametrize('kind', ['wav', *(['m4a'] if 'real' in PROGRAMS else [])])
def test_a_file_of_the_true_kind(tmp_path, bin_folder, monkeypatch, kind):
    samples = raw.write(tmp_path)
    if kind == 'm4a':
        subprocess.run([shutil.which('ffmpeg'), '-loglevel', 'error', '-i', 'tune.wav', '-c:a',
                        'aac', '-b:a', '128k', 'tune.m4a'], cwd=tmp_path, check=True)
        os.remove(tmp_path / 'tune.wav')
    found = read(convert(tmp_path))[0, :, 0].astype(float)
    length = min(len(found), len(samples))
    assert abs(length - 16000) < 2100  # an encoder pads
    # Loud and silent at the same places, with the same notes.
    spectra = [abs(numpy.fft.rfft(sound[:length])) for sound in (found, samples[:, 0])]
    assert numpy.corrcoef(spectra)[0, 1] > 0.99


@pytest.mark.parametrize(('rate', 'channels'), [(16000, 1), (44100, 2)])
def test_a_wav_file_that_is_as_wanted_needs_no_ffmpeg(tmp_path, bin_folder, monkeypatch, rate,
                                                      channels):
    install(RAISES, bin_folder, monkeypatch)
    samples = raw.write(tmp_path, rate=rate, channels=channels)
    assert numpy.array_equal(read(convert(tmp_path, channels=channels, sample=rate)),
                             samples[None])


@pytest.mark.parametrize('block', [2, 64, 10 ** 6])
def test_blocks_of_any_size(tmp_path, bin_folder, monkeypatch, block):
    monkeypatch.setattr('fuel.converters._formats.sound._BLOCK_BYTES', block)
    monkeypatch.setattr('fuel.converters.youtube_audio._BLOCK_BYTES', block)
    install('stand-in', bin_folder, monkeypatch)
    samples = raw.write(tmp_path, seconds=0.01, channels=2)
    assert numpy.array_equal(read(convert(tmp_path, channels=2)), samples[None])
    os.rename(tmp_path / 'tune.wav', tmp_path / 'tune.m4a')
    assert numpy.array_equal(read(convert(tmp_path, channels=2)), samples[None])


def test_form_of_the_file(tmp_path):
    raw.write(tmp_path)
    with h5py.File(convert(tmp_path), 'r') as h5file:
        features = h5file['features']
        assert features.shape == (1, 16000, 1)
        assert features.dtype == 'int16'
        assert features.chunks is None
        assert [axis.label for axis in features.dims] == ['batch', 'time', 'feature']
        assert features.attrs['sample_rate'] == 16000
        row, = h5file.attrs['split']
        assert (row['split'], row['source'], row['start'], row['stop']) == (
            b'train', b'features', 0, 1)


@pytest.mark.parametrize('storage', [{'compression': 'gzip'}, {'chunk_examples': 1}])
def test_chunks_divide_the_time(tmp_path, storage):
    samples = raw.write(tmp_path, seconds=5)
    with h5py.File(convert(tmp_path, **storage), 'r') as h5file:
        assert h5file['features'].chunks == (1, 32768, 1)
        assert h5file['features'].compression == storage.get('compression')
        assert numpy.array_equal(h5file['features'][...], samples[None])


def test_the_m4a_file_comes_first(tmp_path, bin_folder, monkeypatch):
    install('stand-in', bin_folder, monkeypatch)
    samples = raw.write(tmp_path, seconds=0.5)
    os.rename(tmp_path / 'tune.wav', tmp_path / 'tune.m4a')
    raw.write(tmp_path, seconds=0.25)
    assert numpy.array_equal(read(convert(tmp_path)), samples[None])


def test_no_raw_file(tmp_path):
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path, 'abc')
    assert caught.value.filenames == ['abc.m4a']


@pytest.mark.parametrize('name', ['tune.m4a', 'tune.wav'])
def test_ffmpeg_is_needed_and_not_there(tmp_path, bin_folder, monkeypatch, name):
    install(None, bin_folder, monkeypatch)
    raw.write(tmp_path)
    os.rename(tmp_path / 'tune.wav', tmp_path / name)
    with pytest.raises(ConversionError, match=rf'{name}: the program ffmpeg.*apt install ffmpeg'):
        convert(tmp_path, channels=2)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize('program', PROGRAMS)
@pytest.mark.parametrize('content', [b'', b'<html>no sound</html>', bytes(range(256)) * 40])
def test_what_cannot_be_decoded(tmp_path, bin_folder, monkeypatch, capsys, program, content):
    install(program, bin_folder, monkeypatch)
    (tmp_path / 'abc.m4a').write_bytes(content)
    message = fails('convert', ['youtube_audio', '--youtube-id', 'abc', '-d', str(tmp_path), '-o',
                                str(tmp_path)], capsys)
    assert 'abc.m4a: ffmpeg cannot decode it (code ' in message
    assert 'Invalid data' in message
    assert os.listdir(tmp_path) == ['abc.m4a']


@pytest.mark.parametrize(('program', 'words'), [
    ('', 'got 0 bytes'), ('import sys; sys.stdout.write("abc")', 'got 3 bytes'),
    ('import sys; sys.stdout.write("abcd" * 1000000); sys.exit("the end is missing")',
     r'\(code 1\): the end is missing'),
    ('import os; os.kill(os.getpid(), 9)', r'\(code -9\)'),
    ('import sys; sys.stderr.write("noise " * 100000); sys.exit(3)', r'\(code 3\): .{,500}$')])
def test_programs_that_fail(tmp_path, bin_folder, monkeypatch, program, words):
    install(program, bin_folder, monkeypatch)
    (tmp_path / 'abc.m4a').touch()
    with pytest.raises(ConversionError, match=words):
        convert(tmp_path, 'abc')
    assert os.listdir(tmp_path) == ['abc.m4a']


def test_a_program_that_never_ends_is_stopped_with_the_conversion(tmp_path, bin_folder,
                                                                  monkeypatch):
    install('import sys\nwhile True: sys.stdout.write("abcd" * 1000)', bin_folder, monkeypatch)
    (tmp_path / 'abc.m4a').touch()
    started = []
    popen = subprocess.Popen

    def noting(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        return started[-1]

    def failing(blocks):
        for number, block in enumerate(blocks):
            if number == 3:
                raise OSError(28, 'No space left on device')
            yield block

    monkeypatch.setattr(subprocess, 'Popen', noting)
    from fuel.converters import youtube_audio
    decoded = youtube_audio.decoded
    monkeypatch.setattr(youtube_audio, 'decoded', lambda *args: failing(decoded(*args)))
    with pytest.raises(OSError, match='No space'):
        convert(tmp_path, 'abc')
    process, = started
    assert process.wait(timeout=60) != 0


@pytest.mark.parametrize('cut', [50, 1000, 31000])
def test_a_wav_file_that_is_cut_off(tmp_path, cut):
    raw.write(tmp_path)
    path = tmp_path / 'tune.wav'
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ConversionError, match=r'tune\.wav: expected 16000 samples.*ends after'):
        convert(tmp_path)
    assert os.listdir(tmp_path) == ['tune.wav']


def test_a_wav_file_without_samples(tmp_path):
    raw.write(tmp_path, seconds=0)
    with pytest.raises(ConversionError, match='no samples'):
        convert(tmp_path)


def test_bytes_of_the_wav_file_are_those_of_the_format(tmp_path):
    """Read the file without the module that the converter uses."""
    raw.write(tmp_path, channels=2)
    content = (tmp_path / 'tune.wav').read_bytes()
    assert struct.unpack('<4sI4s4sIHHIIHH4sI', content[:44])[5:11] == (1, 2, 16000, 64000, 4, 16)
    assert numpy.array_equal(read(convert(tmp_path, channels=2))[0],
                             numpy.frombuffer(content[44:], '<i2').reshape(-1, 2))


def test_the_same_sound_gives_the_same_bytes(tmp_path):
    raw.write(tmp_path)
    paths = [convert(tmp_path, output_filename=name) for name in ('a.hdf5', 'b.hdf5')]
    with open(paths[0], 'rb') as one, open(paths[1], 'rb') as other:
        assert one.read() == other.read()


def test_the_command(tmp_path, capsys):
    samples = raw.write(tmp_path, '-x_1', rate=8000, channels=2)
    args = ['youtube_audio', '-d', str(tmp_path), '-o', str(tmp_path), '--channels', '2',
            '--sample', '8000']
    main([*args, '--youtube-id=-x_1'])
    assert numpy.array_equal(read(tmp_path / '-x_1.hdf5'), samples[None])
    with h5py.File(tmp_path / '-x_1.hdf5', 'r') as h5file:
        assert [row['name'] for row in h5file['fuel_provenance/inputs'][...]] == [b'-x_1.wav']
    capsys.readouterr()
    assert '--force' in fails('convert', [*args, '--youtube-id=-x_1'], capsys)


def test_subparser():
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_youtube_audio
    arguments = vars(parser.parse_args(['--youtube-id', 'abc']))
    assert (arguments['youtube_id'], arguments['channels'], arguments['sample']) == (
        'abc', 1, 16000)


def test_a_program_in_the_path_that_cannot_be_run(tmp_path, bin_folder, monkeypatch):
    install(None, bin_folder, monkeypatch)
    write_program(bin_folder, '').chmod(0o644)
    (tmp_path / 'abc.m4a').touch()
    with pytest.raises(ConversionError, match='not installed'):
        convert(tmp_path, 'abc')


@pytest.mark.parametrize('youtube_id', ['../tune', '/tmp/tune', 'sub/tune', '', '..'])
def test_identifier_that_is_a_path(tmp_path, youtube_id):
    (tmp_path / 'in').mkdir()
    raw.write(tmp_path, youtube_id='tune')
    with pytest.raises(ConversionError, match='expected the identifier of a video'):
        convert_youtube_audio(str(tmp_path / 'in'), str(tmp_path / 'in'), youtube_id)
    assert os.listdir(tmp_path / 'in') == []
