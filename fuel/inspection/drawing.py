"""Descriptions of chains as text, Mermaid and Graphviz.

All are drawn from the data sets to the outermost stream, the way that data go.
"""
from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuel.inspection.describing import Node, Source

__all__ = ['dot', 'mermaid', 'svg', 'text']


def text(node: Node) -> str:
    """Return a chain as lines of text, each stream below those that it wraps.

    Several streams that are wrapped side by side have a line at their left.
    """
    return '\n'.join(_text_lines(node))


def _text_lines(node: Node) -> Iterator[str]:
    for place, other in enumerate(node.below):
        for number, line in enumerate(_text_lines(other)):
            if len(node.below) == 1:
                yield line
            else:
                corner = '┌ ' if not place else '├ '
                yield (corner if not number else '│ ') + line
    yield node.name + (f': {node.length}' if node.length else '')
    if node.where:
        yield f'  runs in {node.where}' if not node.where.startswith('hands') else (
            f'  {node.where}')
    yield from (f'  {line}' for line in _lines_of(node))


def _lines_of(node: Node) -> list[str]:
    """Return details, and the sources that are other ones than those of the stream below."""
    before = {source.name: source for source in node.below[0].sources} if (
        len(node.below) == 1) else {}
    new = [source for source in node.sources if _differs(source, before.get(source.name))]
    names = {source.name for source in node.sources}
    left_out = [name for name in before if name not in names]
    return [*node.details, *map(_source_text, new),
            *([f'without {", ".join(left_out)}'] if left_out else [])]


def _differs(source: Source, before: Source | None) -> bool:
    """Tell whether something is known of a source that was not, or was otherwise, below."""
    return before is None or (source.labels != before.labels and source.labels is not None) or (
        source.form not in ('', before.form))


def _source_text(source: Source) -> str:
    parts = [source.form, ' x '.join(source.labels) if source.labels is not None else '']
    known = ', '.join(part for part in parts if part)
    return f'{source.name}: {known}' if known else source.name


def mermaid(node: Node) -> str:
    """Return a chain as a flow chart of Mermaid; streams that workers run have a frame."""
    lines = ['flowchart TD']
    groups: dict[str, list[str]] = {}

    def shape(name: str, other: Node) -> None:
        label = '<br>'.join(_escaped_for_mermaid(line) for line in _label(other))
        entry = f'{name}["{label}"]'
        if other.where.startswith('the '):
            groups.setdefault(other.where, []).append(entry)
        else:
            lines.append(f'    {entry}')

    def arrow(name: str, to: str, sources: str) -> None:
        arrows.append(f'    {name} -->|"{_escaped_for_mermaid(sources)}"| {to}' if sources
                      else f'    {name} --> {to}')

    arrows: list[str] = []
    _visit(node, shape, arrow)
    for number, (where, entries) in enumerate(groups.items()):
        lines += [f'    subgraph workers{number} ["{_escaped_for_mermaid(where)}"]',
                  *(f'        {entry}' for entry in entries), '    end']
    return '\n'.join([*lines, *arrows])


def dot(node: Node) -> str:
    """Return a chain as a graph of Graphviz; streams that workers run have a frame."""
    lines = ['digraph stream {', '    node [shape=box, fontname="sans-serif", fontsize=11];',
             '    edge [fontname="sans-serif", fontsize=9];']
    groups: dict[str, list[str]] = {}

    def shape(name: str, other: Node) -> None:
        label = ''.join(_escaped_for_dot(line) + '\\l' for line in _label(other))
        entry = f'{name} [label="{label}"];'
        if other.where.startswith('the '):
            groups.setdefault(other.where, []).append(entry)
        else:
            lines.append(f'    {entry}')

    def arrow(name: str, to: str, sources: str) -> None:
        arrows.append(f'    {name} -> {to} [label="{_escaped_for_dot(sources)}"];')

    arrows: list[str] = []
    _visit(node, shape, arrow)
    for number, (where, entries) in enumerate(groups.items()):
        lines += [f'    subgraph cluster_{number} {{',
                  f'        label="{_escaped_for_dot(where)}";',
                  '        fontname="sans-serif"; fontsize=10; style=rounded;',
                  *(f'        {entry}' for entry in entries), '    }']
    return '\n'.join([*lines, *arrows, '}'])


def _visit(node: Node, shape: Callable[[str, Node], None],
           arrow: Callable[[str, str, str], None]) -> None:
    """Draw boxes and arrows, those that data come to first before the others."""
    count = 0

    def visited(other: Node) -> str:
        nonlocal count
        below = [(visited(child), child) for child in other.below]
        name = f's{count}'
        count += 1
        shape(name, other)
        for child_name, child in below:
            arrow(child_name, name, ', '.join(source.name for source in child.sources))
        return name

    visited(node)


def _label(node: Node) -> list[str]:
    """Return what stands in the box of a stream."""
    return [node.name, *([node.length] if node.length else []),
            *([node.where] if node.where.startswith('hands') else []), *_lines_of(node)]


def _escaped_for_mermaid(words: str) -> str:
    for character, code in (('#', '#35;'), ('"', '#quot;'), ('<', '#lt;'), ('>', '#gt;')):
        words = words.replace(character, code)
    return words


def _escaped_for_dot(words: str) -> str:
    return words.replace('\\', '\\\\').replace('"', '\\"')


def svg(graph: str) -> str:
    """Return a graph of Graphviz as a picture."""
    program = shutil.which('dot')
    if program is None:
        raise FileNotFoundError(
            'a picture is drawn by the program dot of Graphviz, which is not installed; install '
            'Graphviz (the package graphviz of most systems), or use mermaid() or print the '
            'description')
    done = subprocess.run([program, '-Tsvg'], input=graph.encode(),  # noqa: S603
                          capture_output=True, check=True)
    return done.stdout.decode()
