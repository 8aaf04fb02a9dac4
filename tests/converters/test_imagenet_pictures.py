from __future__ import annotations

import io

import pytest
from PIL import Image

from fuel.converters._imagenet.pictures import (
    BadPicture,
    check_decodes,
    check_picture,
    is_whole_jpeg,
)
from tests.raw import imagenet

JPEG = imagenet.jpeg(0)


def saved(form='JPEG', mode='RGB', **options):
    stream = io.BytesIO()
    Image.new(mode, (33, 17)).save(stream, form, **options)
    return stream.getvalue()


@pytest.mark.parametrize('content', [
    JPEG, saved(mode='L'), saved(mode='CMYK'), saved(progressive=True), saved(quality=100),
    saved(comment=b'\xff\xd9' * 20), saved(exif=b'Exif\0\0' + JPEG[:5000]),
    imagenet.with_comment(JPEG, b'hello'), JPEG + b'\0' * 100, JPEG[:2] + b'\xff' * 9 + JPEG[2:]],
    ids=len)
def test_jpegs_are_whole_without_being_decoded(content):
    assert is_whole_jpeg(content)
    Image.open(io.BytesIO(content)).load()


def test_no_part_of_a_jpeg_is_whole():
    exif = saved(exif=b'Exif\0\0' + JPEG)       # a small picture inside of another one
    for content in (JPEG, exif):
        for length in range(len(content)):
            assert not is_whole_jpeg(content[:length])
            if length % 50 == 0:
                with pytest.raises(BadPicture, match=f'It has {length} bytes'):
                    check_picture(('a.tar', 7, content[:length]))


@pytest.mark.parametrize('content', [b'', b'\xff', b'\xff\xd8\xff', b'\xff\xd8\xff\xda' * 30,
                                     b'\xff\xd8' + b'\xff' * 100, b'\xff\xd8\xff\xe0\0\0' * 9,
                                     b'\xff\xd8\xff\xd0' * 100, b'GIF89a' * 20])
def test_rubbish_is_none(content):
    assert not is_whole_jpeg(content)
    for check in (check_picture, check_decodes):
        with pytest.raises(BadPicture, match='a.tar'):
            check(('a.tar', 7, content))


@pytest.mark.parametrize('content', [saved('PNG'), saved('GIF', 'P'), saved('BMP')], ids=len)
def test_other_pictures_are_decoded(content):
    assert not is_whole_jpeg(content)
    check_picture(('a.tar', 7, content))
    with pytest.raises(BadPicture):
        check_picture(('a.tar', 7, content[:len(content) // 2]))


def test_a_picture_made_to_fill_the_memory(monkeypatch):
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 500)
    check_picture(('a.tar', 7, JPEG))        # nothing of it is decoded
    with pytest.raises(BadPicture, match='MAX_IMAGE_PIXELS'):
        check_decodes(('a.tar', 7, JPEG))
    with pytest.raises(BadPicture, match='MAX_IMAGE_PIXELS'):
        check_picture(('a.tar', 7, saved('PNG')))
