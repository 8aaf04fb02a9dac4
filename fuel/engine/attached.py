"""What epoch iterators that get their data from workers have in common."""
from __future__ import annotations

from typing import Any

from fuel.exceptions import StateError
from fuel.iterator import DataIterator
from fuel.streams.spreading import in_force

__all__ = ['AttachedIterator']


class AttachedIterator(DataIterator):
    """Iterates over one epoch with the help of an engine."""

    _session: Any = None
    # The parcel whose data are valid until the next step only, where that was asked for.
    _lent: Any = None

    @property
    def session(self) -> Any:
        """The epoch of the engine that this iterator belongs to."""
        if self._session is None:
            self._session = in_force.spreader
            if self._session is None:
                raise StateError('this iterator belongs to an engine; draw from the iterator of '
                                 'the MultiProcessing or MultiThreading around it')
            self._session.attend(self)
        return self._session

    def _is_superseded(self) -> bool:
        return False

    def _give_back(self) -> None:
        """Give back the memory of a parcel, when the last step of it was used."""
        self._lent, lent = None, self._lent
        if lent is not None:
            lent.release()
