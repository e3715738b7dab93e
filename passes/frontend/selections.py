"""Sums of a found graph that are one of two sides by a condition, as `conditions` records them."""

from dataclasses import dataclass

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import CHOSEN, COMPARE, KEPT, Function, Kind

IS_ZERO = Function(COMPARE, ("eq", 0.0))


@dataclass(frozen=True)
class Side:
    """What a selection is on one side: the result of an operation, or a number."""

    operation: int | None = None
    number: float = 0.0


@dataclass(frozen=True)
class Selection:
    """
    One of two sides.

    Args:
        condition: the operation that says which: the first where it is not 0.
        sides: the first and the second one.
    """

    condition: int
    sides: tuple[Side, Side]

    @property
    def reads(self) -> tuple[int, ...]:
        """The operations that it needs."""
        made = (side.operation for side in self.sides)
        return (self.condition, *(each for each in made if each is not None))


def selection_of(graph: BlockGraph, operation: BlockOperation) -> Selection | None:
    """The selection that an operation is, alone or as the sum of its sides; None of others."""
    if operation.kind is not Kind.ADD:
        return _one_side(operation)
    halves = [_half(graph, graph.operations[number]) for number in operation.operands]
    first = next((half for half in halves if half is not None and half[1]), None)
    second = next((half for half in halves if half is not None and not half[1]), None)
    if first is None or second is None or first[0] != second[0]:
        return None
    return Selection(first[0], (first[2], second[2]))


def _one_side(operation: BlockOperation) -> Selection | None:
    """What is kept or chosen, not added to anything."""
    function, operands = operation.function, operation.operands
    if function is not None and function.name == KEPT:
        return Selection(operands[0], (Side(operands[1]), Side()))
    if function is not None and function.name == CHOSEN:
        first, second = (Side(number=float(each)) for each in function.parameters)
        return Selection(operands[0], (first, second))
    return None


def _half(graph: BlockGraph, operation: BlockOperation) -> tuple[int, bool, Side] | None:
    """A condition, whether it must hold, and what the operation is there; elsewhere it is 0."""
    if (found := _one_side(operation)) is None:
        return None
    first, second = found.sides
    if second == Side():
        return *_tested(graph, found.condition), first
    if first != Side():
        return None
    condition, holds = _tested(graph, found.condition)
    return condition, not holds, second


def _tested(graph: BlockGraph, condition: int) -> tuple[int, bool]:
    """What a condition says to be zero, or not: the operation, and whether it must not be."""
    holds = True
    while (maker := graph.operations[condition]).function == IS_ZERO:
        condition, holds = maker.operands[0], not holds
    return condition, holds
