"""What transformers say of the kind of their data where there is no choice."""
from __future__ import annotations

from typing import Any

__all__ = ['with_fixed_kind']


def with_fixed_kind(owner: object, options: dict[str, Any], examples: bool) -> dict[str, Any]:
    """Return keyword arguments without `produces_examples`, after checking its only value."""
    if options.get('produces_examples') not in (None, examples):
        raise ValueError(f'{type(owner).__name__} produces {"examples" if examples else "batches"}'
                         f'; got produces_examples={options["produces_examples"]!r}')
    return {name: value for name, value in options.items() if name != 'produces_examples'}
