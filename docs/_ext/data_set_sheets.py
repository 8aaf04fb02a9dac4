"""Contact sheets of data sets that are made for the occasion; needs matplotlib and the library.

Small raw files are made with ``tests/raw/NAME.py`` and converted with ``fuel-convert NAME``.
"""
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

__all__ = ['ROOT', 'draw', 'origin']

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the makers of raw files are given, so that there is something to see.
SIZES = {
    'adult': {'train': 300, 'test': 100},
    'arrays': {'train': 300, 'test': 80},
    'binarized_mnist': {'train': 100, 'valid': 50, 'test': 50},
    'cifar10': {'per_batch': 60, 'test': 60},
    'cifar100': {'train': 600, 'test': 200},
    'mnist': {'train': 600, 'test': 200},
    'table': {'count': 120},
}
# What the converters need to be told.
ARGUMENTS = {
    'arrays': ['mnist.npz'],
    'caltech101_silhouettes': ['28'],
    'celeba': ['64'],
    'images': ['raw', '--size', '64x64'],
    'svhn': ['2'],
    'table': ['flowers.csv', '--target', 'species'],
    'text': ['rhymes.txt', 'more.txt.gz'],
    'youtube_audio': ['--youtube-id', 'tune'],
}
# Those whose raw files are a folder that is given by its name.
IN_FOLDER = {'images': 'raw'}
# Those of which the true raw files are drawn, and those that are no known data set.
GENUINE = {'iris'}
OWN = {'arrays', 'images', 'table', 'text'}
CONVERT = ('import sys; sys.argv[0] = "fuel-convert"; '
           'from fuel.bin.fuel_convert import main; main()')


def origin(name):
    """Return a sentence that says what a sheet is drawn from; empty if it is the data themselves.

    Parameters
    ----------
    name : str
        Of a converter.
    """
    if name in GENUINE:
        return ''
    if name in OWN:
        return 'Drawn from invented data.'
    return 'Drawn from invented stand-in data of the same form.'


def draw(name, out):
    """Make raw files, convert them and draw what comes out.

    Parameters
    ----------
    name : str
        Of a converter, of which ``tests/raw`` can make the raw files.
    out : path
        The picture.

    Returns
    -------
    str
        The name of the file that was drawn.
    """
    from fuel.bin._info.sheet.drawing import draw_sheet

    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    maker = importlib.import_module(f'tests.raw.{name}')
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder, IN_FOLDER.get(name, ''))
        raw.mkdir(exist_ok=True)
        maker.write(raw, **SIZES.get(name, {}))
        done = subprocess.run(
            [sys.executable, '-c', CONVERT, name, *ARGUMENTS.get(name, [])], cwd=folder,
            env={**os.environ, 'PYTHONPATH': str(ROOT)}, capture_output=True, text=True,
            check=False)
        if done.returncode:
            raise RuntimeError(f'fuel-convert {name}: {done.stderr}')
        (converted,) = pathlib.Path(folder).glob('*.hdf5')
        draw_sheet(str(converted), str(out))
        return converted.name
