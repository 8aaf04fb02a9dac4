"""Any data set, by its name or by the path of its file."""
from __future__ import annotations

import builtins
import difflib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fuel._registry import OWN_FILES
from fuel.datasets import _of_packages
from fuel.datasets._dataset import Dataset
from fuel.datasets._names import NAMES, NamedSet, by_command, by_name, converter_of
from fuel.exceptions import DataFileError, DataFileNotFoundError, DataLayoutError
from fuel.utils.cache import local_copy
from fuel.utils.paths import find_in_data_path

if TYPE_CHECKING:
    import h5py

    from fuel.datasets._h5py import H5PYDataset

__all__ = ['open']

_HDF5_ENDINGS = ('.hdf5', '.hdf', '.h5')
_CONVERTED = {'.csv': 'table', '.tsv': 'table', '.parquet': 'table', '.jpg': 'images',
              '.jpeg': 'images', '.png': 'images'}


def open(name_or_path: str | os.PathLike[str],  # noqa: A001 (fuel.datasets.open)
         which_sets: str | Iterable[str] | None = None, **kwargs: Any) -> Dataset:
    """Return the data set of a name, or that in a file.

    Parameters
    ----------
    name_or_path : str or path
        The name of a built-in data set, as for ``fuel-convert``: ``'mnist'``, also with its
        variant: ``'svhn_2'``, ``'celeba_64'``. Or a name that an installed package has among its
        entry points ``fuel.datasets``. Or the path of a file, also without ``.hdf5`` behind it;
        one that is not there is looked for in the data path. To open a file that has the name of
        a data set, write ``'./mnist'``.
    which_sets : str or tuple of str, optional
        The split to use, or several. It can be left out if the file has only one, or none.
    **kwargs
        Whatever else the class takes.

    Returns
    -------
    Dataset
        Of the class of a built-in data set, if it is one: also for a file that ``fuel-convert``
        made of one, whatever it is called now, so that it has the default transformers. The same
        holds for the classes of installed packages, if they are derived from `H5PYDataset`.
        `H5PYDataset` for other HDF5 files with splits. `PytablesDataset` for HDF5 files without
        splits, with all arrays in the group ``Data``, or else in the root group, as sources.
        `IndexableDataset` for ``.npz`` and ``.npy`` files. `TextFile` for text, for which
        `dictionary` must be given.

    Raises
    ------
    DataFileNotFoundError
        There is no such name and no such file. A ``FileNotFoundError``.
    DataFileError
        The file is of another kind. An ``OSError``.
    ConfigurationFileError
        The entry point of a package is broken, or two packages have the same name.
    ValueError
        The file has several splits, and `which_sets` does not say which of them to use; or has
        none, and it does. Or what the class raises.
    """
    name = os.fsdecode(name_or_path)
    if isinstance(which_sets, str):
        which_sets = (which_sets,)
    if which_sets is not None:
        which_sets = tuple(which_sets)
    found = by_name(name)
    if found is not None:
        named, chosen = found
        return _built_in(name, named, {**chosen, **kwargs}, which_sets)
    # No other names are asked for, since packages are looked for in many folders.
    cls = _of_packages.class_of(name) if re.fullmatch(r'[\w-]+', name) else None
    if cls is not None:
        return _of_package(cls, which_sets, kwargs)
    return _of_file(_find(name), which_sets, kwargs)


def _built_in(name: str, named: NamedSet, kwargs: dict[str, Any],
              which_sets: tuple[str, ...] | None) -> Dataset:
    """Return a built-in data set."""
    if named.argument and kwargs.get(named.argument, named.default) is None:
        values = ' or '.join(f'{named.argument}={value!r}' for value in named.variants)
        raise ValueError(f'{name}: expected the argument '
                         f'{values or named.argument}, which says what data set it is')
    if not named.has_splits:
        if which_sets is not None and not (named.filename and which_sets == ('train',)):
            raise ValueError(f'{name}: this data set has no splits to choose from; got '
                             f'which_sets={which_sets}')
        dataset: Dataset = named.load()(**kwargs)
        return dataset
    if which_sets is None:
        argument = {named.argument: kwargs.get(named.argument, named.default)}
        with suppress(DataFileNotFoundError):   # the class says it better
            which_sets = _splits_of(find_in_data_path(named.filename.format(**argument)))
    dataset = named.load()(which_sets=which_sets or ('train',), **kwargs)
    return dataset


