"""What the tests of downloads that fail have in common."""
from __future__ import annotations

import hashlib
import json
import os

import fuel
from fuel.downloaders.base import default_downloader

CONTENT = bytes(range(256)) * 2000
SHA256 = 'sha256:' + hashlib.sha256(CONTENT).hexdigest()
CHECKOUT = os.path.dirname(os.path.dirname(fuel.__file__))


def get(server, folder, policy, path='/a', **more):
    default_downloader(folder, [server.url(path)], ['x'], policy=policy, **more)


def nothing_left(folder):
    return not os.path.exists(folder) or os.listdir(folder) == []


def begun(folder, received, url, **version):
    """Make what a killed download has left."""
    (folder / 'x.part').write_bytes(received)
    note = {'url': url, 'etag': None, 'modified': None, 'length': None, **version}
    (folder / 'x.part.json').write_text(json.dumps(note))
