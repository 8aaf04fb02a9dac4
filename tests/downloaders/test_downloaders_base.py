from __future__ import annotations

import argparse
import hashlib
import io
import os
import tempfile

import pytest

from fuel.downloaders import all_downloaders
from fuel.downloaders.base import (
    NeedURLPrefix,
    Policy,
    default_downloader,
    download,
    ensure_directory_exists,
    filename_from_url,
)
from fuel.exceptions import ChecksumError, DownloadError
from tests.loopback import ranged, reply, serving, whole

CONTENT = bytes(range(256)) * 2000
SHA256 = 'sha256:' + hashlib.sha256(CONTENT).hexdigest()


def refuse_to_sleep(seconds):
    raise AssertionError(f'slept {seconds} s')


POLICY = Policy(sleep=refuse_to_sleep)


def test_files_are_downloaded_under_their_names(tmp_path):
    with serving(a=whole(CONTENT), b=whole(b'b')) as server:
        default_downloader(tmp_path / 'new' / 'folder', [server.url('/a'), server.url('/b')],
                           ['first.bin', 'second.bin'])
    folder = tmp_path / 'new' / 'folder'
    assert sorted(os.listdir(folder)) == ['first.bin', 'second.bin']
    assert (folder / 'first.bin').read_bytes() == CONTENT
    assert (folder / 'second.bin').read_bytes() == b'b'


def test_old_style_downloader_is_called_with_parsed_arguments(tmp_path):
    with serving(a=whole(CONTENT)) as server:
        parser = argparse.ArgumentParser()
        parser.set_defaults(urls=[server.url('/a')], filenames=['a.bin'])
        default_downloader(directory=str(tmp_path), clear=False, **vars(parser.parse_args([])))
    assert (tmp_path / 'a.bin').read_bytes() == CONTENT


def test_lists_are_not_changed(tmp_path):
    with serving(a=whole(b'a', Content_Disposition='attachment; filename=real.bin')) as server:
        urls, names, prefix_names = [server.url('/a')], [None], ['a']
        default_downloader(tmp_path, urls, names)
        default_downloader(tmp_path, [None], prefix_names, url_prefix=server.url('/'))
        assert (urls, names, prefix_names) == ([server.url('/a')], [None], ['a'])
    assert sorted(os.listdir(tmp_path)) == ['a', 'real.bin']


@pytest.mark.parametrize(('disposition', 'name'), [
    ('attachment; filename=real.bin', 'real.bin'),
    ('attachment; filename="with space.bin"; size=3', 'with space.bin'),
    ("attachment; filename*=UTF-8''caf%C3%A9.bin", 'caf\u00e9.bin'),
    ('attachment; filename="../../evil.bin"', 'evil.bin'),
    ('attachment; filename=/etc/passwd', 'passwd'),
    ('attachment; filename="..\\\\evil.bin"', 'evil.bin'),
    ('attachment; filename=".."', 'a'),
    ('attachment; filename=""', 'a'),
    ('inline', 'a')])
def test_name_from_the_server_never_leaves_the_directory(tmp_path, disposition, name):
    inner = tmp_path / 'one' / 'two'
    with serving(a=whole(b'a', Content_Disposition=disposition)) as server:
        assert filename_from_url(server.url('/a')) == name
        assert filename_from_url(server.url('/a'), inner) == str(inner / name)
        default_downloader(inner, [server.url('/a')], [None])
    assert [(folder, files) for folder, _, files in os.walk(tmp_path) if files] == [
        (str(inner), [name])]


def test_name_from_the_address(tmp_path):
    with serving() as server:
        server.routes['/x/some%20name.bin?y=/z'] = whole(b'a')
        server.routes['/'] = whole(b'a')
        assert filename_from_url(server.url('/x/some%20name.bin?y=/z')) == 'some name.bin'
        with pytest.raises(ValueError, match='neither the server nor the address'):
            filename_from_url(server.url('/'))
        with pytest.raises(DownloadError, match='404'):
            filename_from_url(server.url('/missing'))


@pytest.mark.parametrize('name', ['../x', '/etc/x', 'a/../../x', '.'])
def test_declared_name_cannot_leave_the_directory_either(tmp_path, name):
    with pytest.raises(ValueError, match='inside'):
        default_downloader(tmp_path / 'd', ['http://127.0.0.1:1/x'], [name])
    with pytest.raises(ValueError, match='inside'):
        default_downloader(tmp_path / 'd', ['http://127.0.0.1:1/x'], [name], clear=True)