def _of_package(cls: type[Dataset], which_sets: tuple[str, ...] | None,
                kwargs: dict[str, Any]) -> Dataset:
    """Return a data set of an installed package."""
    filename = getattr(cls, 'filename', None)
    if which_sets is None and isinstance(filename, str):
        try:
            which_sets = _splits_of(find_in_data_path(filename))
        except DataFileNotFoundError:           # the class says it better
            which_sets = ('train',)
    if which_sets is not None:
        kwargs = {'which_sets': which_sets, **kwargs}
    return cls(**kwargs)


def _find(name: str) -> str:
    """Return the path of a file."""
    is_folder = os.path.isdir(name)
    if os.path.exists(name) and not is_folder:
        return name
    # A folder of pictures may well lie beside the file that was made of it.
    if os.path.isfile(f'{name}.hdf5'):
        return f'{name}.hdf5'
    for guess in (name, f'{name}.hdf5'):
        with suppress(DataFileNotFoundError):
            return find_in_data_path(guess)
    if is_folder:
        raise DataFileError(f'{name}: expected the name of a data set, or a file; this is a '
                            'folder. fuel-convert images makes a data set of a folder of pictures')
    names = [*NAMES, *(other for other in _of_packages.names() if other not in NAMES)]
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
    meant = f'; did you mean {" or ".join(map(repr, near))}?' if near else '.'
    raise DataFileNotFoundError(
        f'{name!r} is neither a file, here or in the data path, nor the name of a data '
        f'set{meant} The names are {", ".join(names)}')


def _of_file(path: str, which_sets: tuple[str, ...] | None, kwargs: dict[str, Any]) -> Dataset:
    """Return the data set in a file."""
    with builtins.open(path, 'rb') as stream:
        start = stream.read(8)
    ending = os.path.splitext(path)[1].lower()
    if start.startswith(b'\x93NUMPY') or (start.startswith(b'PK') and ending == '.npz'):
        _refuse_splits(path, which_sets)
        return _of_arrays(path, kwargs)
    import h5py
    if ending in _HDF5_ENDINGS or h5py.is_hdf5(path):
        return _of_hdf5(path, which_sets, kwargs)
    if 'dictionary' in kwargs:
        from fuel.datasets.text import TextFile
        _refuse_splits(path, which_sets)
        return TextFile([path], **kwargs)
    if ending in _CONVERTED:
        what = _CONVERTED[ending]
        raise DataFileError(f'{path}: expected an HDF5 file, arrays of numpy, or text; to make a '
                            f'data set of this file, see fuel-convert {what} -h')
    raise DataFileError(f'{path}: expected an HDF5 file, or a .npz or .npy file. If this is text, '
                        'give the argument dictionary, which has the number of every word, as for '
                        'TextFile; or see fuel-convert text -h')


def _refuse_splits(path: str, which_sets: tuple[str, ...] | None) -> None:
    if which_sets is not None:
        raise ValueError(f'{path}: this file has no splits, and all of its examples are used; got '
                         f'which_sets={which_sets}')


