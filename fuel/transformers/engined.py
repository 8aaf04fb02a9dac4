"""The base of streams that are worked on by others, and the iterator over their epochs."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, ClassVar, Self

from fuel._derived import derived
from fuel._types import Batch, Request, State
from fuel.engine.chained import ChainIterator
from fuel.engine.desk import Pool
from fuel.engine.options import Options, new_engine
from fuel.engine.plan import Plan, make_plan
from fuel.engine.sessions import Engine, Session
from fuel.engine.unordered import given_of, ordered_part, state_in_any_order
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EpochCursor, by_source
from fuel.schemes.requests import NoRequests
from fuel.streams.spreading import InForce
from fuel.transformers.base import Transformer

__all__ = ['EngineIterator', 'EngineTransformer']


class EngineIterator(DataIterator):
    """Iterates over one epoch of a stream that is worked on by others.

    Several threads may draw from it: each gets data that no other gets.
    """

    def __init__(self, data_stream: Any, child: Any, as_dict: bool,
                 session: Session | None) -> None:
        cursor = getattr(child, 'cursor', None)
        self._counts = cursor is None
        super().__init__(data_stream, as_dict=as_dict,
                         cursor=EpochCursor(0, NoRequests()) if cursor is None else cursor)
        self.child = child
        self._take_on(session)

    def _take_on(self, session: Session | None) -> None:
        self._session = session
        self._lock = threading.RLock()
        if session is not None:
            weakref.finalize(self, session.close)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state['_session'], state['_lock']
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._take_on(self.data_stream.new_session())

    def _is_superseded(self) -> bool:
        return False

    def __next__(self) -> Any:
        with self._lock, InForce(self._session):
            try:
                data = next(self.child)
            except StopIteration:
                self.cursor.finished = True
                if self._session is not None:
                    self._session.close()
                raise
            if self._counts:
                self.cursor.requests.skip(1)
        return by_source(self.data_stream, data) if self.as_dict else data

    def state_dict(self) -> dict[str, Any]:
        """Return where this iterator stands, as plain data: the state of the wrapped stream."""
        with self._lock:
            return self.data_stream.state_of(self)  # type: ignore[no-any-return]


class EngineTransformer(Transformer):
    """A stream whose work is done by workers of some kind.

    Attributes
    ----------
    plan : Plan
        Which part of the chain is worked on where.
    thread_safe : bool
        Several threads may draw from one epoch iterator.
    """

    thread_safe: ClassVar[bool] = True
    #: Whether workers use the very objects that the program has.
    _in_place: ClassVar[bool]

    def __init__(self, data_stream: Any, options: Options, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self._options = options
        # Steps of an epoch to be taken up that were handed out before their time.
        self._given: tuple[int, ...] = ()
        self._engine: Engine | None = None
        # Said at once, if it is wrong.
        self.plan: Plan = self._make_plan(warn=True)

    def _make_plan(self, warn: bool = False) -> Plan:
        options = self._options
        return make_plan(self, self.data_stream, options.num_workers,
                         whole_chain=options.whole_chain, in_order=options.in_order, warn=warn)

    def _pool_maker(self) -> Callable[[Any, int], Pool]:
        """Return what starts workers. It must not know this object."""
        raise NotImplementedError

    def new_session(self, beyond: Iterable[int] = ()) -> Session | None:
        """Return what the iterators of one epoch share; `None` where there are no workers."""
        self.plan = plan = self._make_plan()
        if plan.mode == 'here':
            return None
        if self._engine is None:
            self._engine = new_engine(self._options, self._pool_maker())
            weakref.finalize(self, self._engine.close)
        return Session(self._engine, plan, beyond)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_engine': None}

    @property
    def lends_data(self) -> bool:
        """Whether data are valid until the next ones only."""
        return self._options.hand_out == 'borrow'

    @property
    def num_workers(self) -> int:
        """How many workers there are; 0 for none, all is done here then."""
        return self._options.num_workers

    @property
    def worker_seconds(self) -> float:
        """How many seconds workers were at work so far, all together."""
        return 0.0 if self._engine is None else self._engine.tally.seconds

    @derived
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return self.data_stream.num_examples  # type: ignore[no-any-return]

    @derived
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return self.data_stream.num_batches  # type: ignore[no-any-return]

    def output_axis_labels(self, labels: Any) -> Any:
        """Leave the labels as they are."""
        return dict(labels)

    # Reading.

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        EngineIterator
            Independent of other iterators over this stream, if those of the wrapped stream are.
            Workers that are not persistent end with it.
        """
        self._catch_up()
        session = self.new_session(self._given)
        if self._given and (session is None or self.plan.mode != 'requests'):
            raise StateError(f'{type(self).__name__}: the state was saved in the middle of an '
                             'epoch whose data were handed out in any order (in_order=False); to '
                             'go on with it takes at least one worker, and no whole_chain=True')
        self._given = ()
        child: Any
        if session is not None and self.plan.mode == 'chain':
            child = ChainIterator(self.data_stream, self.data_stream.get_epoch_iterator(), session,
                                  in_place=self._in_place)
        else:
            with InForce(session):
                child = self.data_stream.get_epoch_iterator()
        self.child_epoch_iterator = child
        return EngineIterator(self, child, as_dict, session)

    def _catch_up(self) -> None:
        """Bring a chain that runs in a worker to where the program has got with it."""
        child = self.child_epoch_iterator
        if not isinstance(child, ChainIterator) or not child.moved:
            return
        child.settle()
        try:
            state = child.state_dict()
        except StateError:
            return
        self.data_stream.load_state_dict(state)
        if not child.cursor.finished:
            # The epoch was broken off: it is begun here, and broken off too.
            self.data_stream.get_epoch_iterator()

    def get_data(self, request: Request = None) -> Batch:
        """Return the next data of the newest epoch.

        Parameters
        ----------
        request : None
            Engines take no requests.

        Returns
        -------
        tuple
            One item for every source.
        """
        if request is not None or self.child_epoch_iterator is None:
            return super().get_data(request)
        with InForce(getattr(self.child_epoch_iterator, 'session', None)):
            return next(self.child_epoch_iterator)

    def close(self) -> None:
        """End the workers, and close the wrapped stream. Whoever goes on starts them again."""
        if self._engine is not None:
            self._engine.close()
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def spread_obstacle(self) -> str | None:
        """Say why the steps of this stream cannot be computed one by one by others."""
        return f'{type(self).__name__} has workers of its own'

    # Where it stands. An engine leaves no trace in a state, which is that of the wrapped stream.

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the chain as one of its epoch iterators sees it."""
        child = iterator.child if isinstance(iterator, EngineIterator) else None
        if child is None or not hasattr(child, 'state_dict'):
            return self.data_stream.state_dict()  # type: ignore[no-any-return]
        return state_in_any_order(child)

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data.

        Returns
        -------
        dict
            The state of the wrapped stream, which can be loaded into that stream too, and into
            any other engine around it. With ``in_order=False`` the state in the middle of an epoch
            can be loaded into engines only.

        Raises
        ------
        StateError
            A part of the chain keeps something that it cannot put into plain data.
        """
        child = self.child_epoch_iterator
        if self._given or child is None or self.data_stream._loaded_state is not None or (
                not hasattr(child, 'state_dict')):
            return ordered_part(self.data_stream.state_dict(), self._given)
        if isinstance(child, ChainIterator):
            return child.state_dict()
        return state_in_any_order(child, self.data_stream)

    def checked_state(self, state: Any) -> State:
        """Return a copy of a state, after checking that it can be loaded."""
        given, inner = given_of(state)
        return ordered_part(self.data_stream.checked_state(inner), given)

    def load_state_dict(self, state: State) -> None:
        """Go on from a state: the next call of `get_epoch_iterator` gives what was left.

        Parameters
        ----------
        state : dict
            What `state_dict` returned: of this stream, of the wrapped one, or of another engine
            around it.

        Raises
        ------
        StateError
            The state belongs to another chain.
        """
        given, inner = given_of(state)
        self.data_stream.load_state_dict(inner)
        self._given = given
        self.child_epoch_iterator = None
        self.epoch_cursor = None

    def refreshed(self, state: State) -> State:
        """Return a state with what it says of other epochs as it is now."""
        given, inner = given_of(state)
        return ordered_part(self.data_stream.refreshed(inner), given)
