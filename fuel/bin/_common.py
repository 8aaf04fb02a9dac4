"""What the three commands share: parsing, messages, exit codes."""
from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

from fuel._registry import BUILT_IN, OWN_FILES, FillSubparser
from fuel.bin._messages import messages, one_line, show_warning
from fuel.version import __version__

__all__ = ['CommandParser', 'add_data_sets', 'add_traceback_option', 'add_version_option',
           'arguments_of', 'current_folder', 'reporting']

#: Arguments of the commands themselves, which are not handed on. The names cannot collide with
#: those that plug-ins choose.
_OWN = ('fuel_data_set', 'fuel_force', 'fuel_function', 'fuel_traceback')


class CommandParser(argparse.ArgumentParser):
    """Parses arguments; reports an error in one line, without a usage text around it."""

    #: Declares arguments when they are first needed; only one data set of many is named.
    fill: Callable[[CommandParser], None] | None = None
    #: Gives the end of the help, if nothing has set it by the time when it is printed.
    ending: Callable[[argparse.ArgumentParser], str] | None = None

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with code 2."""
        self.exit(2, f'{self.prog}: error: {message} (see {self.prog} -h)\n')

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, after those have been declared that were not yet."""
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; the message about unknown ones tells where the known ones are told."""
        namespace, unknown = self.parse_known_args(args, namespace)
        if unknown:
            data_set = getattr(namespace, 'fuel_data_set', None)
            about = self.prog if data_set is None else f'{self.prog} {data_set}'
            self.exit(2, f'{self.prog}: error: unrecognized arguments: {" ".join(unknown)} (see '
                         f'{about} -h)\n')
        return namespace

    def format_help(self) -> str:
        """Return the help, with its end."""
        if self.epilog is None and self.ending is not None:
            self.epilog = self.ending(self)
        return super().format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse the name of a data set that there is not, and say which one may be meant."""
        if action.dest == 'fuel_data_set' and value not in (action.choices or ()):
            names = list(action.choices or ())
            near = difflib.get_close_matches(str(value).lower(), names, n=3, cutoff=0.6)
            raise argparse.ArgumentError(action, f'invalid choice: {value!r}' + (
                f'; did you mean {" or ".join(map(repr, near))}?' if near else
                f' (choose from {", ".join(names)})'))
        super()._check_value(action, value)


def add_traceback_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that shows where an error came from."""
    parser.add_argument('--traceback', action='store_true', dest='fuel_traceback',
                        default=argparse.SUPPRESS,
                        help='print the whole traceback if there is an error')


def add_version_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that prints the version of the library."""
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}',
                        help='print the version of Fuel, and end')


def add_data_sets(parser: argparse.ArgumentParser, entries: Mapping[str, FillSubparser],
                  verb: str, add_options: Callable[[argparse.ArgumentParser], None],
                  ending: Callable[[str], Callable[[argparse.ArgumentParser], str]]) -> None:
    """Add a sub-command for each data set.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the command.
    entries : mapping
        From names to functions that fill a subparser and return what does the work. Only that of
        the data set which is named on the command line is called.
    verb : str
        What the command does, in the imperative.
    add_options : callable
        Adds the options that all data sets have.
    ending : callable
        Given a name, returns the function that makes the end of the help of that data set.
    """
    subparsers = parser.add_subparsers(dest='fuel_data_set', required=True, metavar='DATA_SET',
                                       title='data sets',
                                       description='Each has options of its own: append -h.')
    known = {**BUILT_IN, **OWN_FILES}
    for name, fill_subparser in entries.items():
        about = known.get(name) or _first_line(fill_subparser)
        subparser = cast(CommandParser, subparsers.add_parser(
            # In lists, but not in descriptions, a percent sign begins something.
            name, help=about.replace('%', '%%') or f'{verb.lower()} {name}',
            description=f'{verb} {name}: {about}.' if about else f'{verb} {name}.',
            formatter_class=_HelpFormatter))
        subparser.fill = _filling(fill_subparser, add_options)
        subparser.ending = ending(name)


