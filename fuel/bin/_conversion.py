"""Running a converter so that its files appear whole, and tagging them."""
from __future__ import annotations

import inspect
import logging
import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from fuel.converters import __version__ as converters_version
from fuel.converters._conversion.record import Record, recording
from fuel.exceptions import ConversionError
from fuel.storage.provenance.checksums import (
    add_missing_checksums,
    keeping_checksums,
    write_structure_checksum,
)
from fuel.storage.provenance.writing import conversion_date, versions, write_provenance
from fuel.utils.atomic import move_into_place, temporary_directory

__all__ = ['convert', 'tag']

logger = logging.getLogger(__name__)

#: Files in a folder that are named one by one.
_NAMED = 8


def convert(function: Callable[..., Any], arguments: Mapping[str, Any], command: str, *,
            force: bool = False) -> None:
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
    force : bool, optional
        Whether files that are there already are replaced; by default they are an error.

    Raises
    ------
    ConversionError
        A folder is missing, or the converter did not return what it should.
    OutputExistsError
        A file is there already, and `force` was not given. A ``FileExistsError``.
    """
    conversion_date()       # a wrong one should not show after hours of work
    arguments = dict(arguments)
    directory = os.path.abspath(arguments['directory'])
    target = os.path.abspath(arguments['output_directory'])
    if 'output_filename' in arguments:
        folder, name = os.path.split(arguments['output_filename'])
        target = os.path.join(target, folder)
        if name in ('', os.curdir, os.pardir):
            raise ConversionError('expected the name of a file with -r; got '
                                  f"{arguments['output_filename']!r}, a folder")
        if not name.endswith(('.hdf5', '.hdf', '.h5')):
            name += '.hdf5'
        arguments['output_filename'] = name
    for what, path in (('with the raw files', directory), ('for the output', target)):
        if not os.path.isdir(path):
            # It is not made, for its name may be a mistake.
            how = f'; to make it: mkdir -p {shlex.quote(path)}' if path == target else ''
            raise ConversionError(f'the folder {what}, {path}, '
                                  + ('is not a folder' if os.path.exists(path)
                                     else f'does not exist{how}'))
    with (temporary_directory(target) as workplace,
          recording(directory, target, force=force) as record):
        name = arguments.get('output_filename') or usual_name(function)
        if name is not None:
            record.check_output(name)
        with keeping_checksums():
            result = function(**{**arguments, 'directory': directory,
                                 'output_directory': workplace})
        for path in _paths(result):
            tag(path, command, record)
            if not _is_inside(path, workplace):
                logger.info('wrote %s', path)
        _publish(workplace, target, record)


def usual_name(function: Callable[..., Any]) -> str | None:
    """Return what the file of a converter is called by default, where its declaration tells."""
    try:
        parameter = inspect.signature(function).parameters.get('output_filename')
    except (TypeError, ValueError):
        return None
    return parameter.default if parameter and isinstance(parameter.default, str) else None


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


def _publish(workplace: str, target: str, record: Record) -> None:
    """Move all files to their final places; none if one of those is taken."""
    found: dict[str, list[str]] = {}
    for folder, _, names in os.walk(workplace):
        for name in sorted(names):
            relative = os.path.relpath(folder, workplace)
            record.check_output(os.path.join(relative, name))
            found.setdefault(relative, []).append(name)
    # What lies deeper belongs to the files above it, which are there only with all of it.
    for folder in sorted(found, key=lambda path: (-path.count(os.sep), path == os.curdir, path)):
        place = os.path.normpath(os.path.join(target, folder))
        os.makedirs(place, exist_ok=True)
        for name in found[folder]:
            try:
                move_into_place(os.path.join(workplace, folder, name), os.path.join(place, name),
                                replace=record.force)
            except FileExistsError:         # another process was quicker
                record.check_output(os.path.join(folder, name))
                raise
            if len(found[folder]) <= _NAMED:
                logger.info('wrote %s', os.path.join(place, name))
        if len(found[folder]) > _NAMED:
            logger.info('wrote %d files into %s', len(found[folder]), place)


def tag(path: str, command: str, record: Record) -> None:
    """Write into a converted file how it came about, and the checksums that it lacks.

    Parameters
    ----------
    path : str
        The file.
    command : str
        The command line that made it.
    record : Record
        What was noted while it was made.

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
        if 'split' in h5file.attrs:
            add_missing_checksums(h5file)
            write_structure_checksum(h5file)
        write_provenance(h5file, {
            'h5py_interface_version': H5PYDataset.interface_version,
            'fuel_convert_version': converters_version, 'fuel_convert_command': command,
            **versions(), 'fuel_convert_date': conversion_date()},
            seed=record.seed, inputs=record.inputs())
