"""heddle.check: run a CUDA program on the simulated GPU and get its findings as objects."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
from typing import Any, Optional, Sequence, Union

from . import _draw
from ._command import file_word, run, strings
from ._errors import Invalid

_RED, _YELLOW = 'rgba(220,60,60,.22)', 'rgba(220,170,40,.22)'


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in the source that a finding is about."""
    file: str
    line: int
    column: int      # from 1; 0: not known
    function: str
    role: str        # "read", "write", "allocation", ...
    source: str      # the line itself
    thread: tuple[int, ...]
    block: tuple[int, ...]

    def __str__(self) -> str:
        return f'{self.file}:{self.line}'


@dataclasses.dataclass(frozen=True)
class Counter:
    """What one source line asked of memory: sectors of 32 bytes in global memory, wavefronts in shared memory."""
    file: str
    line: int
    access: str  # "load", "store", ...
    space: str   # "global", "shared", ...
    requests: int
    used: int    # sectors or wavefronts
    ideal: int
    excess_percent: float


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel that the program launched, with the counters of its lines."""
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    launches: int
    accesses: int
    barriers: int
    counters: list[Counter]


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `tier` is "error" or "warning"; `raw` is everything that the command says."""
    kind: str
    tier: str
    headline: str
    message: str
    note: str
    cause: str
    advice: str
    count: int
    kernel: str
    places: list[Place]
    counters: list[Counter]  # of the lines in `places`
    raw: dict[str, Any] = dataclasses.field(repr=False)

    def __str__(self) -> str:
        lines = [f'{self.tier}: {self.headline}', f'  {self.message}']
        for place in self.places:
            lines += [f'  {place.role} at {place}, thread {place.thread}, block {place.block}' if place.thread
                      else f'  {place.role} at {place}']
            lines += [f'      {place.source.strip()}'] if place.source else []
        lines += [f'  {each}' for each in (self.note, self.cause, self.advice) if each]
        return '\n'.join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        colour = _RED if self.tier == 'error' else _YELLOW
        rows = []
        for place in self.places:
            who = f' · thread {place.thread}, block {place.block}' if place.thread else ''
            rows.append(f'<div style="margin:.4em 0 0"><small>{_draw.escape(place.role)} at {_draw.escape(place)} in '
                        f'{_draw.escape(place.function)}{_draw.escape(who)}</small><pre style="margin:0;padding:.2em .5em;'
                        f'background:{colour};color:inherit">{place.line:5}  {_mark(place)}</pre></div>')
        tail = ''.join(f'<div>{_draw.escape(each)}</div>' for each in (self.note, self.cause) if each)
        advice = f'<div><b>{_draw.escape(self.advice)}</b></div>' if self.advice else ''
        return (f'<div style="border-left:4px solid {colour};padding-left:.7em;margin:.6em 0"><b>{_draw.escape(self.tier)}: '
                f'{_draw.escape(self.headline)}</b><div>{_draw.escape(self.message)}</div>{"".join(rows)}{tail}{advice}</div>')


