"""heddle.bench: measure the ladder of an operator. heddle.ops: what operators there are."""
from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from . import _draw
from ._command import file_word, run
from ._errors import Invalid
from ._library import ffi, lib, text


@dataclasses.dataclass(frozen=True)
class Row:
    """One rung at one shape. Times are None where the result was wrong (`ok` is False) or could not be measured."""
    op: str
    rung: str
    tier: str
    note: str
    shape: str
    dtype: str
    microseconds: Optional[float]  # median, with a cold cache
    low: Optional[float]
    high: Optional[float]
    gflops: Optional[float]
    gbytes_per_second: Optional[float]
    roofline: Optional[float]  # share of the hardware limit
    ratio: Optional[float]     # speed relative to the vendor's library
    max_error: Optional[float]
    status: str                # "right", "wrong", ...
    message: Optional[str]
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the result was compared with the float64 reference and is right."""
        return self.status == 'right'


def _row_of(row: dict[str, Any]) -> Row:
    values: dict[str, Any] = {field.name: row.get(field.name) for field in dataclasses.fields(Row)[:-1]}
    return Row(**values, raw=row)


def _time(microseconds: Optional[float]) -> str:
    if not microseconds:
        return '-'
    for unit, size in (('s', 1e6), ('ms', 1e3)):
        if microseconds >= size:
            return f'{microseconds / size:.4g} {unit}'
    return f'{microseconds:.4g} µs'


class Ladder(_draw.Drawn):
    """The rows of a measurement, in the order of the ladder: a sequence of Row. `machine` says where it ran."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.raw = result
        self.rows = [_row_of(row) for row in result['results']]
        self.machine = f'{result.get("device_name", "")} ({result.get("device", "")})'

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _groups(self) -> dict[tuple[str, str], list[Row]]:
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((row.op, row.shape), []).append(row)
        return groups

    def __repr__(self) -> str:
        lines = []
        for (op, shape), rows in self._groups().items():
            lines.append(f'{op}  {shape}  on {self.machine}')
            width = max(len(row.rung) for row in rows)
            lines += [f'  {row.rung:{width}}  {row.dtype:5} {_time(row.microseconds):>10}  {_rate(row)}' for row in rows]
        return '\n'.join(lines)

    def _svg(self) -> tuple[float, float, str]:
        colours = {'vendor': _draw.ORANGE, 'naive': _draw.GREY}
        groups = []
        for (op, shape), rows in self._groups().items():
            fastest = min((row.microseconds for row in rows if row.microseconds), default=None)
            drawn = [(row.rung, fastest / row.microseconds if fastest and row.microseconds else None,
                      f'{_time(row.microseconds)}  {_rate(row)}', colours.get(row.tier, _draw.BLUE)) for row in rows]
            groups.append((f'{op}, {shape} on {self.machine}', drawn))
        return _draw.bars(groups)


def _rate(row: Row) -> str:
    if not row.ok:
        return row.status + (f': {row.message}' if row.message else '')
    if row.gflops and row.raw.get('bound') != 'memory':
        rate = f'{row.gflops:.1f} GFLOP/s'
    else:
        rate = f'{row.gbytes_per_second:.1f} GB/s' if row.gbytes_per_second else ''
    return rate + (f', {row.ratio:.2f} × vendor' if row.ratio else '')


def _forward(name: str) -> str:
    """The operator that a ladder's name means when one is enough: the forward one, else the first. Others stay."""
    every = ops()
    of_ladder = [each.name for each in every.values() if each.ladder == name]
    if name in every:
        return name
    return f'{name}_forward' if f'{name}_forward' in every else of_ladder[0] if of_ladder else name


def _print(row: Row) -> None:
    print(f'{row.op}/{row.rung}  {row.shape}  {_time(row.microseconds)}  {_rate(row)}', file=sys.stderr, flush=True)


def bench(op: Union[str, os.PathLike], *, implements: Optional[str] = None, shape: Union[str, Sequence[str], None] = None,
          device: Optional[str] = None, dtype: Optional[str] = None, against: Optional[str] = None,
          seconds: Optional[float] = None, quick: Optional[bool] = None, seed: Optional[int] = None,
          threads: Optional[int] = None, progress: Union[bool, Callable[[Row], Any], None] = None) -> Ladder:
    """Measures every rung of an operator, checked against a float64 reference first.

    op:         an operator ("matmul_forward"), a ladder ("matmul"), one rung ("matmul/cpu_blocked"), or your own .cu file;
    implements: the operator that the file implements.
    shape:      such as "m=512 n=512 k=512", or several; default: as `quick` says.
    against:    the rung to compare with; default: the vendor library's.
    seconds:    time for each rung and shape.
    quick:      the first benchmark shape, for a tenth of the time; of a ladder, only its forward operator. Default: True
                where no shape is given. False measures all operators of a ladder at all benchmark shapes: minutes.
    progress:   called with each Row as it is measured; True prints it on standard error. Default: True in a terminal.
    """
    shapes = [shape] if isinstance(shape, str) else list(shape or [])
    quick = not shapes if quick is None else quick
    words = ['bench', '--json', _forward(file_word(op)) if quick and not shapes else file_word(op)]
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    tell = _print if progress is True else progress

    def measured(event: dict[str, Any]) -> None:
        if callable(tell) and event.get('event') == 'measured':
            tell(_row_of(event))

    named = {'--op': implements, '--device': device, '--dtype': dtype, '--against': against, '--seconds': seconds,
             '--seed': seed, '--threads': threads}
    for name, value in named.items():
        words += [] if value is None else [name, str(value)]
    for each in shapes:
        words += ['--shape', each]
    if words[2] in ('train', 'infer', 'out-of-core', 'collectives'):
        raise Invalid(f'heddle.bench measures operators; run `heddle bench {words[2]} --json`')
    result, _ = run(words + ['--quick'] * quick, event=measured)
    return Ladder(result)


# --- operators -----------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Rung:
    """One implementation of an operator."""
    name: str
    device: str
    tier: str
    note: str


@dataclasses.dataclass(frozen=True)
class Operator:
    """What is computed, from which operands, and by which rungs, the slowest first."""
    name: str
    ladder: str
    summary: str
    operands: list[str]
    fields: list[str]
    rungs: list[Rung]


def _operator_of(op: Any) -> Operator:
    rungs = [Rung(text(rung.name), text(lib.heddle_device_kind_name(rung.device)), text(lib.heddle_tier_names[rung.tier]),
                  text(rung.note)) for rung in (op.ladder[i] for i in range(op.rungs))]
    return Operator(text(op.name), text(op.ladder_name), text(op.summary),
                    [text(op.operands[i].name) for i in range(op.operand_count)],
                    [text(op.fields[i].name) for i in range(op.field_count)], rungs)


def ops() -> dict[str, Operator]:
    """All operators by name."""
    every = (lib.heddle_op_at(i) for i in range(lib.heddle_op_count()))
    return {text(op.name): _operator_of(op) for op in every if op != ffi.NULL}
