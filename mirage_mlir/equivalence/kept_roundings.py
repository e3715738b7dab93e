"""Finds the operators whose rounding has to stay as a program has it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.accuracy import (
    GATE_LABELS,
    MOST_TOGETHER,
    MOST_WHOLE,
    READ,
    enough_labels,
)
from mirage_mlir.equivalence.rounding_residuals import MOST_RUNS, rounding_residuals
from mirage_mlir.equivalence.sample import adjacent
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.equivalence.work import most_elements, seconds
from mirage_mlir.interpreters.dims import NotClosed
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.rounded_results import rounds

WANTED_SECONDS, MOST_SECONDS = 0.2, 0.4
"""Estimated, of all runs, and of one on the fewest elements: a layer of a language model has 0.2.
"""

SEED = 0
"""Of the inputs: the same program has the same kernels."""


def kept_roundings(function: FuncOp) -> frozenset[Operation]:
    """
    The operators of a function whose rounding has to stay, and those whose results show it.

    Where the function cannot be run, or takes too long, the casts whose operand others read, too.
    """
    operations = list(function.body.block.ops)
    rounding = [op for op in operations if rounds(op)]
    if not rounding:
        return frozenset()
    found = None
    if not any(isinstance(op, kernel.GraphDefinedOp) for op in operations):
        with suppress(NotClosed, NotInterpretable):
            found = _found(function)
    return frozenset(filter(_is_split, rounding)) if found is None else found


def _found(function: FuncOp) -> frozenset[Operation] | None:
    """The operators as a run shows them; None where it would take too long."""
    slabs = find_slabs(function, function, sums=True)
    runs = min(MOST_RUNS, len(function.body.block.args)) + 2

    def takes(labels: int) -> float:
        return seconds(function, 1, slabs, labels, READ)

    def fits(labels: int) -> bool:
        elements = most_elements(function, slabs, labels) * runs
        return takes(labels) * runs <= WANTED_SECONDS and elements <= MOST_TOGETHER

    labels = next(filter(fits, GATE_LABELS), 1)
    if takes(labels) > MOST_SECONDS or most_elements(function, slabs, labels) > MOST_WHOLE:
        return None
    chosen = enough_labels(function, slabs, labels)
    dims = adjacent(function, slabs, chosen, np.random.default_rng(SEED))
    most_runs = min(runs - 2, int(MOST_SECONDS / takes(labels)))
    return rounding_residuals(function, dims, most_runs, SEED)


def _is_split(op: Operation) -> bool:
    return isinstance(op, kernel.CastOp) and len({use.operation for use in op.input.uses}) > 1
