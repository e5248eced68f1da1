"""The command `heddle` that came with the package, or the one that is installed."""
from __future__ import annotations

import os
import sys


def main() -> None:
    from ._errors import Error
    from ._library import command, command_name
    try:
        program = command()
    except Error as error:
        sys.exit(f'heddle: {error}')
    if os.path.realpath(program) == os.path.realpath(sys.argv[0]):
        sys.exit('heddle: this package has no command of its own, and no other is installed; set HEDDLE_COMMAND')
    os.execv(program, [command_name(program), *sys.argv[1:]])


if __name__ == '__main__':
    main()
