"""What an open HDF5 file holds: splits, sources, labels, rows."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import h5py

from fuel.storage import layout, splits
from fuel.storage.damage import naming
from fuel.storage.selection import select
from fuel.utils.subset import Subset

__all__ = ['FileContents']


class FileContents:
    """Mix-in with functions about open files in the layout of `H5PYDataset`."""

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
        with naming(h5file.filename):
            entries = splits.read_splits(h5file)
        chosen = splits.entries_of(entries, which_sets, h5file.filename)
        provided = splits.get_provided_sources(chosen, h5file.filename)
        missing = [source for source in sources if source not in provided]
        if missing:
            raise ValueError(f'{h5file.filename}: the splits {which_sets} do not have the sources '
                             f'{missing}; they have {provided}')
        with naming(h5file.filename):
            of_source = select(h5file, chosen, sources, provided)
        return [of_source[source] for source in sources]
