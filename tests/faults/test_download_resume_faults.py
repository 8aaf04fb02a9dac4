"""Transfers that break, and downloads that go on."""
from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from fuel.downloaders import _http
from fuel.downloaders._part import Part, Version
from fuel.downloaders.base import download
from fuel.exceptions import DownloadError
from tests.faults.downloads import CHECKOUT, CONTENT, SHA256, begun, get
from tests.loopback import ranged, reply, serving, whole

# -- broken transfers ---------------------------------------------------------------------------

def test_broken_transfer_goes_on_where_it_stopped(tmp_path, policy, slept):
    with serving(a=ranged(CONTENT, breaks=[200_000, 100_000])) as server:
        get(server, tmp_path, policy, checksums=[SHA256])
        ranges = [headers.get('Range') for _, headers in server.requests]
        conditions = [headers.get('If-Range') for _, headers in server.requests]
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert ranges[0] is None
    starts = [int(entry.removeprefix('bytes=').removesuffix('-')) for entry in ranges[1:]]
    assert 190_000 < starts[0] <= 200_000
    assert 290_000 < starts[1] <= 300_000
    assert conditions == [None, '"v1"', '"v1"']
    assert os.listdir(tmp_path) == ['x']
    assert slept == [0.5, 0.5]  # there was progress, so patience begins anew


def test_broken_transfer_without_ranges_begins_anew(tmp_path, policy):
    route = whole(CONTENT)
    broken = [True]

    def once(handler):
        if broken:
            broken.clear()
            reply(handler, CONTENT, sent=100_000)
        else:
            route(handler)

    with serving(a=once) as server:
        get(server, tmp_path, policy)
        assert all('Range' not in headers for _, headers in server.requests)
    assert (tmp_path / 'x').read_bytes() == CONTENT


def test_transfer_that_always_breaks_leaves_no_file_but_its_beginning(tmp_path, policy):
    with serving(a=ranged(CONTENT, breaks=[100_000] + [0] * 10)) as server:
        with pytest.raises(DownloadError, match='broke off'):
            get(server, tmp_path, policy)
        assert not (tmp_path / 'x').exists()
        assert os.path.getsize(tmp_path / 'x.part') > 90_000
        server.requests.clear()
        server.routes['/a'] = ranged(CONTENT)
        get(server, tmp_path, policy)
        (_, headers), = server.requests
        assert headers['Range'].startswith('bytes=')
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ['x']


def test_download_into_a_file_raises_when_the_transfer_breaks():
    with serving(a=whole(CONTENT, sent=1000)) as server, \
            pytest.raises(DownloadError, match='broke off'):
        download(server.url('/a'), io.BytesIO())


# -- resuming -----------------------------------------------------------------------------------

def test_changed_file_is_not_spliced(tmp_path, policy):
    with serving(a=ranged(CONTENT, etag='"new"')) as server:
        begun(tmp_path, b'\0' * 5000, server.url('/a'), etag='"old"', length=len(CONTENT))
        get(server, tmp_path, policy)
    assert (tmp_path / 'x').read_bytes() == CONTENT


@pytest.mark.parametrize('answer', [
    {'ETag': '"new"', 'Content_Range': f'bytes 5000-{len(CONTENT) - 1}/{len(CONTENT)}'},
    {'ETag': '"old"', 'Content_Range': f'bytes 4000-{len(CONTENT) - 1}/{len(CONTENT)}'},
    {'ETag': '"old"', 'Content_Range': f'bytes 5000-{len(CONTENT)}/{len(CONTENT) + 1}'},
    {'ETag': '"old"', 'Content_Range': 'nonsense'}, {'ETag': '"old"'}])
def test_server_that_ignores_the_condition_is_not_believed(tmp_path, policy, slept, answer):
    def careless(handler):
        if 'Range' in handler.headers:
            reply(handler, CONTENT[5000:], 206, **answer)
        else:
            reply(handler, CONTENT)

    with serving(a=careless) as server:
        begun(tmp_path, b'\0' * 5000, server.url('/a'), etag='"old"', length=len(CONTENT))
        get(server, tmp_path, policy)
        assert len(server.requests) == 2
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert not slept


def test_pieces_that_do_not_fit_are_told_by_the_checksum(tmp_path, policy):
    with serving(a=ranged(CONTENT)) as server:
        begun(tmp_path, b'\0' * 5000, server.url('/a'), etag='"v1"', length=len(CONTENT))
        get(server, tmp_path, policy, checksums=[SHA256])
        assert [('Range' in headers) for _, headers in server.requests] == [True, False]
    assert (tmp_path / 'x').read_bytes() == CONTENT


