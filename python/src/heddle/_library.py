"""Finds and opens libheddle and the command, and turns the library's failures into exceptions.

HEDDLE_LIBRARY names the library, or a build folder or an installation prefix that has it. Default: what came with this
package, then what is installed on the system.
"""
from __future__ import annotations

import atexit
import os
import pathlib
import re
import shutil
import sys
from typing import Any, Iterator, Optional

from ._c import VERSION, ffi
from ._errors import BY_STATUS, Error, Invalid, Missing

_SONAME = f'libheddle.so.{VERSION.split(".")[0]}'
_OWN = pathlib.Path(__file__).resolve().parent
_HOW = ('install heddle with `pip install ./python`, or set HEDDLE_LIBRARY to libheddle.so, to a build folder or to an '
        'installation prefix')


def _candidates() -> Iterator[str]:
    given = os.environ.get('HEDDLE_LIBRARY')
    if given:
        path = pathlib.Path(given)
        if not path.is_dir():
            yield str(path)
            return
        for folder in (path, path / 'lib', *sorted(path.glob('lib/*-linux-gnu'))):
            if (folder / _SONAME).exists():
                yield str(folder / _SONAME)
                return
        raise ImportError(f'HEDDLE_LIBRARY={given} has no {_SONAME}; build it with `make build`, or unset the variable')
    bundled = _OWN / 'lib' / _SONAME
    yield str(bundled) if bundled.exists() else _SONAME


def _open() -> tuple[Any, str]:
    path = next(_candidates())
    try:
        library = ffi.dlopen(path)
    except OSError as error:
        raise ImportError(f'cannot load libheddle: {error}; {_HOW}') from None
    try:
        found = ffi.string(library.heddle_version()).decode()
    except (AttributeError, ffi.error):
        raise ImportError(f'{path} is not libheddle; {_HOW}') from None
    if found != VERSION:
        raise ImportError(f'{path} is heddle {found}, and this package is for {VERSION}; install the two together, or set '
                          'HEDDLE_LIBRARY')
    return library, path


lib, library_path = _open()

# At the end of the process memory goes by itself, and what an object would need to free itself may be gone before.
ending = False


@atexit.register
def _note_end() -> None:
    global ending
    ending = True


def text(pointer: Any) -> str:
    """The text at a char pointer; '' for NULL."""
    return ffi.string(pointer).decode(errors='replace') if pointer else ''


def path_bytes(path: Any) -> bytes:
    """A path or a name as C has it."""
    encoded = os.fsencode(path)
    if b'\0' in encoded:
        raise Invalid(f'{path!r} has a NUL character')
    return encoded


# The library's messages name options of the command and functions of C: what they are called here.
_IN_PYTHON = [(re.compile(pattern), words) for pattern, words in (
    (r'--resume\b', 'resume=True'), (r'--overwrite\b', 'overwrite=True'), (r'--out\b', 'folder='),
    (r'--batch\b', 'batch='), (r'--data DIR', 'data_folder='), (r'--precision (\w+)', r'precision="\1"'),
    (r'the --model\b', 'the model'), (r'call heddle_network_calibrate first', 'call network.calibrate() first'),
    (r'\bheddle_add needs', '+ and - need'), (r'\bheddle_multiply needs', '* needs'), (r'\bheddle_matmul:', '@:'),
    (r'(the sim device is not built): run `make sim`', r"\1: in heddle's sources run `make build sim` and "
     r'`pip install --force-reinstall ./python -C cmake.define.HEDDLE_BUILD=$PWD/build`'),
)]


def last_error() -> str:
    message = text(lib.heddle_last_error())
    for pattern, words in _IN_PYTHON:
        message = pattern.sub(words, message)
    return message


def error_of(status: int) -> Error:
    name = text(lib.heddle_status_name(status)).replace('HEDDLE_', '', 1)
    return BY_STATUS.get(name, Error)(last_error())


def check(status: int) -> None:
    """Raises what a status other than HEDDLE_OK means."""
    if status != lib.HEDDLE_OK:
        raise error_of(status)


def choice(what: str, value: Optional[str], names: Any) -> int:
    """The number of a name in a NULL-terminated table of the library, or in a list."""
    known = list(names) if isinstance(names, (list, tuple)) else list(_table(names))
    if value not in known:
        raise Invalid(f'{what} {value!r}: choose from {", ".join(known)}')
    return known.index(value)


def _table(names: Any) -> Iterator[str]:
    index = 0
    while names[index] != ffi.NULL:
        yield text(names[index])
        index += 1


def precision_number(value: str) -> int:
    names = ['fp32' if name == 'full' else name for name in _table(lib.heddle_arithmetic_names)]
    return choice('precision', value, names)


def command() -> str:
    """The path of the command `heddle`: $HEDDLE_COMMAND, beside the library, with this package, or on the PATH."""
    given = os.environ.get('HEDDLE_COMMAND')
    if given:
        if not os.access(given, os.X_OK):
            raise Missing(f'HEDDLE_COMMAND={given} cannot be run; unset it or correct it')
        return given
    folder = pathlib.Path(library_path).parent
    for path in (folder / 'heddle', folder.parent / 'bin' / 'heddle', _OWN / 'bin' / 'heddle'):
        if '/' in library_path and path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which('heddle')
    if not found:
        raise Missing('the command `heddle` is not here; install it with `pip install ./python` or `make install`, or set '
                      'HEDDLE_COMMAND')
    return found


def command_name(program: str) -> str:
    """What the command's hints call it: `heddle` if a shell finds it, or this package's own entry, by that name."""
    found = shutil.which('heddle')
    entry = os.path.join(os.path.dirname(sys.executable), 'heddle')
    same = found and any(os.path.exists(each) and os.path.samefile(found, each) for each in (program, entry))
    return 'heddle' if same else program


def version() -> str:
    """The version of the library, as "MAJOR.MINOR.PATCH"."""
    return text(lib.heddle_version())