def _mark(place: Place) -> str:
    """The source line with the access underlined, from its column to the end of the word and its index."""
    column = place.column - 1
    if not 0 <= column < len(place.source):
        return _draw.escape(place.source)
    end, depth = column, 0
    while end < len(place.source):
        letter = place.source[end]
        depth += letter == '['
        if depth == 0 and not (letter.isalnum() or letter == '_'):
            break
        depth -= letter == ']'
        end += 1
    end = max(end, column + 1)
    before, word, behind = place.source[:column], place.source[column:end], place.source[end:]
    return f'{_draw.escape(before)}<b><u>{_draw.escape(word)}</u></b>{_draw.escape(behind)}'


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a check. `passed` says whether the command would have ended with 0; `clean`, that nothing was found."""
    verdict: str
    status: str
    passed: bool
    clean: bool
    findings: list[Finding]
    kernels: list[Kernel]
    notes: list[str]
    gpu: str
    seconds: float
    output: str  # of the program, and of the compiler
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @property
    def errors(self) -> list[Finding]:
        return [each for each in self.findings if each.tier == 'error']

    @property
    def warnings(self) -> list[Finding]:
        return [each for each in self.findings if each.tier != 'error']

    def __str__(self) -> str:
        return '\n'.join([f'{self.status}: {self.verdict}', *(str(each) for each in self.findings),
                          *(f'note: {each}' for each in self.notes)])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        findings = ''.join(each._repr_html_() for each in self.findings)
        counted = [(kernel, counter) for kernel in self.kernels for counter in kernel.counters]
        rows = ''.join(f'<tr><td>{_draw.escape(kernel.name)}</td><td>{_draw.escape(os.path.basename(counter.file))}:'
                       f'{counter.line}</td><td>{_draw.escape(counter.space)} {_draw.escape(counter.access)}</td>'
                       f'<td>{counter.used}</td><td>{counter.ideal}</td><td>{counter.excess_percent:.0f} %</td></tr>'
                       for kernel, counter in counted)
        table = ('<table><tr><th>kernel</th><th>line</th><th>access</th><th>sectors or wavefronts</th><th>ideal</th>'
                 f'<th>excess</th></tr>{rows}</table>') if rows and not self.errors else ''
        return f'<div><b>{_draw.escape(self.verdict)}</b> (simulated {_draw.escape(self.gpu)}){findings}{table}</div>'


def _counter_of(row: dict[str, Any]) -> Counter:
    return Counter(row['file'], row['line'], row['access'], row['space'], row['requests'],
                   row.get('sectors', row.get('wavefronts', 0)), row.get('ideal', 0), row.get('excess_percent', 0))


def _kernel_of(row: dict[str, Any]) -> Kernel:
    return Kernel(row['kernel'], tuple(row['grid']), tuple(row['block']), row['launches'], row['accesses'],
                  row['barriers'], [_counter_of(line) for line in row.get('lines', [])])


def _place_of(row: dict[str, Any]) -> Place:
    return Place(row.get('file', ''), row.get('line', 0), row.get('column', 0), row.get('function', ''),
                 row.get('role', ''), row.get('source', ''), tuple(row.get('thread', ())), tuple(row.get('block', ())))


def _finding_of(row: dict[str, Any], kernels: list[Kernel]) -> Finding:
    places = [_place_of(place) for place in row.get('places', [])]
    lines = {(place.file, place.line) for place in places}
    counters = [each for kernel in kernels for each in kernel.counters if (each.file, each.line) in lines]
    return Finding(row['kind'], row['tier'], row.get('headline', ''), row.get('message', ''), row.get('note', ''),
                   row.get('cause', ''), row.get('cure', ''), row.get('count', 1), row.get('kernel', ''), places,
                   counters, row)


def _report_of(result: dict[str, Any], output: str) -> Report:
    kernels = [_kernel_of(row) for row in result.get('kernels', [])]
    return Report(result['verdict'], result['status'], result['passed'], result['clean'],
                  [_finding_of(row, kernels) for row in result.get('findings', [])], kernels,
                  result.get('notes', []), result.get('gpu', ''), result.get('seconds', 0.0),
                  output, result)


def check(*files: Union[str, os.PathLike], source: Optional[str] = None, arguments: Sequence[str] = (),
          op: Optional[str] = None, shapes: Sequence[str] = (), gpu: Optional[str] = None, strict: bool = False,
          schedules: Optional[int] = None, budget: Optional[float] = None, timeout: Optional[float] = None,
          expect: Union[str, os.PathLike, None] = None, any_status: bool = False, nvcc: Optional[bool] = None,
          flags: Sequence[str] = ()) -> Report:
    """Runs a CUDA program on the simulated GPU and reports races, out-of-bounds accesses and other errors. Needs no GPU.

    files:      the program's .cu files, with its headers beside them; or
    source:     the program as text.
    arguments:  for the program.
    op, shapes: the operator that a file without main implements, and shapes such as "m=64 n=64 k=100" to compare at.
    strict:     treat warnings as errors.
    nvcc:       True: also compile with nvcc; False: never; None: if it is installed.
    flags:      more options of `heddle check`, and of nvcc: "-Iinclude", "-DN=64", "--divergence".

    The program's host code runs on this machine, in a sandbox if the system has one. A report with errors is not an
    exception: look at `passed`. Raises Invalid for wrong usage, and Missing without a C++ compiler.
    """
    if bool(files) == (source is not None):
        raise Invalid('heddle.check needs the files of a program, or source=; one of them')
    words = ['check', '--json', *strings('flags', flags)]
    named = {'--op': op, '--gpu': gpu, '--schedules': schedules, '--budget': budget, '--timeout': timeout, '--expect': expect}
    for name, value in named.items():
        words += [] if value is None else [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    for shape in strings('shapes', shapes):
        words += ['--shape', shape]
    words += ['--strict'] * strict + ['--any-status'] * any_status
    words += [] if nvcc is None else ['--nvcc' if nvcc else '--no-nvcc']
    with tempfile.TemporaryDirectory(prefix='heddle-') as folder:
        if source is not None:
            program = pathlib.Path(folder) / 'program.cu'
            program.write_text(source, encoding='utf-8', errors='surrogateescape')
            files = (program,)
        words += [file_word(file) for file in files]
        given = strings('arguments', arguments)
        result, output = run(words + (['--', *given] if given else []))
    return _report_of(result, output)
