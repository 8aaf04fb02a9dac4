"""Data sets that live in an HDF5 file, read with h5py."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

import h5py
import numpy

from fuel._types import Batch, Request
from fuel.datasets._dataset import Dataset
from fuel.datasets._hdf5_file import FileUser
from fuel.exceptions import DataFileError
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage import layout, splits
from fuel.storage.handles import OpenFile
from fuel.storage.memory import take_rows
from fuel.storage.rows import RowReader
from fuel.storage.selection import select
from fuel.utils.indices import Positions, as_index_array, checked_request, compact, is_increasing
from fuel.utils.pickling import do_not_pickle_attributes, loading_lock, without_attributes
from fuel.utils.subset import Subset

__all__ = ['H5PYDataset']

# Attributes (behind an underscore) that belong to this process, or are read again from the file.
_NOT_PICKLED = ('data_sources', 'external_file_handle', 'external_pid', 'file_lease',
                'loaded_sources', 'ready_sources', 'source_dtypes', 'source_shapes', 'subsets')


@do_not_pickle_attributes('data_sources', 'source_dtypes', 'source_shapes', 'subsets')
class H5PYDataset(FileUser, Dataset):
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
    load_in_memory : bool, optional
        Whether to read what was asked for once and for all, and nothing else. By default `False`.
    driver : str, optional
        A driver of h5py to open the file with.
    sort_indices : bool, optional
        Whether to read the rows of a request in the order of the file, and put them into the order
        of the request afterwards. By default `True`. HDF5 can read in no other order, so that
        without it an unsorted request is an error unless the data are in memory.
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

    _loaded_sources: tuple[str, ...] | None = None
    _ready_sources: tuple[str, ...] | None = None

    def __init__(self, file_or_path: str | os.PathLike[str] | h5py.File,
                 which_sets: Iterable[str], subset: Any = None, load_in_memory: bool = False,
                 driver: str | None = None, sort_indices: bool = True, **kwargs: Any) -> None:
        self._set_file(file_or_path, driver)
        self.which_sets = _checked_names(which_sets)
        self.user_given_subset = _checked_subset(subset)
        self.load_in_memory = load_in_memory
        self.sort_indices = sort_indices
        self._out_of_memory_open()
        try:
            h5file = self._file_handle
            chosen = splits.entries_of(splits.read_splits(h5file), self.which_sets, self.path)
            self.provides_sources = splits.get_provided_sources(chosen, self.path)
            self.default_axis_labels = layout.get_axis_labels(h5file)
            self.vlen_sources = layout.get_vlen_sources(h5file)
            kwargs.setdefault('axis_labels', self.default_axis_labels)
            super().__init__(**kwargs)
            self.load()
        finally:
            self._out_of_memory_close()
        if self.num_examples:
            self.example_iteration_scheme = SequentialExampleScheme(self.num_examples)

    # What a file holds.

    create_split_array = staticmethod(splits.create_split_array)
    get_all_splits = staticmethod(splits.get_all_splits)
    get_all_sources = staticmethod(splits.get_all_sources)
    get_axis_labels = staticmethod(layout.get_axis_labels)
    get_vlen_sources = staticmethod(layout.get_vlen_sources)

    @staticmethod
    def get_start_stop(h5file: h5py.File, split: str) -> dict[str, tuple[int, int]]:
        """Return the first row and the one after the last of each source of a split."""
        of_split = splits.entries_of(splits.read_splits(h5file), (split,), h5file.filename)[split]
        return {source: (entry.start, entry.stop) for source, entry in of_split.items()}

    @staticmethod
    def get_indices(h5file: h5py.File, split: str) -> dict[str, Any]:
        """Return the reference to the indices of each source of a split, or `None`."""
        of_split = splits.entries_of(splits.read_splits(h5file), (split,), h5file.filename)[split]
        return {source: entry.indices for source, entry in of_split.items()}

    @staticmethod
    def get_subsets(h5file: h5py.File, which_sets: Sequence[str],
                    sources: Sequence[str]) -> list[Subset]:
        """Return the rows of each of some sources that make up some splits of an open file."""
        chosen = splits.entries_of(splits.read_splits(h5file), which_sets, h5file.filename)
        provided = splits.get_provided_sources(chosen, h5file.filename)
        missing = [source for source in sources if source not in provided]
        if missing:
            raise ValueError(f'{h5file.filename}: the splits {which_sets} do not have the sources '
                             f'{missing}; they have {provided}')
        of_source = select(h5file, chosen, sources, provided)
        return [of_source[source] for source in sources]

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
            subsets = self.get_subsets(h5file, self.which_sets, sources)
            if not _is_everything(self.user_given_subset):
                subsets = [self._part_of(subset) for subset in subsets]
            shapes = [(subset.num_examples, *layout.example_shape(h5file, source))
                      for source, subset in zip(sources, subsets, strict=True)]
            dtypes = [layout.example_dtype(h5file, source) for source in sources]
            data = None
            if self.load_in_memory:
                data = [self._read(source, layout.row_reader(h5file, source),
                                   subset.slice_or_array)
                        for source, subset in zip(sources, subsets, strict=True)]
        finally:
            self._out_of_memory_close()
        self.subsets = subsets
        self.source_shapes = shapes
        self.source_dtypes = dtypes
        self.data_sources = data
        self._loaded_sources = sources

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
            return tuple([self._read(source, _reader(opened, source),
                                     self._in_order(subset.positions(request)))
                          for source, subset in zip(self.sources, self.subsets, strict=True)])
        finally:
            opened.release()

    def _in_order(self, positions: Positions) -> Positions:
        """Check that positions can be read as they are, if they must not be sorted."""
        if (not self.sort_indices and isinstance(positions, numpy.ndarray)
                and not is_increasing(positions, strictly=False)):
            raise TypeError('expected a request in increasing order, for HDF5 reads in the order '
                            'of the file; sort it, or give sort_indices=True; got '
                            f'{numpy.array2string(positions, threshold=8)}')
        return positions

    def _read(self, source: str, reader: RowReader, positions: Positions) -> Any:
        """Read rows of one source."""
        try:
            return reader.read(positions)
        except OSError as error:
            hint = ('. Its filter comes with a package such as hdf5plugin, which must be imported'
                    if 'filter' in str(error) else '')
            raise DataFileError(f'{self.path}: source {source!r} cannot be read: {error}{hint}'
                                ) from error

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = without_attributes(self, super().__getstate__(), _NOT_PICKLED)
        return state


def _reader(opened: OpenFile, source: str) -> RowReader:
    """Return the reader of a source, which is kept with the open file."""
    reader: RowReader | None = opened.readers.get(source)
    if reader is None:
        reader = opened.readers[source] = layout.row_reader(opened.file, source)
    return reader


def _is_everything(subset: Any) -> bool:
    return isinstance(subset, slice) and subset == slice(None)


def _checked_names(which_sets: Any) -> tuple[str, ...]:
    if isinstance(which_sets, (str, bytes)):
        raise ValueError(f'expected which_sets to be a tuple of names of splits, such as '
                         f'({which_sets!r},); got the string {which_sets!r}')
    if not isinstance(which_sets, Iterable):
        raise ValueError(f'expected which_sets to be a tuple of names of splits; got '
                         f'{which_sets!r}')
    names = tuple(which_sets)
    if not names:
        raise ValueError('expected the name of at least one split in which_sets; got none')
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f'expected the names in which_sets to be strings; got {name!r}')
    return names


def _checked_subset(subset: Any) -> Any:
    """Return the part that the user wants, in a form that is small to keep."""
    if subset is None:
        return slice(None)
    if isinstance(subset, slice):
        return subset
    if isinstance(subset, Mapping) or not isinstance(subset, (list, tuple, range, numpy.ndarray)):
        raise ValueError('expected subset to be a slice, a list or array of indices, or None for '
                         f'all examples; got {type(subset).__name__}')
    if len(subset) and isinstance(subset[0], (bool, numpy.bool_)):
        return numpy.array(subset)
    indices = as_index_array(subset)
    if not indices.size:
        raise ValueError('expected a subset of at least one example; got an empty one. None '
                         'stands for all examples')
    highest = int(indices.max())
    return compact(indices, highest + 1 if indices.min() >= 0 else 2 ** 32)
