"""What stands at the end of the help of a data set: its raw files, and the file made of them."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from fuel._registry import BUILT_IN, FillSubparser

__all__ = ['of_conversion', 'of_download']


def of_download(subparser: argparse.ArgumentParser) -> str:
    """Return the end of the help of ``fuel-download NAME``."""
    from fuel.downloaders._files import raw_files_text
    return raw_files_text(subparser)


def of_conversion(name: str, built_in: bool) -> Callable[[argparse.ArgumentParser], str]:
    """Return a function that gives the end of the help of ``fuel-convert NAME``.

    Parameters
    ----------
    name : str
        The name of the data set.
    built_in : bool
        Whether its converter is the built-in one, which reads what the built-in downloader gets.
    """
    def ending(subparser: argparse.ArgumentParser) -> str:
        lines = []
        if built_in and name in BUILT_IN:
            from fuel.downloaders import all_downloaders
            from fuel.downloaders._files import raw_files_text
            parser = argparse.ArgumentParser()
            fill_subparser: FillSubparser = dict(all_downloaders)[name]
            fill_subparser(parser)
            lines.append(raw_files_text(parser))
        output = _output(name if built_in else '', subparser.get_default('fuel_function'))
        if output:
            lines.append(f'output: {output}')
        return '\n'.join(lines)

    return ending


def _output(name: str, function: Callable[..., Any] | None) -> str | None:
    """Return what the converted file is called by default, as far as it is known."""
    from fuel.bin._conversion import usual_name
    from fuel.datasets._names import NAMES
    usual = None if function is None else usual_name(function)
    if usual is not None or name not in NAMES:
        return usual
    named = NAMES[name]
    values = named.variants or (named.argument.rpartition('_')[2].upper(),)
    files = [named.filename.format(**{named.argument: value}) for value in values]
    return ' or '.join(dict.fromkeys(files))
