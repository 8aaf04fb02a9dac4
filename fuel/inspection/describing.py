"""What a chain of streams looks like."""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy

from fuel.exceptions import StateError
from fuel.inspection import drawing
from fuel.inspection.chain import HERE, Link, link_of, name_of, plan_of, told, walk
from fuel.inspection.watching import Watch, stages_in

__all__ = ['Description', 'Node', 'Source', 'describe']


@dataclass(frozen=True)
class Source:
    """A source of a stream.

    Attributes
    ----------
    name : str
        What it is called.
    form : str
        Its dtype and shape, as far as they are known.
    labels : tuple of str or None
        The labels of its axes, where they are known.
    """

    name: str
    form: str = ''
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Node:
    """A stream of a chain, as it is drawn.

    Attributes
    ----------
    name : str
        Its class, with the function that it applies.
    sources : tuple of Source
        What it gives.
    details : tuple of str
        The data set that it reads, and the iteration scheme.
    length : str
        How many examples or batches an epoch has, as far as that is known.
    where : str
        Which engine computes it; empty where there is none.
    below : tuple of Node
        The streams that it wraps.
    """

    name: str
    sources: tuple[Source, ...] = ()
    details: tuple[str, ...] = ()
    length: str = ''
    where: str = ''
    below: tuple[Node, ...] = field(default=())


class Description:
    """A chain of streams, drawn; printed as text.

    In a notebook it is shown as a Mermaid diagram.

    Parameters
    ----------
    node : Node
        The outermost stream.
    """

    def __init__(self, node: Node) -> None:
        self.node = node

    def __str__(self) -> str:
        return drawing.text(self.node)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of {self.node.name}>'

    def mermaid(self) -> str:
        """Return a flow chart in the language of Mermaid, for Markdown pages."""
        return drawing.mermaid(self.node)

    def dot(self) -> str:
        """Return a graph in the language of Graphviz."""
        return drawing.dot(self.node)

    def svg(self) -> str:
        """Return a picture.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        FileNotFoundError
            The program ``dot`` of Graphviz is not installed.
        """
        return drawing.svg(self.dot())

    def _repr_markdown_(self) -> str:
        return f'```mermaid\n{self.mermaid()}\n```'


def describe(data_stream: Any, *, data: bool = False) -> Description:
    """Draw a chain of streams: sources, labels, shapes, lengths, and which engine runs what.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The outermost stream.
    data : bool, optional
        Take a step to see the shapes behind transformers too. After that the stream stands where
        it stood before. By default nothing is read, and shapes are those that the data set tells.

    Returns
    -------
    Description
        Printed as text; has the methods `mermaid`, `dot` and `svg`.

    Raises
    ------
    StateError
        `data` is set, and the stream cannot tell where it stands, so that it could not be put
        back.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import Flatten
    >>> dataset = IndexableDataset({'image': numpy.zeros((10, 8, 8), 'uint8')},
    ...                            axis_labels={'image': ('batch', 'height', 'width')})
    >>> stream = Flatten(DataStream(dataset, iteration_scheme=SequentialScheme(10, 4)))
    >>> print(describe(stream, data=True))
    DataStream: 3 batches, 10 examples
      reads IndexableDataset, 10 examples
      in the order of SequentialScheme, batch_size 4
      image: uint8 (4, 8, 8), batch x height x width
    Flatten: 3 batches, 10 examples
      image: uint8 (4, 64), batch x feature
    """
    link = link_of(data_stream)
    forms = _forms_of_step(data_stream) if data else {}
    return Description(_node(link, forms, _has_engine(link)))


def _has_engine(link: Link) -> bool:
    return any(plan_of(other.stream) is not None for other in walk(link))


def _forms_of_step(stream: Any) -> dict[int, list[str]]:
    """Return the forms of what each stream gives in a step."""
    if not hasattr(stream, 'state_dict'):
        raise StateError(f'{type(stream).__name__} has no state, so that it could not be put back '
                         'to where it stands')
    saved = stream.state_dict()
    # What workers do cannot be seen, so a step of it is done here too.
    plans = [plan_of(other.stream) for other in walk(link_of(stream))]
    tops = [plan.top for plan in plans if plan is not None and plan.num_workers]
    forms: dict[int, list[str]] = {}
    try:
        for top in (stream, *tops):
            watched = Watch(top)
            with watched:
                next(top.get_epoch_iterator(), None)
            forms |= {id(stage.link.stream): stage.forms for stage in stages_in(watched.top)
                      if stage.kind != 'requests' and stage.forms}
    finally:
        stream.load_state_dict(saved)
    return forms


