"""The process that reads damaged copies; see `tests.faults.fuzz_hdf5`.

It is given the numbers of copies on its input. Before and after each copy it writes a line, so that
whoever started it knows which copy ended it.
"""
import contextlib
import functools
import hashlib
import pathlib
import resource
import sys

import h5py
import numpy

from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import FuelError
from tests.storage.files import some_images, write_file
from tests.storage.layout_entry import values
from tests.storage.ragged_files import write_flat, write_vlen

KINDS = ('contiguous', 'chunked', 'filtered', 'vlen', 'ragged', 'latest')
ROWS = 30
# More rows than this are not read one by one; a damaged file may have any number.
MOST = 2 * ROWS
MOST_BYTES = 2 ** 33


def originals():
    """Return the rows of the sources of each kind of file."""
    numbers = {'x': values((ROWS, 4), '>i4'), 'y': values((ROWS,), 'uint8')}
    lists = {'values': some_images(ROWS), 'number': numpy.arange(ROWS)}
    return {kind: lists if kind in ('vlen', 'ragged') else numbers for kind in KINDS}


def write_originals(folder):
    """Write the files that are to be damaged."""
    folder = pathlib.Path(folder)
    splits = {'all': {'x': (0, ROWS), 'y': (0, ROWS)}}
    rows = originals()
    write_file(folder / 'contiguous', rows['contiguous'], splits)
    for kind, arguments in (
            ('chunked', {}), ('latest', {'compression': 'lzf', 'maxshape': (None, None)}),
            ('filtered', {'compression': 'gzip', 'shuffle': True, 'fletcher32': True})):
        with h5py.File(folder / kind, 'w', libver=kind if kind == 'latest' else None) as h5file:
            h5file.create_dataset('x', data=rows[kind]['x'], chunks=(7, 3), **arguments)
            h5file.create_dataset('y', data=rows[kind]['y'], chunks=(4,), fletcher32=True)
            h5file.attrs['split'] = H5PYDataset.create_split_array(splits)
    labels = ('channel', 'height', 'width')
    write_vlen(folder / 'vlen', rows['vlen']['values'], labels=labels)
    write_flat(folder / 'ragged', rows['ragged']['values'], labels=labels, chunks=(64,),
               compression='gzip')


def digest(row):
    """Return a short text that stands for a row: its dtype, its shape and its bytes."""
    row = numpy.asarray(row)
    if row.dtype.hasobject:
        return 'objects ' + ' '.join(digest(entry) for entry in row.reshape(-1).tolist()
                                     ) if row.ndim else f'object {row.tolist()!r}'
    content = hashlib.sha1(numpy.ascontiguousarray(row).tobytes()).hexdigest()
    return f'{row.dtype.str} {row.shape} {content}'


def through_h5py(path, source):
    """Return digests of the rows of a source, read one by one with nothing but h5py.

    A row that h5py cannot read has `None`.
    """
    with h5py.File(path) as h5file:
        entry = next(entry for entry in h5file.attrs['split']
                     if entry['source'].decode('utf-8', 'replace') == source)
        dataset = h5file[source]
        scales = dict(dataset.dims[0].items())
        rows = []
        for place in range(int(entry['start']), int(entry['stop']))[:MOST]:
            try:
                if 'offsets' in scales:
                    start, stop = scales['offsets'][place:place + 2].tolist()
                    row = dataset[start:stop]
                else:
                    row = dataset[place]
                if 'shapes' in scales:
                    row = row.reshape(scales['shapes'][place].tolist())
            except Exception:
                rows.append(None)
            else:
                rows.append(digest(row))
    return rows


def look_around(path):
    """Read with nothing but h5py what stands beside the rows: splits, labels, scales."""
    with h5py.File(path) as h5file:
        for action in (lambda: h5file.attrs['split'], lambda: list(h5file.items())):
            with contextlib.suppress(Exception):
                action()
        for source in ('x', 'y', 'values', 'number'):
            for action in (lambda source=source: [axis.label for axis in h5file[source].dims],
                           lambda source=source: [(scale, scale[...]) for axis in
                                                  h5file[source].dims for scale in axis.values()],
                           lambda source=source: h5file[source].fillvalue,
                           lambda source=source: h5file[source].dims[0].items(),
                           lambda source=source: h5file[source][...]):
                with contextlib.suppress(Exception):
                    action()


