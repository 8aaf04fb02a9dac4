"""Running the commands, in this process and in others."""
from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

import fuel

CHECKOUT = os.path.dirname(os.path.dirname(fuel.__file__))


def fails(command, args, capsys, code=2):
    """Run a command that fails, and return the one line that it prints to standard error."""
    with pytest.raises(SystemExit) as caught:
        import_module(f'fuel.bin.fuel_{command}').main(args)
    assert caught.value.code == code
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    assert lines[0].startswith(f'fuel-{command}: error: ')
    return lines[0]


def environment(**variables):
    """Return the environment for a new process that is to import this very fuel."""
    paths = [CHECKOUT, variables.pop('PYTHONPATH', None), os.environ.get('PYTHONPATH')]
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, paths)), **variables}


def run(command, *args, cwd, **variables):
    """Run a command in a process of its own, as a console script would."""
    name = f'fuel-{command}'
    code = (f'import sys; sys.argv[0] = "/somewhere/bin/{name}"; '
            f'from fuel.bin.fuel_{command} import main; sys.exit(main())')
    return subprocess.run([sys.executable, '-W', 'error', '-c', code, *args], cwd=cwd, text=True,
                          capture_output=True, timeout=120, check=False,
                          env=environment(**variables))
