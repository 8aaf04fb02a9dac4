"""Zip archives that are the same at every time."""
from __future__ import annotations

import io
import zipfile

#: The first date that an archive can have.
DATE = (1980, 1, 1, 0, 0, 0)


def write_zip(path, members, compression=zipfile.ZIP_STORED):
    """Write a zip archive.

    Parameters
    ----------
    path : path
        The archive.
    members : iterable of (str, bytes)
        Names and contents; a name that ends in a slash is a folder.
    compression : int, optional
        As `zipfile` has it; by default files are stored as they are, as pictures usually are.
    """
    with zipfile.ZipFile(path, 'w') as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_STORED if name.endswith('/') else compression
            archive.writestr(info, content)


def jpeg(image, quality=90):
    """Return a Pillow image as the bytes of a JPEG file."""
    stream = io.BytesIO()
    image.save(stream, 'JPEG', quality=quality)
    return stream.getvalue()
