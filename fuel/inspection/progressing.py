"""How far an epoch is."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from fuel.inspection.chain import told
from fuel.utils.progress import ProgressBar, progress_bar

__all__ = ['Progress', 'progress']


def progress(iterator: Any, total: int | None = None, name: str | None = None, *,
             clock: Callable[[], float] = time.monotonic) -> Progress:
    """Show how far an epoch is, while it is iterated over.

    Parameters
    ----------
    iterator : DataIterator, AbstractDataStream or iterable
        An epoch iterator. Of a stream the next epoch is started.
    total : int, optional
        How many steps are left. By default what the length of the stream says, where it is known,
        less the steps that were taken already.
    name : str, optional
        What to call it; by default the number of the epoch.
    clock : callable, optional
        Gives the time in seconds; for tests.

    Returns
    -------
    Progress
        An iterator over the same data. It has the attributes of the epoch iterator too.

    Notes
    -----
    Where standard error is a terminal a bar is drawn there. Elsewhere a line goes to the logger
    ``fuel.utils.progress`` every ten seconds and at the end.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> stream = DataStream(IndexableDataset([1, 2, 3]), iteration_scheme=SequentialScheme(3, 2))
    >>> for batch, in progress(stream.get_epoch_iterator()):
    ...     print(batch)
    [1, 2]
    [3]
    """
    if hasattr(iterator, 'get_epoch_iterator'):
        iterator = iterator.get_epoch_iterator()
    return Progress(iter(iterator), total, name, clock)


class _BrokenOff(Exception):
    """Tells a bar that the epoch is not over."""


class Progress(Iterator[Any]):
    """Iterates over what another iterator gives, and shows how far it is.

    The bar comes with the first step, and goes with the last one, with `close`, or at the end of a
    ``with`` statement. Made by `progress`.

    Attributes
    ----------
    iterator : iterator
        The iterator. Its attributes, such as `epoch`, `step` and `state_dict`, can be asked for
        here as well.
    """

    def __init__(self, iterator: Iterator[Any], total: int | None = None, name: str | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.iterator = iterator
        self._total = total
        self._name = name
        self._clock = clock
        self._count = 0
        self._stack: ExitStack | None = None
        self._bar: ProgressBar | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__') or name == 'iterator':  # while it is copied
            raise AttributeError(name)
        return getattr(self.iterator, name)

    def __getstate__(self) -> dict[str, Any]:
        # The bar belongs to this process; what is loaded draws one of its own.
        return {**self.__dict__, '_count': 0, '_stack': None, '_bar': None,
                '_total': None if self._total is None else self._total - self._count}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __next__(self) -> Any:
        if self._bar is None:
            self._bar = self._started()
        try:
            data = next(self.iterator)
        except StopIteration:
            self._leave(None)
            raise
        except BaseException as error:
            self._leave(error)
            raise
        self._count += 1
        self._bar.update(self._count)
        return data

    def _started(self) -> ProgressBar:
        stream = getattr(self.iterator, 'data_stream', None)
        step = getattr(self.iterator, 'step', 0)
        epoch = getattr(self.iterator, 'epoch', None)
        examples = None if stream is None else told(lambda: stream.produces_examples)
        units = {None: 'steps', True: 'examples', False: 'batches'}[examples]
        total = self._total
        if total is None and stream is not None:
            length = told(lambda: len(stream))
            total = None if length is None else max(length - step, 0)
        name = self._name
        if name is None:
            name = 'Taking steps' if epoch is None else f'Epoch {epoch}'
            if step:
                name += f' after {step} {units}'
        self._stack = ExitStack()
        kind, _, rest = name.partition(' ')
        return self._stack.enter_context(
            progress_bar(rest, total, kind, unit=units, clock=self._clock))

    def close(self) -> None:
        """Take the bar away. The next step would draw a new one."""
        self._leave(_BrokenOff())

    def _leave(self, error: BaseException | None) -> None:
        stack, self._stack, self._bar = self._stack, None, None
        if self._total is not None:
            self._total -= self._count
        self._count = 0
        if stack is not None:
            stack.__exit__(None if error is None else type(error), error, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if self.__dict__.get('_stack') is not None:
            self.close()
