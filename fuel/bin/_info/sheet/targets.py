"""What examples are: the classes, numbers and lists of targets, for captions and for counting."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Contents, spread
from fuel.bin._info.sheet.words import clean

__all__ = ['Caption', 'ClassValues', 'Targets']

# So many targets of a split are read to count classes.
_MOST_TARGETS = 2 * 10 ** 6
# So many places are tried to find examples of all classes.
_MOST_PLACES = 20000


@dataclass(frozen=True, slots=True)
class Caption:
    """What is said of an example.

    Attributes
    ----------
    pieces : tuple of str
        For a target each; or names of marks that are set, those first which few examples have.
    counted : bool
        Whether pieces may be left out, and told by their number alone.
    """

    pieces: tuple[str, ...]
    counted: bool

    def __str__(self) -> str:
        if not self.counted or len(self.pieces) < 2:
            return ' · '.join(self.pieces)
        return f'{self.pieces[0]} +{len(self.pieces) - 1}'


@dataclass(frozen=True, slots=True)
class ClassValues:
    """The classes of examples of a split.

    Attributes
    ----------
    places : ndarray
        Of the examples in the split.
    values : ndarray of int64
        The class of each.
    examples : int
        How many examples the split has; perhaps not all of them were looked at.
    """

    places: AnyArray
    values: AnyArray
    examples: int


class Targets:
    """The targets of a file.

    Parameters
    ----------
    contents : Contents
        The file.
    kinds : mapping
        What each source is.
    names : mapping
        The names of classes or columns of each source.
    """

    def __init__(self, contents: Contents, kinds: Mapping[str, str],
                 names: Mapping[str, Sequence[str]]) -> None:
        self.contents, self.names = contents, names
        self.classes = [source for source, kind in kinds.items() if kind == 'class']
        self._numbers = [source for source, kind in kinds.items() if kind == 'number'
                         and _is_called_target(source)]
        self.lists = [source for source, kind in kinds.items() if 'label' in source.lower()
                      and (kind == 'sentence' or (
                          kind == 'list' and contents.sources[source].dtype.kind in 'iu'))]
        self._marks = [source for source, kind in kinds.items() if kind == 'marks']
        self._read: dict[tuple[str, str], ClassValues] = {}

    def label(self, source: str, value: Any) -> str:
        """Return the name of a class, or its number."""
        names = self.names.get(source, ())
        return clean(names[int(value)]) if 0 <= value < len(names) else str(int(value))

    def class_values(self, split: str, source: str) -> ClassValues:
        """Return the classes of the examples of a split."""
        key = split, source
        if key not in self._read:
            found = self.contents.sources[source]
            examples = len(self.contents.splits[split][source])
            places = (numpy.arange(examples) if examples <= _MOST_TARGETS else
                      spread(examples, _MOST_TARGETS // 10, 64))
            values = self.contents.values(split, source, places) if examples else (
                numpy.empty(0, found.dtype))
            self._read[key] = ClassValues(
                places, numpy.asarray(values).reshape(-1).astype(numpy.int64), examples)
        return self._read[key]

    def of_split(self, split: str) -> str | None:
        """Return the source that tells the classes of a split; the one with fewest if several."""
        having = [source for source in self.classes if self.contents.splits[split].get(source)]
        return min(having, key=lambda source: (
            not _is_called_target(source), len(self.names.get(source, ())) or 10 ** 6),
            default=None)

    def pick(self, split: str, source: str, wanted: int) -> tuple[AnyArray, AnyArray | None]:
        """Choose examples to show: equally many of each class, in the order of classes.

        Parameters
        ----------
        split : str
            Of this split.
        source : str
            What is shown.
        wanted : int
            How many at most.

        Returns
        -------
        places : ndarray
            Of the examples in the split.
        classes : ndarray or None
            Their classes; `None` where there are none.
        """
        parts = self.contents.splits[split]
        of_class = self.of_split(split)
        if of_class is None or len(parts[of_class]) != len(parts[source]):
            return spread(len(parts[source]), wanted), None
        found = self.class_values(split, of_class)
        tried = spread(len(found.places), _MOST_PLACES)
        places, values = found.places[tried], found.values[tried]
        different = numpy.unique(values)
        if len(different) > wanted:
            different = different[spread(len(different), wanted)]
        per_class = max(1, wanted // max(1, len(different)))
        chosen = [rows[spread(len(rows), per_class, salt=int(value))]
                  for value, rows in ((value, places[values == value]) for value in different)]
        if not chosen:
            return places[:0], None
        return numpy.concatenate(chosen), numpy.repeat(different, list(map(len, chosen)))

    def captions(self, split: str, places: AnyArray) -> list[Caption]:
        """Return in a few words what the targets of examples are."""
        parts = self.contents.splits[split]
        words: list[list[str]] = [[] for _ in places]
        marks: list[list[str]] = [[] for _ in places]
        for source in (*self.classes, *self._numbers, *self.lists, *self._marks):
            if source not in parts or (places.size and len(parts[source]) <= places.max()):
                continue
            values = self.contents.values(split, source, places)
            if source in self._marks:
                for said, those in zip(marks, self._rarest(source, numpy.asarray(values)),
                                       strict=True):
                    said += those
            else:
                for said, value in zip(words, values, strict=True):
                    said.append(self._said(source, value))
        return [Caption(tuple(filter(None, said[:3])) + tuple(those), bool(those))
                for said, those in zip(words, marks, strict=True)]

    def _said(self, source: str, value: Any) -> str:
        flat = numpy.asarray(value).reshape(-1)
        if source in self.classes:
            return self.label(source, flat[0])
        if source in self._numbers:
            return f'{flat[0]:.4g}'
        return ' '.join(self.label(source, entry) for entry in flat[:8])

    def _rarest(self, source: str, marks: AnyArray) -> list[list[str]]:
        """Return the marks of each example, those first which fewest others have."""
        names = self.names.get(source, ())
        marks = marks.reshape(len(marks), -1)
        if len(names) != marks.shape[1] or not len(marks):
            return [[f'{int(count)} marks'] for count in marks.sum(axis=1)]
        order = numpy.argsort(marks.mean(axis=0), kind='stable')
        return [[clean(names[place]) for place in order if row[place]] or ['none']
                for row in marks]


def _is_called_target(source: str) -> bool:
    return any(word in source.lower() for word in ('target', 'label', 'class'))
