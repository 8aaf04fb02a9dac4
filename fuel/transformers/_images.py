"""The bases of transformers that change images."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy

from fuel import rng as randomness
from fuel._types import AnyArray
from fuel.collate import as_objects
from fuel.exceptions import StateError
from fuel.transformers.labels import ExpectsAxisLabels
from fuel.transformers.sourcewise import SourcewiseTransformer

__all__ = ['ImageTransformer', 'Images', 'RandomTransformer', 'checked_shape']

# One by one in a list, or with an axis more in an array.
Images: TypeAlias = list[AnyArray] | AnyArray

AXES = ('channel', 'height', 'width')


def checked_shape(owner: object, shape: Any, meaning: str) -> tuple[int, int]:
    """Return a pair (height, width), after checking that both are positive integers."""
    try:
        height, width = shape
        if int(height) == height > 0 and int(width) == width > 0:
            return int(height), int(width)
    except (TypeError, ValueError):
        pass
    raise ValueError(f'{type(owner).__name__}: expected {meaning} to be a pair (height, width) of '
                     f'positive integers; got {shape!r}')


class ImageTransformer(ExpectsAxisLabels, SourcewiseTransformer):
    """A transformer that treats every image by itself.

    Images have the axes channel, height, width. A batch of them is an array of four axes, a list,
    or an array of objects, and comes out in the same form.

    Subclasses define `change`, and `plan` where what is done differs from image to image;
    `change_array` where an array of images can be changed at once.
    """

    _fewest_axes = 3  # 2 where images without a channel axis are welcome

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Change an image."""
        image = self._checked(source_example, source_name)
        self.expect_axis_labels(AXES[-image.ndim:], source_name)
        return self.change(image, self.plan([image])[0])

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Change the images of a batch."""
        images: Any = source_batch
        as_array = isinstance(images, numpy.ndarray)
        regular = as_array and images.dtype != object
        if regular:
            self._check_axes(images.ndim - 1, source_name)
            axes = images.ndim - 1
        else:
            images = [self._checked(image, source_name) for image in images]
            axes = images[0].ndim if images else len(AXES)
        self.expect_axis_labels(('batch', *AXES[-axes:]), source_name)
        if not len(images):
            return source_batch
        plans = self.plan(images)
        if regular:
            return self.change_array(images, plans)
        changed = [self.change(image, plan) for image, plan in zip(images, plans, strict=True)]
        return as_objects(changed) if as_array else changed

    def _checked(self, image: Any, source_name: str) -> AnyArray:
        if not isinstance(image, numpy.ndarray):
            raise ValueError(f'{type(self).__name__}: expected images in source {source_name!r} '
                             f'to be arrays with the axes {AXES}; got a {type(image).__name__}')
        self._check_axes(image.ndim, source_name)
        return image

    def _check_axes(self, ndim: int, source_name: str) -> None:
        if not self._fewest_axes <= ndim <= 3:
            raise self._axes_error(
                f'{type(self).__name__}: expected images in source {source_name!r} with the axes '
                f'{AXES}; got {max(ndim, 0)} axes. A grey image has a channel axis of length 1.')

    def _axes_error(self, message: str) -> Exception:
        return ValueError(message)

    def plan(self, images: Images) -> Any:
        """Return what is to be done to each of some images, by default nothing that differs.

        Parameters
        ----------
        images : list of ndarray, or ndarray
            A single one for an example; an array with an axis more for a regular batch.

        Returns
        -------
        sequence
            With an entry for every image.
        """
        return [None] * len(images)

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return an image changed as planned."""
        raise NotImplementedError(f'{type(self).__name__} does not define change')

    def change_array(self, images: AnyArray, plans: Any) -> AnyArray:
        """Return an array of images changed as planned."""
        # The dtype is said, since numpy would turn another byte order into its own.
        return numpy.stack([self.change(image, plan)
                            for image, plan in zip(images, plans, strict=True)],
                           dtype=images.dtype)


class RandomTransformer(SourcewiseTransformer):
    """A sourcewise transformer that draws random numbers, in one of two ways.

    By default from a generator that depends on the seed, the epoch and the step only: then every
    source is given the same numbers, and so are images in whatever form.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    rng : RandomState or Generator, optional
        Draw from this one, in the order of the calls. Then the work cannot be spread over
        workers, and epochs that run side by side change each other.
    **kwargs
        Handed to `SourcewiseTransformer`.
    """

    def __init__(self, data_stream: Any, *, rng: Any = None,
                 which_sources: Iterable[str] | None = None, **kwargs: Any) -> None:
        super().__init__(data_stream, which_sources=which_sources, **kwargs)
        self.rng = rng

    def chances(self, count: int, each: int) -> AnyArray:
        """Return random numbers from 0 to 1 (exclusive), `each` of them for `count` images."""
        source = self.generator() if self.rng is None else self.rng
        numbers: AnyArray = source.random((count, each))
        return numbers

    def _state(self) -> dict[str, Any]:
        if self.rng is None:
            return {}
        captured = randomness.capture(self.rng)
        if captured is None:
            raise StateError(f'{type(self).__name__}: the state of the rng, a '
                             f'{type(self.rng).__name__}, cannot be told; give a RandomState')
        return {'rng': randomness.encode(captured)}

    def _load_state(self, state: dict[str, Any]) -> None:
        if self.rng is None:
            raise StateError(f'{type(self).__name__}: the state is that of one with an rng, and '
                             'this one was made without')
        randomness.reinstate(self.rng, randomness.decode(state['rng']))
