"""Raw files of CelebA: simple drawings of faces that show some of their attributes."""
from __future__ import annotations

import os

import numpy
from PIL import Image, ImageDraw

from tests.raw.zips import jpeg, write_zip

IMAGE_FILE, ATTRIBUTE_FILE = 'img_align_celeba.zip', 'list_attr_celeba.txt'
SIZE = 178, 218

LINE = (
    '5_o_Clock_Shadow Arched_Eyebrows Attractive Bags_Under_Eyes Bald Bangs Big_Lips Big_Nose '
    'Black_Hair Blond_Hair Blurry Brown_Hair Bushy_Eyebrows Chubby Double_Chin Eyeglasses Goatee '
    'Gray_Hair Heavy_Makeup High_Cheekbones Male Mouth_Slightly_Open Mustache Narrow_Eyes '
    'No_Beard Oval_Face Pale_Skin Pointy_Nose Receding_Hairline Rosy_Cheeks Sideburns Smiling '
    'Straight_Hair Wavy_Hair Wearing_Earrings Wearing_Hat Wearing_Lipstick Wearing_Necklace '
    'Wearing_Necktie Young')
NAMES = LINE.split()
HAIR = {'Bald': None, 'Black_Hair': (25, 20, 20), 'Blond_Hair': (225, 195, 110),
        'Brown_Hair': (105, 65, 35), 'Gray_Hair': (150, 150, 150)}


def attributes(count, rng):
    """Draw who has what, as 1 and -1, shape (count, 40); everybody has hair of one colour."""
    values = numpy.where(rng.random((count, len(NAMES))) < 0.4, 1, -1)
    hair = [NAMES.index(name) for name in HAIR]
    values[:, hair] = -1
    values[numpy.arange(count), rng.choice(hair, count)] = 1
    return values


def face(has):
    """Draw a face.

    Parameters
    ----------
    has : set of str
        Its attributes.

    Returns
    -------
    Image
    """
    image = Image.new('RGB', SIZE, (90, 120, 150) if 'Male' in has else (150, 110, 120))
    draw = ImageDraw.Draw(image)
    hair = next(colour for name, colour in HAIR.items() if name in has)
    if hair is not None:
        draw.ellipse((30, 40, 148, 150), fill=hair)
        if 'Male' not in has:
            draw.rectangle((30, 95, 148, 190), fill=hair)
    skin = (245, 225, 210) if 'Pale_Skin' in has else (215, 165, 130)
    wide = 8 if 'Chubby' in has else 0
    draw.ellipse((42 - wide, 58, 136 + wide, 185), fill=skin)
    if 'Bangs' in has and hair is not None:
        draw.chord((45, 50, 133, 120), 190, 350, fill=hair)
    for x in (68, 110):
        high = 3 if 'Narrow_Eyes' in has else 6
        draw.ellipse((x - 9, 108 - high, x + 9, 108 + high), fill='white')
        draw.ellipse((x - 4, 108 - high, x + 4, 108 + high), fill=(40, 60, 90))
        if 'Rosy_Cheeks' in has:
            draw.ellipse((x - 10, 128, x + 10, 142), fill=(235, 130, 130))
        if 'Eyeglasses' in has:
            draw.ellipse((x - 17, 95, x + 17, 122), outline='black', width=3)
    if 'Eyeglasses' in has:
        draw.line((85, 107, 93, 107), fill='black', width=3)
    draw.line((89, 112, 95, 134, 86, 134), fill=(120, 80, 60), width=3)
    if 'Mustache' in has:
        draw.rectangle((70, 140, 108, 147), fill=hair or (60, 40, 30))
    if 'Mouth_Slightly_Open' in has:
        draw.ellipse((72, 148, 106, 168), fill=(120, 30, 40))
    lips = (200, 30, 60) if 'Wearing_Lipstick' in has else (150, 80, 80)
    box, start = ((68, 138, 110, 166), 20) if 'Smiling' in has else ((68, 155, 110, 175), 200)
    draw.arc(box, start, start + 140, fill=lips, width=5)
    if 'Wearing_Hat' in has:
        draw.rectangle((50, 20, 128, 68), fill=(60, 30, 90))
        draw.rectangle((28, 62, 150, 74), fill=(60, 30, 90))
    return image


def attribute_lines(values):
    """Return the lines of the list of attributes."""
    lines = [str(len(values)), LINE + ' ']
    for number, row in enumerate(values, start=1):
        lines.append(f'{number:06d}.jpg ' + ' '.join(f'{value:2d}' for value in row))
    return lines


def write(folder, count=30):
    """Write the two files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    count : int, optional
        How many pictures; 202599 in truth.

    Returns
    -------
    ndarray, shape (count, 40)
        The attributes, 1 and -1.
    """
    rng = numpy.random.default_rng(5)
    values = attributes(count, rng)
    members = [('img_align_celeba/', b'')]
    for number, row in enumerate(values, start=1):
        has = {name for name, value in zip(NAMES, row, strict=True) if value == 1}
        members.append((f'img_align_celeba/{number:06d}.jpg', jpeg(face(has))))
    write_zip(os.path.join(folder, IMAGE_FILE), members)
    with open(os.path.join(folder, ATTRIBUTE_FILE), 'w', encoding='ascii', newline='\n') as stream:
        stream.write('\n'.join(attribute_lines(values)) + '\n')
    return values
