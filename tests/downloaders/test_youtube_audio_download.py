"""Sound from YouTube, with a stand-in for the library that gets it."""
from __future__ import annotations

import os
import sys
import types

import pytest

from fuel.bin.fuel_download import main
from fuel.exceptions import DownloadError
from tests.bin.commands import fails


class StandIn(types.ModuleType):
    """Does with files what yt-dlp does; `content` is what it downloads, or an error."""

    def __init__(self, content=b'sound'):
        super().__init__('yt_dlp')
        self.content = content
        self.asked = []
        module = self

        class YoutubeDL:
            def __init__(self, params):
                self.params = params

            def __enter__(self):
                return self

            def __exit__(self, *exc_info):
                module.asked.append('closed')

            def download(self, url_list):
                module.asked.append((list(url_list), self.params['format']))
                path = self.params['outtmpl'] % {'id': 'an id', 'ext': 'm4a'}
                self.params['logger'].warning('this may fail')
                with open(f'{path}.part', 'wb') as stream:
                    stream.write(b'half')
                if isinstance(module.content, BaseException):
                    self.params['logger'].error(str(module.content))
                    raise module.content
                os.remove(f'{path}.part')
                if module.content is not None:
                    with open(path, 'wb') as stream:
                        stream.write(module.content)

        self.YoutubeDL = YoutubeDL


@pytest.fixture
def library(monkeypatch):
    """Put a stand-in in the place of the library."""
    module = StandIn()
    monkeypatch.setitem(sys.modules, 'yt_dlp', module)
    return module


def arguments(folder, youtube_id='-a_B9', *more):
    return ['youtube_audio', '-d', str(folder), f'--youtube-id={youtube_id}', *more]


@pytest.mark.parametrize('name', ['data', '100 %(id)s %d'])
def test_the_sound_is_downloaded(tmp_path, library, capsys, name):
    main(arguments(tmp_path / name))
    assert (tmp_path / name / '-a_B9.m4a').read_bytes() == b'sound'
    assert os.listdir(tmp_path / name) == ['-a_B9.m4a']
    assert library.asked == [(['https://www.youtube.com/watch?v=-a_B9'], 'bestaudio[ext=m4a]'),
                             'closed']
    assert capsys.readouterr().out == f'{tmp_path / name / "-a_B9.m4a"}: 5 B\n'


def test_a_file_from_before_is_replaced_and_kept_if_that_fails(tmp_path, library, capsys):
    (tmp_path / '-a_B9.m4a').write_bytes(b'old')
    library.content = RuntimeError('ERROR: [youtube] -a_B9: Video\nunavailable')
    message = fails('download', arguments(tmp_path), capsys)
    assert 'watch?v=-a_B9 could not be downloaded: [youtube] -a_B9: Video unavailable.' in message
    assert 'yt-dlp' in message
    assert os.listdir(tmp_path) == ['-a_B9.m4a']
    assert (tmp_path / '-a_B9.m4a').read_bytes() == b'old'
    library.content = b'new'
    main(arguments(tmp_path))
    assert (tmp_path / '-a_B9.m4a').read_bytes() == b'new'


@pytest.mark.parametrize('content', [None, b''])
def test_a_library_that_writes_nothing(tmp_path, library, capsys, content):
    library.content = content
    assert 'no m4a file' in fails('download', arguments(tmp_path), capsys)
    assert os.listdir(tmp_path) == []


def test_an_interruption_leaves_nothing(tmp_path, library, capsys):
    library.content = KeyboardInterrupt()
    with pytest.raises(SystemExit) as caught:
        main(arguments(tmp_path))
    assert caught.value.code == 130
    assert os.listdir(tmp_path) == []


def test_the_library_is_not_installed(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'yt_dlp', None)
    message = fails('download', arguments(tmp_path), capsys)
    assert "pip install 'fuel[youtube]'" in message
    assert os.listdir(tmp_path) == []


def test_clear_needs_neither_the_library_nor_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'yt_dlp', None)
    (tmp_path / '-a_B9.m4a').touch()
    (tmp_path / 'other.m4a').touch()
    for said in ('removed', 'is not there'):  # the old library raised the second time
        main(arguments(tmp_path, '-a_B9', '--clear'))
        assert said in capsys.readouterr().out
        assert os.listdir(tmp_path) == ['other.m4a']


@pytest.mark.parametrize('youtube_id', ['', '../a', 'a/b', 'a b', 'https://youtu.be/abc', 'ä',
                                        'a' * 65])
def test_what_is_no_identifier(tmp_path, library, capsys, youtube_id):
    with pytest.raises(SystemExit) as caught:
        main(arguments(tmp_path, youtube_id))
    assert caught.value.code == 2
    message, = capsys.readouterr().err.splitlines()
    assert '--youtube-id' in message
    assert 'watch?v=' in message
    assert not library.asked


def test_the_identifier_is_needed(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(['youtube_audio', '-d', str(tmp_path)])
    assert caught.value.code == 2
    assert '--youtube-id' in capsys.readouterr().err


def test_the_error_is_one_of_the_system(tmp_path, library):
    from fuel.downloaders.youtube_audio import download
    library.content = ValueError('')
    with pytest.raises(DownloadError, match=r'could not be downloaded: ValueError\.') as caught:
        download(tmp_path, 'abc')
    assert isinstance(caught.value, OSError)
