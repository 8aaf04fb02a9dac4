"""Opens the writer that fits a source."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing as npt

from fuel.storage.provenance.checksums import new_digests
from fuel.storage.writing.checks import (
    check_file,
    checked_count,
    checked_labels,
    checked_name,
    checked_shape,
)
from fuel.storage.writing.options import LAYOUTS, SourceOptions, check_options
from fuel.storage.writing.ragged import RaggedWriter, VlenWriter
from fuel.storage.writing.rows import RowWriter, SourceWriter

__all__ = ['create_source']


def create_source(h5file: Any, name: str, shape: Sequence[int | None], dtype: npt.DTypeLike, *,
                  num_examples: int | None = None, options: SourceOptions | None = None,
                  axis_labels: Sequence[str] | None = None, num_values: int | None = None
                  ) -> SourceWriter:
    """Create the data set of a source, to be written bit by bit.

    This is for data that `fill_hdf5_file` cannot take, such as sources whose examples are made
    together. The attribute ``split`` is up to the caller; write it when all sources are closed.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        The source.
    shape : sequence of int or None
        The shape of one example, with `None` for axes whose length differs between examples.
    dtype : dtype_like
        Of the values.
    num_examples : int, optional
        How many examples there will be. If it is not given, the data set is in chunks and grows.
    options : SourceOptions, optional
        How to store it. By default as it comes: without gaps, uncompressed.
    axis_labels : sequence of str, optional
        Labels for the axes of a batch.
    num_values : int, optional
        How many values all examples have together; for the layout 'ragged' only.

    Returns
    -------
    SourceWriter
        Its method ``append`` takes the examples, in order; its method ``close`` ends it. It is a
        context manager, too.

    Raises
    ------
    ValueError
        An argument cannot be understood, or HDF5 has nothing like it.

    Examples
    --------
    >>> import h5py, numpy
    >>> from fuel.datasets import H5PYDataset
    >>> with h5py.File('images', 'w', driver='core', backing_store=False) as h5file:
    ...     with (create_source(h5file, 'image', (None, None), 'uint8') as image,
    ...           create_source(h5file, 'label', (1,), 'uint8', num_examples=3) as label):
    ...         for number in range(3):
    ...             image.append([numpy.full((2, number + 1), number, dtype='uint8')])
    ...             label.append(numpy.array([[number]], dtype='uint8'))
    ...     h5file.attrs['split'] = H5PYDataset.create_split_array({'train': {
    ...         'image': (0, image.num_examples), 'label': (0, label.num_examples)}})
    ...     h5file['image'][2], h5file['image_shapes'][2], h5file['label'][2]
    (array([2, 2, 2, 2, 2, 2], dtype=uint8), array([2, 3], dtype=int32), array([2], dtype=uint8))
    """
    check_file(h5file)
    checked_name(name, 'source')
    if options is None:
        options = SourceOptions()
    elif not isinstance(options, SourceOptions):
        raise ValueError(f"{name}: expected options such as SourceOptions(compression='gzip'); got "
                         f'{options!r}')
    try:
        dtype = numpy.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"{name}: expected a dtype, such as 'float32'; got {dtype!r}: {error}"
                         ) from None
    shape = checked_shape(name, shape)
    labels = () if axis_labels is None else checked_labels(name, axis_labels)
    if num_examples is not None:
        num_examples = checked_count(num_examples, f'{name}: num_examples')
    if num_values is not None:
        num_values = checked_count(num_values, f'{name}: num_values')
    sizes = [size for size in shape if size is not None]
    ragged = len(sizes) < len(shape) or options.layout is not None
    options = check_options(name, options, (options.layout or LAYOUTS[0]) if ragged else None,
                            dtype)
    if num_values is not None and options.layout != 'ragged':
        raise ValueError(f"{name}: num_values is for the layout 'ragged' only; got {num_values} "
                         + (f'for the layout {options.layout!r}' if ragged else
                            f'for examples of the one shape {tuple(sizes)}'))
    writer: SourceWriter
    if not ragged:
        writer = RowWriter(h5file, name, sizes, dtype, num_examples, options, labels)
    elif options.layout == 'vlen':
        writer = VlenWriter(h5file, name, shape, dtype, num_examples, options, labels)
    else:
        writer = RaggedWriter(h5file, name, shape, dtype, num_examples, options, labels,
                              num_values=num_values)
    writer.digests = new_digests(dtype)
    return writer
