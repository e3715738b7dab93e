"""Kinds of faults of a kernel, and the checker that reports them."""

from dataclasses import dataclass, field
from enum import StrEnum

from xdsl.ir import Operation

from mirage_mlir.diagnostics import (
    Diagnostic,
    PassFailure,
    Severity,
    diagnostic_at,
    error_about,
)


class FaultKind(StrEnum):
    """The kinds of fault."""

    OUT_OF_BOUNDS = "out of bounds"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised"
    """A read of memory that nothing wrote."""
    INCOMPLETE = "incomplete copy"
    """A read of shared memory that an asynchronous copy is still writing."""
    RACE = "race"
    """Two accesses to one byte that nothing orders, one of them a write."""
    DIVERGENCE = "divergence"
    """An operation that threads execute together, reached by some of them only."""
    DEADLOCK = "deadlock"
    """Threads that wait for each other, or for bytes that nobody copies."""
    BARRIER = "barrier"
    """A transaction barrier that gets other arrivals or bytes than it is for."""
    READ_ONLY = "read-only"
    """A write to an input."""
    UNSUPPORTED = "unsupported"
    """An operation that lowered kernels do not have."""


class KernelFault(PassFailure):
    """A fault of a kernel, at an operation."""

    def __init__(self, kind: FaultKind, op: Operation, message: str, *notes: Diagnostic):
        super().__init__(error_about(op, f"{message} ({kind})"), *notes)
        self.kind = kind
        self.op = op


@dataclass
class Checker:
    """
    Where faults go.

    The first one is raised; with `keep_going` all are kept in `faults`, one of each kind per
    operation, and the access does nothing: a read gives NaN.
    """

    keep_going: bool = False
    faults: list[KernelFault] = field(default_factory=list[KernelFault])
    place: str = ""
    """The block that runs."""

    def report(
        self, kind: FaultKind, op: Operation, message: str, other: Operation | None = None
    ) -> None:
        """Note a fault of `op`; `other` is the operation that it collides with."""
        if any(fault.kind == kind and fault.op is op for fault in self.faults):
            return
        notes: list[Diagnostic] = []
        if other is not None:
            text = f"the other access is this '{other.name}'"
            notes.append(diagnostic_at(other.location, Severity.NOTE, text))
        place = f" in {self.place}" if self.place else ""
        fault = KernelFault(kind, op, message + place, *notes)
        self.faults.append(fault)
        if not self.keep_going:
            raise fault


def unsupported(op: Operation, message: str = "is no operation of a lowered kernel") -> KernelFault:
    """The exception for what the interpreter does not know."""
    return KernelFault(FaultKind.UNSUPPORTED, op, message)