def test_url_prefix(tmp_path):
    with serving(a=whole(b'a'), b=whole(b'b')) as server:
        default_downloader(tmp_path, [None, server.url('/b')], ['a', 'other'],
                           url_prefix=server.url('/'))
    assert (tmp_path / 'a').read_bytes() == b'a'
    assert (tmp_path / 'other').read_bytes() == b'b'


def test_missing_url_prefix_is_told_before_anything_is_done(tmp_path):
    with serving(b=whole(b'b')) as server:
        with pytest.raises(NeedURLPrefix, match=r'(?s)x\.tar, y\.tar.*url-prefix'):
            default_downloader(tmp_path / 'd', [server.url('/b'), None, None],
                               ['b', 'x.tar', 'y.tar'])
        assert not server.requests
    assert not (tmp_path / 'd').exists()


@pytest.mark.parametrize(('urls', 'names', 'more'), [
    (['http://x/'], [], {}), ('http://x/', ['a'], {}), ([None], [None], {'url_prefix': 'http://x/'}),
    (['http://x/'], ['a'], {'checksums': []}), (['http://x/'], ['a'], {'sizes': [1, 2]}),
    (['http://x/'], ['a'], {'checksums': ['md5:12']})])
def test_inconsistent_declarations_are_refused(tmp_path, urls, names, more):
    with pytest.raises(ValueError, match=r'expected|neither'):
        default_downloader(tmp_path, urls, names, policy=POLICY, **more)


def test_clear_needs_no_network_and_no_files(tmp_path):
    urls = ['http://nowhere.invalid/a', 'http://nowhere.invalid/b.bin', None]
    for name in ('a.bin', 'a.bin.part', 'a.bin.part.json', 'b.bin', 'bystander'):
        (tmp_path / name).touch()
    for _ in range(2):
        default_downloader(tmp_path, urls, ['a.bin', None, 'c.bin'], clear=True)
        assert os.listdir(tmp_path) == ['bystander']
    default_downloader(tmp_path / 'missing', urls, ['a.bin', None, 'c.bin'], clear=True)
    assert not (tmp_path / 'missing').exists()


def test_clear_does_not_remove_directories(tmp_path):
    (tmp_path / 'a').mkdir()
    with pytest.raises(DownloadError, match='directory'):
        default_downloader(tmp_path, ['http://nowhere.invalid/a'], ['a'], clear=True)


def test_clear_of_a_file_that_only_its_server_can_name(tmp_path):
    with pytest.raises(ValueError, match='by hand'):
        default_downloader(tmp_path, ['http://nowhere.invalid/'], [None], clear=True)


def test_file_with_the_right_checksum_is_not_downloaded_again(tmp_path, caplog):
    (tmp_path / 'a').write_bytes(CONTENT)
    with serving(a=whole(b'other')) as server, caplog.at_level('INFO'):
        default_downloader(tmp_path, [server.url('/a')], ['a'], checksums=[SHA256])
        assert not server.requests
    assert caplog.messages == [f'{tmp_path / "a"} is there already, with the right checksum']


def test_file_with_a_wrong_checksum_is_replaced(tmp_path):
    (tmp_path / 'a').write_bytes(b'damaged')
    with serving(a=whole(CONTENT)) as server:
        default_downloader(tmp_path, [server.url('/a')], ['a'], checksums=[SHA256])
    assert (tmp_path / 'a').read_bytes() == CONTENT


def test_redirects_are_followed(tmp_path):
    def elsewhere(handler):
        reply(handler, b'', 302, Location='/b')

    with serving(a=elsewhere, b=whole(CONTENT)) as server:
        default_downloader(tmp_path, [server.url('/a')], ['a'])
    assert (tmp_path / 'a').read_bytes() == CONTENT


def test_packed_file_is_kept_as_it_is(tmp_path):
    import gzip
    packed = gzip.compress(CONTENT)
    with serving() as server:
        server.routes['/a.gz'] = whole(packed, Content_Encoding='gzip')
        server.routes['/a.txt'] = whole(packed, Content_Encoding='gzip')
        default_downloader(tmp_path, [server.url('/a.gz'), server.url('/a.txt')],
                           ['a.gz', 'a.txt'])
    assert (tmp_path / 'a.gz').read_bytes() == packed
    assert (tmp_path / 'a.txt').read_bytes() == CONTENT


