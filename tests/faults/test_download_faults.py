"""Servers that fail, wrong content, full disks."""
from __future__ import annotations

import errno
import hashlib
import os
import resource
import threading
import time
from dataclasses import replace

import pytest

from fuel.downloaders import _fetch, _http
from fuel.downloaders._http import Limits
from fuel.downloaders._part import Part
from fuel.downloaders.base import default_downloader
from fuel.exceptions import ChecksumError, DownloadError
from tests.faults.downloads import CONTENT, SHA256, get, nothing_left
from tests.loopback import closed_port, reply, serving, silent, whole

# -- servers that fail --------------------------------------------------------------------------

@pytest.mark.parametrize('status', [400, 401, 403, 404, 410])
def test_error_page_is_an_error_and_no_file(tmp_path, policy, slept, status):
    def page(handler):
        reply(handler, b'<html>sorry</html>', status)

    with serving(a=page) as server:
        with pytest.raises(DownloadError, match=f'x could not be downloaded.*{status}'):
            get(server, tmp_path, policy)
        assert len(server.requests) == 1
    assert nothing_left(tmp_path)
    assert not slept


@pytest.mark.parametrize('status', [429, 500, 503])
def test_passing_fault_is_waited_out(tmp_path, policy, slept, status):
    answers = [status, status]

    def moody(handler):
        if answers:
            reply(handler, b'', answers.pop())
        else:
            reply(handler, CONTENT)

    with serving(a=moody) as server:
        get(server, tmp_path, policy)
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert slept == [0.5, 1.0]


def test_server_may_ask_for_more_patience_within_reason(tmp_path, policy, slept):
    waits = ['7', '9999', 'Wed, 21 Oct 2015 07:28:00 GMT']

    def busy(handler):
        reply(handler, b'', 503, Retry_After=waits[len(slept)])

    with serving(a=busy) as server, pytest.raises(DownloadError, match='503'):
        get(server, tmp_path, replace(policy, retries=2))
    assert slept == [7.0, 60.0]


def test_retries_end(tmp_path, policy, slept):
    with serving(a=whole(b'', status=500)) as server:
        with pytest.raises(DownloadError, match='500'):
            get(server, tmp_path, policy)
        assert len(server.requests) == 4
    assert slept == [0.5, 1.0, 2.0]
    assert nothing_left(tmp_path)


def test_unreachable_server_is_named(tmp_path, policy, slept):
    address = closed_port()
    with pytest.raises(DownloadError, match=r'cannot be reached: .*refused') as caught:
        default_downloader(tmp_path, [address], ['x'], policy=policy)
    assert address in str(caught.value)
    assert '\n' not in str(caught.value)
    assert slept == [0.5, 1.0, 2.0]
    assert nothing_left(tmp_path)


def test_unreachable_server_is_left_at_once_for_a_mirror(tmp_path, policy, slept):
    with serving(a=whole(CONTENT)) as server:
        default_downloader(tmp_path, [[closed_port(), server.url('/a')]], ['x'], policy=policy)
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert not slept


def test_silent_server_is_left_for_a_mirror(tmp_path, policy, slept):
    impatient = replace(policy, limits_with_alternative=Limits(5., 5., answer=0.05))
    with serving(a=silent, b=whole(CONTENT)) as server:
        default_downloader(tmp_path, [[server.url('/a'), server.url('/b')]], ['x'],
                           policy=impatient)
        server.release.set()
        for thread in threading.enumerate():
            if thread.name == 'fuel-download-request':
                thread.join()
    assert (tmp_path / 'x').read_bytes() == CONTENT
    assert not slept


def test_late_answer_is_thrown_away():
    closed = threading.Event()
    given_up = threading.Event()

    class Late:
        def close(self):
            closed.set()

    def send():
        given_up.wait()
        return Late()

    import requests
    with pytest.raises(requests.Timeout):
        _http._within(0.01, send)
    given_up.set()
    assert closed.wait(20)


