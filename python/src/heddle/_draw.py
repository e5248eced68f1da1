"""Drawings for notebooks, as SVG text: curves, ladders, networks, graphs of tensors. Needs nothing but the standard library.

Text and lines take the colour of the page around them, so that a drawing is readable on light and on dark pages. A drawing
that stands alone follows the system's setting.
"""
from __future__ import annotations

import html
import math
from typing import Any, Iterable, Optional, Sequence

BLUE, ORANGE, GREEN, GREY = '#4f86f7', '#e8833a', '#2fa36b', '#8a8f98'
_ALONE = ('<style>svg{color:#1f2328;background:#fff}'
          '@media(prefers-color-scheme:dark){svg{color:#e6e6e6;background:#1b1d21}}</style>')


class Drawn:
    """Something with a drawing. Notebooks show it in place; terminals show its text."""

    def _svg(self) -> tuple[float, float, str]:
        raise NotImplementedError

    def _repr_svg_(self) -> str:
        return _wrap(*self._svg(), _ALONE)

    def _repr_html_(self) -> str:
        return _wrap(*self._svg(), '')

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text('...' if cycle else repr(self))


def _wrap(width: float, height: float, body: str, style: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" style="max-width:100%" font-family="system-ui,sans-serif" font-size="12" '
            f'fill="currentColor">{style}{body}</svg>')


def escape(given: Any) -> str:
    return html.escape(str(given), quote=True)