def test_time_of_change_serves_as_condition(tmp_path, policy):
    date = 'Wed, 21 Oct 2015 07:28:00 GMT'

    def route(handler):
        assert handler.headers['If-Range'] == date
        reply(handler, CONTENT[5000:], 206, Last_Modified=date,
              Content_Range=f'bytes 5000-{len(CONTENT) - 1}/{len(CONTENT)}')

    with serving(a=route) as server:
        begun(tmp_path, CONTENT[:5000], server.url('/a'), modified=date, length=len(CONTENT))
        get(server, tmp_path, policy)
    assert (tmp_path / 'x').read_bytes() == CONTENT


@pytest.mark.parametrize('note', [
    {}, {'etag': 'W/"weak"'}, 'other address', 'no note', 'damaged note', 'foreign note'])
def test_beginning_that_nothing_vouches_for_is_not_used(tmp_path, policy, note):
    with serving(a=ranged(CONTENT, etag='W/"weak"')) as server:
        begun(tmp_path, b'\0' * 5000, server.url('/a'), etag='"v1"')
        path = tmp_path / 'x.part.json'
        if note == 'other address':
            begun(tmp_path, b'\0' * 5000, server.url('/b'), etag='"v1"')
        elif note == 'no note':
            path.unlink()
        elif note == 'damaged note':
            path.write_text(path.read_text()[:10])
        elif note == 'foreign note':
            path.write_text('{"a": 1}')
        elif 'etag' in note:
            # What would have been stored for a weak tag.
            assert _http._version_of(FakeResponse(ETag='W/"weak"'), 'u') == Version('u')
            begun(tmp_path, b'\0' * 5000, server.url('/a'))
        else:
            begun(tmp_path, b'\0' * 5000, server.url('/a'))
        get(server, tmp_path, policy)
        (_, headers), = server.requests
        assert 'Range' not in headers
    assert (tmp_path / 'x').read_bytes() == CONTENT


class FakeResponse:
    def __init__(self, **headers):
        self.headers = headers


def test_complete_beginning_only_needs_its_name(tmp_path, policy):
    with serving(a=ranged(CONTENT)) as server:
        begun(tmp_path, CONTENT, server.url('/a'), etag='"v1"', length=len(CONTENT))
        get(server, tmp_path, policy)
        assert len(server.requests) == 1
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ['x']


def test_beginning_longer_than_the_file_is_not_used(tmp_path, policy):
    with serving(a=ranged(CONTENT)) as server:
        begun(tmp_path, CONTENT + b'more', server.url('/a'), etag='"v1"', length=len(CONTENT))
        get(server, tmp_path, policy)
    assert (tmp_path / 'x').read_bytes() == CONTENT


def test_killed_download_is_resumed(tmp_path, policy):
    child = '''
import sys
from fuel.downloaders import _http
from fuel.downloaders.base import Policy, default_downloader

original = _http.body
def body(response, chunk_size):
    for number, chunk in enumerate(original(response, chunk_size)):
        if number == 300:
            print('half', flush=True)
            sys.stdin.read()
        yield chunk
_http.body = body
default_downloader(sys.argv[1], [sys.argv[2]], ['x'], policy=Policy(chunk_size=1000))
'''
    with serving(a=ranged(CONTENT)) as server:
        process = subprocess.Popen(
            [sys.executable, '-c', child, str(tmp_path), server.url('/a')],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ,
                                                                'PYTHONPATH': CHECKOUT})
        with process:
            assert process.stdout.readline() == b'half\n'
            process.kill()
        assert sorted(os.listdir(tmp_path)) == ['x.part', 'x.part.json']
        arrived = os.path.getsize(tmp_path / 'x.part')
        assert 200_000 < arrived <= 300_000
        get(server, tmp_path, policy, checksums=[SHA256])
        assert [headers.get('Range') for _, headers in server.requests] == [
            None, f'bytes={arrived}-']
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ['x']


def test_two_downloads_of_one_file_do_not_mix(tmp_path, policy):
    with serving(a=ranged(CONTENT)) as server, Part(str(tmp_path / 'x')) as part:
        part.restart(None)
        part.stream.write(b'mine')
        with pytest.raises(DownloadError, match='by another process'):
            get(server, tmp_path, policy)
        assert not server.requests
        assert part.size == 4