def test_name_lookup_that_hangs_is_given_up(tmp_path, policy, monkeypatch):
    import socket
    release = threading.Event()

    def hang(*args, **kwargs):
        release.wait()
        raise socket.gaierror(-2, 'Name or service not known')

    monkeypatch.setattr(socket, 'getaddrinfo', hang)
    (tmp_path / 'copy').write_bytes(CONTENT)
    impatient = replace(policy, limits_with_alternative=Limits(5., 5., answer=0.05))
    default_downloader(tmp_path, ['http://somewhere.invalid/x'], ['x'], checksums=[SHA256],
                       bundled=[str(tmp_path / 'copy')], policy=impatient)
    release.set()
    for thread in threading.enumerate():
        if thread.name == 'fuel-download-request':
            thread.join()
    assert (tmp_path / 'x').read_bytes() == CONTENT


def test_only_server_that_stays_silent_ends_in_an_error(tmp_path, policy):
    impatient = replace(policy, limits=Limits(5., 0.02), retries=1)
    with serving(a=silent) as server, pytest.raises(DownloadError, match='no answer in time'):
        get(server, tmp_path, impatient)
    assert nothing_left(tmp_path)


def test_server_that_falls_silent_in_the_middle(tmp_path, policy):
    def stall(handler):
        reply(handler, CONTENT, sent=10_000)
        handler.wfile.flush()
        handler.server.release.wait()

    impatient = replace(policy, limits=Limits(5., 0.5), retries=0)
    with serving(a=stall) as server, pytest.raises(DownloadError, match='fell silent'):
        get(server, tmp_path, impatient)
    assert not (tmp_path / 'x').exists()


@pytest.mark.parametrize('url', ['ftp://127.0.0.1/x', 'nonsense', 'http://', 'http://[bad/x'])
def test_address_that_cannot_be_used(tmp_path, policy, slept, url):
    with pytest.raises(DownloadError, match='could not be downloaded'):
        default_downloader(tmp_path, [url], ['x'], policy=policy)
    assert nothing_left(tmp_path)


# -- wrong content ------------------------------------------------------------------------------

def test_wrong_checksum_leaves_the_old_file(tmp_path, policy, slept):
    (tmp_path / 'x').write_bytes(b'old')
    with serving(a=whole(CONTENT[::-1])) as server:
        with pytest.raises(ChecksumError, match='is not the one expected') as caught:
            get(server, tmp_path, policy, checksums=[SHA256])
        assert len(server.requests) == 1
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(CONTENT[::-1]).hexdigest() in str(caught.value)
    assert os.listdir(tmp_path) == ['x']
    assert (tmp_path / 'x').read_bytes() == b'old'
    assert not slept


def test_wrong_size(tmp_path, policy):
    with serving(a=whole(CONTENT)) as server, \
            pytest.raises(ChecksumError, match=f'{len(CONTENT)} bytes and not 7'):
        get(server, tmp_path, policy, sizes=[7])
    assert nothing_left(tmp_path)


def test_announced_length_too_small(tmp_path, policy):
    with serving(a=whole(CONTENT, length=1000)) as server, pytest.raises(ChecksumError):
        get(server, tmp_path, policy, checksums=[SHA256])
    assert nothing_left(tmp_path)


def test_part_that_was_not_asked_for(tmp_path, policy):
    with serving(a=whole(CONTENT[5:], status=206)) as server, \
            pytest.raises(DownloadError, match='not asked for'):
        get(server, tmp_path, policy)
    assert nothing_left(tmp_path)


# -- the disk -----------------------------------------------------------------------------------

def test_full_disk(tmp_path, policy):
    # A limit on the size of files makes writes fail as a full disk does.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / 'x').write_bytes(b'old')
    with serving(a=whole(CONTENT)) as server:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(DownloadError, match=r'cannot write .*x: File too large'):
                get(server, tmp_path, policy)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert len(server.requests) == 1
    assert (tmp_path / 'x').read_bytes() == b'old'


@pytest.mark.parametrize('number', [errno.ENOSPC, errno.EDQUOT])
def test_no_space(tmp_path, policy, monkeypatch, number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_http, 'copy_body', fail)
    with serving(a=whole(CONTENT)) as server, \
            pytest.raises(DownloadError, match=f'cannot write .*x: {os.strerror(number)}'):
        get(server, tmp_path, policy)
    assert nothing_left(tmp_path)


