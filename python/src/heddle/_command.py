"""Runs the command `heddle` and reads what it prints as JSON (docs/json.md)."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from typing import Any, Optional, Sequence

from ._errors import BY_EXIT_CODE, Error, Invalid
from ._library import command, path_bytes


def strings(what: str, given: Sequence[Any]) -> list[str]:
    """Words for the command. A string is a sequence of its letters, and never meant as one."""
    if isinstance(given, (str, bytes)):
        raise Invalid(f'{what}={given!r} is one text; give a list of texts, such as [{given!r}]')
    return [str(each) for each in given]


def file_word(path: Any) -> str:
    """A file's name for the command, which takes what begins with a dash for an option."""
    name = os.fsdecode(path_bytes(path))
    return './' + name if name.startswith('-') else name


def run(words: Sequence[str], cwd: Optional[str] = None) -> tuple[dict[str, Any], str]:
    """The result of a command with --json, and what it wrote on standard error. A failure without a result is raised.

    A command that finds something wrong ends with 1 and has a result. Ctrl-C stops the command, too.
    """
    process = subprocess.Popen([command(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                               text=True, errors='replace', stdin=subprocess.DEVNULL)
    try:
        output, errors = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
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
        said = [line for line in errors.splitlines() if re.match(r'heddle( [a-z]+)?: ', line)]
        message = failure or (said[-1] if said else f'heddle {words[0]} gave no result (exit code {process.returncode})')
        raise BY_EXIT_CODE.get(process.returncode, Error)(message)
    return result, errors
