"""What the help of the commands says about the raw files of a data set."""
from __future__ import annotations

import textwrap
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence

from fuel.downloaders._names import name_from_path
from fuel.utils.progress import format_amount

__all__ = ['describe_variants', 'raw_files_text']


def raw_files_text(subparser: ArgumentParser) -> str:
    """Say which raw files a data set has, and how large they are.

    Parameters
    ----------
    subparser : ArgumentParser
        That of ``fuel-download NAME``, with everything declared that is to be declared.

    Returns
    -------
    str
        The text at its end, if there is one; otherwise what its defaults ``urls``,
        ``filenames``, ``sizes`` and ``home`` tell. Empty if they tell nothing.
    """
    if subparser.epilog is not None:
        return subparser.epilog
    names, urls, sizes = (subparser.get_default(what) for what in ('filenames', 'urls', 'sizes'))
    if not names or not urls or len(names) != len(urls):
        return ''
    known = [name or _name_of(url) for name, url in zip(names, urls, strict=True)]
    home = subparser.get_default('home')
    return _line('raw files', zip(known, sizes or [None] * len(known), strict=False)) + (
        f'\nhome: {home}' if home else '')


def describe_variants(subparser: ArgumentParser, variants: Mapping[str, Iterable[str]]) -> None:
    """Say in the help of a downloader which raw files belong to which variant of a data set.

    Parameters
    ----------
    subparser : ArgumentParser
        Its parser.
    variants : mapping
        From descriptions of variants to the names of files.
    """
    subparser.epilog = '\n'.join(_line(f'raw files of {what}', ((name, None) for name in names))
                                 for what, names in variants.items())


def _name_of(url: str | Sequence[str] | None) -> str:
    """Return the name at the end of an address, or of the first of several."""
    choices = [url] if isinstance(url, str) else list(url or ())
    return next(filter(None, map(name_from_path, choices)), 'a file that its server names')


def _line(what: str, files: Iterable[tuple[str, int | None]]) -> str:
    amounts = ((name, None if size is None else format_amount(size, 'B').replace(' ', '\xa0'))
               for name, size in files)
    text = ', '.join(name if amount is None else f'{name} ({amount})' for name, amount in amounts)
    # Lines do not break between a number and its unit.
    return textwrap.fill(f'{what}: {text}', 78, subsequent_indent='  ', break_long_words=False,
                         break_on_hyphens=False).replace('\xa0', ' ')