def test_content_without_length(tmp_path):
    def unmeasured(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(CONTENT)

    with serving(a=unmeasured) as server:
        default_downloader(tmp_path, [server.url('/a')], ['a'], sizes=[len(CONTENT)])
        stream = io.BytesIO()
        download(server.url('/a'), stream)
    assert (tmp_path / 'a').read_bytes() == stream.getvalue() == CONTENT


@pytest.mark.parametrize('open_file', [io.BytesIO, tempfile.TemporaryFile,
                                       tempfile.SpooledTemporaryFile])
def test_download_into_any_file(open_file):
    with serving(a=whole(CONTENT)) as server, open_file() as stream:
        download(server.url('/a'), stream, chunk_size=1000)
        stream.seek(0)
        assert stream.read() == CONTENT


def test_download_raises_where_there_is_no_file():
    with serving() as server, pytest.raises(DownloadError, match='404 Not Found'):
        download(server.url('/a'), io.BytesIO())


def test_mirrors_are_tried_in_order_and_the_one_that_served_is_named(tmp_path, caplog):
    with serving(b=whole(b'wrong content'), c=whole(CONTENT), d=whole(CONTENT)) as server, \
            caplog.at_level('INFO'):
        urls = [[server.url(path) for path in ('/a', '/b', '/c', '/d')]]
        default_downloader(tmp_path, urls, ['x'], checksums=[SHA256], policy=POLICY)
        assert [path for path, _ in server.requests] == ['/a', '/b', '/c']
        assert any(message.endswith(f'from {server.url("/c")}, checksum verified')
                   for message in caplog.messages)
    assert (tmp_path / 'x').read_bytes() == CONTENT


def test_bundled_copy_is_the_last_resort_and_is_verified(tmp_path, caplog):
    (tmp_path / 'good').write_bytes(CONTENT)
    (tmp_path / 'bad').write_bytes(b'damaged')
    with serving() as server, caplog.at_level('INFO'):
        default_downloader(tmp_path / 'd', [server.url('/a')], ['x'], checksums=[SHA256],
                           bundled=[str(tmp_path / 'good')], policy=POLICY)
        assert any('bundled copy' in message and 'verified' in message
                   for message in caplog.messages)
        assert (tmp_path / 'd' / 'x').read_bytes() == CONTENT
        with pytest.raises(DownloadError, match=r'404.*bundled copy.*checksum'):
            default_downloader(tmp_path / 'd', [server.url('/a')], ['y'], checksums=[SHA256],
                               bundled=[str(tmp_path / 'bad')], policy=POLICY)
        with pytest.raises(DownloadError, match=r'bundled copy.*No such file'):
            default_downloader(tmp_path / 'd', [server.url('/a')], ['y'],
                               bundled=[str(tmp_path / 'missing')], policy=POLICY)
    assert os.listdir(tmp_path / 'd') == ['x']


def test_request_asks_for_the_bare_file(tmp_path):
    with serving(a=ranged(CONTENT)) as server:
        default_downloader(tmp_path, [server.url('/a')], ['x'])
        (_, headers), = server.requests
    assert headers['Accept-Encoding'] == 'identity'
    assert headers['User-Agent'].startswith('fuel/')
    assert 'Range' not in headers


def test_ensure_directory_exists(tmp_path):
    ensure_directory_exists(tmp_path / 'a' / 'b')
    ensure_directory_exists(tmp_path / 'a' / 'b')
    assert (tmp_path / 'a' / 'b').is_dir()
    (tmp_path / 'file').touch()
    for path in (tmp_path / 'file', tmp_path / 'file' / 'below'):
        with pytest.raises(OSError, match='a file stands there'):
            ensure_directory_exists(path)


def test_every_downloader_fills_a_subparser():
    names = [name for name, _ in all_downloaders]
    assert len(set(names)) == len(names)
    for name, fill_subparser in all_downloaders:
        assert isinstance(name, str)
        assert callable(fill_subparser(argparse.ArgumentParser()))


def test_checksum_error_where_every_source_gave_something_else(tmp_path):
    with serving(a=whole(b'x'), b=whole(b'y')) as server, \
            pytest.raises(ChecksumError, match='sha256:') as caught:
        default_downloader(tmp_path, [[server.url('/a'), server.url('/b')]], ['x'],
                           checksums=[SHA256], policy=POLICY)
    assert server.url('/a') in str(caught.value)
    assert server.url('/b') in str(caught.value)
    assert not os.listdir(tmp_path)
