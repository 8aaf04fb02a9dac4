"""The configuration: defaults, ``~/.fuelrc``, environment variables, assignment.

A setting is looked up each time it is read, in this order: a value assigned in Python, the
environment variable, the configuration file, the default. The file is YAML; its path is taken
from ``FUEL_CONFIG`` and is ``~/.fuelrc`` otherwise.
"""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import yaml

from fuel.exceptions import ConfigurationFileError, ConfigurationUnsetError

__all__ = ['Configuration', 'config', 'default_data_path', 'extra_modules', 'float_name',
           'path_list']

_NOT_GIVEN: Any = object()
_COMMANDS = ('fuel-convert', 'fuel-download', 'fuel-info')


def default_data_path() -> list[str]:
    """Return the directories searched when no data path is set.

    Returns
    -------
    list of str
        One directory: the folder where the operating system keeps a user's application data.
        It does not have to exist.
    """
    if sys.platform == 'win32':
        base = os.environ.get('LOCALAPPDATA') or os.path.join('~', 'AppData', 'Local')
    elif sys.platform == 'darwin':
        base = os.path.join('~', 'Library', 'Application Support')
    else:
        base = os.environ.get('XDG_DATA_HOME') or os.path.join('~', '.local', 'share')
    return [os.path.join(os.path.expanduser(base), 'fuel')]


def path_list(value: Any) -> list[str]:
    """Turn a data path into a list of directories.

    Parameters
    ----------
    value : str, path or sequence of these
        Several directories in one string are divided by ``os.pathsep``.

    Returns
    -------
    list of str
    """
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value).split(os.pathsep)
    if isinstance(value, (list, tuple)) and all(isinstance(v, (str, os.PathLike)) for v in value):
        return [os.fspath(entry) for entry in value]
    raise TypeError(f'expected a string of directories divided by {os.pathsep!r}, or a list of '
                    f'strings; got {value!r}')


def extra_modules(value: Any) -> list[str]:
    """Turn a setting that names modules into a list of names.

    Parameters
    ----------
    value : str or sequence of str
        Several names in one string are divided by white space.

    Returns
    -------
    list of str
    """
    if isinstance(value, str):
        return value.split()
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return list(value)
    raise TypeError(f'expected a list of module names, or a string of names divided by spaces; '
                    f'got {value!r}')


def float_name(value: Any) -> str:
    """Check the name of a floating-point dtype."""
    if isinstance(value, str) and value in ('float16', 'float32', 'float64'):
        return value
    raise ValueError(f"expected 'float16', 'float32' or 'float64'; got {value!r}")


def _whole_number(value: Any) -> int:
    """Return a setting that is an integer, perhaps in a string; -1 if it is none."""
    try:
        # int() takes truth values and numbers with a fraction as well.
        if isinstance(value, str) or (not isinstance(value, bool) and value == int(value)):
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    return -1


def _seed(value: Any) -> int:
    number = _whole_number(value)
    if not 0 <= number < 2**32:
        raise ValueError(f'expected an integer from 0 to 2**32 - 1; got {value!r}')
    return number


