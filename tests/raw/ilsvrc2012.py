"""Raw files of the challenge of 2012."""
from __future__ import annotations

import gzip
import os

from tests.raw import imagenet


def write(folder, classes=3, images=8, valid=7, test=5, padding=0):
    """Write the four archives into a folder.

    `images` is the number of each class, `padding` the bytes that pictures have more than they
    need. Returns what is in the archives.
    """
    pool = imagenet.Pool(padding)
    raw = imagenet.Raw([imagenet.wnid(number) for number in range(classes)])
    imagenet.write_training(os.path.join(folder, 'ILSVRC2012_img_train.tar'), raw, pool, images)
    for index in range(valid):
        raw.valid_ids.append(1 + (index * 5 + 1) % classes)
        raw.valid[f'ILSVRC2012_val_{index + 1:08}.JPEG'] = pool.picture(
            raw.valid_ids[-1] - 1, images + index)
    for index in range(test):
        raw.test[f'test/ILSVRC2012_test_{index + 1:08}.JPEG'] = pool.picture(
            index % classes, images + valid + index)
    # They need not lie in order.
    for split, members in (('val', raw.valid), ('test', raw.test)):
        imagenet.write_tar(os.path.join(folder, f'ILSVRC2012_img_{split}.tar'),
                           reversed(members.items()))
    kit = imagenet.tar_of({
        'ILSVRC2012_devkit_t12/readme.txt': b'Development kit\n',
        'ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt':
            imagenet.truth(raw.valid_ids),
        'ILSVRC2012_devkit_t12/data/meta.mat': imagenet.meta(2012, raw, images)})
    with open(os.path.join(folder, 'ILSVRC2012_devkit_t12.tar.gz'), 'wb') as stream:
        stream.write(gzip.compress(kit, mtime=0))
    return raw
