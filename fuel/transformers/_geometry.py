"""Transformers that turn images around."""
from __future__ import annotations

import math
from typing import Any

from fuel._types import AnyArray
from fuel.transformers._images import Images, ImageTransformer, RandomTransformer
from fuel.transformers._pixels import ROTATION_RESAMPLES, checked_resample, rotated

__all__ = ['Random2DRotation', 'RandomHorizontalFlip']


class Random2DRotation(RandomTransformer, ImageTransformer):
    """Rotates each image by a random angle around its centre.

    The size stays; pixels that turn out of it are lost, and 0 comes in at the corners.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    maximum_rotation : float, optional
        The largest angle, in radians, in both directions: more than 0 and at most pi, the
        default. The attribute of this name holds it in degrees.
    resample : {'nearest', 'bilinear', 'bicubic'}, optional
        The filter of Pillow. The default, 'nearest', works for every dtype; others for integers
        of up to 32 bits and floats (which are computed as float32).
    rng : RandomState or Generator, optional
        Draw from this one, all angles of a batch at once. The work cannot be spread over workers
        then. By default the angles depend on the seed, the epoch and the step only: the same for
        an array, a list or an array of objects, and for every source.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    ValueError
        The angle is out of range, there is no such filter, or the data are no images.
    """

    def __init__(self, data_stream: Any, maximum_rotation: float = math.pi,
                 resample: str = 'nearest', **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if not 0 < maximum_rotation <= math.pi:
            raise ValueError(f'{type(self).__name__}: expected maximum_rotation to be an angle in '
                             f'radians, more than 0 and at most pi; got {maximum_rotation!r}')
        self.maximum_rotation = math.degrees(maximum_rotation)
        self.resample = checked_resample(self, resample, ROTATION_RESAMPLES)

    def plan(self, images: Images) -> Any:
        """Return the angle of each image, in degrees."""
        most, count = self.maximum_rotation, len(images)
        if self.rng is not None:
            return self.rng.uniform(-most, most, count)
        return (2 * self.chances(count, 1)[:, 0] - 1) * most

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return a rotated image."""
        return rotated(image, float(plan), self.resample)


class RandomHorizontalFlip(RandomTransformer, ImageTransformer):
    """Mirrors some of the images, chosen at random, so that left becomes right.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    probability : float, optional
        How likely it is for an image to be mirrored; 0.5 by default.
    rng : RandomState or Generator, optional
        Draw from this one; the work cannot be spread over workers then. By default the choice
        depends on the seed, the epoch and the step only: the same for an array, a list or an
        array of objects, and for every source.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.
    """

    def __init__(self, data_stream: Any, probability: float = 0.5, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if not 0 <= probability <= 1:
            raise ValueError(f'{type(self).__name__}: expected a probability from 0 to 1; got '
                             f'{probability!r}')
        self.probability = probability

    def plan(self, images: Images) -> Any:
        """Return whether to mirror each image."""
        chances = self.chances(len(images), 1)[:, 0]
        return chances < self.probability

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return an image, mirrored or as it is."""
        return image[..., ::-1].copy() if plan else image

    def change_array(self, images: AnyArray, plans: Any) -> AnyArray:
        """Return images, some of them mirrored."""
        out = images.copy()
        out[plans] = images[plans][..., ::-1]
        return out
