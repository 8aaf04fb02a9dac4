"""Reading of plain data out of pickles, without ever running what a pickle asks for.

A pickle is a program for a small machine with a stack, and `pickle.load` calls any function that
it names. The machine here knows the instructions that make dictionaries, lists, tuples, texts,
numbers and arrays of numbers, and no function at all: what would be a call of numpy is only noted,
and the array is made when all of it has been checked. The instructions are those of protocols 2 to
5 as `pickletools` of the standard library describes them.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from fuel._types import AnyArray
from fuel.converters._conversion.spooled import Spool, SpooledArray
from fuel.converters._formats.pickled_arrays import (
    MARK,
    Kept,
    NotedArray,
    PickleProblem,
    array_of,
    called,
    in_words,
    is_part,
    name_of,
    short,
    tell,
)
from fuel.exceptions import ConversionError

__all__ = ['read_pickle']

_PIECE_BYTES = 1 << 18
# From here on, bytes that are the values of an array go to a file where there is one.
_LARGE_BYTES = 1 << 20
# One byte can make an object of a hundred. The largest of the public batches has a quarter of a
# million instructions in 155 MB, a few for each picture of 3072 bytes; so there may be so many in
# any pickle, and more in larger ones up to a limit.
_FEW_INSTRUCTIONS, _BYTES_OF_ONE_MORE, _MOST_INSTRUCTIONS = 1 << 18, 1 << 9, 1 << 20
# Names of pictures and the like in memory; in truth they have 2 MB. Values of small arrays too.
_MOST_BYTES, _LONGEST_INTEGER = 1 << 26, 64
_MOST_LINE = 1 << 10


def read_pickle(stream: BinaryIO, size: int, where: str, spool: Spool | None = None) -> Any:
    """Read a pickle that consists of plain data and arrays of numbers.

    Parameters
    ----------
    stream : binary file
        At the beginning of the pickle.
    size : int
        How many bytes there are; nothing larger is ever asked for.
    where : str
        What to call the pickle in messages, such as the archive and the name in it.
    spool : Spool, optional
        Where values of large arrays go; by default they are in memory, up to 64 MB.

    Returns
    -------
    object
        Dictionaries, lists and tuples of numbers, truth values, `None`, texts (bytes where Python
        2 wrote a ``str``, as with ``pickle.load(..., encoding='bytes')``) and arrays, which are
        read-only, or `SpooledArray` if their values went to `spool`.

    Raises
    ------
    ConversionError
        The pickle asks for anything else, and the message says for what; nothing was run then. Or
        it is none, or cut off, or needs more memory than plain data of its size do.
    """
    machine = _Machine(stream, size, spool)
    try:
        return machine.run()
    except PickleProblem as error:
        raise ConversionError(f'{where}, byte {machine.position}: {error}') from None
    except ConversionError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, struct.error) as error:
        # An instruction did not find on the stack what it works on.
        raise ConversionError(f'{where}, byte {machine.position}: expected a pickle of plain data; '
                              f'it makes no sense ({type(error).__name__}: {error})') from None


class _Machine:
    """Runs the instructions.

    Parameters
    ----------
    stream : binary file
        The pickle.
    size : int
        How many bytes it has.
    spool : Spool or None
        Where values of large arrays go.

    Attributes
    ----------
    position : int
        How many bytes were used.
    """

    def __init__(self, stream: BinaryIO, size: int, spool: Spool | None) -> None:
        self._stream = stream
        self._spool = spool
        self._unread = size
        self._encodable = size
        self._most = min(_MOST_INSTRUCTIONS, _FEW_INSTRUCTIONS + size // _BYTES_OF_ONE_MORE)
        self._room = _MOST_BYTES
        self._buffer = b''
        self._next = 0
        self._before = 0                # bytes before the buffer
        self._code = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self._finished: dict[int, tuple[NotedArray, AnyArray | SpooledArray]] = {}

    @property
    def position(self) -> int:
        """How many bytes were used."""
        return self._before + self._next

    # Reading

    def _fill(self) -> bool:
        """Read more of the pickle; return whether there was more."""
        piece = self._stream.read(min(_PIECE_BYTES, self._unread))
        self._unread -= len(piece)
        self._before += self._next
        self._buffer = self._buffer[self._next:] + piece
        self._next = 0
        return bool(piece)

    def take(self, count: int) -> bytes:
        """Return the next bytes, of which there may be so many in memory and no more."""
        self._room -= count
        if self._room < 0:
            self._check_size(count)
            raise PickleProblem(f'expected at most {_MOST_BYTES} bytes of texts and numbers; there '
                                'are more')
        stop = self._next + count
        if stop <= len(self._buffer):
            piece = self._buffer[self._next:stop]
            self._next = stop
            return piece
        return b''.join(self._pieces(count))

    def content(self) -> bytes | Kept:
        """Return bytes of any number, which may be the values of an array."""
        count = self.number('I' if self._code in (0x54, 0x42) else 'Q')
        if self._spool is None or count < _LARGE_BYTES:
            return self.take(count)
        return Kept(self._spool.append(self._pieces(count)), count)

    def _pieces(self, count: int) -> Iterator[bytes]:
        """Yield the next bytes a few at a time."""
        self._check_size(count)
        while count:
            if self._next == len(self._buffer) and not self._fill():
                raise PickleProblem(f'the pickle is cut off: {count} bytes are missing')
            start = self._next
            self._next = min(len(self._buffer), start + count)
            count -= self._next - start
            yield self._buffer[start:self._next]

    def _check_size(self, count: int) -> None:
        left = len(self._buffer) - self._next + self._unread
        if count > left:
            raise PickleProblem(f'the pickle is cut off: expected {count} more bytes; {left} are '
                                'left')

    def number(self, form: str) -> int:
        """Return the next bytes as a number."""
        return cast(int, struct.unpack(f'<{form}', self.take(struct.calcsize(form)))[0])

    def line(self) -> str:
        """Return the text up to the end of the line."""
        while (stop := self._buffer.find(b'\n', self._next, self._next + _MOST_LINE)) < 0:
            if len(self._buffer) - self._next >= _MOST_LINE or not self._fill():
                raise PickleProblem('expected a short line; the pickle is damaged')
        text = self._buffer[self._next:stop].decode('utf-8', 'replace')
        self._next = stop + 1
        return text

    # Running

    def run(self) -> Any:
        """Run the instructions to the end, and return what they have made."""
        push, instructions = self.stack.append, _INSTRUCTIONS
        for _ in range(self._most):
            if self._next == len(self._buffer) and not self._fill():
                raise PickleProblem('the pickle is cut off: expected another instruction')
            self._code = code = self._buffer[self._next]
            self._next += 1
            # These few are nearly all that there are in long lists of labels and names.
            if code == 0x4b:                                        # BININT1
                push(self.take(1)[0])
            elif code == 0x72:                                      # LONG_BINPUT
                self.memo[int.from_bytes(self.take(4), 'little')] = self.stack[-1]
            elif code == 0x55:                                      # SHORT_BINSTRING
                push(self.take(self.take(1)[0]))
            elif code == 0x2e:                                      # STOP
                return self.value(self.stack.pop())
            elif (instruction := instructions.get(code)) is not None:
                instruction(self)
            else:
                raise PickleProblem(f'expected a pickle of plain data, of protocol 2 or later; got '
                                    f'the instruction {bytes([code])!r}, which was not carried out')
        raise PickleProblem(f'expected a pickle of at most {self._most} instructions, for its '
                            'size; there are more')

    def items(self) -> list[Any]:
        """Return what is on the stack above the newest mark, and take both away."""
        stack = self.stack
        start = len(stack) - 1
        while stack[start] is not MARK:
            start -= 1
            if start < 0:
                raise PickleProblem('expected a mark on the stack; the pickle is damaged')
        found = stack[start + 1:]
        del stack[start:]
        return found

    def append(self, items: list[Any]) -> None:
        """Add items to the list on the stack."""
        target = self.stack[-1]
        if type(target) is not list:
            raise PickleProblem(f'expected a list; got {in_words(target)}')
        target.extend(map(self.value, items))

    def set_items(self, items: list[Any]) -> None:
        """Add pairs to the dictionary on the stack."""
        target = self.stack[-1]
        if type(target) is not dict:
            raise PickleProblem(f'expected a dictionary; got {in_words(target)}')
        if len(items) % 2:
            raise PickleProblem('expected a value for each key of a dictionary')
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (bytes, str, int)):
                raise PickleProblem('expected texts for the keys of a dictionary; got '
                                    f'{short(key)}')
            target[key] = self.value(value)

    def tuple(self, count: int) -> None:
        """Make a tuple of what is on top of the stack."""
        if len(self.stack) < count:
            raise PickleProblem('expected items for a tuple; the pickle is damaged')
        found = tuple(map(self.finished, self.stack[len(self.stack) - count:]))
        del self.stack[len(self.stack) - count:]
        self.stack.append(found)

    def named(self, module: Any, name: Any) -> None:
        """Take note of a function or class that the pickle names."""
        self.stack.append(name_of(module, name))

    def call(self) -> None:
        """Make what a call stands for."""
        arguments = self.stack.pop()
        made = called(self.stack.pop(), arguments)
        if isinstance(made, bytes):
            self._encodable -= len(made)
            if self._encodable < 0:     # the same text again and again would fill the memory
                raise PickleProblem('the pickle makes more bytes than it has')
        self.stack.append(made)

    def build(self) -> None:
        """Tell an array or a dtype its state."""
        state = self.stack.pop()
        tell(self.stack[-1], state)

    def value(self, value: Any) -> Any:
        """Return what gets into a list or a dictionary, or is the result."""
        value = self.finished(value)
        if is_part(value):
            raise PickleProblem(f'expected a value; got {in_words(value)}')
        return value

    def finished(self, value: Any) -> Any:
        """Return a value, or the array if the value is what was noted about one.

        It is called for everything that gets into a container, when it does, so that containers
        need not be gone through again: one that is in itself twice, and so on, has no end.
        """
        if type(value) is not NotedArray or value.state is None:
            if value is MARK:
                raise PickleProblem(f'expected a value; got {in_words(value)}')
            return value
        known = self._finished.get(id(value))
        if known is None:               # whatever refers to one array gets the same one
            known = self._finished[id(value)] = (value, array_of(value, self._spool))
        return known[1]


def _long(machine: _Machine) -> None:
    size = machine.take(1)[0]
    if size > _LONGEST_INTEGER:
        raise PickleProblem(f'expected integers of at most {_LONGEST_INTEGER} bytes; got one of '
                            f'{size}')
    machine.stack.append(int.from_bytes(machine.take(size), 'little', signed=True))


def _text(machine: _Machine, size: int) -> None:
    machine.stack.append(machine.take(size).decode('utf-8', 'surrogatepass'))


def _pop_mark(machine: _Machine) -> None:
    machine.items()


def _put(machine: _Machine, number: int) -> None:
    machine.memo[number] = machine.stack[-1]


def _make_tuple(machine: _Machine) -> None:
    machine.stack.append(tuple(map(machine.finished, machine.items())))


def _make_list(machine: _Machine) -> None:
    machine.stack.append([machine.value(item) for item in machine.items()])


def _make_dict(machine: _Machine) -> None:
    items = machine.items()
    machine.stack.append({})
    machine.set_items(items)


def _append(machine: _Machine) -> None:
    machine.append([machine.stack.pop()])


def _set_item(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.set_items([key, value])


def _stack_global(machine: _Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.named(module, name)


def _protocol(machine: _Machine) -> None:
    if machine.take(1)[0] > 5:
        raise PickleProblem('expected a pickle of protocol 2 to 5; got a later one')


#: The instructions, by their codes.
_INSTRUCTIONS: dict[int, Callable[[_Machine], Any]] = {
    0x80: _protocol,
    0x95: lambda machine: machine.take(8),                                  # FRAME
    0x28: lambda machine: machine.stack.append(MARK),
    0x30: lambda machine: machine.stack.pop(),
    0x31: _pop_mark,
    0x32: lambda machine: machine.stack.append(machine.stack[-1]),
    0x4e: lambda machine: machine.stack.append(None),
    0x88: lambda machine: machine.stack.append(True),
    0x89: lambda machine: machine.stack.append(False),
    0x4a: lambda machine: machine.stack.append(machine.number('i')),        # BININT
    0x4d: lambda machine: machine.stack.append(machine.number('H')),        # BININT2
    0x8a: _long,
    0x47: lambda machine: machine.stack.append(struct.unpack('>d', machine.take(8))[0]),
    0x54: lambda machine: machine.stack.append(machine.content()),          # BINSTRING
    0x42: lambda machine: machine.stack.append(machine.content()),          # BINBYTES
    0x8e: lambda machine: machine.stack.append(machine.content()),          # BINBYTES8
    0x96: lambda machine: machine.stack.append(machine.content()),          # BYTEARRAY8
    0x43: lambda machine: machine.stack.append(machine.take(machine.take(1)[0])),
    0x58: lambda machine: _text(machine, machine.number('I')),              # BINUNICODE
    0x8c: lambda machine: _text(machine, machine.take(1)[0]),
    0x8d: lambda machine: _text(machine, machine.number('Q')),
    0x5d: lambda machine: machine.stack.append([]),
    0x7d: lambda machine: machine.stack.append({}),
    0x29: lambda machine: machine.stack.append(()),
    0x6c: _make_list,
    0x64: _make_dict,
    0x74: _make_tuple,
    0x85: lambda machine: machine.tuple(1),
    0x86: lambda machine: machine.tuple(2),
    0x87: lambda machine: machine.tuple(3),
    0x61: _append,
    0x65: lambda machine: machine.append(machine.items()),                  # APPENDS
    0x73: _set_item,
    0x75: lambda machine: machine.set_items(machine.items()),               # SETITEMS
    0x63: lambda machine: machine.named(machine.line(), machine.line()),    # GLOBAL
    0x69: lambda machine: machine.named(machine.line(), machine.line()),    # INST
    0x93: _stack_global,
    0x52: lambda machine: machine.call(),
    0x62: lambda machine: machine.build(),
    0x71: lambda machine: _put(machine, machine.take(1)[0]),                # BINPUT
    0x94: lambda machine: _put(machine, len(machine.memo)),                 # MEMOIZE
    0x68: lambda machine: machine.stack.append(machine.memo[machine.take(1)[0]]),
    0x6a: lambda machine: machine.stack.append(machine.memo[machine.number('I')]),
}
