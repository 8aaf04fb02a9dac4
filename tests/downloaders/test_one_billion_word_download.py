from __future__ import annotations

import argparse

from fuel.downloaders import one_billion_word
from fuel.downloaders.base import default_downloader
from tests.loopback import serving, whole
from tests.raw import one_billion_word as raw


def declared():
    parser = argparse.ArgumentParser()
    assert one_billion_word.fill_subparser(parser) is default_downloader
    return vars(parser.parse_args([]))


def test_the_public_archive_is_declared():
    assert declared() == {'urls': [f'http://www.statmt.org/lm-benchmark/{raw.ARCHIVE}'],
                          'filenames': [raw.ARCHIVE], 'sizes': [1792209805]}


def test_download_and_clear(tmp_path):
    with serving(archive=whole(b'content')) as server:
        arguments = {**declared(), 'urls': [server.url('/archive')], 'sizes': [7]}
        default_downloader(tmp_path, **arguments)
    assert (tmp_path / raw.ARCHIVE).read_bytes() == b'content'
    for _ in range(2):
        default_downloader(tmp_path, **declared(), clear=True)
        assert not list(tmp_path.iterdir())
