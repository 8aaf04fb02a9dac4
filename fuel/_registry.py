"""The built-in data sets by name, and what each of them is, in a few words."""
from __future__ import annotations

import importlib
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, TypeAlias

__all__ = ['BUILT_IN', 'BY_HAND', 'OWN_FILES', 'FillSubparser', 'commands_for', 'filled_later']

FillSubparser: TypeAlias = Callable[[ArgumentParser], Callable[..., Any]]

BUILT_IN = MappingProxyType({
    'adult': 'who earns more than 50 000 dollars (census data)',
    'binarized_mnist': 'handwritten digits in black and white',
    'caltech101_silhouettes': 'outlines of objects of 101 kinds',
    'celeba': 'faces of celebrities, with 40 attributes',
    'cifar10': 'small pictures of 10 kinds',
    'cifar100': 'small pictures of 100 kinds',
    'dogs_vs_cats': 'photographs of dogs and of cats',
    'ilsvrc2010': 'ImageNet challenge of 2010, 1000 kinds',
    'ilsvrc2012': 'ImageNet challenge of 2012, 1000 kinds',
    'iris': 'measurements of 150 flowers of 3 species',
    'mnist': 'handwritten digits',
    'one_billion_word': 'sentences of news, and their vocabulary',
    'svhn': 'house numbers in photographs',
    'youtube_audio': 'the sound of a video',
})

#: Data sets with files that no program can get without more ado, and the pages which have them.
BY_HAND = MappingProxyType({
    'celeba': 'https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html',
    'dogs_vs_cats': 'https://www.kaggle.com/c/dogs-vs-cats',
    'ilsvrc2010': 'https://www.image-net.org/challenges/LSVRC/2010/',
    'ilsvrc2012': 'https://www.image-net.org/challenges/LSVRC/2012/',
})

OWN_FILES = MappingProxyType({
    'images': 'a folder of pictures of yours',
    'arrays': 'arrays of yours, in .npz or .npy files',
    'table': 'a table of yours, in a .csv, .tsv or .parquet file',
    'text': 'text files of yours',
})


#: Files whose names are not those of data sets alone: what makes them.
_COMMANDS = (
    (r'mnist_(float32|float64|bool)', 'mnist', r'mnist --dtype \1'),
    (r'caltech101_silhouettes(16|28)', r'caltech101_silhouettes \1', r'caltech101_silhouettes \1'),
    (r'celeba_(aligned_cropped|64)', 'celeba', r'celeba \1'),
    (r'svhn_format_([12])', r'svhn \1', r'svhn \1'),
    (r'one_billion_word.*', 'one_billion_word', 'one_billion_word'),
)


def commands_for(filename: str) -> tuple[str, str] | None:
    """Return the arguments of ``fuel-download`` and of ``fuel-convert`` that make a file.

    Parameters
    ----------
    filename : str
        The name of the file, without folders and without the ending.

    Returns
    -------
    tuple of str or None
        `None` if it does not belong to a built-in data set, as far as its name tells.
    """
    if filename in BUILT_IN:
        return filename, filename
    for pattern, download, convert in _COMMANDS:
        found = re.fullmatch(pattern, filename)
        if found is not None:
            return found.expand(download), found.expand(convert)
    return None


def filled_later(package: str, names: Iterable[str], command: str
                 ) -> tuple[tuple[str, FillSubparser], ...]:
    """Return pairs of a name and a function that fills a subparser.

    Parameters
    ----------
    package : str
        Has a module of each name with a function ``fill_subparser``. It is imported when the
        function of the pair is called.
    names : iterable of str
        The names.
    command : str
        The command that the subparsers are for.
    """
    return tuple((name, _filled_later(package, name, command)) for name in names)


def _filled_later(package: str, name: str, command: str) -> FillSubparser:
    def fill_subparser(subparser: ArgumentParser) -> Callable[..., Any]:
        module = importlib.import_module(f'{package}.{name}')
        function: Callable[..., Any] = module.fill_subparser(subparser)
        return function

    fill_subparser.__doc__ = f'Declare the arguments of ``{command} {name}``.'
    return fill_subparser
