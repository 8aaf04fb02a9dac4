"""Numbers scaled, shifted and cast, by channel, with numpy."""
from __future__ import annotations

from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray

__all__ = ['scale_cast']


def scale_cast(source: AnyArray, scale: npt.NDArray[numpy.float64],
               shift: npt.NDArray[numpy.float64], dtype: Any, channel_axis: int | None = None,
               channel_to: int | None = None) -> AnyArray:
    """Return ``source * scale + shift``, by channel, in another dtype.

    All is computed in float64 and rounded once, at the end.

    Parameters
    ----------
    source : ndarray
        Numbers of any dtype that is not complex, and any memory layout.
    scale, shift : ndarray of float64, shape (channels,) or (1,)
        One number for every channel, or one for all.
    dtype : dtype
        That of the result: any of floating-point numbers.
    channel_axis : int, optional
        Which axis of the source the channels are on. Only for one scale and shift can it be left
        out.
    channel_to : int, optional
        Which axis of the result they are on. The same by default.

    Returns
    -------
    ndarray
        A new array in C order.

    Raises
    ------
    ValueError
        There is no such axis, or it has another number of channels.
    TypeError
        The source or the result has another kind of dtype.
    """
    dtype = numpy.dtype(dtype)
    check(source, scale, shift, dtype, channel_axis, channel_to)
    with numpy.errstate(all='ignore'):
        result = source.astype(numpy.float64)
        if channel_axis is None:
            result *= scale[0]
            result += shift[0]
        else:
            result = numpy.moveaxis(result, channel_axis, -1)
            result *= scale
            result += shift
            result = numpy.moveaxis(result, -1, channel_axis if channel_to is None else channel_to)
        return result.astype(dtype, order='C')


def check(source: AnyArray, scale: AnyArray, shift: AnyArray, dtype: numpy.dtype[Any],
          channel_axis: int | None, channel_to: int | None) -> None:
    """Check what `scale_cast` is given."""
    if source.dtype.kind not in 'biuf' or dtype.kind != 'f':
        raise TypeError('expected real numbers to be cast into floating-point numbers; got '
                        f'{source.dtype} to be cast into {dtype}')
    for axis in (channel_axis, channel_to):
        if axis is not None and not -source.ndim <= axis < source.ndim:
            raise ValueError(f'expected a channel axis of an array with {source.ndim} axes; got '
                             f'{axis}')
    if channel_axis is None and channel_to is not None:
        raise ValueError('channel_to is of use only together with channel_axis')
    channels = 1 if channel_axis is None else source.shape[channel_axis]
    for numbers in (scale, shift):
        if numbers.dtype != numpy.float64 or numbers.ndim != 1:
            raise TypeError('expected vectors of float64 to scale and shift by; got '
                            f'{numbers.ndim} axes of {numbers.dtype}')
        if len(numbers) not in (1, channels):
            raise ValueError('expected a number to scale and shift by for each of '
                             f'{channels} channels, or one for all; got {len(numbers)}')
