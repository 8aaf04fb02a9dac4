"""Data sets that live in an HDF5 file, read with h5py."""
from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, cast

import h5py
import numpy

from fuel._types import Batch, Request
from fuel.datasets._dataset import Dataset
from fuel.datasets._h5py_arguments import (
    are_same_subsets,
    checked_names,
    checked_subset,
    is_everything,
)
from fuel.datasets._hdf5_contents import FileContents
from fuel.datasets._hdf5_description import FileDescription
from fuel.datasets._hdf5_file import FileUser
from fuel.exceptions import DataFileError, FuelError
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage import layout, splits
from fuel.storage.damage import naming
from fuel.storage.handles import OpenFile
from fuel.storage.mapping import FileStamp
from fuel.storage.memory import take_rows
from fuel.storage.sharing.sources import SharedSources, SourceRows, load_shared
from fuel.utils.indices import Positions, checked_request, is_increasing
from fuel.utils.pickling import do_not_pickle_attributes, loading_lock, without_attributes
from fuel.utils.subset import Subset

__all__ = ['H5PYDataset']

# Attributes (behind an underscore) that belong to this process, or are read again from the file.
_NOT_PICKLED = ('data_sources', 'external_file_handle', 'external_opened', 'external_pid',
                'file_lease', 'loaded_sources', 'loaded_stamp', 'ready_sources', 'shared_sources',
                'source_dtypes', 'source_shapes', 'subsets')


