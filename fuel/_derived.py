"""Properties that an instance may override by assigning to them."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ['derived']

if TYPE_CHECKING:
    derived = property
else:
    class derived:
        """A property without a setter, so that an assignment puts a value in front of it.

        Programs assign to attributes that are computed here, such as ``num_examples``, before they
        call the constructor of the base class and after it.
        """

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            return self if instance is None else self.function(instance)