def _node(link: Link, forms: dict[int, list[str]], has_engine: bool) -> Node:
    stream = link.stream
    return Node(name_of(stream), tuple(_sources(link, forms.get(id(stream)) or [])),
                tuple(_details(stream)), _length(stream), _where(link) if has_engine else '',
                tuple(_node(other, forms, has_engine) for other in link.below))


def _where(link: Link) -> str:
    """Say who computes a stream."""
    plan = plan_of(link.stream)
    if plan is not None:
        number = plan.num_workers
        return 'this process, without workers' if not number else (
            f'hands out what {_workers(number)} {"does" if number == 1 else "do"}')
    if link.place == HERE:
        return 'this process'
    engine = type(link.engine).__name__
    number = link.engine.plan.num_workers
    return (f'the worker of {engine}' if link.place != 'workers' or number == 1
            else f'the {number} workers of {engine}')


def _workers(number: int) -> str:
    return f'{number} worker' if number == 1 else f'{number} workers'


def _length(stream: Any) -> str:
    examples = told(lambda: stream.num_examples)
    batches = told(lambda: stream.num_batches)
    is_of_examples = told(lambda: stream.produces_examples)
    kind = 'examples' if is_of_examples else 'batches' if is_of_examples is not None else ''
    counts = [f'{count} {name}' if count != 1 else f'1 {one}'
              for count, name, one in ((None if is_of_examples else batches, 'batches', 'batch'),
                                       (examples, 'examples', 'example')) if count is not None]
    return ', '.join(counts) or kind


def _details(stream: Any) -> Iterator[str]:
    dataset = getattr(stream, 'dataset', None)
    if dataset is not None:
        path = told(lambda: os.path.basename(dataset.path))
        sets = told(lambda: ', '.join(dataset.which_sets))
        count = told(lambda: int(dataset.num_examples))
        yield (f'reads {type(dataset).__name__}' + (f' {sets} of' if sets and path else '')
               + (f' {path}' if path else '') + ('' if count is None else f', {count} examples'))
    scheme = getattr(stream, 'iteration_scheme', None)
    if scheme is not None:
        size = told(lambda: int(scheme.batch_size))
        verb = 'in the order of' if dataset is not None else 'in steps of'
        yield f'{verb} {type(scheme).__name__}' + ('' if size is None else f', batch_size {size}')
    chosen = getattr(stream, '_which_sources', None)
    if chosen is not None:
        yield f'changes {", ".join(map(str, chosen))}'


def _sources(link: Link, forms: list[str]) -> Iterator[Source]:
    stream = link.stream
    names = told(lambda: tuple(stream.sources)) or ()
    labels = told(lambda: dict(stream.axis_labels)) or {}
    if len(forms) != len(names):
        forms = _stored_forms(stream, names)
    for name, form in zip(names, forms, strict=True):
        # Files without labels give empty ones.
        known = tuple([str(label) or '?' for label in labels.get(name) or ()])
        yield Source(str(name), form, known if any(label != '?' for label in known) else None)


def _stored_forms(stream: Any, names: tuple[str, ...]) -> list[str]:
    """Return the forms of what a stream reads, as far as its data set tells them."""
    dataset = getattr(stream, 'dataset', None)
    known: dict[str, str] = {}
    if dataset is not None:
        size = told(lambda: int(stream.iteration_scheme.batch_size))
        is_of_examples = bool(told(lambda: stream.produces_examples))
        for name, shape, dtype in _stored(dataset):
            shape = shape[1:] if is_of_examples else (size, *shape[1:])
            known[name] = _form(dtype, shape)
    return [known.get(name, '') for name in names]


def _stored(dataset: Any) -> list[tuple[str, tuple[int | None, ...], Any]]:
    """Return name, shape and dtype of the sources of a data set that are known."""
    def of_file() -> list[tuple[str, tuple[int | None, ...], Any]]:
        return list(zip(dataset.sources, dataset.source_shapes, dataset.source_dtypes,
                        strict=True))

    def of_memory() -> list[tuple[str, tuple[int | None, ...], Any]]:
        return [(name, entry.shape, entry.dtype)
                for name, entry in zip(dataset.sources, dataset.indexables, strict=True)
                if isinstance(entry, numpy.ndarray)]
    return told(of_file) or told(of_memory) or []


def _form(dtype: Any, shape: tuple[int | None, ...]) -> str:
    if not shape:
        return str(dtype)
    sizes = ', '.join('?' if size is None else str(size) for size in shape)
    return f'{dtype} ({sizes}{"," if len(shape) == 1 else ""})'
