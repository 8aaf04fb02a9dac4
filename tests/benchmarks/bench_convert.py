"""Conversions against what they cannot do without: time and memory.

Run ``python tests/benchmarks/bench_convert.py [NAME ...]``; prints ``name: figure`` lines. The time
of ``fuel-convert NAME``, as a command, is divided by the *bound*: the time of ``python -c "import
h5py"``, of decompressing the input (``gzip -dc`` for files compressed by gzip, Python's zlib for
archives that are compressed inside, Pillow for pictures that are stored as pixels, reading for all
else) and of copying the output. A second ratio counts in the bound that the copy is written to the
disk (``sync``), as what ``fuel-convert`` writes is. All are measured in turn, as processes, with
the raw files in the page cache; ratios are those of medians. Lower is better. Beside them stands
the peak memory above that of an interpreter that does nothing; 250 MB at most. MNIST and the two
CIFAR sets have their true sizes.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
if __name__ == '__main__':
    sys.path.insert(0, str(ROOT))

RUNS = 5
# Inflates what is compressed in archives and MATLAB files, decodes pictures if asked to, and reads
# everything else.
INFLATE = '''
import io, struct, sys, tarfile, zipfile, zlib
decode = sys.argv[1] == 'decode'
def show(stream, name):
    content = stream.read()
    if decode and name.lower().endswith(('.jpg', '.png', '.jpeg')):
        from PIL import Image
        Image.open(io.BytesIO(content)).load()
for path in sys.argv[2:]:
    if path.endswith('.mat'):
        with open(path, 'rb') as stream:
            stream.seek(128)
            while tag := stream.read(8):
                kind, size = struct.unpack('<II', tag)
                inflated = zlib.decompressobj()
                while size and (piece := stream.read(min(size, 1 << 20))):
                    size -= len(piece)
                    inflated.decompress(piece) if kind == 15 else None
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as stream:
                    show(stream, name)
    elif decode and path.endswith('.tar.gz'):
        with tarfile.open(path, 'r|gz') as archive:
            for member in archive:
                if member.isreg():
                    show(archive.extractfile(member), member.name)
    else:
        with open(path, 'rb') as stream:
            while stream.read(1 << 20):
                pass
'''


@dataclass(frozen=True)
class Case:
    """A conversion.

    Parameters
    ----------
    arguments : str
        Those of ``fuel-convert``.
    sizes : dict, optional
        Of the raw files that are made.
    decodes : bool, optional
        Whether pictures are stored as pixels.
    """

    arguments: str
    sizes: dict[str, Any] = field(default_factory=dict)
    decodes: bool = False


CASES = {
    'mnist': Case('mnist', {'train': 60000, 'test': 10000}),
    'cifar10': Case('cifar10', {'per_batch': 10000, 'test': 10000}),
    'cifar100': Case('cifar100', {'train': 50000, 'test': 10000}),
    'svhn 2': Case('svhn 2', {'which_format': 2, 'count': 20000}),
    'svhn 1': Case('svhn 1', {'which_format': 1, 'count': 2000}, decodes=True),
    'ilsvrc2012, 20000 small pictures': Case('ilsvrc2012', {'classes': 100, 'images': 200}),
    'ilsvrc2012, 6000 of 108 kB': Case('ilsvrc2012', {'classes': 60, 'images': 100,
                                                      'padding': 107000}),
    'celeba aligned_cropped': Case('celeba aligned_cropped', {'count': 4000}, decodes=True),
    'dogs_vs_cats': Case('dogs_vs_cats', {'train': 3000, 'test': 1000}, decodes=True),
    'binarized_mnist': Case('binarized_mnist', {'train': 50000, 'valid': 10000, 'test': 10000}),
    'adult': Case('adult', {'train': 32561, 'test': 16281}),
    'caltech101_silhouettes': Case('caltech101_silhouettes 28',
                                   {'train': 4100, 'valid': 2264, 'test': 2307}),
    'one_billion_word': Case('one_billion_word', {'training': 99, 'heldout': 50,
                                                  'sentences': 1000}),
    'text': Case('text rhymes.txt more.txt.gz', {'lines': 100000}),
    'table': Case('table flowers.csv --target species', {'count': 100000}),
    'arrays': Case('arrays mnist.npz', {'train': 60000, 'test': 10000}),
}


def run(command, folder):
    """Run a command; return seconds and the peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE,
                               env={**os.environ, 'PYTHONPATH': str(ROOT)})
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f'{command} failed: {error.decode()}')
    return seconds, usage.ru_maxrss / 1024


def decompressing(folder, decodes):
    """Return commands that decompress everything in a folder."""
    paths = sorted(str(path) for path in Path(folder).rglob('*') if path.is_file())
    packed = [path for path in paths if path.endswith(('.gz', '.tgz')) and not decodes]
    others = [path for path in paths if path not in packed]
    return ([['gzip', '-dc', *packed]] if packed else []) + (
        [[sys.executable, '-c', INFLATE, 'decode' if decodes else '', *others]] if others else [])


def measure(name, case, folder):
    """Print the figures of a conversion."""
    raw, out = os.path.join(folder, 'raw'), os.path.join(folder, 'out')
    os.mkdir(raw)
    os.mkdir(out)
    # Elsewhere: the peak of a new process begins with that of its parent.
    maker = f'tests.raw.{case.arguments.split()[0]}'
    make = f'from {maker} import write; write({raw!r}, **{case.sizes})'
    run([sys.executable, '-c', make], folder)
    convert = [sys.executable, '-m', 'fuel.bin.fuel_convert', *case.arguments.split(), '-d', raw,
               '-o', out, '--force']
    bound = [[sys.executable, '-c', 'import h5py'], *decompressing(raw, case.decodes)]
    times, peaks = {'convert': [], 'bound': [], 'sync': []}, []
    run(convert, folder)
    written = [os.path.join(out, entry) for entry in os.listdir(out)]
    bound.append(['cp', '-r', *written, os.path.join(folder, 'copy')])
    os.mkdir(os.path.join(folder, 'copy'))
    empty = run([sys.executable, '-c', 'pass'], folder)[1]
    for _ in range(RUNS):
        seconds, peak = run(convert, folder)
        times['convert'].append(seconds)
        peaks.append(peak - empty)
        times['bound'].append(sum(run(command, folder)[0] for command in bound))
        copies = [path for path in Path(folder, 'copy').rglob('*') if path.is_file()]
        times['sync'].append(times['bound'][-1] + run(['sync', *copies], folder)[0])
        for path in copies:
            path.unlink()
    medians = {what: statistics.median(values) for what, values in times.items()}
    size = sum(path.stat().st_size for path in Path(out).rglob('*') if path.is_file()) / 1e6
    print(f'{name}: time / bound: {medians["convert"] / medians["bound"]:.2f}')
    print(f'{name}: time / bound with sync: {medians["convert"] / medians["sync"]:.2f}')
    print(f'{name}: seconds: {medians["convert"]:.2f} for {size:.0f} MB')
    print(f'{name}: peak memory above an interpreter: {max(peaks):.0f} MB', flush=True)


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help='of ' + ', '.join(CASES))
    for name in parser.parse_args().names or CASES:
        folder = tempfile.mkdtemp(prefix='bench-convert-')
        try:
            measure(name, CASES[name], folder)
        finally:
            shutil.rmtree(folder)


if __name__ == '__main__':
    main()
