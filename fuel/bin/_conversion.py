"""Running a converter so that its files appear whole, and tagging them."""
from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from fuel.converters import __version__ as converters_version
from fuel.exceptions import ConversionError
from fuel.utils.atomic import move_into_place, temporary_directory

__all__ = ['convert', 'tag']

logger = logging.getLogger(__name__)


def convert(function: Callable[..., Any], arguments: Mapping[str, Any], command: str) -> None:
    """Run a converter.

    The converter, which may be anybody's, writes into a temporary directory inside the folder
    asked for. Its files move out of there when they are finished and tagged, one by one, each in
    one step.

    Parameters
    ----------
    function : callable
        The converter; it is given the arguments as keywords and returns the paths of its files.
    arguments : mapping
        With ``directory``, ``output_directory``, perhaps ``output_filename``, and what else the
        converter takes.
    command : str
        The command line, for the tag.

    Raises
    ------
    ConversionError
        A folder is missing, or the converter did not return what it should.
    """
    arguments = dict(arguments)
    directory = os.path.abspath(arguments['directory'])
    target = os.path.abspath(arguments['output_directory'])
    if 'output_filename' in arguments:
        folder, name = os.path.split(arguments['output_filename'])
        target = os.path.join(target, folder)
        if not name.endswith(('.hdf5', '.hdf', '.h5')):
            name += '.hdf5'
        arguments['output_filename'] = name
    for what, path in (('with the raw files', directory), ('for the output', target)):
        if not os.path.isdir(path):
            raise ConversionError(f'the folder {what}, {path}, '
                                  + ('is not a folder' if os.path.exists(path)
                                     else 'does not exist'))
    with temporary_directory(target) as workplace:
        result = function(**{**arguments, 'directory': directory, 'output_directory': workplace})
        for path in _paths(result):
            tag(path, command)
            if not _is_inside(path, workplace):
                logger.info('wrote %s', path)
        _publish(workplace, target)


def _paths(result: Any) -> list[str]:
    """Return the paths that a converter returned."""
    paths = [result] if isinstance(result, (str, os.PathLike)) else result
    try:
        return [os.path.abspath(path) for path in paths]
    except TypeError:
        raise ConversionError('expected the converter to return a tuple with the paths of the '
                              f'files it wrote; got {result!r}') from None


def _is_inside(path: str, directory: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(directory) + os.sep)


def _publish(workplace: str, target: str) -> None:
    """Move all files to their final places."""
    for folder, _, names in sorted(os.walk(workplace)):
        place = os.path.normpath(os.path.join(target, os.path.relpath(folder, workplace)))
        os.makedirs(place, exist_ok=True)
        for name in sorted(names):
            path = os.path.join(place, name)
            move_into_place(os.path.join(folder, name), path)
            logger.info('wrote %s', path)


def tag(path: str, command: str) -> None:
    """Write into a converted file how it came about.

    Parameters
    ----------
    path : str
        The file.
    command : str
        The command line that made it.

    Raises
    ------
    ConversionError
        It is not an HDF5 file.
    """
    import h5py

    from fuel.datasets._h5py import H5PYDataset

    if not os.path.isfile(path):
        raise ConversionError(f'the converter returned the path {path}, but there is no such file')
    if not h5py.is_hdf5(path):
        raise ConversionError(f'the converter returned the path {path}, which is not an HDF5 file')
    with h5py.File(path, mode='a') as h5file:
        for name, value in (('h5py_interface_version', H5PYDataset.interface_version),
                            ('fuel_convert_version', converters_version),
                            ('fuel_convert_command', command)):
            encoded = value.encode('utf-8', 'backslashreplace')
            h5file.attrs.create(name, encoded.decode('utf-8'), dtype=h5py.string_dtype(
                'ascii' if encoded.isascii() else 'utf-8'))
