"""Files that were made of many raw files, such as one for each picture."""
from __future__ import annotations

import json

import pytest

from fuel.bin.fuel_info import main
from tests.bin import info_files


def lines_of(path, capsys):
    main([path])
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize('count', [1, 5])
def test_few_are_listed(tmp_path, capsys, count):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    names = info_files.note_inputs(path, range(1, count + 1))
    lines = lines_of(path, capsys)
    assert [line for line in lines if line.startswith('from ')] == [
        f'from {name}: {size} byte{"s" * (size > 1)}, sha256:{size:064x}'
        for size, name in enumerate(names, start=1)]
    assert not any(line.startswith('and ') for line in lines)


@pytest.mark.parametrize('count', [6, 301])
def test_of_many_some_are_listed(tmp_path, capsys, count):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    names = info_files.note_inputs(path, [4000] * count)
    lines = lines_of(path, capsys)
    assert [line.split(':')[0] for line in lines if line.startswith('from ')] == [
        f'from {name}' for name in names[:5]]
    size = {6: '24.0 kB', 301: '1.2 MB'}[count]
    assert f'and {count - 5} more, {size} in all; --json lists all {count}' in lines
    assert len(lines) < 40
    main(['--json', path])
    (found,) = json.loads(capsys.readouterr().out)
    assert [given['name'] for given in found['inputs']] == names


def test_comparison_lists_some(tmp_path, capsys):
    paths = [info_files.write(tmp_path / name, *info_files.arrays()) for name in 'ab']
    for path, size in zip(paths, (1, 2), strict=True):
        info_files.note_inputs(path, [size] * 40)
    main(['--compare', *paths])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert sum(line.startswith('pictures/') for line in lines) == 5
    assert '35 more raw files differ; --json lists all' in lines
    main(['--compare', '--json', *paths])
    differences = json.loads(capsys.readouterr().out)['differences']
    assert sum(entry['what'] == 'input' for entry in differences) == 40
