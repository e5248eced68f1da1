"""What is raised when a call of the library fails. The message is the library's: what happened, and what to do."""
from __future__ import annotations


class Error(RuntimeError):
    """A call of the library or the command failed."""


class Invalid(Error, ValueError):
    """An argument, a shape or a file's setting makes no sense."""


class NotFound(Error, LookupError):
    """No such file, operator, rung, dataset or model."""


class FileError(Error, OSError):
    """The operating system refused a read or a write."""


class Corrupt(Error, ValueError):
    """A file's content is not what its format says."""


class OutOfMemory(Error, MemoryError):
    """Not enough host or device memory."""


class Unsupported(Error, NotImplementedError):
    """Makes sense, but this build or device cannot do it."""


class Missing(Error):
    """Something is missing on this machine. The message says how to get it."""


class DeviceError(Error):
    """The device reported an error."""


class Diverged(Error, ArithmeticError):
    """Training produced NaN, infinity or an exploding loss."""


class InternalError(Error):
    """A bug in heddle."""


# By the names of heddle_status, without HEDDLE_. HEDDLE_INTERRUPTED is not an error: train() raises Interrupted itself.
BY_STATUS = {
    'INVALID': Invalid, 'NOT_FOUND': NotFound, 'IO': FileError, 'CORRUPT': Corrupt, 'OUT_OF_MEMORY': OutOfMemory,
    'UNSUPPORTED': Unsupported, 'MISSING': Missing, 'DEVICE': DeviceError, 'DIVERGED': Diverged,
    'INTERNAL': InternalError,
}

# By exit code of the command.
BY_EXIT_CODE = {2: Invalid, 3: Missing}
