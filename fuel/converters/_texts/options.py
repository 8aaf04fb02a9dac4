"""The command line options of ``fuel-convert text``."""
from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from fuel.converters._conversion.argument_types import at_least_one
from fuel.converters._conversion.help import add_examples
from fuel.converters._conversion.storage import add_storage_options
from fuel.converters._division.options import add_shares_options

__all__ = ['DTYPES', 'MARKERS', 'add_text_options']

#: What numbers can be stored as; the first two are chosen from if nothing is asked for.
DTYPES = ('uint16', 'uint32', 'uint8', 'int16', 'int32', 'int64')
#: The special tokens, by the name of the option.
MARKERS = {'bos': '<S>', 'eos': '</S>', 'unk': '<UNK>'}

_DESCRIPTION = '''
Turn texts into numbers. Every line becomes an example, a list of numbers, one for each of its
words or characters. The vocabulary, which says what the numbers stand for, is made from the
texts, or given, and is kept in the file.

Files compressed by gzip are read as they are. The numbers are those that TextFile gives for the
same vocabulary.
'''
_EXAMPLES = '''
fuel-convert text novel.txt --lower --min-count 2
fuel-convert text wiki*.txt.gz --max-size 50000 --valid-fraction 0.05
fuel-convert text --split train=a.txt b.txt --split valid=c.txt
fuel-convert text names.txt --level character -r names
fuel-convert text new.txt --vocabulary text.hdf5 -r new
'''
_PURPOSES = {'bos': 'put before every line', 'eos': 'put after every line',
             'unk': 'that stands for those that are not in the vocabulary'}


class _SplitAction(Action):
    """Collects splits and their files in a dict."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace,
                 values: str | Sequence[Any] | None, option_string: str | None = None) -> None:
        first, *others = list(values or [''])
        name, equals, file = first.partition('=')
        if not (name and equals and file):
            raise ArgumentError(self, 'expected the name of a split and its files, such as '
                                      f'valid=more.txt; got {first!r}')
        splits = dict(getattr(namespace, self.dest) or {})
        if name in splits:
            raise ArgumentError(self, f'the split {name!r} is there already; name all its files '
                                      'at once')
        setattr(namespace, self.dest, {**splits, name: [file, *others]})


def add_text_options(subparser: ArgumentParser) -> None:
    """Declare the arguments of ``fuel-convert text``.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of that command.
    """
    add_examples(subparser, _DESCRIPTION, _EXAMPLES)
    subparser.add_argument('files', nargs='*', metavar='FILE',
                           help='a text, looked for in the folder of -d; together they are the '
                                'split train')
    subparser.add_argument('--split', nargs='+', action=_SplitAction, dest='splits', default=None,
                           metavar=('NAME=FILE', 'FILE'),
                           help='files of another split; can be given several times')
    add_shares_options(subparser, 'which lines are chosen')
    group = subparser.add_argument_group('how lines become numbers')
    group.add_argument('--level', choices=('word', 'character'), default='word',
                       help='what to divide a line into: words at white space, or characters')
    group.add_argument('--lower', action='store_true', help='make all letters small first')
    group.add_argument('--encoding', default=None,
                       help='how the texts are encoded; UTF-8 if not given')
    group.add_argument('--vocabulary', default=None, metavar='FILE',
                       help='take the numbers from a file: JSON, a text with a token on every '
                            'line, or an HDF5 file made by this command; if not given, a '
                            'vocabulary is made from the split train')
    group.add_argument('--min-count', type=at_least_one, default=1, metavar='NUMBER',
                       help='how often a token must stand in the split train to get a number of '
                            'its own')
    group.add_argument('--max-size', type=at_least_one, default=None, metavar='NUMBER',
                       help='how many tokens get a number at most, the most frequent first; the '
                            'special ones do not count')
    for name, token in MARKERS.items():
        either = group.add_mutually_exclusive_group()
        either.add_argument(f'--{name}', default=token, metavar='TOKEN',
                            help=f'the special token {_PURPOSES[name]}')
        either.add_argument(f'--no-{name}', dest=name, action='store_const', const=None,
                            default=SUPPRESS, help='have no such token')
    group.add_argument('--dtype', choices=DTYPES, default=None,
                       help='what the numbers are stored as; if not given, uint16 or uint32')
    add_storage_options(subparser, variable_length=True)
    # No old program knows these files, and ragged can be compressed and is faster to read.
    subparser.set_defaults(layout='ragged')
