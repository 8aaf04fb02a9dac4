"""How long the commands take to start, against ``python -c "import h5py"``.

Run ``python tests/benchmarks/bench_commands.py``; prints ``name: figure`` lines. Each figure is the
time of a command, as a process, divided by that of importing h5py, both minima over processes
started in turn, since noise only ever adds. Lower is better.
"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = 15


def seconds(command, folder):
    """Return how long a command takes."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, 'PYTHONPATH': str(ROOT)})
    return time.perf_counter() - start


def command(name, *arguments):
    """Return how a console script of Fuel is run."""
    code = f'import sys; from fuel.bin.{name} import main; sys.exit(main())'
    return [sys.executable, '-c', code, *arguments]


def main():
    """Print the figures."""
    sys.path.insert(0, str(ROOT))
    from fuel._registry import BUILT_IN, OWN_FILES

    with tempfile.TemporaryDirectory() as folder:
        raw = ROOT / 'fuel' / 'downloaders' / 'bundled'
        seconds(command('fuel_convert', 'iris', '-d', str(raw)), folder)
        commands = {
            'import h5py': [sys.executable, '-c', 'import h5py'],
            'fuel-info FILE': command('fuel_info', 'iris.hdf5'),
            'fuel-info -h': command('fuel_info', '-h'),
            'fuel-convert -h': command('fuel_convert', '-h'),
            'fuel-download -h': command('fuel_download', '-h'),
            'fuel-download mnist -h': command('fuel_download', 'mnist', '-h'),
            **{f'fuel-convert {name} -h': command('fuel_convert', name, '-h')
               for name in (*BUILT_IN, *OWN_FILES)}}
        best = dict.fromkeys(commands, float('inf'))
        for _ in range(RUNS):
            for name, arguments in commands.items():
                best[name] = min(best[name], seconds(arguments, folder))
    for name in list(commands)[1:]:
        print(f'{name} / import h5py: {best[name] / best["import h5py"]:.2f}')


if __name__ == '__main__':
    main()