def _string(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise TypeError(f'expected a string; got {value!r}')


_UNITS = {'': 1, 'B': 1, 'kB': 10 ** 3, 'MB': 10 ** 6, 'GB': 10 ** 9, 'TB': 10 ** 12,
          'KiB': 2 ** 10, 'MiB': 2 ** 20, 'GiB': 2 ** 30, 'TiB': 2 ** 40}


def byte_count(value: Any) -> int:
    """Turn a setting that is an amount of memory into bytes.

    Parameters
    ----------
    value : int or str
        Bytes, or a number with a unit such as ``'2 GB'`` or ``'512MiB'``.

    Returns
    -------
    int
    """
    match = re.fullmatch(r'\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*', str(value))
    if isinstance(value, bool) or match is None or match[2] not in _UNITS:
        raise ValueError("expected a number of bytes, or one with a unit such as '2 GB' or "
                         f"'512 MiB'; got {value!r}")
    return int(float(match[1]) * _UNITS[match[2]])


def disk_limit(value: Any) -> int | float:
    """Turn a setting that limits the use of a disk into bytes, or a part of the disk.

    Parameters
    ----------
    value : int, float or str
        Bytes, a number of them with a unit such as ``'200 GB'``, a percentage such as ``'80 %'``,
        or a fraction with a point in it, such as 0.8.

    Returns
    -------
    int or float
        Bytes are an `int`; a part of the disk, above 0 and up to 1, is a `float`.
    """
    match = re.fullmatch(r'\s*(\d*\.\d+|\d+(?=\s*%))\s*(%?)\s*', str(value))
    if match is not None and not isinstance(value, bool):
        part = float(match[1]) / (100 if match[2] else 1)
        if 0 < part <= 1:
            return part
    else:
        with suppress(ValueError):
            return byte_count(value)
    raise ValueError("expected a part of the disk such as 0.8 or '80 %', or a number of bytes, "
                     f"perhaps with a unit, such as '200 GB'; got {value!r}")


def default_cache_bytes() -> int:
    """Return an eighth of the memory that this process may use."""
    try:
        memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    except (AttributeError, OSError, ValueError):
        return 10 ** 9
    try:
        with open('/sys/fs/cgroup/memory.max', encoding='ascii') as limit:
            memory = min(memory, int(limit.read()))
    except (OSError, ValueError):  # no such file, or no limit in it
        pass
    return memory // 8


def thread_count(value: Any) -> int:
    """Check a number of threads; 0 stands for one for each core, at most four."""
    number = _whole_number(value)
    if not 0 <= number <= 64:
        raise ValueError(f'expected a number of threads from 0 to 64; got {value!r}')
    if number:
        return number
    cores = (len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity')
             else os.cpu_count() or 1)
    return min(cores, 4)


class Configuration:
    """Settings that are read as attributes.

    Attributes
    ----------
    config : dict of str to dict
        For every key its ``type`` (the converter), and those of ``default``, ``env_var``,
        ``yaml`` (from the file) and ``value`` (assigned in Python) that it has.
    """

    config: dict[str, dict[str, Any]]

    def __init__(self) -> None:
        object.__setattr__(self, 'config', {})

    def add_config(self, key: str, type_: Callable[[Any], Any], default: Any = _NOT_GIVEN,
                   env_var: str | None = None) -> None:
        """Declare a setting.

        Parameters
        ----------
        key : str
            Its name.
        type_ : callable
            Converts what was found, on every read.
        default : object, optional
            The value where nothing else is given; a callable is called on every read. Reading a
            setting that has no default and was never set raises.
        env_var : str, optional
            The environment variable that overrides the file.
        """
        entry: dict[str, Any] = {'type': type_}
        if env_var is not None:
            entry['env_var'] = env_var
        if default is not _NOT_GIVEN:
            entry['default'] = default
        self.config[key] = entry

    def load_yaml(self) -> None:
        """Read the configuration file, if there is one.

        Raises
        ------
        ConfigurationFileError
            The file is not YAML, is not a mapping, names an unknown setting, or gives a value of
            the wrong type; the message names file, line and key. A ``ValueError``.
        """
        path = os.path.expanduser(os.environ.get('FUEL_CONFIG') or os.path.join('~', '.fuelrc'))
        if not os.path.isfile(path):
            return
        with open(path, 'rb') as stream:
            content = stream.read()
        for key, value, line in _read_mapping(content, path):
            where = f'{path}, line {line}'
            if not isinstance(key, str) or key not in self.config:
                raise ConfigurationFileError(
                    f'{where}: there is no setting {key!r}; the settings are '
                    f'{", ".join(sorted(self.config))}')
            try:
                self.config[key]['type'](value)
            except (TypeError, ValueError) as error:
                raise ConfigurationFileError(f'{where}: {key}: {error}') from None
            self.config[key]['yaml'] = value

    def __getattr__(self, key: str) -> Any:
        # Reached only for names that are not attributes, so private look-ups (by copy and
        # pickle, which build an object without calling its constructor) end here at once.
        if key == 'config' or key.startswith('__') or key not in self.config:
            raise AttributeError(f'there is no setting {key!r}')
        value, origin = self._look_up(key)
        try:
            return self.config[key]['type'](value)
        except (TypeError, ValueError) as error:
            raise ConfigurationFileError(f'setting {key!r}, from {origin}: {error}') from None

    def _look_up(self, key: str) -> tuple[Any, str]:
        """Return the value of a setting before conversion, and where it came from."""
        entry = self.config[key]
        if 'value' in entry:
            return entry['value'], 'an assignment'
        if 'env_var' in entry and entry['env_var'] in os.environ:
            return os.environ[entry['env_var']], f'the environment variable {entry["env_var"]}'
        if 'yaml' in entry:
            return entry['yaml'], 'the configuration file'
        if 'default' in entry:
            default = entry['default']
            return default() if callable(default) else default, 'its default'
        raise ConfigurationUnsetError(
            f'the setting {key!r} is not set and has no default; set it in ~/.fuelrc'
            + (f', or through the environment variable {entry["env_var"]}'
               if 'env_var' in entry else '') + f', or assign fuel.config.{key}')

    def __setattr__(self, key: str, value: Any) -> None:
        if key != 'config' and key in self.config:
            self.config[key]['value'] = value
        else:
            object.__setattr__(self, key, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.config})


