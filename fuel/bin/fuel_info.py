"""``fuel-info``: say what is in a file, verify it, compare it with another one, draw it."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fuel.bin._common import (
    CommandParser,
    add_traceback_option,
    add_version_option,
    reporting,
)
from fuel.bin._messages import one_line

__all__ = ['main']

PROGRAM = 'fuel-info'

_DESCRIPTION = '''Print by which command a file was made and by which versions of what, its splits
and sources, how these are stored and read, and where the data come from. Only --verify, --compare
and --sheet read the data themselves.'''

_EPILOG = '''The exit code is 0 if all is well. It is 1 if --verify finds bad rows, or rows that
nothing can be compared with, and if --compare finds that the data differ. It is 2 after an error,
such as a file that is not HDF5.'''


def main(args: Sequence[str] | None = None) -> None:
    """Print what is known of files, verify them, compare two of them, or draw one.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the command line by default.

    Raises
    ------
    SystemExit
        After an error, which has been printed in one line; the code is 2. The code is 1 if
        ``--verify`` did not find all rows as they were written, and if ``--compare`` found that
        the data differ. After ``-h``; the code is 0.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    with reporting(PROGRAM, arguments):
        parser = _parser()
        given = parser.parse_args(arguments)
        if given.compare and len(given.filenames) != 2:
            parser.error(f'argument --compare: expected two files; got {len(given.filenames)}')
        if given.sheet is not None:
            for option in ('json', 'verify', 'compare'):
                if getattr(given, option):
                    parser.error(f'argument --sheet: not allowed with argument --{option}')
            if len(given.filenames) != 1:
                parser.error(f'argument --sheet: expected one file; got {len(given.filenames)}')
            code = _draw(given.filenames[0], given.sheet)
        elif given.compare:
            code = _compare(given.filenames[0], given.filenames[1], given.json, given.verify)
        else:
            look = _described
            if given.verify:
                look = _verified_alone if args is None else _verified
            code = _look(given.filenames, look, given.json)
    if code:
        raise SystemExit(code)


def _parser() -> CommandParser:
    parser = CommandParser(prog=PROGRAM, description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument('filenames', nargs='+', metavar='FILE',
                        help='a file that fuel-convert or fill_hdf5_file made')
    parser.add_argument('--json', action='store_true',
                        help='print the same as JSON, for other programs')
    parser.add_argument('--verify', action='store_true',
                        help='read all data, and say which rows are not as they were written')
    parser.add_argument('--compare', action='store_true',
                        help='say in what two files differ; only rows with other checksums are '
                             'read, with --verify all of them')
    parser.add_argument('--sheet', metavar='OUT.png',
                        help='draw examples with their targets, how many there are of each class, '
                             'and how values are spread; a picture of that name is replaced')
    add_traceback_option(parser)
    add_version_option(parser)
    return parser


def _look(paths: Sequence[str], look: Callable[[str], tuple[str, Any, bool]],
          as_data: bool) -> int:
    """Print what a function finds in each file; one that cannot be read hides no other."""
    from fuel.bin._info.as_json import as_json, failure_as_data

    entries, code = [], 0
    for path in paths:
        try:
            text, data, is_good = look(path)
        except Exception as error:
            if len(paths) == 1 and not as_data:
                raise
            print(f'{PROGRAM}: error: {one_line(error)}', file=sys.stderr)
            entries.append(failure_as_data(path, one_line(error)))
            code = 2
        else:
            code = code or int(not is_good)
            entries.append(data)
            if not as_data:
                print(text, flush=True)
    if as_data:
        print(as_json(entries), flush=True)
    return code


def _described(path: str) -> tuple[str, Any, bool]:
    """Return what is known of a file, in words and as data; and that all is well."""
    from fuel.bin._info.as_json import facts_as_data
    from fuel.bin._info.facts import facts_of
    from fuel.bin._info.opening import looking_into
    from fuel.bin._info.text import text_of

    with looking_into(path) as opened:
        facts = facts_of(opened)
    return text_of(facts), facts_as_data(facts), True


def _verified(path: str) -> tuple[str, Any, bool]:
    """Return what comparing with checksums finds, in words and as data; and if all is well."""
    from fuel.bin._info.opening import looking_into
    from fuel.bin._info.verifying import is_sound, text_of_verdicts, verdicts_as_data, verify

    with looking_into(path) as opened:
        verdicts = verify(opened, _watching('Verifying'))
    return text_of_verdicts(path, verdicts), verdicts_as_data(path, verdicts), is_sound(verdicts)


def _verified_alone(path: str) -> tuple[str, Any, bool]:
    """Return the same; in a process of its own, which a damaged file may end."""
    from fuel.bin._info.alone import alone

    return alone(_verified, path)


def _compare(path: str, other_path: str, as_data: bool, read_all: bool) -> int:
    """Print in what two files differ."""
    from fuel.bin._info.as_json import as_json
    from fuel.bin._info.comparing import compare, comparison_as_data, text_of_comparison
    from fuel.bin._info.opening import looking_into

    with looking_into(path) as opened, looking_into(other_path) as other:
        found = compare(opened, other, _watching('Comparing'), read_all=read_all)
    print(as_json(comparison_as_data(found)) if as_data else text_of_comparison(found), flush=True)
    return int(not found.same_data)


def _draw(path: str, out: str) -> int:
    """Draw a file."""
    from fuel.bin._info.sheet.drawing import draw_sheet

    draw_sheet(path, out)
    print(f'wrote {out}', flush=True)
    return 0


def _watching(verb: str) -> Any:
    """Return what shows, where somebody sits at a terminal, how far the rows of a source are."""
    from fuel.bin._info.alone import still_at_work
    from fuel.utils.progress import progress_bar

    @contextmanager
    def watch(source: str, rows: int) -> Iterator[Callable[[int], None]]:
        if sys.stderr is None or not sys.stderr.isatty():
            yield lambda done: still_at_work()
            return
        with progress_bar(source, rows, verb, unit='rows') as bar:
            def update(done: int) -> None:
                still_at_work()
                bar.update(done)

            yield update
    return watch


if __name__ == '__main__':
    main()