def _of_arrays(path: str, kwargs: dict[str, Any]) -> Dataset:
    """Return a data set of arrays of numpy."""
    import zipfile

    import numpy

    from fuel.datasets._indexable import IndexableDataset
    try:
        # Of a path, numpy leaves the file open if it is damaged.
        with builtins.open(local_copy(path), 'rb') as stream:
            arrays = numpy.load(stream, allow_pickle=False)
            if not isinstance(arrays, numpy.ndarray):
                arrays = {source: arrays[source] for source in arrays.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataFileError(f'{path}: its arrays cannot be read: {error}') from error
    return IndexableDataset(arrays, **kwargs)


def _of_hdf5(path: str, which_sets: tuple[str, ...] | None, kwargs: dict[str, Any]) -> Dataset:
    """Return the data set in an HDF5 file."""
    from fuel.datasets._h5py import H5PYDataset
    from fuel.datasets._pytables import PytablesDataset
    from fuel.storage.damage import naming
    from fuel.storage.handles import open_for_reading
    with open_for_reading(local_copy(path)) as h5file, naming(path):
        has_splits = 'split' in h5file.attrs
        command = h5file.attrs.get('fuel_convert_command', '')
        nodes = {} if has_splits else _nodes(h5file, path, kwargs)
    if not has_splits:
        _refuse_splits(path, which_sets)
        kwargs = {**nodes, **kwargs}
        return PytablesDataset(path, **kwargs)
    if isinstance(command, bytes):
        command = command.decode('utf-8', 'replace')
    if which_sets is None:
        which_sets = _splits_of(path)
    found = _class_of(str(command))
    if found is None:
        return H5PYDataset(path, which_sets, **kwargs)
    cls, chosen = found
    # Not by its constructor, which looks for a file of a certain name in the data path.
    dataset: H5PYDataset = cls.__new__(cls)
    vars(dataset).update(chosen, filename=os.path.basename(path))
    if hasattr(cls, 'loads_in_memory'):
        kwargs = {'load_in_memory': cls.loads_in_memory, **kwargs}
    H5PYDataset.__init__(dataset, path, which_sets, **kwargs)
    return dataset


def _class_of(command: str) -> tuple[type[H5PYDataset], dict[str, Any]] | None:
    """Return the class of the files that a command makes, and what the command says about them."""
    from fuel.datasets._h5py import H5PYDataset
    found = by_command(command)
    if found is not None:
        return found[0].load(), found[1]
    called = converter_of(command)
    if called is None or called[0] in NAMES or called[0] in OWN_FILES:
        return None
    cls = _of_packages.class_of(called[0])
    # Others do not read such files, but something that was made of them.
    return (cls, {}) if cls is not None and issubclass(cls, H5PYDataset) else None


def _splits_of(path: str) -> tuple[str, ...]:
    """Return the split of a file that has only one."""
    from fuel.storage.damage import naming
    from fuel.storage.handles import open_for_reading
    from fuel.storage.splits import get_all_splits
    with open_for_reading(local_copy(path)) as h5file, naming(path):
        splits = tuple(get_all_splits(h5file))
    if len(splits) == 1:
        return splits
    raise ValueError(f'{path}: expected the argument which_sets to name one or several of the '
                     f'splits {", ".join(map(repr, splits))}, such as '
                     f'which_sets=({splits[0]!r},); it was not given')


def _nodes(h5file: h5py.File, path: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what `PytablesDataset` is to read, where that is not given."""
    import h5py
    group = kwargs.get('data_node')
    if group is None:
        group = 'Data' if isinstance(h5file.get('Data'), h5py.Group) else '/'
    chosen = {'data_node': group}
    if 'sources' in kwargs or not isinstance(h5file.get(group), h5py.Group):
        return chosen
    sources = tuple(name for name, node in sorted(h5file[group].items())
                    if isinstance(node, h5py.Dataset) and node.shape
                    and node.attrs.get('CLASS') not in (b'DIMENSION_SCALE', 'DIMENSION_SCALE'))
    if not sources:
        raise DataLayoutError(
            f'{path}: expected splits, in the attribute split of the root group, or arrays in the '
            f'group {group!r}; there are neither. If the arrays are elsewhere give data_node and '
            'sources, as for PytablesDataset')
    return {**chosen, 'sources': sources}
