"""Converting texts, and reading what has become of them by h5py alone."""
import argparse
import itertools

import h5py

from fuel.converters.text import fill_subparser


def convert(folder, *args):
    """Run the converter with arguments of the command line, in a folder; return the path."""
    parser = argparse.ArgumentParser()
    function = fill_subparser(parser)
    path, = function(str(folder), str(folder), **vars(parser.parse_args(list(map(str, args)))))
    return path


def read(path):
    """Return the examples of every split, as lists, the vocabulary, and the counts."""
    with h5py.File(path, 'r') as h5file:
        flat, offsets = h5file['features'][...], h5file['features_offsets'][...]
        examples = [flat[start:stop].tolist()
                    for start, stop in itertools.pairwise(offsets)]
        splits = {row['split'].decode(): examples[row['start']:row['stop']]
                  for row in h5file.attrs['split']}
        return (splits, h5file['vocabulary'].asstr()[...].tolist(),
                h5file['vocabulary_counts'][...].tolist())


def expected(lines, vocabulary, bos='<S>', eos='</S>', unk='<UNK>', divide=str.split):
    """Encode lines by a dictionary in the plainest way."""
    numbers = {token: number for number, token in enumerate(vocabulary)}
    return [([] if bos is None else [numbers[bos]])
            + [numbers.get(token, numbers.get(unk)) for token in divide(line)]
            + ([] if eos is None else [numbers[eos]]) for line in lines]
