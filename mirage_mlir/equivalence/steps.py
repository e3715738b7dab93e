"""
Whether a candidate takes steps of what rounding changes: a floor, or a comparison.

Of a reference that divides, `floor(x / y)`, a candidate that multiplies by what was divided before,
`floor(x * (1 / y))`, is another function where x is a multiple of y. Modulo primes they are equal,
and where tests do not happen on such multiples, in floating point. So what a step is taken of is
looked at as it is written; steps of indices alone are computed (`index_steps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
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

QUOTIENT, ROOT, TERM = "quotient", "root", "term"
"""What else than a number something is multiplied by: a quotient, the inverse of a square root; or
a quotient is what is summed."""

ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "add": Fraction.__add__,
    "sub": Fraction.__sub__,
    "mul": Fraction.__mul__,
    "div": Fraction.__truediv__,
    "neg": Fraction.__neg__,
}


def changed_step(reference: FuncOp, candidate: FuncOp) -> str | None:
    """
    What rounding changes in a step of a candidate; None where it changes nothing that is known.

    What it changes in the reference too is what its author wrote.
    """
    ours = IndexSteps(candidate)
    found = _Arguments(candidate, ours.exact, inverts=False)
    if not ours.changed and not any(found.exact.values()):
        return None
    theirs = IndexSteps(reference)
    if further := ours.changed - theirs.changed:
        return str(next(iter(further)))
    allowed = _Arguments(reference, theirs.exact, inverts=True)
    if not allowed.exact:
        return None
    for op, factors in found.exact.items():
        if other := sorted(factors - allowed.factors - allowed.constants):
            return (
                f"'{op.name}' is taken of a product with {_described(other[0])}, which the "
                "reference does not have"
            )
    return None


def _described(factor: str) -> str:
    names = {QUOTIENT: "a quotient", ROOT: "the inverse of a square root", TERM: "a term's divisor"}
    return names.get(factor, factor)


class _Arguments:
    """
    What the steps of a function are taken of.

    `exact` has the steps whose arguments may be whole numbers, each with what is multiplied by on
    the way to it that is none; `factors` has those of all steps, `constants` the other numbers.
    Of a function that `inverts` roots itself no whole numbers are expected.
    """

    def __init__(self, function: FuncOp, known: set[Operation], *, inverts: bool) -> None:
        self._inverts = inverts
        self._stored = dict(_stored_tiles(function))
        self.exact: dict[Operation, set[str]] = {}
        self.factors = set[str]()
        self.constants = set[str]()
        for op in function.walk():
            if _name(op) in STEPS and op not in known:
                factors = set[str]()
                if self._collect(op, factors):
                    self.exact[op] = factors
                self.factors |= factors

    def _collect(self, step: Operation, factors: set[str]) -> bool:
        """Note what is multiplied by on the way to a step; whether all of it may be exact."""
        exact, seen = True, set[SSAValue]()
        waiting = [(value, False) for value in step.operands]
        while waiting:
            value, summed = waiting.pop()
            if (value := self._origin(value)) in seen:
                continue
            seen.add(value)
            op = value.owner
            if not isinstance(op, Operation) or _name(op) in STEPS:
                continue
            if _name(op) in SUMS and _name(step) not in FLOORS:
                continue
            if _name(op) == "rsqrt":
                factors.add(ROOT)
                exact = exact and not self._inverts
            elif isinstance(op, kernel.ConstantOp):
                # What a program adds or compares with, a candidate may multiply by: x > 0.3 y.
                self.constants |= _rounded(op.value.value.data)
            elif _name(op) not in EXACT:
                exact = False
            else:
                factors |= self._multiplied_by(op, summed=summed)
                operands = op.operands[1:] if _name(op) == "select" else op.operands
                waiting += [(each, summed or _name(op) in SUMS) for each in operands]
        return exact

    def _multiplied_by(self, op: Operation, *, summed: bool) -> set[str]:
        """The factors of a product that are no whole numbers; of terms of sums, quotients too."""
        if isinstance(op, kernel.ScaleOp | threadblock.ScaleOp):
            return _rounded(op.factor.value.data)
        if isinstance(op, kernel.DivOp | threadblock.DivOp):
            divisor = self._number(op.operands[1])
            return {TERM} if summed and not _divides_exactly(divisor) else set()
        found = set[str]()
        for value in op.operands if _name(op) == "mul" else ():
            if (number := self._number(value)) is not None:
                found |= _inexact(number)
            elif _name(maker := self._unsigned(value).owner) == "div":
                assert isinstance(maker, Operation)
                divisor = self._number(maker.operands[1])
                found |= set() if _divides_exactly(divisor) else {QUOTIENT}
        return found

    def _unsigned(self, value: SSAValue) -> SSAValue:
        """What a factor is, but for its sign, a square, and powers of two."""
        while isinstance(op := self._origin(value).owner, Operation) and (
            _name(op) in ("neg", "abs", "square")
            or (_name(op) == "scale" and not self._multiplied_by(op, summed=False))
        ):
            value = op.operands[0]
        return self._origin(value)

    def _number(self, value: SSAValue) -> Fraction | None:
        """The number that a value is, computed of constants as it may be; None of others."""
        op = self._origin(value).owner
        if isinstance(op, kernel.ConstantOp | threadblock.ConstantOp):
            number = op.value.value.data
            return simplest_rational(number) if isfinite(number) else None
        if not isinstance(op, Operation) or _name(op) not in ARITHMETIC:
            return None
        operands = [self._number(each) for each in op.operands]
        known = [each for each in operands if each is not None]
        if len(known) < len(operands) or (_name(op) == "div" and not known[1]):
            return None
        return ARITHMETIC[_name(op)](*known)

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


def _name(op: object) -> str:
    return op.name.partition(".")[2] if isinstance(op, Operation) else ""


def _moves(op: Operation) -> bool:
    return isinstance(op, threadblock.LoadOp) or _name(op) in (*VIEWS, "cast")


def _divides_exactly(divisor: Fraction | None) -> bool:
    """Whether it is a known power of two."""
    return bool(divisor) and not _inexact(1 / divisor)


def _rounded(factor: float) -> set[str]:
    """`_inexact` of an f32."""
    return _inexact(simplest_rational(factor)) if isfinite(factor) else set()


def _inexact(factor: Fraction) -> set[str]:
    """
    A number by which a product of whole numbers is rounded, but for its sign and powers of two.
    """
    over, under = (each // ((each & -each) or 1) for each in abs(factor).as_integer_ratio())
    return {f"{over}/{under}"} if under > 1 else set()


def _stored_tiles(function: FuncOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """The results of kernels, each with the tile that is stored as it."""
    for graph in function.body.block.ops:
        if isinstance(graph, kernel.GraphDefinedOp):
            stores = [op for op in graph.body.block.ops if isinstance(op, threadblock.StoreOp)]
            yield from zip(graph.outputs, (op.tile for op in stores), strict=True)
