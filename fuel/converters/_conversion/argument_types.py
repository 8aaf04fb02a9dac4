"""Kinds of values that options of the converters take."""
from __future__ import annotations

from argparse import ArgumentTypeError

__all__ = ['at_least_one']


def at_least_one(text: str) -> int:
    """Return an integer of at least 1, for a word of the command line.

    Raises
    ------
    ArgumentTypeError
        It is none.
    """
    if not (text.isascii() and text.isdigit()) or not int(text):
        raise ArgumentTypeError(f'expected an integer of at least 1; got {text!r}')
    return int(text)
