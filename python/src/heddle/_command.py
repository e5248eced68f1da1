"""Runs the command `heddle` and reads what it prints as JSON (docs/json.md)."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from typing import Any, Callable, Optional, Sequence

from ._errors import BY_EXIT_CODE, Error, Invalid
from ._library import command, command_name, path_bytes


def strings(what: str, given: Sequence[Any]) -> list[str]:
    """Words for the command. A string is a sequence of its letters, and never meant as one."""
    if isinstance(given, (str, bytes)):
        raise Invalid(f'{what}={given!r} is one text; give a list of texts, such as [{given!r}]')
    return [str(each) for each in given]


def file_word(path: Any) -> str:
    """A file's name for the command, which takes what begins with a dash for an option."""
    name = os.fsdecode(path_bytes(path))
    return './' + name if name.startswith('-') else name


def _stop(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _lines(process: subprocess.Popen, event: Callable[[dict[str, Any]], None]) -> str:
    """What the command prints, with each of its events given away as it comes."""
    lines = []
    for line in process.stdout:  # type: ignore[union-attr]
        lines.append(line)
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict):
            event(said)
    return ''.join(lines)


def run(words: Sequence[str], cwd: Optional[str] = None, event: Optional[Callable[[dict[str, Any]], None]] = None
        ) -> tuple[dict[str, Any], str]:
    """The result of a command with --json, and what it wrote on standard error. A failure without a result is raised.

    A command that finds something wrong ends with 1 and has a result. Ctrl-C stops the command, too. `event` is called with
    each object that the command prints, while it runs.
    """
    with tempfile.TemporaryFile('w+', errors='replace') as said:  # a pipe that nobody reads would stop the command
        program = command()
        process = subprocess.Popen([command_name(program), *words], executable=program, stdout=subprocess.PIPE, stderr=said,
                                   cwd=cwd, text=True, errors='replace', stdin=subprocess.DEVNULL)
        try:
            output = _lines(process, event) if event else process.communicate()[0]
            process.wait()
        except BaseException:
            _stop(process)
            raise
        finally:
            process.stdout.close()  # type: ignore[union-attr]
        said.seek(0)
        errors = said.read()
    result, failure = None, ''
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # an option such as --help prints text
        if not isinstance(event, dict):
            continue
        if event.get('event') == 'result':
            result = event
        elif event.get('event') == 'error':
            failure = event.get('message', '')
    if result is None or process.returncode not in (0, 1):
        last = [line for line in errors.splitlines() if re.match(r'heddle( [a-z]+)?: ', line)]
        message = failure or (last[-1] if last else f'heddle {words[0]} gave no result (exit code {process.returncode})')
        raise BY_EXIT_CODE.get(process.returncode, Error)(message)
    return result, errors
