"""
Products with inverses as one quotient, where they lead to a step: a floor, or a comparison.

The search knows no quotients: `x / y` is x times the inverse of y, which is computed once for all x
that share a y. Where x is a multiple of y, such a product may come out below the whole number, and
its floor is another one. A quotient is rounded once.
"""

from dataclasses import dataclass
from fractions import Fraction

from xdsl.ir import SSAValue

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import COMPARE, KEPT, ROUNDED, Kind, Node, Program

STEPS = ("floor", "ceil", "round", COMPARE)
"""Functions, and operators, whose results differ by 1 where arguments differ in the last place."""

SMOOTH_FUNCTIONS = ("abs", "sqrt", "relu", "square", KEPT, ROUNDED)
"""Functions whose results are as exact as their arguments."""

ELEMENTWISE = frozenset(
    [Kind.ADD, Kind.SUB, Kind.MUL, Kind.DIV, Kind.MAX, Kind.INVERSE, Kind.CONSTANT, Kind.FUNCTION]
)

MAXIMA = frozenset([Kind.REDUCE_MAX, Kind.ACCUMULATE_MAX])


@dataclass(frozen=True)
class Quotient:
    """
    What operations `over` and `under` give, divided; `under` is divided by `number` before.

    So a scale is, `x / (largest / 127)`. In another order, as `(127 x) / largest`, what is a whole
    number in the program may be rounded.
    """

    over: int
    under: int
    number: Fraction


def quotient_of(graph: BlockGraph, operation: int) -> Quotient | None:
    """The quotient that a product with an inverse is; None of other operations."""
    made = graph.operations[operation]
    if made.kind is not Kind.MUL:
        return None
    for factor, other in (made.operands, made.operands[::-1]):
        under, number = _inverted(graph, factor)
        if under is not None and number and not _is_generic(graph, under):
            return Quotient(other, under, number)
    return None


def takes_steps_of_inverses(program: Program) -> bool:
    """
    Whether a program divides a number by something, on the way to a step.

    It multiplies by an inverse itself, `x * (127 / largest)`, and has no quotient there.
    """
    leading = {output.node for output in program.outputs if output.exact}
    for number, node in reversed([*enumerate(program.nodes)]):
        if number in leading and _is_inverse(program, node):
            return True
        if _is_step(node) or (number in leading and _is_smooth(node)):
            leading.update(node.operands)
    return False


def _is_inverse(program: Program, node: Node) -> bool:
    """Whether a node divides a number by something."""
    if node.kind is not Kind.DIV:
        return False
    over = program.nodes[node.operands[0]]
    while over.kind is Kind.VIEW:
        over = program.nodes[over.operands[0]]
    return over.kind is Kind.CONSTANT


def _inverted(graph: BlockGraph, operation: int) -> tuple[int | None, Fraction]:
    """What a factor is the inverse of, times a number; None of what is no inverse."""
    made = graph.operations[operation]
    if made.kind is Kind.INVERSE:
        return made.operands[0], Fraction(1)
    if made.kind not in (Kind.MUL, Kind.DIV):
        return None, Fraction(1)
    first, second = made.operands
    constants = [graph.operations[each].kind is Kind.CONSTANT for each in made.operands]
    if made.kind is Kind.DIV:
        return (second if constants[0] else None), Fraction(graph.operations[first].value)
    if constants[0] == constants[1]:
        return None, Fraction(1)
    constant, factor = (first, second) if constants[0] else (second, first)
    under, number = _inverted(graph, factor)
    return under, number * graph.operations[constant].value


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
            if name in STEPS:
                return True
            if name in SMOOTH_OPERATORS:
                waiting += use.operation.results
    return False


def exact_operations(program: Program, graph: BlockGraph) -> frozenset[int]:
    """
    The operations whose results are rounded once: those that lead to steps.

    A result of indices alone may lead to steps in kernels behind.
    """
    of_indices = set[int]()
    for number, operation in enumerate(graph.operations):
        if operation.kind is Kind.INPUT:
            given = program.inputs[operation.source].indices is not None
        else:
            given = operation.kind in ELEMENTWISE and of_indices.issuperset(operation.operands)
        if given:
            of_indices.add(number)
    return _leading(graph, of_indices.intersection(graph.outputs))


def exact_behind(program: Program, graph: BlockGraph) -> frozenset[int]:
    """The operations that lead to steps in kernels behind, as the program says of its outputs."""
    outputs = zip(graph.outputs, program.outputs, strict=True)
    return _leading(graph, {number for number, output in outputs if output.exact})


def _leading(graph: BlockGraph, leading: set[int]) -> frozenset[int]:
    """The operations that lead to steps, or to those in `leading`."""
    for number, operation in reversed([*enumerate(graph.operations)]):
        if _is_step(operation) or (number in leading and _is_smooth(operation)):
            leading.update(operation.operands)
    return frozenset(leading)


def _is_step(operation: BlockOperation | Node) -> bool:
    return operation.function is not None and operation.function.name in STEPS


def _is_smooth(operation: BlockOperation | Node) -> bool:
    """Whether the last place of what an operation takes counts in what it makes."""
    if operation.function is not None:
        return operation.function.name in SMOOTH_FUNCTIONS
    return operation.kind in ELEMENTWISE | MAXIMA | {Kind.VIEW}
