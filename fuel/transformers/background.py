"""Streams that are worked on by other processes, or by threads."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fuel.engine.desk import Pool
from fuel.engine.options import Options, process_pool, thread_pool
from fuel.engine.starting import context_of, cores_of
from fuel.transformers.engined import EngineTransformer

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

__all__ = ['MultiProcessing', 'MultiThreading']


class MultiProcessing(EngineTransformer):
    """Has the work of a stream done by processes, ahead of the program.

    What comes out is what the wrapped stream gives, bit for bit and in its order, for any number
    of processes; and so is its state. Requests are drawn here, and handed to the workers, which
    read the data set and apply the transformers that give one step for each. Transformers that
    look at several steps, such as `Batch` or `Filter`, are applied here; with one worker the
    whole chain runs in it instead. Data come back through shared memory.

    Workers are fresh interpreters, which do not run the program's script, so that it needs no
    ``if __name__ == '__main__'``. Functions and classes of the script are sent to them.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    max_store : int, optional
        How many examples, or batches, may be kept ahead of the program. By default 100.
    num_workers : int, optional
        How many processes; 0 to do everything in this one. By default 1.
    prefetch_factor : int, optional
        How many tasks, a batch each or several examples, each worker is ahead of the program. By
        default as many as have 24 MiB together, from 2 to 12 for each worker.
    persistent_workers : bool, optional
        Keep the workers from epoch to epoch. By default they end with the epoch.
    worker_init_fn : callable, optional
        Called in each worker with its number, from 0, before its first task.
    timeout : float, optional
        How many seconds to wait for a step at most. By default 0, for ever.
    multiprocessing_context : str or multiprocessing context, optional
        How workers are started: ``'fork'``, ``'spawn'`` or ``'forkserver'``. By default as fresh
        interpreters.
    in_order : bool, optional
        Give data in the order of the wrapped stream. With ``False`` as soon as any are ready.
    cpu_affinity : sequence of int or of sequences of int, optional
        The cores of each worker, in turn. By default all.
    max_bytes : int or str, optional
        How much data may be ahead of the program, such as ``'512 MB'``; a single task may have
        more. By default 1 GiB.
    hand_out : {'copy', 'borrow'}, optional
        Arrays belong to the caller for good, the default, or are valid until the next step only.
    whole_chain : bool, optional
        Run the whole chain in one worker. By default where there is one worker and a part of the
        chain has to be computed in one place; with ``False`` never.
    restart_workers : bool, optional
        Replace a worker that ended, and have its tasks done again. By default it is an error.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        An argument is out of range, or the chain cannot be shared by so many workers. The message
        says which stream stands in the way, and what to do.
    TypeError
        When workers are started: something in the chain cannot be sent to them. The message names
        transformer and attribute.
    WorkerLostError
        During the iteration: a worker was killed, or has ended. A ``RuntimeError``.
    WorkerTimeoutError
        During the iteration: a step took longer than `timeout`. The message shows where the
        worker stands. A ``TimeoutError``.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import MultiProcessing, ScaleAndShift
    >>> dataset = IndexableDataset({'x': numpy.arange(6.)})
    >>> halves = ScaleAndShift(DataStream(dataset, iteration_scheme=SequentialScheme(6, 3)),
    ...                        scale=0.5, shift=0.)
    >>> with MultiProcessing(halves, num_workers=2) as stream:
    ...     for batch in stream.get_epoch_iterator():
    ...         print(batch)
    (array([0. , 0.5, 1. ]),)
    (array([1.5, 2. , 2.5]),)
    """

    _in_place = False

    def __init__(self, data_stream: Any, max_store: int = 100, num_workers: int = 1, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False,
                 worker_init_fn: Callable[[int], Any] | None = None, timeout: float = 0,
                 multiprocessing_context: str | BaseContext | None = None, in_order: bool = True,
                 cpu_affinity: Sequence[int | Sequence[int]] | None = None,
                 max_bytes: int | str = '1 GiB', hand_out: str = 'copy',
                 whole_chain: bool | None = None, restart_workers: bool = False,
                 **kwargs: Any) -> None:
        options = Options.of(
            type(self).__name__, max_store=max_store, num_workers=num_workers,
            prefetch_factor=prefetch_factor, persistent_workers=persistent_workers,
            timeout=timeout, in_order=in_order, max_bytes=max_bytes, hand_out=hand_out,
            whole_chain=whole_chain, restart_workers=restart_workers)
        context_of(multiprocessing_context)
        cores_of(cpu_affinity, num_workers)
        if worker_init_fn is not None and not callable(worker_init_fn):
            raise TypeError(f'{type(self).__name__}: expected worker_init_fn to be a function of '
                            f'the number of a worker; got {worker_init_fn!r}')
        self._process_options = {'context': multiprocessing_context,
                                 'worker_init_fn': worker_init_fn, 'cpu_affinity': cpu_affinity}
        super().__init__(data_stream, options, **kwargs)

    def _pool_maker(self) -> Callable[[Any, int], Pool]:
        return process_pool(self._options.max_bytes, itertools.count(), **self._process_options)


class MultiThreading(EngineTransformer):
    """Has the work of a stream done by threads, ahead of the program.

    As `MultiProcessing`, but with threads of this process. They start at once, share all objects,
    and nothing has to be sent; but only what releases Python's global lock runs side by side:
    reading, decoding, numpy's and this library's work on large arrays. Transformers must stand to
    be used by several threads.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    max_store, num_workers, prefetch_factor, persistent_workers
        As for `MultiProcessing`.
    timeout, in_order, max_bytes, whole_chain
        As for `MultiProcessing`.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        An argument is out of range, or the chain cannot be shared by so many workers.
    WorkerTimeoutError
        During the iteration: a step took longer than `timeout`. A ``TimeoutError``.
    """

    _in_place = True

    def __init__(self, data_stream: Any, max_store: int = 100, num_workers: int = 1, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False,
                 timeout: float = 0, in_order: bool = True, max_bytes: int | str = '1 GiB',
                 whole_chain: bool | None = None, **kwargs: Any) -> None:
        options = Options.of(
            type(self).__name__, max_store=max_store, num_workers=num_workers,
            prefetch_factor=prefetch_factor, persistent_workers=persistent_workers,
            timeout=timeout, in_order=in_order, max_bytes=max_bytes, hand_out='copy',
            whole_chain=whole_chain, restart_workers=False)
        super().__init__(data_stream, options, **kwargs)

    def _pool_maker(self) -> Callable[[Any, int], Pool]:
        return thread_pool
