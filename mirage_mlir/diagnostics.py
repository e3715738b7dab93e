"""
How the compiler speaks to its user: errors, remarks and notes about a place in the program.

A rejected program is always a `DiagnosticException` (never an `assert`), and every message
has the shape the MLIR tools use, so that editors can jump to it:

    FILE:LINE:COL: error: 'OP' op MESSAGE
    FILE:LINE:COL: remark: MESSAGE

Nothing is printed here: errors travel as exceptions; remarks go to the list that
`collect_remarks` opened (`mirage-opt` opens one), or else to the `mirage_mlir` logger.
"""

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NoReturn

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from mirage_mlir.hints import isa

LONGEST_MESSAGE = 2000
"""Characters of a message: a verdict with its reasons has up to about 1000."""


class Severity(StrEnum):
    """The kinds of diagnostic, as MLIR names them."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


def shortened(message: str) -> str:
    """`message` without its middle if it is too long to read: some quote types or constants."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    end = LONGEST_MESSAGE // 4
    left_out = len(message) - LONGEST_MESSAGE
    head, tail = message[: LONGEST_MESSAGE - end], message[-end:]
    return f"{head} ... ({left_out} characters left out) ... {tail}"


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place; `line` is 0 when only the file, or not even it, is known."""

    severity: Severity
    message: str
    file: str = "-"
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        # One line each: what reads them (editors, grep) splits at newlines.
        return f"{place}: {self.severity}: {shortened(' '.join(self.message.split()))}"


class InvalidOperation(VerifyException):
    """What a verifier raises: the operation breaks a rule of its dialect."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(str(diagnostic))
        self.diagnostics = (diagnostic,)


class PassFailure(PassFailedException):
    """What a pass raises: the program is valid, but not one that the pass can transform."""

    def __init__(self, diagnostic: Diagnostic, *notes: Diagnostic):
        super().__init__(str(diagnostic))
        self.diagnostics = (diagnostic, *notes)
        for note in notes:
            self.add_note(str(note))


class UnsupportedOperation(PassFailure):
    """A function of another framework does what the kernel dialect has no operator for."""


def diagnostic_at(location: LocationAttr, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic about `location`."""
    if (place := place_of(location)) is not None:
        file, line, column = place.filename.data, place.line.data, place.column.data
        return Diagnostic(severity, message, file, line, column)
    return Diagnostic(severity, message)


def place_of(location: Attribute) -> FileLineColLoc | None:
    """The innermost place that a location names: of a call what is called, of several the first."""
    inside: list[Attribute] = []
    if isinstance(location, FileLineColLoc):
        return location
    if isinstance(location, NameLoc):
        inside = [location.location]
    elif isinstance(location, CallSiteLoc):
        inside = [location.callee, location.caller]
    elif isinstance(location, FusedLoc) and isa(location.locations, ArrayAttr[Attribute]):
        inside = [*location.locations]
    return next((place for each in inside if (place := place_of(each)) is not None), None)


def location_of(op: Operation) -> LocationAttr:
    """Where `op` is in the program, or else the closest operation around it that knows."""
    around: Operation | None = op
    while around is not None:
        if around.location != UNKNOWN_LOC:
            return around.location
        around = around.parent_op()
    return UNKNOWN_LOC


def name_of(op: Operation) -> str:
    """The name of `op`, of one that no dialect defines the written one."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def error_about(op: Operation, message: str) -> Diagnostic:
    """An error about `op`, whose name it mentions."""
    return diagnostic_at(location_of(op), Severity.ERROR, f"'{name_of(op)}' op {message}")


_BASE = re.compile(
    r"(?:(?P<what>operand|result) '(?P<name>\w+)' at position \d+ does not verify:\s*)?"
    r"(?P<type>\S.*) should be of base attribute tensor"
)
"""What xDSL says of a value that is no tensor, in terms of its classes."""


def plain(message: str) -> str:
    """What xDSL says of an operation, in the words of its user."""
    found = _BASE.fullmatch(message.strip())
    if found is None:
        return message
    what = "a value" if found["what"] is None else f"{found['what']} '{found['name']}'"
    return f"needs tensors, and {what} is of type {found['type']}"


def invalid(op: Operation, message: str) -> InvalidOperation:
    """The exception a verifier raises: `raise invalid(self, "...")`."""
    return InvalidOperation(error_about(op, message))


def fail(op: Operation, message: str, *, note: str | None = None) -> NoReturn:
    """Stop a pass at `op`; `note` says what to do about it."""
    notes = () if note is None else (diagnostic_at(location_of(op), Severity.NOTE, note),)
    raise PassFailure(error_about(op, message), *notes)


@dataclass(frozen=True)
class _Sink:
    remarks: list[Diagnostic]
    details: bool


_sink: ContextVar[_Sink | None] = ContextVar("sink", default=None)


@contextmanager
def collect_remarks(*, details: bool = False) -> Generator[list[Diagnostic]]:
    """The list to which `remark` appends in this `with` block, with or without the details."""
    sink = _Sink([], details)
    token = _sink.set(sink)
    try:
        yield sink.remarks
    finally:
        _sink.reset(token)


def remark(op: Operation, message: str, *, detail: bool = False) -> None:
    """
    Tell the user something about `op` that is no error: what was chosen, and why.

    A `detail` (counts, times) is shown to those who ask for it: `mirage-opt -v`.
    """
    _tell(diagnostic_at(location_of(op), Severity.REMARK, message), detail=detail)


def general_remark(message: str) -> None:
    """Tell the user something that is about no place of a program."""
    _tell(Diagnostic(Severity.REMARK, message, "mirage"), detail=False)


def remark_of(error: PassFailure) -> None:
    """Tell the user as a remark what was in the way of something that is done otherwise."""
    first = error.diagnostics[0]
    _tell(replace(first, severity=Severity.REMARK), detail=False)


def _tell(diagnostic: Diagnostic, *, detail: bool) -> None:
    sink = _sink.get()
    if sink is None:
        level = logging.DEBUG if detail else logging.INFO
        logging.getLogger("mirage_mlir").log(level, "%s", diagnostic)
    elif sink.details or not detail:
        sink.remarks.append(diagnostic)
