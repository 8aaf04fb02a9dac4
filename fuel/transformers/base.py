"""The bases of all transformers."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from fuel import rng
from fuel import state as saved
from fuel._types import Batch, Request, State
from fuel.config_parser import config
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor
from fuel.streams.base import AbstractDataStream

__all__ = ['AgnosticTransformer', 'Transformer', 'TransformerIterator']


class TransformerIterator(DataIterator):
    """Iterates over one epoch of a transformer that maps each step to one.

    It owns the iterator over the wrapped stream, so several of them live side by side.
    """

    def __init__(self, data_stream: Transformer, child: Iterator[Any], as_dict: bool,
                 cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        self.child = child
        # Only an iterator of ours counts its steps.
        self._counts = not isinstance(child, DataIterator)

    def _is_superseded(self) -> bool:
        return False

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        # What a transformer keeps of its own cannot be taken back.
        stateless = type(self.data_stream)._state is AbstractDataStream._state
        return stateless and isinstance(self.child, DataIterator) and self.child.rewind(count)

    def _draw(self, cursor: EpochCursor) -> Batch:
        data = next(self.child)
        if self._counts:
            cursor.requests.skip(1)
        running = rng.running
        outer, running.position = running.position, (cursor.epoch, cursor.step - 1)
        try:
            return self.data_stream.transform(data)  # type: ignore[no-any-return]
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C: the step is taken again later
                cursor.take_back()
            raise
        finally:
            running.position = outer


class Transformer(AbstractDataStream):
    """A stream that wraps another one and changes what comes out of it.

    Subclasses define `transform_example`, `transform_batch` or both. Those that need more than
    one step of the wrapped stream override `get_data` and draw from `child_epoch_iterator`.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    produces_examples : bool, optional
        Whether the transformer gives single examples, as opposed to batches. As the wrapped
        stream by default.
    **kwargs
        Handed to `AbstractDataStream`, such as `axis_labels`.

    Attributes
    ----------
    child_epoch_iterator : iterator or None
        The newest iterator over the wrapped stream.
    seed : int
        What `generator` starts from; ``config.default_seed`` where it was not assigned.
    """

    data_stream: Any
    child_epoch_iterator: Any = None
    _seed: int | None = None

    def __init__(self, data_stream: Any, produces_examples: bool | None = None,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not hasattr(data_stream, 'get_epoch_iterator'):
            raise TypeError(f'{type(self).__name__}: expected a data stream to wrap; got '
                            f'{data_stream!r}')
        self.data_stream = data_stream
        if produces_examples is not None:
            self.produces_examples = produces_examples

    # What it says of its data.

    def _own_sources(self) -> tuple[str, ...]:
        return tuple(self.data_stream.sources)

    def _own_axis_labels(self) -> Any:
        labels = self.data_stream.axis_labels
        return None if labels is None else self.output_axis_labels(labels)

    def output_axis_labels(self, labels: Any) -> Any:
        """Return the labels of the output, given those of the wrapped stream.

        Parameters
        ----------
        labels : mapping
            From source name to tuple of labels; must not be changed.

        Returns
        -------
        mapping or None
            By default the same labels, or `None` where batches become examples or the other way
            round.
        """
        return dict(labels) if self._keeps_kind() else None

    @property
    def produces_examples(self) -> bool:
        """Whether the transformer gives single examples, as opposed to batches."""
        if self.iteration_scheme is None and self._produces_examples is None:
            return bool(self.data_stream.produces_examples)
        return super().produces_examples

    @produces_examples.setter
    def produces_examples(self, value: bool) -> None:
        AbstractDataStream.produces_examples.fset(self, value)  # type: ignore[attr-defined]

    def _keeps_kind(self) -> bool:
        return bool(self.produces_examples == self.data_stream.produces_examples)

    def _maps_steps(self) -> bool:
        """Tell whether each step of the wrapped stream gives one step, by way of `transform`."""
        return type(self).get_data is Transformer.get_data and self.iteration_scheme is None

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        if self._maps_steps() and self._keeps_kind():
            return self.data_stream.num_examples  # type: ignore[no-any-return]
        return None

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        if self._maps_steps() and self._keeps_kind():
            return self.data_stream.num_batches  # type: ignore[no-any-return]
        return None

    # Reading.

    def close(self) -> None:
        """Close the wrapped stream."""
        self.data_stream.close()

    def reset(self) -> None:
        """Reset the wrapped stream."""
        self.data_stream.reset()

    def next_epoch(self) -> None:
        """Make the wrapped stream ready for its next epoch."""
        self.data_stream.next_epoch()

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Independent of other iterators over this stream, if those of the wrapped stream are;
            but the iterators of a subclass that overrides `get_data` share its position, and the
            older one raises `SupersededIteratorError` as soon as it is used again.
        """
        child = self.child_epoch_iterator = self._start_child()
        if not self._maps_steps():
            return super().get_epoch_iterator(as_dict=as_dict)
        cursor = child.cursor if isinstance(child, DataIterator) else self._next_cursor()
        return TransformerIterator(self, child, as_dict, cursor)

    def _start_child(self) -> Iterator[Any]:
        """Return an iterator over the wrapped stream, for a new epoch or one that is taken up."""
        if self._loaded is not None:
            below_finished = saved.finished(self._loaded['data_stream'])
            if not self._loaded['done'] and below_finished:
                return EndedIterator(self.data_stream)
            if self._loaded['done'] and not below_finished:
                # The epoch of the wrapped stream was left before its end.
                self.data_stream.get_epoch_iterator()
        return self.data_stream.get_epoch_iterator()  # type: ignore[no-any-return]

    def get_data(self, request: Request = None) -> Batch:
        """Return the next data of the newest epoch.

        Parameters
        ----------
        request : None
            Transformers take no requests.

        Returns
        -------
        tuple
            One item for every source.
        """
        if request is not None:
            raise ValueError(f'{type(self).__name__} takes no requests; got {request!r}. Requests '
                             'come from the iteration scheme of the stream at the bottom.')
        if self.child_epoch_iterator is None:
            raise ValueError(f'{type(self).__name__}.get_data was called before an epoch was '
                             'started; call get_epoch_iterator first')
        child = self.child_epoch_iterator
        data = next(child)
        running = rng.running
        outer = running.position
        if isinstance(child, DataIterator):
            running.position = (child.epoch, child.step - 1)
        try:
            return self.transform(data)
        finally:
            running.position = outer

    def transform(self, data: Batch) -> Batch:
        """Change the data of one step, an example or a batch.

        Raises
        ------
        NotImplementedError
            The transformer gives batches and the wrapped stream examples, or the other way
            round; or it does not define the method for what comes.
        """
        examples = self.produces_examples
        if examples != self.data_stream.produces_examples:
            kinds = ('batches', 'examples')
            raise NotImplementedError(
                f'the wrapped data stream, a {type(self.data_stream).__name__}, produces '
                f'{kinds[not examples]} while {type(self).__name__} produces {kinds[examples]}; '
                'put a transformer that batches or unpacks between them')
        return self.transform_example(data) if examples else self.transform_batch(data)

    def transform_example(self, example: Batch) -> Batch:
        """Change an example: a tuple with one item for every source."""
        raise NotImplementedError(f'{type(self).__name__} does not transform single examples; it '
                                  'does not define transform_example')

    def transform_batch(self, batch: Batch) -> Batch:
        """Change a batch: a tuple with one item for every source."""
        raise NotImplementedError(f'{type(self).__name__} does not transform batches; it does '
                                  'not define transform_batch')

    # Random numbers.

    @property
    def seed(self) -> int:
        """What `generator` starts from."""
        return int(config.default_seed) if self._seed is None else self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = seed

    def generator(self) -> Generator:
        """Return the random generator of the step that is being transformed.

        Its numbers depend on the seed, this transformer, the epoch and the step, and on nothing
        else: not on what was drawn before, nor on which process computes the step. To be called
        from `transform_example`, `transform_batch` and the like, or from `get_data` where it is
        overridden; each call starts anew.

        Returns
        -------
        numpy.random.Generator
        """
        position = rng.running.position
        if not self._maps_steps():
            # Such a stream counts its own steps, and the one that runs is the newest.
            cursor = self.cursor
            position = None if cursor is None or not cursor.step else (
                cursor.epoch, cursor.step - 1)
        if position is None:
            raise RuntimeError('generator() belongs to a step of an epoch iterator; it was called '
                               'outside of one')
        epoch, step = position
        return rng.generator(self.seed, epoch, step, rng.key_of(self._random_name()))

    def _random_name(self) -> str:
        """Tell this transformer from others of its class in the chain below."""
        name = type(self).__qualname__
        below = 0
        stream = self.data_stream
        while isinstance(stream, Transformer):
            below += type(stream).__qualname__ == name
            stream = stream.data_stream
        return f'{name}:{below}'

    # Where it stands.

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the chain as one of its epoch iterators sees it."""
        child = (iterator.child if isinstance(iterator, TransformerIterator)
                 else self.child_epoch_iterator)
        return self._state_over(child, iterator.cursor)

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data.

        Returns
        -------
        dict
            Fit for JSON. Holds the state of the wrapped stream under ``'data_stream'``.

        Raises
        ------
        StateError
            A part of the chain keeps something that it cannot put into plain data.
        """
        if self._loaded is not None:
            return dict(self._loaded)
        return self._state_over(self.child_epoch_iterator, self.cursor)

    def _state_over(self, child: Any, cursor: EpochCursor | None) -> State:
        entries: dict[str, Any] = {}
        if not self._maps_steps():
            if type(self)._state is AbstractDataStream._state:
                raise StateError(
                    f'{type(self).__name__} overrides get_data, so it may keep something from '
                    'step to step; define _state and _load_state (return an empty dict if it '
                    'keeps nothing), or pickle the pair (stream, epoch iterator)')
            entries = self._position_of(cursor)
        elif not (child is None or isinstance(child, (DataIterator, EndedIterator))):
            raise StateError(
                f'the epoch iterator of {type(self.data_stream).__name__} is a '
                f'{type(child).__name__}, whose position cannot be told; return a DataIterator '
                'from get_epoch_iterator, or pickle the pair (stream, epoch iterator)')
        below = self.data_stream.state_dict() if child is None else child.state_dict()
        return saved.new_state(self, **entries, **self._own_state(), data_stream=below)

    def load_state_dict(self, state: State) -> None:
        """Go on from a state: the next call of `get_epoch_iterator` gives what was left.

        Parameters
        ----------
        state : dict
            What `state_dict` of a chain built in the same way returned.

        Raises
        ------
        StateError
            The state belongs to another chain.
        """
        state = saved.checked(self, state)
        self.data_stream.load_state_dict(state['data_stream'])
        self.child_epoch_iterator = None
        if self._maps_steps():
            self.cursor = None
            if 'own' in state:
                self._load_state(state['own'])
        else:
            super().load_state_dict(state)


class AgnosticTransformer(Transformer):
    """A transformer that does the same to examples and to batches.

    Subclasses define `transform_any`.
    """

    def transform_any(self, data: Batch) -> Batch:
        """Change an example or a batch: a tuple with one item for every source."""
        raise NotImplementedError(f'{type(self).__name__} does not define transform_any')

    def transform_example(self, example: Batch) -> Batch:
        """Change an example."""
        return self.transform_any(example)

    def transform_batch(self, batch: Batch) -> Batch:
        """Change a batch."""
        return self.transform_any(batch)
