from __future__ import annotations

import argparse
import hashlib

from fuel.downloaders import iris
from fuel.downloaders.base import Policy, default_downloader
from tests.loopback import closed_port


def declared():
    parser = argparse.ArgumentParser()
    assert iris.fill_subparser(parser) is default_downloader
    return vars(parser.parse_args([]))


def test_public_address_and_bundled_copy_are_declared():
    arguments = declared()
    assert arguments['urls'] == [
        'https://archive.ics.uci.edu/ml/machine-learning-databases/iris/iris.data']
    assert arguments['filenames'] == ['iris.data']
    with open(arguments['bundled'][0], 'rb') as stream:
        content = stream.read()
    assert arguments['sizes'] == [len(content)] == [4551]
    assert arguments['checksums'] == [f'sha256:{hashlib.sha256(content).hexdigest()}']
    assert hashlib.md5(content).hexdigest() == '42615765a885ddf54427f12c34a0a070'


def test_bundled_copy_serves_where_the_address_cannot_be_reached(tmp_path):
    slept = []
    arguments = {**declared(), 'urls': [closed_port()]}
    default_downloader(tmp_path, policy=Policy(sleep=slept.append), **arguments)
    assert (tmp_path / 'iris.data').stat().st_size == 4551
    assert not slept  # nothing is waited for while there is another copy
