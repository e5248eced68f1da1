"""Runs the command `heddle` and reads what it prints as JSON (docs/json.md)."""
from __future__ import annotations

import json
import signal
import subprocess
from typing import Any, Optional, Sequence

from ._errors import BY_EXIT_CODE, Error
from ._library import command


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
        event = json.loads(line)
        if event.get('event') == 'result':
            result = event
        elif event.get('event') == 'error':
            failure = event.get('message', '')
    if result is None or process.returncode not in (0, 1):
        said = [line for line in errors.splitlines() if line.startswith('heddle: ')]
        message = failure or (said[-1] if said else f'heddle {words[0]} ended with {process.returncode}')
        raise BY_EXIT_CODE.get(process.returncode, Error)(message)
    return result, errors
