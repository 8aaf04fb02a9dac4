"""Axis-label algebra: pure functions from the labels of a parent to labels of its child.

Axis labels are a mapping from source name to a tuple with a label for each axis, or ``None``
where the labels of a source are not known. The mapping itself may be ``None`` too.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from fuel._types import AxisLabels

__all__ = ['BATCH', 'Labels', 'batched', 'changed', 'selected', 'unbatched']

BATCH = 'batch'

Labels: TypeAlias = tuple[str, ...] | None


def changed(labels: AxisLabels | None, change: Callable[[str, tuple[str, ...]], Labels],
            sources: Iterable[str]) -> dict[str, Labels] | None:
    """Return labels with those of some sources changed.

    Parameters
    ----------
    labels : mapping or None
        The labels of the parent; left as they are.
    change : callable
        Called with the name and the labels of a source, gives its new labels. Not called for
        sources whose labels are unknown; they stay unknown.
    sources : iterable of str
        The sources to change. Others keep their labels.

    Returns
    -------
    dict or None
    """
    if labels is None:
        return None
    sources = frozenset(sources)
    return {name: change(name, axes) if name in sources and axes is not None else axes
            for name, axes in labels.items()}


def selected(labels: AxisLabels | None, sources: Iterable[str]) -> dict[str, Labels] | None:
    """Return the labels of the given sources only, as far as they are known."""
    if labels is None:
        return None
    return {name: labels[name] for name in sources if name in labels}


def unbatched(labels: AxisLabels | None) -> dict[str, Labels] | None:
    """Return the labels of single examples, given those of batches: no batch axis."""
    return changed(labels, lambda _, axes: tuple(axis for axis in axes if axis != BATCH),
                   labels or ())


def batched(labels: AxisLabels | None) -> dict[str, Labels] | None:
    """Return the labels of batches, given those of single examples: a batch axis in front."""
    return changed(labels, lambda _, axes: (BATCH, *axes), labels or ())