def label(x: float, y: float, given: Any, anchor: str = 'start', more: str = '') -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(given)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, more: str = 'stroke="currentColor" stroke-opacity=".2"') -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def box(x: float, y: float, width: float, height: float, more: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" {more}/>'


# --- curves --------------------------------------------------------------------------------------------------------------

def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers from low to high."""
    span = high - low
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 5)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, int(high / step + 1e-9) + 1)]


def panel(left: float, top: float, width: float, height: float, title: str,
          series: Sequence[tuple[str, str, Sequence[tuple[float, float]]]], limits: Optional[tuple[float, float]] = None) -> str:
    """One plot: named series of (x, y) in their colours, with axes."""
    series = [(name, colour, [(x, y) for x, y in points if math.isfinite(y)]) for name, colour, points in series]
    every = [point for _, _, points in series for point in points]
    parts = [label(left, top - 8, title, more='font-weight="600"')]
    if not every:
        return ''.join(parts) + label(left, top + 20, 'no points')
    last = max(x for x, _ in every) or 1
    low, high = limits or (min(0.0, min(y for _, y in every)), max(y for _, y in every))
    high = high if high > low else low + 1

    def place(x: float, y: float) -> tuple[float, float]:
        return left + width * x / last, top + height * (1 - (min(max(y, low), high) - low) / (high - low))

    for tick in _ticks(low, high):
        y = place(0, tick)[1]
        parts.append(line(left, y, left + width, y) + label(left - 6, y + 4, f'{tick:g}', 'end', 'fill-opacity=".7"'))
    parts.append(label(left + width, top + height + 16, f'step {last:g}', 'end', 'fill-opacity=".7"'))
    for index, (name, colour, points) in enumerate(series):
        spots = [place(x, y) for x, y in points]
        if len(points) > 12:
            path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in spots)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        else:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots]
        parts.append(label(left + 70 * index, top + height + 16, name, more=f'fill="{colour}" font-weight="600"'))
    return ''.join(parts)


def curve(steps: Sequence[dict], tests: Sequence[dict]) -> tuple[float, float, str]:
    def of(points: Sequence[dict], field: str) -> list[tuple[float, float]]:
        return [(point['step'], point[field]) for point in points
                if all(isinstance(point.get(name), (int, float)) for name in ('step', field))]

    body = panel(46, 30, 280, 170, 'loss', [('train', BLUE, of(steps, 'loss')), ('test', ORANGE, of(tests, 'loss'))])
    body += panel(396, 30, 280, 170, 'accuracy', [('train', BLUE, of(steps, 'accuracy')),
                                                  ('test', ORANGE, of(tests, 'accuracy'))], (0, 1))
    return 700, 230, body


# --- ladders -------------------------------------------------------------------------------------------------------------

def bars(groups: Iterable[tuple[str, Sequence[tuple[str, Optional[float], str, str]]]]) -> tuple[float, float, str]:
    """Groups of bars: (name, length from 0 to 1 or None, text behind it, colour)."""
    y, parts = 22.0, []
    for title, rows in groups:
        parts.append(label(0, y, title, more='font-weight="600"'))
        y += 8
        for name, length, behind, colour in rows:
            width = 300 * (length or 0)
            parts.append(label(0, y + 14, name) + box(190, y + 3, width, 14, f'rx="2" fill="{colour}"'))
            parts.append(label(196 + width, y + 14, behind, more='fill-opacity=".8"'))
            y += 20
        y += 22
    return 720, y, ''.join(parts)


# --- networks ------------------------------------------------------------------------------------------------------------

_COLOURS = {'conv2d': BLUE, 'linear': BLUE, 'batchnorm2d': GREEN, 'layernorm': GREEN, 'maxpool2d': ORANGE,
            'avgpool2d': ORANGE, 'globalavgpool': ORANGE}


def network(name: str, shape: Sequence[int], layers: Sequence[Any]) -> tuple[float, float, str]:
    """Layers from top to bottom, those inside a residual moved to the right."""
    height, gap, width = 30, 12, 560
    parts = [label(0, 16, f'{name}: {" × ".join(map(str, shape))}', more='font-weight="600"')]
    y = 28.0
    for layer in layers:
        x = 1 + 26 * layer.name.count('.')
        colour = _COLOURS.get(layer.type, GREY)
        parts.append(line(x + 20, y - gap + 2, x + 20, y, 'stroke="currentColor" stroke-opacity=".5"'))
        parts.append(box(x, y, width - x, height, f'rx="5" fill="{colour}" fill-opacity=".18" stroke="{colour}"'))
        trained = f'{layer.parameters:,} parameters' if layer.parameters else ''
        about = ', '.join(each for each in (layer.details, trained) if each)
        parts.append(label(x + 10, y + 19, layer.name, more='font-weight="600"') + label(x + 110, y + 19, about[:60]))
        parts.append(label(width - 10, y + 19, ' × '.join(map(str, layer.output)), 'end'))
        y += height + gap
    return width + 2, y, ''.join(parts)


# --- graphs --------------------------------------------------------------------------------------------------------------

def graph(nodes: Sequence[tuple[str, str]], edges: Sequence[tuple[int, int]]) -> tuple[float, float, str]:
    """A graph from left to right. Nodes are (operator, text), parents before children; edges are (parent, child)."""
    parents: dict[int, list[int]] = {}
    for parent, child in edges:
        parents.setdefault(child, []).append(parent)
    depth: list[int] = []
    for index in range(len(nodes)):
        depth.append(1 + max((depth[parent] for parent in parents.get(index, [])), default=-1))
    for index in reversed(range(len(nodes))):  # a leaf stands beside what it is used for
        users = [depth[child] for parent, child in edges if parent == index]
        if users and index not in parents:
            depth[index] = min(users) - 1
    columns: dict[int, list[int]] = {}
    for index, column in enumerate(depth):
        columns.setdefault(column, []).append(index)
    width, height, across, down = 150, 40, 190, 54
    row: dict[int, float] = {}
    for column in sorted(columns):  # each beside the mean of its parents, as far as there is room
        wanted = sorted(columns[column], key=lambda i: sum(row[p] for p in parents.get(i, []) if p in row)
                        / max(len(parents.get(i, [])), 1))
        for place, index in enumerate(wanted):
            row[index] = place
    parts = ['<defs><marker id="heddle-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
             'orient="auto"><path d="M0,0L8,4L0,8z" fill="currentColor"/></marker></defs>']
    for parent, child in edges:
        x1, y1 = depth[parent] * across + width, row[parent] * down + height / 2
        x2, y2 = depth[child] * across, row[child] * down + height / 2
        middle = (x1 + x2) / 2
        parts.append(f'<path d="M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}" fill="none" '
                     'stroke="currentColor" stroke-opacity=".5" marker-end="url(#heddle-arrow)"/>')
    for index, (operator, about) in enumerate(nodes):
        x, y = depth[index] * across, row[index] * down
        colour = BLUE if operator else GREEN
        parts.append(box(x, y, width, height, f'rx="6" fill="{colour}" fill-opacity=".18" stroke="{colour}"'))
        parts.append(label(x + width / 2, y + 16, operator or 'given', 'middle', 'font-weight="600"'))
        parts.append(label(x + width / 2, y + 32, about, 'middle', 'font-size="11"'))
    size = (max(depth, default=0) + 1) * across - 38, (max(row.values(), default=0) + 1) * down - 12
    return *size, f'<g transform="translate(1 1)">{"".join(parts)}</g>'


def dot(nodes: Sequence[tuple[str, str]], edges: Sequence[tuple[int, int]]) -> str:
    """The same in the language of Graphviz."""
    def quote(given: str) -> str:
        return given.replace('\\', '\\\\').replace('"', '\\"')

    lines = ['digraph {', '  rankdir=LR;', '  node [shape=box];']
    lines += [f'  n{i} [label="{quote(operator or "given")}\\n{quote(about)}"];' for i, (operator, about) in enumerate(nodes)]
    lines += [f'  n{parent} -> n{child};' for parent, child in edges]
    return '\n'.join(lines + ['}', ''])