def test_read_only_folder(tmp_path, policy, monkeypatch):
    # Permission bits do not stop a test that runs as root, so the refusal is injected.
    class Refused(Part):
        def _open(self):
            raise OSError(errno.EROFS, 'Read-only file system', self.path)

    monkeypatch.setattr(_fetch, 'Part', Refused)
    with serving(a=whole(CONTENT)) as server:
        with pytest.raises(DownloadError, match=r'cannot write .*x: Read-only file system'):
            get(server, tmp_path, policy)
        assert not server.requests


def test_directory_in_the_place_of_the_file(tmp_path, policy):
    (tmp_path / 'x').mkdir()
    with serving(a=whole(CONTENT)) as server:
        with pytest.raises(DownloadError, match='is a directory'):
            get(server, tmp_path, policy)
        assert not server.requests


def test_file_in_the_place_of_the_directory(tmp_path, policy):
    (tmp_path / 'd').touch()
    with serving(a=whole(CONTENT)) as server, pytest.raises(OSError, match='a file stands there'):
        get(server, tmp_path / 'd', policy)


def test_no_patience_is_wasted_without_a_network(tmp_path, monkeypatch):
    import socket

    def no_network(*args, **kwargs):
        raise socket.gaierror(-3, 'Temporary failure in name resolution')

    monkeypatch.setattr(socket, 'getaddrinfo', no_network)
    monkeypatch.chdir(tmp_path)
    from fuel.bin.fuel_download import main
    begin = time.monotonic()
    main(['iris'])
    assert time.monotonic() - begin < 5
    assert os.path.getsize('iris.data') == 4551


def unknown_names(monkeypatch, number=-2):
    """Have no name looked up; return what was asked for."""
    import socket
    asked = []

    def no_network(host, *args, **kwargs):
        asked.append(host)
        raise socket.gaierror(number, 'Name or service not known')

    monkeypatch.setattr(socket, 'getaddrinfo', no_network)
    return asked


@pytest.mark.parametrize('number', [-2, -3])
def test_names_that_cannot_be_looked_up_are_asked_for_once(tmp_path, policy, slept, monkeypatch,
                                                           caplog, number):
    asked = unknown_names(monkeypatch, number)
    caplog.set_level('INFO')
    with pytest.raises(DownloadError) as caught:
        default_downloader(tmp_path, [['http://one.invalid/x', 'https://two.invalid/x']], ['x'],
                           policy=policy)
    assert str(caught.value) == (
        'x could not be downloaded. http://one.invalid/x, https://two.invalid/x: cannot be '
        'reached: the name of the server cannot be looked up. Is there a network?')
    assert asked == ['one.invalid', 'two.invalid']
    assert caplog.messages == ['trying the next source of x']
    assert not slept
    assert nothing_left(tmp_path)


def test_a_network_that_is_there_is_not_asked_for(tmp_path, policy):
    with serving(a=whole(b'', status=404)) as server, pytest.raises(DownloadError) as caught:
        default_downloader(tmp_path, [[closed_port(), server.url('/a')]], ['x'],
                           policy=policy)
    assert 'network' not in str(caught.value)
    assert 'answered 404' in str(caught.value)


def test_a_fault_is_told_once_while_it_is_waited_out(tmp_path, policy, slept, caplog):
    caplog.set_level('INFO')
    with serving(a=whole(b'', status=500)) as server, pytest.raises(DownloadError):
        get(server, tmp_path, policy)
    first, *rest = caplog.messages
    assert 'answered 500' in first
    assert rest == ['trying again in 0.5 s', 'trying again in 1 s', 'trying again in 2 s']


def test_what_was_wrong_with_the_first_source_is_told(tmp_path, policy, caplog):
    caplog.set_level('INFO')
    with serving(a=whole(b'', status=404), b=whole(CONTENT)) as server:
        default_downloader(tmp_path, [[server.url('/a'), server.url('/b')]], ['x'], policy=policy)
        assert caplog.messages[0] == 'trying the next source of x'
        assert caplog.messages[2] == f'not from {server.url("/a")}: answered 404 Not Found'
