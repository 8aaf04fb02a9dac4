"""The time of ``import fuel`` against that of what it cannot do without.

Run ``python tests/benchmarks/bench_import.py``; prints ``name: figure`` lines. The ratio is one of
minima over interpreters started in turn, since noise only ever adds.
"""
import subprocess
import sys

RUNS = 25
BASE, FUEL = 'import numpy, yaml', 'import fuel'
HEAVY = ('h5py', 'tables', 'zmq', 'PIL', 'scipy', 'requests')


def seconds(statement):
    """Return how long a statement takes in a new interpreter."""
    code = (f'import time; start = time.perf_counter(); {statement}; '
            'print(time.perf_counter() - start)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, check=True)
    return float(done.stdout)


def main():
    """Print the figures."""
    times = {statement: [] for statement in (BASE, FUEL)}
    for _ in range(RUNS):
        for statement, measured in times.items():
            measured.append(seconds(statement))
    print(f'import fuel / import numpy, yaml: {min(times[FUEL]) / min(times[BASE]):.2f}')
    code = f'import sys, fuel; print(*[name for name in {HEAVY} if name in sys.modules])'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, check=True)
    print(f'heavy modules loaded by import fuel: {len(done.stdout.split())}')


if __name__ == '__main__':
    main()
