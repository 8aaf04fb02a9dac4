"""Raw files of the challenge of 2010."""
from __future__ import annotations

import gzip
import os

from tests.raw import imagenet


def write(folder, classes=3, images=8, valid=7, test=5):
    """Write all files into a folder; `images` is the number of each class.

    A training, a validation and a test picture are cut off, and whole in the archive of patches.
    Returns what is in the archives.
    """
    pool, raw = imagenet.Pool(), imagenet.Raw([imagenet.wnid(number) for number in range(classes)])
    train = os.path.join(folder, 'ILSVRC2010_images_train.tar')
    imagenet.write_training(train, raw, pool, images)
    for index in range(valid):
        raw.valid_ids.append(1 + (index * 5 + 1) % classes)
        raw.valid[f'val/ILSVRC2010_val_{index + 1:08}.JPEG'] = pool.picture(
            raw.valid_ids[-1] - 1, images + index)
    for index in range(test):
        raw.test_ids.append(1 + (index * 7 + 2) % classes)
        raw.test[f'test/ILSVRC2010_test_{index + 1:08}.JPEG'] = pool.picture(
            raw.test_ids[-1] - 1, images + valid + index)
    _damage(train, raw, classes)
    for split, members in (('val', raw.valid), ('test', raw.test)):
        imagenet.write_tar(os.path.join(folder, f'ILSVRC2010_images_{split}.tar'),
                           reversed(members.items()))
    imagenet.write_tar(os.path.join(folder, 'patch_images.tar'), [
        (f'patch/{split}/{name}', content) for split, pictures in raw.patches.items()
        for name, content in pictures.items()])
    kit = imagenet.tar_of({
        'devkit-1.0/readme.txt': b'Development kit\n',
        'devkit-1.0/data/meta.mat': imagenet.meta(2010, raw, images),
        'devkit-1.0/data/ILSVRC2010_validation_ground_truth.txt': imagenet.truth(raw.valid_ids)})
    with open(os.path.join(folder, 'ILSVRC2010_devkit-1.0.tar.gz'), 'wb') as stream:
        stream.write(gzip.compress(kit, mtime=0))
    with open(os.path.join(folder, 'ILSVRC2010_test_ground_truth.txt'), 'wb') as stream:
        stream.write(imagenet.truth(raw.test_ids))
    return raw


def _damage(train, raw, classes):
    """Cut off one picture of each split, and write the training archive once more."""
    name = raw.wnids[min(1, classes - 1)]
    pictures = raw.train[name]
    damaged = sorted(pictures)[0]
    raw.patches['train'] = {damaged: pictures[damaged]}
    pictures[damaged] = pictures[damaged][:200]
    for split, members in (('val', raw.valid), ('test', raw.test)):
        damaged = sorted(members)[1]
        raw.patches[split] = {os.path.basename(damaged): members[damaged]}
        members[damaged] = members[damaged][:200]
    imagenet.write_tar(train, [(f'{wnid}.tar', imagenet.tar_of(content))
                               for wnid, content in raw.train.items()])
