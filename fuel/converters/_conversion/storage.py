"""How a converted file is to be stored: what all converters take, and its command line options."""
from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, TypedDict

from fuel.exceptions import ConversionError
from fuel.storage.writing.options import SourceOptions

__all__ = ['StorageArguments', 'add_storage_options', 'compression_from_text',
           'options_for_variable_length']

#: Filters that come with every HDF5 library, or with h5py.
_BUILT_IN = ('gzip', 'lzf')
#: Filters of the package hdf5plugin, and the argument for their level, if they have one.
_PLUGINS = {'zstd': ('Zstd', 'clevel'), 'lz4': ('LZ4', None), 'blosc': ('Blosc', 'clevel'),
            'blosc2': ('Blosc2', 'clevel'), 'bitshuffle': ('Bitshuffle', None),
            'bzip2': ('BZip2', 'blocksize')}


class StorageArguments(TypedDict, total=False):
    """Keyword arguments that every converter takes, as `fill_hdf5_file` does.

    `layout` is for sources whose examples differ in shape.
    """

    compression: Any
    chunk_examples: int | None
    layout: str | None


def options_for_variable_length(storage: StorageArguments, *, layout: str = 'vlen'
                                ) -> SourceOptions:
    """Return how a source is stored whose examples differ in shape.

    Parameters
    ----------
    storage : dict
        What a converter was called with.
    layout : str, optional
        The layout, where none was asked for.

    Raises
    ------
    ConversionError
        What was asked for does not go together. It should not show after hours of work.
    """
    given: dict[str, Any] = {name: value for name, value in storage.items() if value is not None}
    options = SourceOptions(**{'layout': layout, **given})
    if options.layout == 'vlen' and options.compression is not None:
        raise ConversionError('HDF5 does not compress examples of different shapes in the layout '
                              'vlen; take --layout ragged, or leave --compression out')
    if options.layout == 'ragged' and options.chunk_examples is not None:
        raise ConversionError('in the layout ragged chunks do not consist of whole examples; leave '
                              '--chunk-examples out, or take --layout vlen')
    return options


def compression_from_text(text: str) -> Any:
    """Return what `fill_hdf5_file` takes as `compression`, for a word of the command line.

    Parameters
    ----------
    text : str
        ``'none'``, ``'gzip'``, ``'lzf'``, or a filter of hdf5plugin in lower case; a level may
        follow behind a colon, as in ``'gzip:9'``.

    Raises
    ------
    ArgumentTypeError
        There is no such filter or level, or its package is not installed.
    """
    name, colon, level = text.lower().partition(':')
    if colon and not level.isdigit():
        raise ArgumentTypeError(f'expected a level such as in gzip:4; got {text!r}')
    if name == 'none' and not colon:
        return None
    if name == 'gzip':
        if colon and int(level) > 9:
            raise ArgumentTypeError(f'expected a level of gzip from 0 to 9; got {level}')
        return ('gzip', int(level)) if colon else 'gzip'
    if name == 'lzf' and not colon:
        return 'lzf'
    if name in _PLUGINS:
        return _plugin(name, int(level) if colon else None)
    raise ArgumentTypeError(f'expected none, gzip, gzip:LEVEL, lzf, or one of '
                            f'{", ".join(_PLUGINS)}; got {text!r}')


def _plugin(name: str, level: int | None) -> Any:
    """Return a filter of hdf5plugin."""
    kind, argument = _PLUGINS[name]
    if level is not None and argument is None:
        raise ArgumentTypeError(f'{name} has no levels; got {level}')
    try:
        import hdf5plugin
    except ImportError:
        raise ArgumentTypeError(f'{name} is a filter of the package hdf5plugin, which is not '
                                "installed: pip install 'fuel[filters]'") from None
    try:
        return getattr(hdf5plugin, kind)(**({} if argument is None or level is None
                                            else {argument: level}))
    except ValueError as error:
        raise ArgumentTypeError(f'{name} has no level {level}: {error}') from None


def _count(text: str) -> int:
    """Return a number of examples."""
    if not text.isdigit() or not int(text):
        raise ArgumentTypeError(f'expected a number of examples, of at least 1; got {text!r}')
    return int(text)


def add_storage_options(subparser: ArgumentParser, *, variable_length: bool = False) -> None:
    """Add the options that say how the converted file is to be stored.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert NAME``.
    variable_length : bool, optional
        Whether the data set has sources whose examples differ in shape; by default it has none.
    """
    group = subparser.add_argument_group('how the file is stored')
    group.add_argument('--compression', type=compression_from_text, default=None,
                       metavar='FILTER',
                       help='none, gzip, gzip:LEVEL or lzf; zstd, lz4, blosc, blosc2, bitshuffle '
                            'or bzip2 if hdf5plugin is installed')
    group.add_argument('--chunk-examples', type=_count, default=None, metavar='NUMBER',
                       help='examples in a chunk; if not given, data are in chunks of about '
                            '64 kB if they are compressed, else in one piece')
    if variable_length:
        group.add_argument('--layout', choices=('vlen', 'ragged'), default='vlen',
                           help='how examples of different shapes are stored: vlen is read by '
                                'old programs too, ragged is faster and can be compressed')
