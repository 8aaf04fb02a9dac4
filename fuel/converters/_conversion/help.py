"""The help of a command that has examples in it, and arguments that are lists of names."""
from __future__ import annotations

import argparse
import csv
import textwrap

__all__ = ['add_examples', 'names_from_text']


def add_examples(subparser: argparse.ArgumentParser, description: str, examples: str) -> None:
    """Say in the help of a command what it does, and show examples of it.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert NAME``.
    description : str
        Paragraphs.
    examples : str
        Shown as they are.
    """
    subparser.description = '\n\n'.join(textwrap.fill(' '.join(paragraph.split()), 78)
                                        for paragraph in description.split('\n\n'))
    subparser.epilog = f'examples:\n{textwrap.indent(textwrap.dedent(examples).strip(), "  ")}'


def names_from_text(text: str) -> list[str]:
    """Return names that are divided by commas; one with a comma in it stands between quotes.

    Where the locale says nothing about letters, Python leaves the bytes of others than ASCII as
    lone surrogates. They are taken for UTF-8 here, as in files.

    Raises
    ------
    ArgumentTypeError
        A name is empty.
    """
    text = text.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')
    names = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row]
    if not names or not all(names):
        raise argparse.ArgumentTypeError(f'expected names divided by commas; got {text!r}')
    return names