def _read_mapping(content: bytes, path: str) -> list[tuple[Any, Any, int]]:
    """Parse YAML into triples of a key, its value and its line, counted from 1."""
    line = 1
    try:
        text = content.decode('utf-8-sig')
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if isinstance(node, yaml.MappingNode):
            entries = []
            for key, value in node.value:
                line = key.start_mark.line + 1
                entries.append((loader.construct_object(key, deep=True),
                                loader.construct_object(value, deep=True), line))
            return entries
    except UnicodeDecodeError as error:
        line = content.count(b'\n', 0, error.start) + 1
        problem = f'this is not text in UTF-8: {error.reason}'
    except yaml.reader.ReaderError as error:
        line = text.count('\n', 0, error.position) + 1
        problem = f'this is not valid YAML: {error.reason}'
    except yaml.MarkedYAMLError as error:
        line = line if error.problem_mark is None else error.problem_mark.line + 1
        problem = f'this is not valid YAML: {error.problem}'
    except ValueError as error:  # dates that do not exist
        problem = f'this is not valid YAML: {error}'
    else:
        if node is None or node.tag == 'tag:yaml.org,2002:null':
            return []
        line = node.start_mark.line + 1
        got = repr(node.value) if isinstance(node, yaml.ScalarNode) else 'a list'
        problem = f"expected settings in the form 'key: value'; got {got}"
    raise ConfigurationFileError(f'{path}, line {line}: {problem}')


config = Configuration()
config.add_config('data_path', path_list, default=default_data_path, env_var='FUEL_DATA_PATH')
config.add_config('local_data_path', _string, default='', env_var='FUEL_LOCAL_DATA_PATH')
config.add_config('local_data_limit', disk_limit, default=0.9, env_var='FUEL_LOCAL_DATA_LIMIT')
config.add_config('default_seed', _seed, default=1, env_var='FUEL_DEFAULT_SEED')
config.add_config('extra_downloaders', extra_modules, default=list,
                  env_var='FUEL_EXTRA_DOWNLOADERS')
config.add_config('extra_converters', extra_modules, default=list,
                  env_var='FUEL_EXTRA_CONVERTERS')
config.add_config('floatX', float_name, default='float64', env_var='FUEL_FLOATX')
config.add_config('num_threads', thread_count, default=0, env_var='FUEL_NUM_THREADS')
config.add_config('chunk_cache_bytes', byte_count, default=default_cache_bytes,
                  env_var='FUEL_CHUNK_CACHE_BYTES')
try:
    config.load_yaml()
except ConfigurationFileError as problem:
    # In a program the error is the program's to handle. Our commands cannot: it comes before
    # their first line.
    if (command := os.path.basename(sys.argv[0] if sys.argv else '')) in _COMMANDS:
        sys.stderr.write(f'{command}: error: {problem}\n')
        raise SystemExit(2) from None
    raise
