"""What a converted file must hold, worked out from the raw files with tarfile and scipy."""
from __future__ import annotations

import io
import itertools
import os
import tarfile

import h5py
import numpy
import scipy.io


def _members(path):
    with tarfile.open(path) as tar:
        return [(os.path.basename(info.name), tar.extractfile(info).read(), info.name)
                for info in tar if info.isfile()]


def expected(folder, year, seed=1):
    """Return for every split a list of (file name, content, label or None), in order."""
    folder = str(folder)
    if year == 2010:
        kit, files = 'ILSVRC2010_devkit-1.0.tar.gz', 'ILSVRC2010_images_{}.tar'
    else:
        kit, files = 'ILSVRC2012_devkit_t12.tar.gz', 'ILSVRC2012_img_{}.tar'
    inside = {name: content for name, content, _ in _members(os.path.join(folder, kit))}
    synsets = scipy.io.loadmat(io.BytesIO(inside['meta.mat']))['synsets'][:, 0]
    label_of = {str(synset['WNID'][0]): int(synset[f'ILSVRC{year}_ID'][0, 0]) - 1
                for synset in synsets if synset['num_children'][0, 0] == 0}
    truth = {'val': inside[f'ILSVRC{year}_validation_ground_truth.txt']}
    patches = {}
    if year == 2010:
        with open(os.path.join(folder, 'ILSVRC2010_test_ground_truth.txt'), 'rb') as stream:
            truth['test'] = stream.read()
        for name, content, path in _members(os.path.join(folder, 'patch_images.tar')):
            patches[path.split('/')[-2], name] = content
    train = []
    for name, content, _ in _members(os.path.join(folder, files.format('train'))):
        with tarfile.open(fileobj=io.BytesIO(content)) as inner:
            pictures = {info.name: inner.extractfile(info).read() for info in inner}
        train += [(picture, patches.get(('train', picture), pictures[picture]),
                   label_of[name[:-4]]) for picture in sorted(pictures)]
    shuffled = [None] * len(train)
    for row, picture in zip(numpy.random.RandomState(seed).permutation(len(train)), train,
                            strict=True):
        shuffled[row] = picture
    found = {'train': shuffled}
    for split, name in (('val', 'valid'), ('test', 'test')):
        pictures = sorted(_members(os.path.join(folder, files.format(split))))
        labels = ([int(line) - 1 for line in truth[split].split()] if split in truth
                  else [None] * len(pictures))
        found[name] = [(picture, patches.get((split, picture), content), label)
                       for (picture, content, _), label in zip(pictures, labels, strict=True)]
    return found


def stored(path):
    """Return the same of a converted file, read with h5py alone, in either layout."""
    with h5py.File(path, 'r') as h5file:
        images, scales = h5file['encoded_images'], dict(h5file['encoded_images'].dims[0].items())
        if 'offsets' in scales:
            offsets, values = scales['offsets'][...], images[...]
            contents = [values[start:stop].tobytes()
                        for start, stop in itertools.pairwise(offsets)]
        else:
            contents = [values.tobytes() for values in images[...]]
            assert [len(content) for content in contents] == scales['shapes'][:, 0].tolist()
        names, targets = h5file['filenames'][...], h5file['targets'][...]
        found = {}
        for row in h5file.attrs['split']:
            split, source = row['split'].decode(), row['source'].decode()
            of_split = found.setdefault(split, {})
            of_split[source] = slice(row['start'], row['stop']) if row['available'] else None
        return {split: [
            (names[number, 0].decode(), contents[number],
             None if where['targets'] is None else int(targets[number, 0]))
            for number in range(where['encoded_images'].start, where['encoded_images'].stop)]
            for split, where in found.items()}
