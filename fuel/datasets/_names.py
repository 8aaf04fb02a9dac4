"""The built-in data sets by the names that the commands have for them."""
from __future__ import annotations

import importlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ['NAMES', 'NamedSet', 'by_command', 'by_name', 'converter_of']

_COMMANDS = ('fuel-convert', 'fuel-convert.exe', 'fuel_convert.py', 'fuel-convert-script.py')


@dataclass(frozen=True, slots=True)
class NamedSet:
    """Where the class of a built-in data set is, and what tells its variants from each other.

    Attributes
    ----------
    module, class_name : str
        The class.
    filename : str
        The file that ``fuel-convert`` makes, with the argument in braces; empty if the data set
        has no such file.
    argument : str
        The argument of the class, and of ``fuel-convert``, that chooses a variant; empty if there
        are none.
    variants : tuple
        Its values; empty if they cannot be told.
    default : object
        The value where none is given; `None` if one must be.
    has_splits : bool
        Whether the class takes `which_sets`.
    """

    module: str
    class_name: str
    filename: str
    argument: str = ''
    variants: tuple[Any, ...] = ()
    default: Any = None
    has_splits: bool = True

    def load(self) -> Any:
        """Return the class."""
        return getattr(importlib.import_module(f'fuel.datasets.{self.module}'), self.class_name)

    def variant(self, text: str) -> dict[str, Any] | None:
        """Return the argument that some text stands for; `None` if it stands for none."""
        found = [value for value in self.variants if str(value) == text]
        return {self.argument: found[0]} if found else None


def _plain(name: str, class_name: str, module: str = '') -> NamedSet:
    return NamedSet(module or name, class_name, f'{name}.hdf5')


NAMES: Mapping[str, NamedSet] = MappingProxyType({
    'adult': _plain('adult', 'Adult'),
    'binarized_mnist': _plain('binarized_mnist', 'BinarizedMNIST'),
    'caltech101_silhouettes': NamedSet(
        'caltech101_silhouettes', 'CalTech101Silhouettes', 'caltech101_silhouettes{size}.hdf5',
        'size', (16, 28), 28),
    'celeba': NamedSet('celeba', 'CelebA', 'celeba_{which_format}.hdf5', 'which_format',
                       ('aligned_cropped', '64')),
    'cifar10': _plain('cifar10', 'CIFAR10'),
    'cifar100': _plain('cifar100', 'CIFAR100'),
    'dogs_vs_cats': _plain('dogs_vs_cats', 'DogsVsCats'),
    'ilsvrc2010': _plain('ilsvrc2010', 'ILSVRC2010', 'imagenet'),
    'ilsvrc2012': _plain('ilsvrc2012', 'ILSVRC2012', 'imagenet'),
    'iris': _plain('iris', 'Iris'),
    'mnist': _plain('mnist', 'MNIST'),
    'one_billion_word': NamedSet('text', 'OneBillionWord', '', has_splits=False),
    'spiral': NamedSet('toy', 'Spiral', '', has_splits=False),
    'svhn': NamedSet('svhn', 'SVHN', 'svhn_format_{which_format}.hdf5', 'which_format', (1, 2)),
    'swiss_roll': NamedSet('toy', 'SwissRoll', '', has_splits=False),
    'youtube_audio': NamedSet('youtube_audio', 'YouTubeAudio', '{youtube_id}.hdf5', 'youtube_id',
                              has_splits=False),
})


def by_name(name: str) -> tuple[NamedSet, dict[str, Any]] | None:
    """Return the data set of a name, such as ``'mnist'``, ``'celeba_64'`` or ``'svhn_2'``.

    Parameters
    ----------
    name : str
        The name for ``fuel-convert``, or with a variant behind it.

    Returns
    -------
    NamedSet, dict
        The data set, and what the name says about arguments; `None` if there is no such name.
    """
    if name in NAMES:
        return NAMES[name], {}
    for known, named in NAMES.items():
        if name.startswith(known):
            chosen = named.variant(name[len(known):].removeprefix('_format').removeprefix('_'))
            if chosen is not None:
                return named, chosen
    return None


def converter_of(command: str) -> tuple[str, list[str]] | None:
    """Return the name of the converter in a call of ``fuel-convert``, and what follows it.

    Parameters
    ----------
    command : str
        What was typed, as files have it in the attribute ``fuel_convert_command``.

    Returns
    -------
    str, list of str
        `None` if it is another command.
    """
    try:
        words = shlex.split(command)
    except ValueError:                          # quotes are lost in it
        words = command.split()
    if len(words) < 2 or os.path.basename(words[0]) not in _COMMANDS:
        return None
    return words[1], words[2:]


def by_command(command: str) -> tuple[NamedSet, dict[str, Any]] | None:
    """Return the data set that a call of ``fuel-convert`` has made.

    Parameters
    ----------
    command : str
        What was typed, as files have it in the attribute ``fuel_convert_command``.

    Returns
    -------
    NamedSet, dict
        The data set and its arguments; `None` if it is no built-in one.
    """
    called = converter_of(command)
    if called is None or called[0] not in NAMES:
        return None
    named, words = NAMES[called[0]], called[1]
    if not named.filename:
        return None
    if not named.argument:
        return named, {}
    if not named.variants:
        option = f'--{named.argument.replace("_", "-")}'
        for word, following in zip(words, [*words, ''][1:], strict=True):
            if word.startswith(f'{option}=') or word == option:
                return named, {named.argument: word.partition('=')[2] or following}
        return None
    for word in words:
        chosen = named.variant(word)
        if chosen is not None:
            return named, chosen
    return None