def _first_line(function: Callable[..., Any]) -> str:
    """Return the first line of the docstring of a function, for the help."""
    words = ((getattr(function, '__doc__', None) or '').strip().splitlines() or [''])[0]
    return words.strip().rstrip('.')


class _HelpFormatter(argparse.ArgumentDefaultsHelpFormatter,
                     argparse.RawDescriptionHelpFormatter):
    """Shows defaults that say something, and leaves lines of descriptions as they are."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default in (None, False, [], ()):
            return action.help
        return super()._get_help_string(action)


def _filling(fill_subparser: FillSubparser, add_options: Callable[[argparse.ArgumentParser], None]
             ) -> Callable[[argparse.ArgumentParser], None]:
    """Return what declares the arguments of a data set."""
    def fill(subparser: argparse.ArgumentParser) -> None:
        add_options(subparser)
        add_traceback_option(subparser)
        subparser.set_defaults(fuel_function=fill_subparser(subparser))

    return fill


def current_folder() -> str:
    """Return the current folder, also if it has been removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return os.curdir


def arguments_of(namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that are meant for the function of a data set."""
    return {name: value for name, value in vars(namespace).items() if name not in _OWN}


class _Ended(BaseException):
    """A signal asks the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _ended_by_signals(wanted: bool) -> Iterator[None]:
    """Have signals that ask for the end raise an error, so that nothing is left behind."""
    def end(number: int, frame: object) -> NoReturn:
        raise _Ended(number)

    before = {}
    if wanted and threading.current_thread() is threading.main_thread():
        for name in ('SIGTERM', 'SIGHUP'):
            number = getattr(signal, name, None)
            # Who runs it with nohup wants it to go on.
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def reporting(program: str, args: Sequence[str], *,
              leave_at_once: bool = False) -> Iterator[None]:
    """Turn errors of a ``with`` block into a line on standard error and an exit code.

    Parameters
    ----------
    program : str
        The name of the command.
    args : sequence of str
        Its arguments; ``--traceback`` among them has the traceback printed as well.
    leave_at_once : bool, optional
        After an error, end the process without giving anything back. HDF5 can crash when it
        closes a file that it could not write, at the latest when the interpreter ends.

    Raises
    ------
    SystemExit
        With code 2 after an error, 130 after Ctrl-C, 128 and the number of the signal after
        SIGTERM or SIGHUP.
    """
    ignored: list[str] = []
    hook = sys.unraisablehook
    # An HDF5 file on a full disk fails again and again when parts of it are let go, in places
    # where the interpreter would print a traceback and go on.
    sys.unraisablehook = lambda unraisable: ignored.append(str(unraisable.exc_value))
    try:
        with messages(), _ended_by_signals(leave_at_once):
            yield
        for message in ignored:
            show_warning(message)
        return
    except KeyboardInterrupt as error:
        code = 130
        print(f'\n{program}: interrupted', file=sys.stderr)
        _let_go(error)
    except _Ended as error:
        code = 128 + error.number
        print(f'{program}: ended by {signal.Signals(error.number).name}', file=sys.stderr)
        _let_go(error)
    except BrokenPipeError:
        # Whoever read our output is gone, and wants no more of it; neither should the
        # interpreter try again when it flushes at its end.
        code = 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except Exception as error:
        code = 2
        if '--traceback' in args:
            traceback.print_exc()
        print(f'{program}: error: {one_line(error)}', file=sys.stderr)
        if leave_at_once:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _let_go(error)
    finally:
        sys.unraisablehook = hook
    # Out here, where the exit does not keep the error alive as its context.
    raise SystemExit(code)


def _let_go(error: BaseException | None) -> None:
    """Free, now and not later, what the functions held that an error went through."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