@do_not_pickle_attributes('data_sources', 'source_dtypes', 'source_shapes', 'subsets')
class H5PYDataset(FileContents, FileDescription, FileUser, Dataset):
    """A data set in an HDF5 file.

    The sources are data sets in the root group of the file. Which rows belong to which split is
    told by the attribute ``split`` of the root group; `create_split_array` makes its value.

    Parameters
    ----------
    file_or_path : str, path or h5py.File
        The file. One that is given open is never closed here; it must stay open. Otherwise the
        file is opened when it is needed, in each process by itself.
    which_sets : tuple of str
        The splits to use. Several of them are merged: their examples come in the order of the
        file, whatever the order of the names, and an example that is in more than one split counts
        once. The sources provided are those that all of them have.
    subset : slice, list, tuple or ndarray, optional
        Which of the examples of the splits to use: a slice, which may have a step and count from
        the end, indices, or a mask. By default all of them.
    load_in_memory : bool or 'shared', optional
        Whether to read what was asked for once and for all, and nothing else. By default `False`.
        With ``'shared'`` all processes that unpickle the data set use the same memory as this one,
        while it lives.
    driver : str, optional
        A driver of h5py to open the file with.
    sort_indices : bool, optional
        Whether to read the rows of a request in the order of the file, and put them into the order
        of the request afterwards. By default `True`. HDF5 can read in no other order, so that
        without it an unsorted request is an error unless the data are in memory.
    locking : bool or str, optional
        Whether HDF5 locks the file while it is open, as for ``h5py.File``: `True`, `False` or
        ``'best-effort'``. By default it does, unless the file system has no locks, as network
        file systems and read-only ones may not. The first data set of a process that opens a file
        decides for those that open it meanwhile.
    **kwargs
        `sources` and `axis_labels`, for `Dataset`. By default all sources, in alphabetical
        order, with the labels stored in the file.

    Attributes
    ----------
    provides_sources : tuple of str
        In alphabetical order.
    default_axis_labels : dict
        The labels stored in the file, for all of its sources.
    vlen_sources : tuple of str
        Those sources of the file whose examples have shapes of their own.
    path : str
        Where the file is. It can be set, if the file was moved before the data set was unpickled.
    data_sources : list of ndarray or None
        The data of each source where they were loaded in memory.
    subsets : list of Subset
        The rows of each source.
    source_shapes : list of tuple
        The shape of each source, beginning with the number of examples; `None` for lengths that
        vary. Known without reading any row.
    source_dtypes : list of numpy.dtype
        The dtype of each source, and for sources of variable length that of one example.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    OSError
        The file is no HDF5 file, is cut off, or is open for writing.
    ValueError
        Something that was asked for is not in the file, or its layout is not as described; the
        message says what was expected.

    Notes
    -----
    Examples of different sources belong together by their place in the split. Where the sources
    of a split list different rows in an order of their own (through `indices` of the split
    attribute), the examples keep together, duplicates included, in the order of the first source
    provided.

    What is pickled are the arguments: neither data nor open files. The file need not be there when
    a data set is unpickled, only when data are read.
    """

    #: The version of the layout of files, which fuel-convert writes into them.
    interface_version: ClassVar[str] = '0.3'
    independent_states: ClassVar[bool] = True
    takes_index_arrays: ClassVar[bool] = True

    # Set by `load`, through the decorator.
    data_sources: Any
    subsets: Any
    source_shapes: Any
    source_dtypes: Any

    # Data in shared memory, and what another process said about where they are.
    _shared_sources: SharedSources | None = None
    _shared_token: Any = None
    # The file that the attributes which are not pickled were read from.
    _loaded_stamp: FileStamp | None = None
    _loaded_sources: tuple[str, ...] | None = None
    _ready_sources: tuple[str, ...] | None = None

    def __init__(self, file_or_path: str | os.PathLike[str] | h5py.File,
                 which_sets: Iterable[str], subset: Any = None,
                 load_in_memory: bool | str = False, driver: str | None = None,
                 sort_indices: bool = True, locking: Any = None, **kwargs: Any) -> None:
        self._set_file(file_or_path, driver, locking)
        self.which_sets = checked_names(which_sets)
        self.user_given_subset = checked_subset(subset)
        if isinstance(load_in_memory, str) and load_in_memory != 'shared':
            raise ValueError("expected load_in_memory to be True, False or 'shared'; got "
                             f'{load_in_memory!r}')
        self.load_in_memory = load_in_memory
        self.sort_indices = sort_indices
        self._out_of_memory_open()
        try:
            h5file = self._file_handle
            with naming(self.path):
                entries = splits.read_splits(h5file)
                self.default_axis_labels = layout.get_axis_labels(h5file)
                self.vlen_sources = layout.get_vlen_sources(h5file)
            chosen = splits.entries_of(entries, self.which_sets, self.path)
            self.provides_sources = splits.get_provided_sources(chosen, self.path)
            kwargs.setdefault('axis_labels', self.default_axis_labels)
            super().__init__(**kwargs)
            self.load()
        finally:
            self._out_of_memory_close()
        if self.num_examples:
            self.example_iteration_scheme = SequentialExampleScheme(self.num_examples)

    def open(self) -> None:
        """Open the file, unless the data are in memory.

        Returns
        -------
        None
            There is no state: what is open belongs to the process, not to a reader.
        """
        if not self.load_in_memory:
            self._out_of_memory_open()

    def close(self, state: Any = None) -> None:
        """Close the file. It stays open while others use it, and is opened again if need be."""
        self._out_of_memory_close()

    def load(self) -> None:
        """Find out which rows to read and, for a data set in memory, read them.

        It is called when the attributes that are not pickled are needed. A subclass that has
        such attributes of its own extends it.
        """
        sources = self.sources
        self.__dict__.setdefault('_external_file_handle', None)
        self._out_of_memory_open()
        try:
            h5file = self._file_handle
            self._note_file()
            subsets = self.get_subsets(h5file, self.which_sets, sources)
            if not is_everything(self.user_given_subset):
                subsets = [self._part_of(subset) for subset in subsets]
            with naming(self.path):
                shapes = [(subset.num_examples, *layout.example_shape(h5file, source))
                          for source, subset in zip(sources, subsets, strict=True)]
                dtypes = [layout.example_dtype(h5file, source) for source in sources]
            data = None
            if self.load_in_memory:
                data = self._loaded(sources, subsets, shapes, dtypes)
        finally:
            self._out_of_memory_close()
        # Requests are translated only once for sources that share one subset.
        first = subsets[0]
        self.subsets = [first if are_same_subsets(subset, first) else subset for subset in subsets]
        self.source_shapes = shapes
        self.source_dtypes = dtypes
        self.data_sources = data
        self._loaded_sources = sources

    def _loaded(self, sources: Sequence[str], subsets: Sequence[Subset],
                shapes: Sequence[tuple[int | None, ...]], dtypes: Sequence[Any]) -> list[Any]:
        """Read everything."""
        opened = self._hold()
        try:
            opened.check()
            readers = [opened.reader(source, layout.row_reader) for source in sources]
            rows = [subset.slice_or_array for subset in subsets]
            if self.load_in_memory != 'shared':
                return [self._read(source, getattr(reader, 'load', reader.read), part)
                        for source, reader, part in zip(sources, readers, rows, strict=True)]
            wanted = [SourceRows(source, reader, part, shape[1:], numpy.dtype(dtype))
                      for source, reader, part, shape, dtype
                      in zip(sources, readers, rows, shapes, dtypes, strict=True)]
            # Without a stamp nobody can tell whether two files are the same.
            key = opened.stamp.key if opened.stamp else str(uuid.uuid4())
            self._shared_sources = load_shared(wanted, key, self.path, self._shared_token)
            return self._shared_sources.data
        finally:
            opened.release()

    def _note_file(self) -> None:
        """Note which file it is that is looked into."""
        opened = self._hold()
        self._loaded_stamp = opened.stamp
        opened.release()

    def _part_of(self, subset: Subset) -> Subset:
        """Return the part of the rows of the splits that the user chose."""
        try:
            return Subset.subset_of(subset, self.user_given_subset)
        except ValueError as error:
            raise ValueError(f'{type(self).__name__}: the argument subset does not fit the splits '
                             f'{", ".join(map(repr, self.which_sets))}: {error}') from None

    def _follow_sources(self) -> None:
        """Load again if the sources have been changed, or if nothing has been loaded yet."""
        sources = self.sources
        # What a subclass adds to load is done only when the lock is free again.
        if self._ready_sources != sources:
            with loading_lock(self):
                if self._loaded_sources != sources:
                    self.load()
                    self._loaded_sources = sources
                self._ready_sources = sources

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        self._follow_sources()
        return cast(Subset, self.subsets[0]).num_examples

    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return examples.

        Parameters
        ----------
        state : object, optional
            What `open` returned; `None`.
        request : int, slice, list, tuple or ndarray
            Which examples: an index, a slice, indices in any order and with duplicates, or a mask
            with a boolean for each example.

        Returns
        -------
        tuple
            For each source an array of examples, or one example for an integer. Examples with
            shapes of their own come in a one-dimensional array of objects. All of them belong to
            the caller.

        Raises
        ------
        ValueError
            An index is negative or past the end, or the request is empty or of another kind.
        TypeError
            The request is not sorted, and `sort_indices` is `False`.
        """
        if self.load_in_memory:
            return self._in_memory_get_data(state, request)
        return self._out_of_memory_get_data(state, request)

    def _in_memory_get_data(self, state: Any = None, request: Request = None) -> Batch:
        if state is not None:
            raise ValueError(f'{type(self).__name__} in memory keeps no state; expected None, as '
                             f'open returned, got {type(state).__name__}')
        self._follow_sources()
        data = self.data_sources
        positions = checked_request(request, len(data[0]))
        return tuple([take_rows(source, positions) for source in data])

    def _out_of_memory_get_data(self, state: Any = None, request: Request = None) -> Batch:
        self._follow_sources()
        opened = self._hold()
        try:
            if opened.stamp is not self._loaded_stamp:
                self._follow_file(opened)
            opened.check()
            readers, before, data = opened.readers, None, []
            positions: Positions = 0
            for source, subset in zip(self.sources, self.subsets, strict=True):
                if subset is not before:
                    positions, before = self._in_order(subset.positions(request)), subset
                reader = readers.get(source) or opened.reader(source, layout.row_reader)
                data.append(self._read(source, reader.read, positions))
            return tuple(data)
        finally:
            opened.release()

    def _follow_file(self, opened: OpenFile) -> None:
        """Look into the file again if it is another one than that which was looked into."""
        loaded, known = self._loaded_stamp, self._known_form()
        if loaded is not None and opened.stamp is not None and loaded.key != opened.stamp.key:
            kept = self.subsets, self.source_shapes, self.source_dtypes
            self.load()
            found = self._known_form()
            if found != known:
                self.subsets, self.source_shapes, self.source_dtypes = kept
                self._loaded_stamp = loaded
                raise DataFileError(
                    f'{self.path}: the file was changed since this data set was made: expected '
                    f'sources of shapes and dtypes {known}; got {found}. Make a new data set')
            _ = self._file_handle           # load has closed it, unless it was opened before
        self._loaded_stamp = opened.stamp

    def _known_form(self) -> list[Any]:
        return [(source, shape, str(dtype)) for source, shape, dtype
                in zip(self.sources, self.source_shapes, self.source_dtypes, strict=True)]

    def _in_order(self, positions: Positions) -> Positions:
        """Check that positions can be read as they are, if they must not be sorted."""
        if (not self.sort_indices and isinstance(positions, numpy.ndarray)
                and not is_increasing(positions, strictly=False)):
            raise TypeError('expected a request in increasing order, for HDF5 reads in the order '
                            'of the file; sort it, or give sort_indices=True; got '
                            f'{numpy.array2string(positions, threshold=8)}')
        return positions

    def _read(self, source: str, read: Callable[[Any], Any], positions: Positions) -> Any:
        """Read rows of one source."""
        try:
            return read(positions)
        except (FuelError, MemoryError):
            raise
        except (OSError, RuntimeError) as error:
            reason = getattr(getattr(read, '__self__', None), 'reason', '')
            hint = (f'. It is left to the HDF5 library, for {reason}. Install the package '
                    'hdf5plugin and, for filters that Fuel does not undo itself, import it'
                    if 'filter' in reason or 'filter' in str(error) else '')
            raise DataFileError(f'{self.path}: source {source!r} cannot be read: {error}{hint}'
                                ) from error

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = without_attributes(self, super().__getstate__(), _NOT_PICKLED)
        if self._shared_sources is not None:
            state['_shared_token'] = self._shared_sources.token()
        return state
