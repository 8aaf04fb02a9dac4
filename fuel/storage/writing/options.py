"""How a source is stored: filters, chunks, and the layout of examples that differ in shape.

Like everything about writing, this imports h5py only when it writes: the tools import converters
to list them, and h5py is slow to import.
"""
from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy

from fuel.storage.writing.checks import checked_labels

__all__ = ['LAYOUTS', 'SourceOptions', 'check_options', 'labels_by_source', 'options_by_source']

#: Layouts for examples that differ in shape; the first is the default.
LAYOUTS = ('vlen', 'ragged')

_GZIP_LEVEL, _HIGHEST_LEVEL = 4, 9
# Ids below this one belong to filters of HDF5 itself, and h5py takes some of them for levels.
_FIRST_REGISTERED = 256
_DEFLATE, _LZF = 1, 32000
# Filters that only look for repetitions, and so gain from bytes of equal weight side by side. Those
# left out shuffle by themselves, or work on numbers.
_SHUFFLED = ('gzip', 'lzf', _LZF, 307, 32004, 32015)
_KNOWN = ("None, 'gzip', ('gzip', level), 'lzf', a filter of hdf5plugin such as "
          'hdf5plugin.Zstd(), or the registered number of a filter, alone or with its options as '
          'in (32015, (3,))')


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How one source is to be stored.

    Parameters
    ----------
    compression : optional
        `None` (the default), ``'gzip'``, ``('gzip', level)`` with a level from 0 to 9 (4 if not
        given), ``'lzf'``, a filter of the package hdf5plugin such as ``hdf5plugin.Zstd()``, or
        the registered number of a filter, alone or in a pair with its options.
    shuffle : bool, optional
        Whether to put the first bytes of all items of a chunk first, then the second ones, and so
        on, which makes numbers smaller when compressed. By default this is done for compressed
        items wider than one byte, unless the filter has a shuffle of its own.
    checksum : bool, optional
        Whether to keep a checksum (Fletcher-32) of every chunk, so that damage is noticed when
        the chunk is read. Default `False`.
    chunk_examples : int, optional
        Examples in a chunk. By default data are in chunks only if they are compressed, have
        checksums, or come without their number being known; a chunk then is made of as many whole
        examples as have about 64 kB.
    layout : {'vlen', 'ragged'}, optional
        For examples that differ in shape. ``'vlen'`` (the default) keeps one array of variable
        length for every example, as the old library reads it; ``'ragged'`` one array of all
        values, which is faster to read and can be compressed, and the offsets of the examples.

    Raises
    ------
    ValueError
        An option has none of these values, or the filter is not available.
    """

    compression: Any = None
    shuffle: bool | None = None
    checksum: bool = False
    chunk_examples: int | None = None
    layout: str | None = None

    def __post_init__(self) -> None:
        if self.layout is not None and not (isinstance(self.layout, str)
                                            and self.layout in LAYOUTS):
            raise ValueError(f'expected layout to be one of {", ".join(map(repr, LAYOUTS))}; got '
                             f'{self.layout!r}')
        for option in ('shuffle', 'checksum'):
            value = getattr(self, option)
            if not isinstance(value, (bool, numpy.bool)) and (option, value) != ('shuffle', None):
                raise ValueError(f'expected {option} to be True or False; got {value!r}')
        if self.chunk_examples is not None:
            try:
                rows = operator.index(self.chunk_examples)
            except TypeError:
                rows = 0
            if rows < 1 or isinstance(self.chunk_examples, (bool, numpy.bool)):
                raise ValueError('expected chunk_examples to be an integer of at least 1; got '
                                 f'{self.chunk_examples!r}')
            object.__setattr__(self, 'chunk_examples', rows)
        object.__setattr__(self, 'compression', _checked_compression(self.compression))

    @property
    def filtered(self) -> bool:
        """Whether data go through a filter, which they can only in chunks."""
        return self.compression is not None or bool(self.shuffle) or bool(self.checksum)

    def keywords(self, itemsize: int) -> dict[str, Any]:
        """Return the keywords of ``create_dataset`` that set up the filters.

        Parameters
        ----------
        itemsize : int
            Bytes of an item.
        """
        if self.compression is None:
            keywords: dict[str, Any] = {}
            shuffle = bool(self.shuffle)
        else:
            code, opts = self.compression
            keywords = {'compression': code, 'compression_opts': opts}
            shuffle = (code in _SHUFFLED if self.shuffle is None else self.shuffle)
        return {**keywords, 'shuffle': shuffle and itemsize > 1, 'fletcher32': bool(self.checksum)}


def _checked_compression(value: Any) -> tuple[Any, Any] | None:
    """Return name or number of a filter and its options, for any of the ways to write them."""
    if value is None:
        return None
    problem = f'expected compression to be {_KNOWN}; got {value!r}'
    if isinstance(value, Mapping):
        if 'compression' not in value or not set(value) <= {'compression', 'compression_opts'}:
            raise ValueError(problem)
        code, opts = value['compression'], value.get('compression_opts')
    elif isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ValueError(problem)
        code, opts = value
    else:
        code, opts = value, None
    if not isinstance(code, (str, int, numpy.integer)) or isinstance(code, (bool, numpy.bool)):
        raise ValueError(problem)
    if code == _DEFLATE and isinstance(opts, (tuple, list)) and len(opts) == 1:
        code, opts = 'gzip', opts[0]            # as h5py.filters.Gzip says it
    if code == 'gzip':
        level = _GZIP_LEVEL if opts is None else opts
        if not isinstance(level, (int, numpy.integer)) or isinstance(level, bool) or not (
                0 <= level <= _HIGHEST_LEVEL):
            raise ValueError('expected the level of gzip to be an integer from 0 to 9; got '
                             f'{opts!r}')
        return 'gzip', int(level)
    if code == 'lzf':
        if opts is not None:
            raise ValueError(f'expected lzf without options, for it has none; got {opts!r}')
        return 'lzf', None
    if isinstance(code, str):
        raise ValueError(problem)
    if code < _FIRST_REGISTERED:
        raise ValueError(f"{problem}. For a level of gzip write ('gzip', {code})")
    if opts is not None and not (isinstance(opts, (tuple, list)) and all(
            isinstance(number, (int, numpy.integer)) for number in opts)):
        raise ValueError(problem)
    _check_available(int(code))
    return int(code), opts if opts is None else tuple(opts)


def _check_available(code: int) -> None:
    """Raise if HDF5 does not have a filter, after looking for it in hdf5plugin."""
    import h5py

    if not h5py.h5z.filter_avail(code):
        with suppress(ImportError):
            importlib.import_module('hdf5plugin')       # which registers its filters
    if not h5py.h5z.filter_avail(code):
        raise ValueError(f'HDF5 has no filter of number {code} here. Most are in the package '
                         "hdf5plugin: pip install 'fuel[filters]', or choose "
                         "compression='gzip', which is always there")


def _per_source(option: str, value: Any, names: Sequence[str],
                is_value: Callable[[Mapping[Any, Any]], bool] = lambda value: False
                ) -> dict[str, Any]:
    """Return an option by source, given one value for all or a mapping."""
    if not isinstance(value, Mapping) or is_value(value):
        return dict.fromkeys(names, value)
    unknown = [name for name in value if name not in names]
    if unknown:
        raise ValueError(f'{option} names the sources {", ".join(map(repr, unknown))}; the sources '
                         f'of the data are {", ".join(map(repr, names))}')
    return dict(value)


def options_by_source(names: Sequence[str], **options: Any) -> dict[str, SourceOptions]:
    """Make the options of every source.

    Parameters
    ----------
    names : sequence of str
        The sources.
    **options
        Those of `SourceOptions`, each as one value for all sources or as a mapping from sources to
        values. Sources that a mapping does not name get the default.

    Returns
    -------
    dict
        Maps sources to `SourceOptions`.

    Raises
    ------
    ValueError
        A mapping names a source that there is not, or a value is not one of those there are.
    """
    def is_filter(value: Mapping[Any, Any]) -> bool:
        # A filter of hdf5plugin is a mapping too.
        return 'compression' in value and not set(value) <= set(names)

    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for option, value in options.items():
        by_source = (_per_source(option, value, names, is_filter) if option == 'compression'
                     else _per_source(option, value, names))
        for name, of_source in by_source.items():
            if of_source is not None:
                chosen[name][option] = of_source
    return {name: SourceOptions(**of_source) for name, of_source in chosen.items()}


def check_options(name: str, options: SourceOptions, layout: str | None,
                  dtype: numpy.dtype[Any] | None) -> SourceOptions:
    """Return the options of a source, after checking that it can have them.

    Parameters
    ----------
    name : str
        The source, for messages.
    options : SourceOptions
        What was asked for.
    layout : str or None
        The layout of its examples if they differ in shape.
    dtype : numpy.dtype or None
        Of its values, if known.

    Raises
    ------
    ValueError
        There are filters for data of variable length, or a number of examples for chunks that are
        not made of examples.
    """
    if options.filtered and (layout == 'vlen' or (dtype is not None and dtype.hasobject)):
        # HDF5 would filter the references to the data and leave the data as they are.
        advice = ("write the source with layout='ragged'" if layout == 'vlen' else
                  'write values of a fixed size')
        raise ValueError(f'{name}: HDF5 neither compresses nor checks data of variable length; '
                         f'{advice}, or leave compression, shuffle and checksum out for it by '
                         'giving them as a mapping from the sources that they are for')
    if options.chunk_examples is not None and layout == 'ragged':
        raise ValueError(f"{name}: in the layout 'ragged' chunks do not consist of whole examples; "
                         'leave chunk_examples out for it by giving a mapping from the sources '
                         'that it is for')
    return replace(options, layout=layout)


def labels_by_source(names: Sequence[str], axis_labels: Mapping[str, Sequence[str] | None] | None
                     ) -> dict[str, tuple[str, ...]]:
    """Return the labels of those sources that have some.

    Raises
    ------
    ValueError
        They are not sequences of strings, or belong to a source that there is not.
    """
    if axis_labels is None:
        return {}
    if not isinstance(axis_labels, Mapping):
        raise ValueError('expected axis_labels to be a mapping from sources to labels, such as '
                         f"{{'features': ('batch', 'feature')}}; got {axis_labels!r}")
    labels: dict[str, tuple[str, ...]] = {}
    for name, of_source in _per_source('axis_labels', axis_labels, names).items():
        if of_source is not None:
            labels[name] = checked_labels(name, of_source)
    return labels
