"""
Products with inverses as one quotient, where they lead to a step: a floor, or a comparison.

The search knows no quotients: `x / y` is x times the inverse of y, which is computed once for all x
that share a y. Where x is a multiple of y, such a product may come out below the whole number, and
its floor is another one. A quotient is rounded once.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from xdsl.ir import SSAValue

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import COMPARE, KEPT, ROUNDED, Kind, Program

STEPS = ("floor", "ceil", "round", COMPARE)
"""Functions whose results differ by 1 where their arguments differ in the last place."""

SMOOTH_FUNCTIONS = ("abs", "sqrt", "relu", "square", KEPT, ROUNDED)
"""Functions whose results are as exact as their arguments."""

ELEMENTWISE = frozenset(
    [Kind.ADD, Kind.SUB, Kind.MUL, Kind.DIV, Kind.MAX, Kind.INVERSE, Kind.CONSTANT, Kind.FUNCTION]
)

MAXIMA = frozenset([Kind.REDUCE_MAX, Kind.ACCUMULATE_MAX])


@dataclass
class Quotient:
    """
    A product of operations and a number, divided by a product of operations.

    Args:
        factors: operations that are multiplied.
        divisors: operations that it is divided by.
        number: what else it is multiplied by.
    """

    factors: list[int] = field(default_factory=list[int])
    divisors: list[int] = field(default_factory=list[int])
    number: Fraction = Fraction(1)

    def multiply(self, graph: BlockGraph, operation: int, *, inverted: bool = False) -> None:
        """Multiply by an operation: by what it is a product of, or the inverse of."""
        made = graph.operations[operation]
        if made.kind is Kind.MUL:
            for operand in made.operands:
                self.multiply(graph, operand, inverted=inverted)
        elif made.kind is Kind.DIV:
            over, under = made.operands
            self.multiply(graph, over, inverted=inverted)
            self.multiply(graph, under, inverted=not inverted)
        elif made.kind is Kind.INVERSE:
            self.multiply(graph, made.operands[0], inverted=not inverted)
        elif made.kind is Kind.CONSTANT and made.value:
            value = Fraction(made.value)
            self.number *= 1 / value if inverted else value
        else:
            (self.divisors if inverted else self.factors).append(operation)


def quotient_of(graph: BlockGraph, operation: int) -> Quotient | None:
    """The quotient that a product or a quotient is; None of others."""
    if graph.operations[operation].kind not in (Kind.MUL, Kind.DIV):
        return None
    found = Quotient()
    found.multiply(graph, operation)
    if any(_is_generic(graph, divisor) for divisor in found.divisors):
        return None
    return found if found.divisors else None


def _is_generic(graph: BlockGraph, operation: int) -> bool:
    """Whether an operation is a root that no quotient by is a whole number, as of `v + 1e-5`."""
    root = graph.operations[operation]
    if root.function is None or root.function.name != "sqrt":
        return False
    made = graph.operations[root.operands[0]]
    terms = [graph.operations[each] for each in made.operands] if made.kind is Kind.ADD else []
    return any(each.kind is Kind.CONSTANT and not _is_binary(each.value) for each in terms)


def _is_binary(number: Fraction) -> bool:
    return number.denominator & (number.denominator - 1) == 0


STEP_OPERATORS = ("floor", "ceil", "round", "compare")

SMOOTH_OPERATORS = frozenset(
    [
        *("add", "sub", "mul", "div", "scale", "square", "max", "min", "neg", "abs", "relu"),
        *("select", "clamp", "cast", "sqrt", "reduce_max", "concat", "reshape", "transpose"),
        *("broadcast", "repeat", "repeat_interleave", "slice"),
    ]
)


def leads_to_step(value: SSAValue) -> bool:
    """Whether operators behind `value` take a step of it, and the last place counts until there."""
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        if (found := waiting.pop()) in seen:
            continue
        seen.add(found)
        for use in found.uses:
            name = use.operation.name.removeprefix("kernel.")
            if name in STEP_OPERATORS:
                return True
            if name in SMOOTH_OPERATORS:
                waiting += use.operation.results
    return False


def exact_operations(program: Program, graph: BlockGraph) -> frozenset[int]:
    """
    The operations whose results are rounded once: those that lead to steps.

    Results may do so in kernels behind: those of indices alone, and those that the program says.
    """
    of_indices = set[int]()
    for number, operation in enumerate(graph.operations):
        if operation.kind is Kind.INPUT:
            given = program.inputs[operation.source].indices is not None
        else:
            given = operation.kind in ELEMENTWISE and of_indices.issuperset(operation.operands)
        if given:
            of_indices.add(number)
    outputs = zip(graph.outputs, program.outputs, strict=True)
    exact = {number for number, output in outputs if output.exact}
    return _leading(graph, of_indices.intersection(graph.outputs) | exact)


def _leading(graph: BlockGraph, leading: set[int]) -> frozenset[int]:
    """The operations that lead to steps, or to those in `leading`."""
    for number, operation in reversed([*enumerate(graph.operations)]):
        if _is_step(operation) or (number in leading and _is_smooth(operation)):
            leading.update(operation.operands)
    return frozenset(leading)


def _is_step(operation: BlockOperation) -> bool:
    return operation.function is not None and operation.function.name in STEPS


def _is_smooth(operation: BlockOperation) -> bool:
    """Whether the last place of what an operation takes counts in what it makes."""
    if operation.function is not None:
        return operation.function.name in SMOOTH_FUNCTIONS
    return operation.kind in ELEMENTWISE | MAXIMA
