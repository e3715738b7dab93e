"""
Whether a candidate takes steps of what rounding changes: a floor, or a comparison.

Of a reference that divides, `floor(x / y)`, a candidate that multiplies by what was divided before,
`floor(x * (1 / y))`, is another function where x is a multiple of y. Modulo primes they are equal,
and where tests do not happen on such multiples, in floating point. So what a step is taken of is
looked at as it is written; steps of indices alone are computed (`index_steps.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.equivalence.index_steps import VIEWS, IndexSteps
from mirage_mlir.field.rational import simplest_rational

FLOORS = ("floor", "ceil")

STEPS = (*FLOORS, "round", "compare")

SUMS = ("reduce_sum", "reduce_mean", "accumulate", "cumsum", "matmul")
"""Of whole numbers they are exact; a floor may count on that."""

EXACT = frozenset(
    [
        *("add", "sub", "mul", "div", "scale", "square", "max", "min", "neg", "abs", "relu"),
        *("select", "clamp", "cast", "sqrt", "reduce_max", "concat", "constant", "iota", *SUMS),
    ]
)
"""Operators that have whole numbers of whole numbers, or are rounded once."""

QUOTIENT, ROOT = "quotient", "root"
"""What else than a number something is multiplied by: a quotient, the inverse of a square root."""


def changed_step(reference: FuncOp, candidate: FuncOp) -> str | None:
    """
    What rounding changes in a step of a candidate; None where it changes nothing that is known.

    What it changes in the reference too is what its author wrote.
    """
    ours, theirs = IndexSteps(candidate), IndexSteps(reference)
    if further := ours.changed - theirs.changed:
        return str(min(further))
    allowed = _Arguments(reference, theirs.exact)
    if not allowed.exact:
        return None
    found = _Arguments(candidate, ours.exact)
    for op, factors in found.exact.items():
        if other := sorted(factors - allowed.factors):
            return (
                f"'{op.name}' is taken of a product with {_described(other[0])}, where the "
                "reference has a quotient"
            )
    return None


def _described(factor: str) -> str:
    names = {QUOTIENT: "a quotient", ROOT: "the inverse of a square root"}
    return names.get(factor, factor)


class _Arguments:
    """
    What the steps of a function are taken of.

    `exact` has the steps whose arguments may be whole numbers, each with what is multiplied by on
    the way to it that is none; `factors` has those of all steps.
    """

    def __init__(self, function: FuncOp, known: set[Operation]) -> None:
        self._stored = dict(_stored_tiles(function))
        self.exact: dict[Operation, set[str]] = {}
        self.factors = set[str]()
        for op in function.walk():
            if _name(op) in STEPS and op not in known:
                factors = set[str]()
                if self._collect(op, factors):
                    self.exact[op] = factors
                self.factors |= factors

    def _collect(self, step: Operation, factors: set[str]) -> bool:
        """Note what is multiplied by on the way to a step; whether all of it may be exact."""
        exact, seen, waiting = True, set[SSAValue](), list(step.operands)
        while waiting:
            if (value := self._origin(waiting.pop())) in seen:
                continue
            seen.add(value)
            op = value.owner
            if not isinstance(op, Operation) or _name(op) in STEPS:
                continue
            if _name(op) in SUMS and _name(step) not in FLOORS:
                continue
            if _name(op) == "rsqrt":
                factors.add(ROOT)
                exact = exact and op.name.startswith("threadblock.")
            elif _name(op) not in EXACT:
                exact = False
            else:
                factors |= self._multiplied_by(op)
                waiting += op.operands[1:] if _name(op) == "select" else op.operands
        return exact

    def _multiplied_by(self, op: Operation) -> set[str]:
        """The factors of a product that are no whole numbers."""
        if isinstance(op, kernel.ScaleOp | threadblock.ScaleOp):
            return _inexact(op.factor.value.data)
        found = set[str]()
        for value in op.operands if _name(op) == "mul" else ():
            maker = self._origin(value).owner
            if isinstance(maker, kernel.ConstantOp | threadblock.ConstantOp):
                found |= _inexact(maker.value.value.data)
            elif isinstance(maker, kernel.DivOp | threadblock.DivOp):
                found.add(QUOTIENT)
        return found

    def _origin(self, value: SSAValue) -> SSAValue:
        """What a value is a view or a copy of, in another kernel too."""
        while True:
            if isinstance(value, BlockArgument):
                graph = value.owner.parent_op()
                if not isinstance(graph, kernel.GraphDefinedOp):
                    return value
                value = graph.inputs[value.index]
            elif value in self._stored:
                value = self._stored[value]
            elif isinstance(op := value.owner, Operation) and _moves(op):
                value = op.operands[0]
            else:
                return value


def _name(op: Operation) -> str:
    return op.name.partition(".")[2]


def _moves(op: Operation) -> bool:
    return isinstance(op, threadblock.LoadOp) or _name(op) in (*VIEWS, "cast")


def _inexact(factor: float) -> set[str]:
    """A number by which a product of whole numbers is rounded."""
    if not isfinite(factor):
        return set()
    denominator = simplest_rational(factor).denominator
    return {f"{factor:.7g}"} if denominator & (denominator - 1) else set()


def _stored_tiles(function: FuncOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """The results of kernels, each with the tile that is stored as it."""
    for graph in function.body.block.ops:
        if isinstance(graph, kernel.GraphDefinedOp):
            stores = [op for op in graph.body.block.ops if isinstance(op, threadblock.StoreOp)]
            yield from zip(graph.outputs, (op.tile for op in stores), strict=True)
