"""The base of every data set."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from fuel._types import JSON, AxisLabels, Batch, Request
from fuel.exceptions import StateError
from fuel.streams.source import DataStream

__all__ = ['Dataset', 'source_tuple']


def source_tuple(sources: Iterable[str], owner: str) -> tuple[str, ...]:
    """Return source names as a tuple, after checking that they are several names and not one."""
    if isinstance(sources, (str, bytes)):
        raise ValueError(f'{owner}: expected a tuple of source names, such as ({sources!r},); '
                         f'got the string {sources!r}')
    names = tuple(sources)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f'{owner}: expected source names that are strings; got {name!r}')
    return names


class Dataset(ABC):
    """Access to the examples of a data set.

    A data set keeps no position: what has to be remembered while it is read, such as an open
    file, is a *state*, returned by `open` and handed back to every call of `get_data`.

    Parameters
    ----------
    sources : iterable of str, optional
        The sources to give out, in this order. By default all that are provided.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis.

    Attributes
    ----------
    provides_sources : tuple of str
        Every source that the data set can give. Subclasses set it, on the class or before they
        call the constructor of this class.
    default_transformers : tuple
        Triples (transformer class, arguments, keyword arguments) that
        `apply_default_transformers` applies one after the other.

    Raises
    ------
    ValueError
        No source is provided, or `sources` is empty, a string, or names one not provided.
    """

    provides_sources: Any = None
    default_transformers: tuple[tuple[Any, Iterable[Any], Mapping[str, Any]], ...] = ()

    #: Whether each call of `open` gives a state of its own that stays usable after later calls,
    #: so that several epochs can be read side by side.
    independent_states: ClassVar[bool] = False
    #: Whether `get_data` takes slices and integer arrays where a list of indices is meant. A
    #: subclass that overrides `get_data` is given lists again unless it says so itself.
    takes_index_arrays: ClassVar[bool] = False

    _example_iteration_scheme: Any
    _sources: tuple[str, ...] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        if 'get_data' in own and 'takes_index_arrays' not in own:
            cls.takes_index_arrays = False
        # What a subclass does with states may not be fit for several of them.
        if 'independent_states' not in own and not own.keys().isdisjoint(
                ('open', 'close', 'reset', 'next_epoch', 'get_data')):
            cls.independent_states = False

    def __init__(self, sources: Iterable[str] | None = None,
                 axis_labels: AxisLabels | None = None) -> None:
        if not self.provides_sources:
            raise ValueError(f'{type(self).__name__} provides no sources; a data set must set '
                             'provides_sources to the names of its sources')
        if sources is not None:
            self.sources = sources
        self.axis_labels = axis_labels

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources given out, in order."""
        if self._sources is not None:
            return self._sources
        provided = self.provides_sources
        return provided if type(provided) is tuple else source_tuple(provided, type(self).__name__)

    @sources.setter
    def sources(self, sources: Iterable[str]) -> None:
        name = type(self).__name__
        chosen = source_tuple(sources, name)
        if not chosen:
            raise ValueError(f'{name}: expected at least one source; got none')
        unknown = [source for source in chosen if source not in self.provides_sources]
        if unknown:
            raise ValueError(f'{name} does not provide {", ".join(map(repr, unknown))}; it '
                             f'provides {", ".join(map(repr, self.provides_sources))}')
        self._sources = chosen

    @property
    def example_iteration_scheme(self) -> Any:
        """The scheme that visits the examples one at a time, in order; `None` if there is none.

        Raises
        ------
        AttributeError
            The data set does not define one.
        """
        try:
            return self._example_iteration_scheme
        except AttributeError:
            raise AttributeError(f'{type(self).__name__} has no example iteration scheme'
                                 ) from None

    @example_iteration_scheme.setter
    def example_iteration_scheme(self, value: Any) -> None:
        self._example_iteration_scheme = value

    def get_example_stream(self) -> Any:
        """Return a stream over the single examples, in order."""
        return DataStream(self, iteration_scheme=self.example_iteration_scheme)

    def apply_default_transformers(self, stream: Any) -> Any:
        """Wrap a stream into the default transformers of the data set.

        Parameters
        ----------
        stream : AbstractDataStream
            A stream over this data set.

        Returns
        -------
        AbstractDataStream
            Transformers restricted to sources that the stream does not have are left out.
        """
        for cls, args, kwargs in self.default_transformers:
            which = kwargs.get('which_sources')
            if which is not None:
                present = tuple(source for source in which if source in stream.sources)
                if not present:
                    continue
                kwargs = {**kwargs, 'which_sources': present}
            stream = cls(stream, *args, **kwargs)
        return stream

    def open(self) -> Any:
        """Return a new state, such as an open file; `None` where nothing has to be kept."""
        return None

    def close(self, state: Any) -> None:
        """Close a state. To close one twice does no harm."""

    def reset(self, state: Any) -> Any:
        """Return a state at the beginning of the data, given an old one, which is closed."""
        self.close(state)
        return self.open()

    def next_epoch(self, state: Any) -> Any:
        """Return the state for the next epoch, given that of the last one."""
        return self.reset(state)

    @abstractmethod
    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return data.

        Parameters
        ----------
        state : object, optional
            What `open` returned.
        request : object, optional
            Which examples are wanted. What can be asked for depends on the data set.

        Returns
        -------
        tuple
            One item for every source, in the order of `sources`. Arrays belong to the caller.

        Raises
        ------
        StopIteration
            There is no more data in this epoch.
        """

    def filter_sources(self, data: Iterable[Any]) -> Batch:
        """Choose the data of the wanted sources.

        Parameters
        ----------
        data : iterable
            The data of all provided sources, in the order of `provides_sources`.

        Returns
        -------
        tuple
            The data of the wanted sources, in the order of `sources`.
        """
        by_name = dict(zip(self.provides_sources, data, strict=True))
        return tuple(by_name[source] for source in self.sources)

    def state_to_plain(self, state: Any, steps: int) -> JSON:
        """Describe a state in plain data, so that `state_from_plain` can make it again.

        Parameters
        ----------
        state : object
            What `open` returned, after `steps` calls of `get_data` in this epoch.
        steps : int
            How many calls that were.

        Returns
        -------
        object
            `None` where the number of steps says everything, as it does by default.

        Raises
        ------
        StateError
            The class keeps something from one epoch to the next (it overrides `reset` or
            `next_epoch`), so that its states cannot be made again by reading the epoch anew.
        """
        if state is not None and (type(self).next_epoch is not Dataset.next_epoch
                                  or type(self).reset is not Dataset.reset):
            raise StateError(
                f'{type(self).__name__} overrides next_epoch or reset, so its state cannot be '
                'told from the position alone; define state_to_plain and state_from_plain, or '
                'pickle the pair (stream, epoch iterator)')
        return None

    def state_from_plain(self, plain: JSON, requests: Iterator[Request]) -> Any:
        """Make a state again from what `state_to_plain` returned.

        Parameters
        ----------
        plain : object
            What `state_to_plain` returned.
        requests : iterator
            The requests of this epoch that had been answered, in order; each is `None` in a
            stream without an iteration scheme. It need not be used.

        Returns
        -------
        object
            By default a fresh state that has answered the same requests.
        """
        state = self.open()
        if state is not None:
            for request in requests:
                self.get_data(state, request)
        return state
