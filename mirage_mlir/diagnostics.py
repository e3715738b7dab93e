"""
How the compiler speaks to its user: errors, warnings, remarks and notes about a place.

A rejected program is always a `DiagnosticException` (never an `assert`), and every message
has the shape the MLIR tools use, so that editors can jump to it:

    FILE:LINE:COL: error: 'OP' op MESSAGE
    FILE:LINE:COL: remark: MESSAGE

Nothing is printed here: errors travel as exceptions, remarks to the list that
`collect_diagnostics` opened (`mirage-opt` opens one), or else to the `mirage_mlir` logger.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from xdsl.dialects.builtin import FileLineColLoc, LocationAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException


class Severity(StrEnum):
    """The kinds of diagnostic, as MLIR names them."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place; `file` is "-" and `line` 0 when the place is not known."""

    severity: Severity
    message: str
    file: str = "-"
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        # One line per diagnostic: what reads them (editors, grep) splits at newlines.
        return f"{place}: {self.severity}: {' '.join(self.message.split())}"


_collected: ContextVar[list[Diagnostic] | None] = ContextVar("collected", default=None)


@contextmanager
def collect_diagnostics() -> Generator[list[Diagnostic]]:
    """Collect the remarks and warnings of the code in this `with` block, in order."""
    diagnostics: list[Diagnostic] = []
    token = _collected.set(diagnostics)
    try:
        yield diagnostics
    finally:
        _collected.reset(token)


def diagnostic_at(location: LocationAttr, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic about `location`."""
    if isinstance(location, FileLineColLoc):
        file, line, column = location.filename.data, location.line.data, location.column.data
        return Diagnostic(severity, message, file, line, column)
    return Diagnostic(severity, message)


def message_for(op: Operation, message: str) -> str:
    """The one-line text of an error about `op`."""
    return str(diagnostic_at(op.location, Severity.ERROR, f"'{op.name}' op {message}"))


def invalid(op: Operation, message: str) -> VerifyException:
    """The exception a verifier raises: `raise invalid(self, "...")`."""
    return VerifyException(message_for(op, message))


def fail(op: Operation, message: str, *, note: str | None = None) -> NoReturn:
    """Stop a pass at `op`; `note` says what to do about it."""
    error = PassFailedException(message_for(op, message))
    if note is not None:
        error.add_note(str(diagnostic_at(op.location, Severity.NOTE, note)))
    raise error


def remark(op: Operation, message: str) -> None:
    """Tell the user something about `op` that is no error: what was chosen, and why."""
    diagnostic = diagnostic_at(op.location, Severity.REMARK, message)
    collected = _collected.get()
    if collected is None:
        logging.getLogger("mirage_mlir").info("%s", diagnostic)
    else:
        collected.append(diagnostic)
