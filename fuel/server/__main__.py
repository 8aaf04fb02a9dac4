"""The command ``python -m fuel.server``."""
from __future__ import annotations

import argparse
import logging
import pickle
import sys
from collections.abc import Sequence
from typing import Any

from fuel.server.starting import start_server
from fuel.wire.sockets import make_keys

__all__ = ['main']


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m fuel.server', description='Serve a pickled stream to other programs, until '
        'SIGTERM or Ctrl-C. Loading a pickle can run any program: take none from strangers.')
    parser.add_argument('stream', nargs='?', help='file with the pickle of a stream, or of a pair '
                        '(stream, epoch iterator)')
    parser.add_argument('--port', type=int, default=5557, help='where to listen; 0 for any port '
                        'that is free (default: %(default)s)')
    parser.add_argument('--hwm', type=int, default=10, help='how many batches may be on their way '
                        'to a client (default: %(default)s)')
    parser.add_argument('--host', default='127.0.0.1', help="address to listen at; '*' for all "
                        'that this machine has (default: %(default)s, this machine alone)')
    parser.add_argument('--control-port', type=int, help='where clients of this library are led '
                        'to (default: any port that is free)')
    parser.add_argument('--keys', metavar='FILE', help="the server's secret key; clients need its "
                        'public key then')
    parser.add_argument('--client-keys', metavar='DIRECTORY', help='public keys of those who may '
                        'connect (default: all who have the public key of the server)')
    parser.add_argument('--make-keys', metavar='NAME', help='write a pair of keys, NAME.key and '
                        'NAME.key_secret, and do nothing else')
    parser.add_argument('--log', default='WARNING', metavar='LEVEL', help='what to tell on the '
                        'standard error: DEBUG, INFO, WARNING, ERROR (default: %(default)s)')
    return parser


def _load(path: str) -> tuple[Any, Any]:
    """Return the stream of a file, and the epoch iterator that is under way."""
    with open(path, 'rb') as file:
        loaded = pickle.load(file)
    stream, iterator = loaded if isinstance(loaded, tuple) and len(loaded) == 2 else (loaded, None)
    if not hasattr(stream, 'get_epoch_iterator'):
        raise TypeError(f'expected a stream, or a pair (stream, epoch iterator); {path} holds a '
                        f'{type(loaded).__name__}')
    return stream, iterator


def main(args: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the command line by default.
    """
    parser = _parser()
    given = parser.parse_args(args)
    if given.make_keys is not None:
        try:
            public, secret = make_keys(given.make_keys)
        except OSError as error:
            parser.error(str(error))
        sys.stdout.write(f'{public}: give this to the others\n{secret}: keep this to yourself\n')
        return 0
    if given.stream is None:
        parser.error('expected the file of a pickled stream')
    level = logging.getLevelNamesMapping().get(given.log.upper())
    if level is None:
        parser.error(f'there is no level {given.log!r}')
    logging.basicConfig(level=level, format='%(asctime)s %(name)s: %(message)s')
    try:
        stream, iterator = _load(given.stream)
    except (OSError, TypeError, pickle.UnpicklingError, EOFError, ImportError,
            AttributeError) as error:
        parser.error(f'cannot load a stream from {given.stream}: {error}')
    try:
        start_server(stream, given.port, given.hwm, host=given.host,
                     control_port=given.control_port, keys=given.keys,
                     client_keys=given.client_keys, iterator=iterator)
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError) as error:
        parser.error(str(error))
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
