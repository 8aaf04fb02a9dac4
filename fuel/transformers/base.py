"""The bases of all transformers."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fuel import state as saved
from fuel._derived import derived
from fuel._types import Batch, Request, State
from fuel.config_parser import config
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor
from fuel.streams.base import AbstractDataStream
from fuel.streams.spreading import spread
from fuel.transformers.iterating import TransformerIterator, started_child
from fuel.transformers.randomness import KeyedRandomness

__all__ = ['Transformer']

_USUAL_SEED = 1


class Transformer(KeyedRandomness, AbstractDataStream):
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
        What `generator` starts from; ``config.default_seed`` at the time of construction where
        it was not assigned.
    """

    data_stream: Any = None
    #: The sources in the epoch under way, found out once for all its steps.
    known_sources: tuple[str, ...] | None = None
    child_epoch_iterator: Any = None

    def __init__(self, data_stream: Any, produces_examples: bool | None = None,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not hasattr(data_stream, 'get_epoch_iterator'):
            raise TypeError(f'{type(self).__name__}: expected a data stream to wrap; got '
                            f'{data_stream!r}')
        self.data_stream = data_stream
        self._seed = int(config.default_seed)
        if produces_examples is not None:
            self.produces_examples = produces_examples

    # What it says of its data.

    def _own_sources(self) -> tuple[str, ...]:
        if self.data_stream is None:
            return super()._own_sources()
        return tuple(self.data_stream.sources)

    def _own_axis_labels(self) -> Any:
        labels = None if self.data_stream is None else self.data_stream.axis_labels
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
        if (self.iteration_scheme is None and self._produces_examples is None
                and self.data_stream is not None):
            return bool(self.data_stream.produces_examples)
        return super().produces_examples

    @produces_examples.setter
    def produces_examples(self, value: bool) -> None:
        AbstractDataStream.produces_examples.fset(self, value)  # type: ignore[attr-defined]

    def _keeps_kind(self) -> bool:
        return bool(self.produces_examples == self.data_stream.produces_examples)

    def _maps_steps(self) -> bool:
        """Tell whether each step of the wrapped stream gives one, by way of `transform_step`."""
        return type(self).get_data is Transformer.get_data and self.iteration_scheme is None

    def _keeps_length(self) -> bool:
        return (self._maps_steps() and self._keeps_kind()
                and type(self).get_epoch_iterator is Transformer.get_epoch_iterator)

    @derived
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        if self._keeps_length():
            return self.data_stream.num_examples  # type: ignore[no-any-return]
        return None

    @derived
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        if self._keeps_length():
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
        self._loaded_state = None
        return spread(self, TransformerIterator(self, child, as_dict, cursor))

    def spread_obstacle(self) -> str | None:
        """Say why the steps of this stream cannot be computed one by one by others."""
        name = type(self).__name__
        if type(self).get_epoch_iterator is not Transformer.get_epoch_iterator:
            return f'{name} overrides get_epoch_iterator, so it may look at more than one step'
        if not self._maps_steps():
            return f'{name} looks at more than one step of the stream that it wraps'
        try:
            keeps_state = self.keeps_state()
        except StateError:  # there is one, and it cannot be told
            keeps_state = True
        if keeps_state:
            return (f'{name} goes on with its random generator from step to step (rng=...); '
                    'without one it draws the same numbers whoever computes a step'
                    if getattr(self, 'rng', None) is not None else
                    f'{name} keeps something from step to step (its _state is not empty)')
        return None

    def _start_child(self) -> Iterator[Any]:
        """Return an iterator over the wrapped stream, for a new epoch or one that is taken up."""
        below = None if self._loaded_state is None else self._loaded_state['data_stream']
        return started_child(self.data_stream, self._loaded_state, below)

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
        return self.transform_step(next(self.child_epoch_iterator))

    def step_function(self) -> Callable[[Batch], Batch]:
        """Return the function that `transform_step` comes to for the data of this stream.

        What comes from the wrapped stream is of one kind in an epoch, so an iterator need not
        look at it on every step.
        """
        examples = self.produces_examples
        if (type(self).transform_step is not Transformer.transform_step
                or 'transform_step' in self.__dict__
                or examples != self.data_stream.produces_examples):
            return self.transform_step
        return self.transform_example if examples else self.transform_batch

    def steps_after(self, changes: tuple[Callable[[Batch], Batch], ...],
                    ) -> tuple[Callable[[Batch], Batch], ...]:
        """Return the functions that data go through, those of the wrapped stream given.

        By default `step_function` comes last. A transformer that can be done in one pass with the
        one that it wraps puts one function in the place of two.
        """
        return (*changes, self.step_function())

    def transform_step(self, data: Batch) -> Batch:
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

    # Where it stands.

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the chain as one of its epoch iterators sees it."""
        child = self.child_epoch_iterator
        if isinstance(iterator, TransformerIterator):
            child = iterator.child
            if iterator.is_broken_off:
                raise StateError('the last step was interrupted, and its data wait for the next '
                                 'one; take that step before saving the state')
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
        if self._loaded_state is not None:
            return dict(self._loaded_state)
        return self._state_over(self.child_epoch_iterator, self.epoch_cursor)

    def _state_over(self, child: Any, cursor: EpochCursor | None) -> State:
        entries: dict[str, Any] = {}
        if self.data_stream is None:
            raise StateError(f'this {type(self).__name__} wraps no stream, so that its state '
                             'cannot be told; pickle the pair (stream, epoch iterator)')
        overridden = [name for name in ('get_data', 'get_epoch_iterator')
                      if getattr(type(self), name) is not getattr(Transformer, name)]
        if overridden and not self._tells_own_state():
            raise StateError(
                f'{type(self).__name__} overrides {overridden[0]}, so it may keep something from '
                'step to step; define _state and _load_state (return an empty dict if it keeps '
                'nothing), or pickle the pair (stream, epoch iterator)')
        if not self._maps_steps():
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
        state = self.checked_state(state)
        self.child_epoch_iterator = None
        if self._maps_steps():
            self._load_own_state(state)
            self._loaded_state = state
            self.epoch_cursor = None
        else:
            super().load_state_dict(state)

    def checked_state(self, state: Any) -> State:
        """Return a copy of a state, after checking that it can be loaded."""
        checked: State = (saved.checked(self, state, ('data_stream',)) if self._maps_steps()
                          else super().checked_state(state))
        self._check_below(checked)
        return checked

    def _check_below(self, state: State) -> None:
        """Check what a state has of the wrapped stream."""
        saved.checked(self, state, ('data_stream',))
        self.data_stream.checked_state(state['data_stream'])

    def refreshed(self, state: State) -> State:
        """Return a state with what it says of other epochs as it is now."""
        return {**super().refreshed(state),
                'data_stream': self.data_stream.refreshed(state['data_stream'])}

    def keeps_state(self) -> bool:
        """Tell whether something is kept from step to step."""
        return bool(super()._own_state())

    def _own_state(self) -> dict[str, Any]:
        # What one chain in a thousand has is not written down by all of them.
        seed = {} if self.seed == _USUAL_SEED else {'seed': self.seed}
        return {**super()._own_state(), **seed}

    def _load_own_state(self, state: State) -> None:
        super()._load_own_state(state)
        self.seed = state.get('seed', _USUAL_SEED)
