"""The data of a source as plain description and raw bytes, and back.

An array is described as the old library did it: its dtype, its shape, and whether its bytes are in
Fortran order. What is no array has more entries; programs that know only arrays overlook them
or, where the bytes are no array, fail. Nothing is ever pickled.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from fuel._types import JSON, AnyArray
from fuel.exceptions import DataLayoutError
from fuel.wire.dtypes import Buffer, array_of, buffer_of, descr_of, is_text

__all__ = ['Buffer', 'as_array', 'pack', 'unpack']

# Arrays of this size on average, or smaller, are put one behind the other into one frame.
_TOGETHER = 1 << 16
_INT64 = range(-2 ** 63, 2 ** 63)
_SEQUENCES = {'list': list, 'tuple': tuple}


def pack(item: Any, where: str = 'the data') -> tuple[dict[str, JSON], list[Buffer]]:
    """Describe the data of a source.

    Parameters
    ----------
    item : object
        An array, a number, a string, bytes, or lists, tuples, dicts and object arrays of these.
    where : str, optional
        What it is, for the message of an error.

    Returns
    -------
    entry : dict
        Fit for JSON.
    buffers : list
        The bytes that belong to it. They share the memory of the item where they can.

    Raises
    ------
    TypeError
        The item, or something in it, is of a type that cannot be sent.
    """
    kind = type(item)
    packer = _PACKERS.get(kind)
    if packer is not None:
        return packer(item, where)
    if isinstance(item, numpy.ndarray):
        return _pack_array(item, where)
    if isinstance(item, numpy.generic):
        entry, buffers = _pack_array(numpy.asarray(item), where)
        return {**entry, 'kind': 'scalar'}, buffers
    raise _refused(where, f'a {kind.__module__}.{kind.__qualname__}')


def _refused(where: str, what: str) -> TypeError:
    return TypeError(f'{where}: {what} cannot be sent. Expected numpy arrays, numbers, strings, '
                     'bytes, None, or lists, tuples, dicts and object arrays of these: objects of '
                     'other types would have to be pickled, and pickles from a network can run '
                     'any program')


def _plain(descr: JSON, shape: Any, **more: JSON) -> dict[str, JSON]:
    return {'shape': list(shape), 'fortran_order': False, 'descr': descr, **more}


def _pack_array(array: AnyArray, where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    if isinstance(array, numpy.ma.MaskedArray):
        raise _refused(where, 'a masked array, whose mask would be lost,')
    dtype = array.dtype
    if dtype.kind == 'O':
        return _pack_sequence(array.reshape(-1).tolist() if array.ndim else [array.item()],
                              where, 'objects', array.shape)
    if is_text(dtype):
        if hasattr(dtype, 'na_object'):
            raise _refused(where, 'an array of strings some of which may be missing')
        entry, buffers = _pack_strings(array.reshape(-1).tolist(), 'text')
        return {**entry, 'shape': list(array.shape)}, buffers
    try:
        descr = descr_of(dtype)
    except TypeError as error:
        raise _refused(where, f'an array: {error}, and so it') from None
    flags = array.flags
    if flags.c_contiguous:
        return _plain(descr, array.shape), [buffer_of(array)]
    if flags.f_contiguous:
        return ({'shape': list(array.shape), 'fortran_order': True, 'descr': descr},
                [buffer_of(array.T)])
    return _plain(descr, array.shape), [buffer_of(numpy.array(array, order='C', subok=False))]


def _pack_bytes(item: bytes | bytearray, where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    # For programs that know only arrays it is one of unsigned bytes.
    kind = 'bytes' if isinstance(item, bytes) else 'bytearray'
    return _plain('|u1', (len(item),), kind=kind), [item]


def _pack_string(item: str, where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    return _plain('|O', (), kind='string'), [item.encode('utf-8', 'surrogatepass')]


def _pack_number(item: Any, where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    if type(item) is int and item not in _INT64:
        return _plain('|O', (), kind='plain', value=item), []
    array = numpy.array(item)
    return _plain(descr_of(array.dtype), (), kind='number'), [buffer_of(array)]


def _pack_none(item: None, where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    return _plain('|O', (), kind='plain', value=None), []


def _pack_dict(item: dict[Any, Any], where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    for key in item:
        if type(key) is not str:
            raise _refused(where, f'a dict with {key!r}, which is no string, for a key')
    entries, buffers = _pack_each(list(item.values()), [f'{where}[{key!r}]' for key in item])
    return _plain('|O', (), kind='dict', keys=list(item), items=entries), buffers


def _pack_strings(items: list[str], kind: str) -> tuple[dict[str, JSON], list[Buffer]]:
    parts = [item.encode('utf-8', 'surrogatepass') for item in items]
    return (_plain('|O', (len(items),), kind='strings', type=kind, lengths=list(map(len, parts))),
            [b''.join(parts)])


def _pack_list(item: list[Any], where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    return _pack_sequence(item, where, 'list')


def _pack_tuple(item: tuple[Any, ...], where: str) -> tuple[dict[str, JSON], list[Buffer]]:
    return _pack_sequence(list(item), where, 'tuple')


def _pack_sequence(items: list[Any], where: str, kind: str, shape: tuple[int, ...] | None = None,
                   ) -> tuple[dict[str, JSON], list[Buffer]]:
    if shape is None:
        shape = (len(items),)
    kinds = set(map(type, items))
    only = kinds.pop() if len(kinds) == 1 else None
    entry: dict[str, JSON]
    buffers: list[Buffer]
    if only in (int, float, bool) and (only is not int or (
            min(items) in _INT64 and max(items) in _INT64)):
        array = numpy.array(items)
        entry, buffers = _plain(descr_of(array.dtype), shape, kind='numbers', type=kind), [
            buffer_of(array)]
    elif only is str:
        entry, buffers = _pack_strings(items, kind)
    elif only is bytes:
        entry, buffers = (_plain('|O', shape, kind='blobs', type=kind,
                                 lengths=list(map(len, items))), [b''.join(items)])
    elif only is numpy.ndarray and _go_together(items):
        # Without the dtype, numpy would turn bytes around to the order of this machine.
        flat = numpy.concatenate([array.reshape(-1) for array in items], dtype=items[0].dtype)
        entry, buffers = (
            _plain('|O', shape, kind='ragged', type=kind, of=descr_of(items[0].dtype),
                   shapes=[list(array.shape) for array in items]), [buffer_of(flat)])
    else:
        entries, buffers = _pack_each(items, [f'{where}[{place}]' for place in range(len(items))])
        entry = _plain('|O', shape, kind='items', type=kind, items=entries)
    if kind == 'objects':
        entry['shape'] = list(shape)
    return entry, buffers


def _go_together(arrays: list[AnyArray]) -> bool:
    """Tell whether arrays can be put one behind the other."""
    dtype = arrays[0].dtype
    return (not dtype.hasobject and not is_text(dtype) and dtype.names is None
            and type(dtype).__module__.startswith('numpy')
            and all(array.dtype == dtype for array in arrays)
            and sum(array.nbytes for array in arrays) <= _TOGETHER * len(arrays))


def _pack_each(items: list[Any], places: list[str]) -> tuple[list[dict[str, JSON]], list[Buffer]]:
    entries, buffers = [], []
    for item, where in zip(items, places, strict=True):
        # In a list, what takes no place in the description has no frame of its own.
        if item is None or type(item) in (bool, int, float):
            entry: dict[str, JSON] = {'kind': 'plain', 'value': item}
        else:
            entry, more = pack(item, where)
            buffers += more
        entries.append(entry)
    return entries, buffers


_PACKERS: dict[type, Callable[[Any, str], tuple[dict[str, JSON], list[Buffer]]]] = {
    numpy.ndarray: _pack_array, bytes: _pack_bytes, bytearray: _pack_bytes, str: _pack_string,
    int: _pack_number, float: _pack_number, bool: _pack_number, complex: _pack_number,
    type(None): _pack_none, dict: _pack_dict, list: _pack_list, tuple: _pack_tuple}


def unpack(entry: Any, buffers: Iterator[Buffer]) -> Any:
    """Return the data of a source.

    Parameters
    ----------
    entry : dict
        What `pack` returned, perhaps by way of JSON.
    buffers : iterator
        Gives the bytes that belong to it; no more are taken.

    Raises
    ------
    DataLayoutError
        This is no description of data, or the bytes do not fit to it.
    """
    try:
        kind = entry.get('kind')
        if kind is None:
            return _array(entry, buffers)
        return _UNPACKERS[kind](entry, buffers)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DataLayoutError):
            raise
        raise DataLayoutError(f'expected the description of data; got {entry!r:.200}') from error
    except StopIteration:
        raise DataLayoutError('expected more frames of data after the description '
                              f'{entry!r:.200}') from None


def _array(entry: Any, buffers: Iterator[Buffer]) -> AnyArray:
    return array_of(entry['descr'], entry['shape'], entry['fortran_order'], next(buffers))


def _bytes(entry: Any, buffers: Iterator[Buffer]) -> Any:
    return (bytes if entry['kind'] == 'bytes' else bytearray)(memoryview(next(buffers)))


def _strings(entry: Any, buffers: Iterator[Buffer]) -> Any:
    parts = [part.decode('utf-8', 'surrogatepass') for part in _cut(entry, buffers)]
    if entry['type'] == 'text':
        array: Any = numpy.array(parts, numpy.dtypes.StringDType())
        return array.reshape(entry['shape'])
    return _as(entry, parts)


def _cut(entry: Any, buffers: Iterator[Buffer]) -> list[bytes]:
    """Return the parts that bytes consist of."""
    whole = bytes(memoryview(next(buffers)))
    parts, start = [], 0
    for length in entry['lengths']:
        if length < 0:
            raise DataLayoutError(f'expected the length of a part; got {length}')
        parts.append(whole[start:start + length])
        start += length
    if start != len(whole):
        raise DataLayoutError(f'expected {start} bytes for {len(parts)} parts; got {len(whole)}')
    return parts


def _ragged(entry: Any, buffers: Iterator[Buffer]) -> Any:
    counts = [int(numpy.prod(shape, dtype=object)) for shape in entry['shapes']]
    flat = array_of(entry['of'], [sum(counts)], False, next(buffers))
    arrays, start = [], 0
    for shape, count in zip(entry['shapes'], counts, strict=True):
        arrays.append(flat[start:start + count].reshape(shape))
        start += count
    return _as(entry, arrays)


def _as(entry: Any, items: list[Any]) -> Any:
    """Return the kind of sequence that was sent."""
    if entry['type'] != 'objects':
        return _SEQUENCES[entry['type']](items)
    array = numpy.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(entry['shape'])


def _dict(entry: Any, buffers: Iterator[Buffer]) -> dict[str, Any]:
    return dict(zip(entry['keys'], [unpack(item, buffers) for item in entry['items']],
                    strict=True))


_UNPACKERS: dict[str, Callable[[Any, Iterator[Buffer]], Any]] = {
    'bytes': _bytes, 'bytearray': _bytes, 'strings': _strings, 'ragged': _ragged, 'dict': _dict,
    'scalar': lambda entry, buffers: _array(entry, buffers)[()],
    'number': lambda entry, buffers: _array(entry, buffers).item(),
    'plain': lambda entry, buffers: entry['value'],
    'string': lambda entry, buffers: bytes(memoryview(next(buffers))).decode(
        'utf-8', 'surrogatepass'),
    'numbers': lambda entry, buffers: _as(entry, _array(entry, buffers).reshape(-1).tolist()),
    'blobs': lambda entry, buffers: _as(entry, _cut(entry, buffers)),
    'items': lambda entry, buffers: _as(entry, [unpack(item, buffers)
                                                for item in entry['items']])}


def as_array(item: Any, where: str = 'the data') -> AnyArray:
    """Return the array that the old library would have sent for the data of a source.

    Raises
    ------
    TypeError
        There is none.
    """
    try:
        array = numpy.asarray(item)
    except (TypeError, ValueError):  # lists of unequal length
        array = numpy.empty((), object)
    if array.dtype.hasobject or is_text(array.dtype) or isinstance(item, numpy.ma.MaskedArray):
        kind = type(item)
        raise TypeError(f'{where}: a client of the old library can only be sent arrays; a '
                        f'{kind.__module__}.{kind.__qualname__} cannot be made one of a plain '
                        'dtype')
    return array