class Wrong(Exception):
    """Something that must not happen."""


def attempt(path, action):
    """Return the result of an action, or the kind of its error if that is as it should be."""
    try:
        return action(), None
    except MemoryError:
        return None, 'memory'
    except Exception as error:
        text = f'{type(error).__name__}: {error}'.replace('\n', ' ').replace('\t', ' ')
        if not isinstance(error, (FuelError, OSError, ValueError)):
            raise Wrong(f'an error of another kind: {text}') from error
        # That a source is not there, the damage having hidden it, is what the caller is told.
        if path.name not in str(error) and 'does not provide' not in str(error):
            raise Wrong(f'an error that does not name the file: {text}') from error
        return None, 'error'


def through_fuel(path, source):
    """Read a source in several ways and return digests of its rows, and errors.

    Rows that could not be read have `None`.
    """
    dataset, error = attempt(path, lambda: H5PYDataset(path, ('all',), sources=(source,)))
    if error:
        return [], {error}
    errors = set()
    try:
        dataset.open()
        count = min(dataset.num_examples, MOST)
        order = numpy.random.default_rng(count).permutation(count)
        rows = [None] * count
        if hasattr(dataset, 'describe'):
            attempt(path, dataset.describe)
        for request in (slice(0, count), order, *range(count)) if count else ():
            got, error = attempt(path, lambda request=request: dataset.get_data(None, request)[0])
            errors.add(error)
            if error is None:
                single = isinstance(request, int)
                for place, row in zip([request] if single else range(count)[request]
                                      if isinstance(request, slice) else request,
                                      [got] if single else got, strict=True):
                    if rows[place] not in (None, digest(row)):
                        raise Wrong(f'{source} {place} is not the same when read again')
                    rows[place] = digest(row)
    finally:
        dataset.close(None)
    loaded, error = attempt(path, lambda: H5PYDataset(path, ('all',), sources=(source,),
                                                      load_in_memory=True))
    errors.add(error)
    if loaded is not None and count:
        for place, row in enumerate(loaded.get_data(None, slice(0, count))[0]):
            if rows[place] not in (None, digest(row)):
                raise Wrong(f'{source} {place} is not the same in memory')
    return rows, errors - {None}


def read_copy(path, expected, told):
    """Return the outcome of a copy."""
    outcomes = set()
    for source, rows in expected.items():
        right = [digest(row) for row in rows]
        told(f'fuel {source}')
        read, errors = through_fuel(path, source)
        outcomes |= errors
        odd = [place for place, row in enumerate(read)
               if row is not None and row not in right[place:place + 1]]
        if odd:
            told(f'h5py {source}')
            try:
                compared = through_h5py(path, source)
            except Exception as error:
                raise Wrong(f'{source} {odd}: rows where h5py has an error: {error}') from error
            worse = [place for place in odd if read[place] not in compared[place:place + 1]]
            if worse:
                raise Wrong(f'{source} {worse}: not as h5py has them: {read[worse[0]]} against '
                            f'{compared[worse[0]:worse[0] + 1]}')
            outcomes.add('unknowable')
    for outcome in ('memory', 'error', 'unknowable'):
        if outcome in outcomes:
            return outcome
    return 'right'


def main():
    """Read the copies whose numbers come in on the standard input."""
    from tests.faults.fuzz_hdf5 import damaged
    folder, how = pathlib.Path(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    rows = originals()
    contents = {kind: (folder / kind).read_bytes() for kind in KINDS}
    for number in map(int, sys.stdin.readline().split()):
        kind = KINDS[number % len(KINDS)]
        path = folder / f'copy_{number}.hdf5'
        path.write_bytes(damaged(contents[kind], number))
        print(f'begin\t{number}')
        try:
            if how == 'h5py':
                outcome = 'read'
                for action in (look_around, *(functools.partial(through_h5py, source=source)
                                              for source in rows[kind])):
                    with contextlib.suppress(Exception):
                        action(path)
            else:
                outcome = read_copy(path, rows[kind], lambda step: print(f'step\t{step}'))
        except Wrong as error:
            outcome = f'wrong\t{error}'
        except Exception as error:
            outcome = f'wrong\twhen reading: {type(error).__name__}: {error}'.replace('\n', ' ')
        print(f'done\t{number}\t{outcome}')
        path.unlink()


if __name__ == '__main__':
    main()
