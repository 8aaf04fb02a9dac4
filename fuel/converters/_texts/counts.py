"""Counting words of which there may be too many to be kept in memory."""
from __future__ import annotations

import heapq
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import IO, Self

__all__ = ['TokenCounts']

#: Different tokens kept in memory; a million take about 150 MB.
_LIMIT = 500_000


class TokenCounts:
    """How often each of many tokens was seen.

    Whenever the limit is reached, what has been counted goes into a temporary file, in order;
    such files are merged in the end. They have no names, so that nothing is left of them.

    Parameters
    ----------
    folder : str
        Where temporary files may be.
    limit : int, optional
        How many different tokens are kept in memory.

    Attributes
    ----------
    total : int
        How many tokens were seen.
    """

    def __init__(self, folder: str, limit: int = _LIMIT) -> None:
        self.total = 0
        self._folder = folder
        self._limit = limit
        self._counts: Counter[str] = Counter()
        self._files: list[IO[str]] = []

    def add(self, tokens: Sequence[str]) -> None:
        """Count some tokens, none of which has a line feed in it; a string is one of characters."""
        self._counts.update(tokens)
        self.total += len(tokens)
        if len(self._counts) > self._limit:
            self._put_away()

    def most_common(self, min_count: int = 1, max_size: int | None = None
                    ) -> list[tuple[str, int]]:
        """Return tokens and counts, the most frequent first, and those of one count in order.

        Parameters
        ----------
        min_count : int, optional
            Leave tokens away that were seen less often.
        max_size : int, optional
            Return no more than so many.
        """
        frequent = (entry for entry in self._in_order() if entry[1] >= min_count)
        if max_size is None:
            return sorted(frequent, key=itemgetter(1), reverse=True)
        return heapq.nlargest(max_size, frequent, key=itemgetter(1))

    def close(self) -> None:
        """Remove the temporary files."""
        for file in self._files:
            file.close()
        self._files = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _put_away(self) -> None:
        file = tempfile.TemporaryFile('w+', dir=self._folder,  # noqa: SIM115 - closed by close
                                      encoding='utf-8', newline='\n')
        self._files.append(file)
        # Strings by themselves are sorted several times as fast as pairs.
        file.writelines(f'{self._counts[token]} {token}\n' for token in sorted(self._counts))
        self._counts.clear()

    def _in_order(self) -> Iterable[tuple[str, int]]:
        """Yield every token once, in the order of the tokens."""
        if not self._files:
            return ((token, self._counts[token]) for token in sorted(self._counts))
        self._put_away()
        merged = heapq.merge(*map(_entries, self._files), key=itemgetter(0))
        return ((token, sum(count for _, count in same))
                for token, same in itertools.groupby(merged, key=itemgetter(0)))


def _entries(file: IO[str]) -> Iterator[tuple[str, int]]:
    file.seek(0)
    for line in file:
        count, _, token = line.removesuffix('\n').partition(' ')
        yield token, int(count)
