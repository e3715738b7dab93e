"""What to say of a program that no kernel was found for, and where."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import UNKNOWN_LOC

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.diagnostics import (
    PassFailure,
    Severity,
    UnsupportedOperation,
    diagnostic_at,
    location_of,
)
from mirage_mlir.equivalence.mask_inputs import selects_lowest


@contextmanager
def failures_at_line(graph: KernelGraph, what: str = "this") -> Generator[None]:
    """
    While kernels are searched for: a failure says which line of the user it is about.

    Args:
        graph: the program; one that was not made of lines of a user fails as it does.
        what: the message calls what was searched for.

    Raises:
        UnsupportedOperation: in place of the failure, with its reasons as notes.
    """
    try:
        yield
    except PassFailure as error:
        found = [op for op in graph.to_module().walk() if location_of(op) != UNKNOWN_LOC]
        if error.diagnostics[0].line or not found:
            raise
        masks = [op for op in found if selects_lowest(op)]
        # Verification follows -inf through sums, positive multiples, maxima and exp alone.
        advice = "-inf in masks is in the way: take finfo(dtype).min"
        message = (
            f"no kernel of {what} could be verified and compiled; "
            f"{advice if masks else 'compile parts of the function, or call it as it is'}"
        )
        place = diagnostic_at(location_of((masks or found)[-1]), Severity.ERROR, message)
        raise UnsupportedOperation(place, *error.diagnostics[1:]) from error
