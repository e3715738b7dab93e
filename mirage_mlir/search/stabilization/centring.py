"""
Decides which operations of a found graph read inputs minus the first element of each row.

A variance computed as the mean of squares minus the square of the mean cancels. With x - c in the
place of x, where c is an element of the row, little cancels. Every operation can be computed from x
or from x - c. Where its value is the same either way (`Algebra.centred`), it does not matter to
what follows. Such a value is computed from x - c if products are formed on the way to it, else from
x. MMAs of what the program narrows to the operands' type (x as it is in memory, or x + r) are no
such products: they are exact there, while x - c would be rounded once more, and could be larger.
"""

from collections.abc import Iterator

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import Kind, Shift
from mirage_mlir.search.saturation.values import Algebra


class Centring:
    """Chooses for each operation of a graph whether it is computed from x or from x - c."""

    def __init__(self, algebra: Algebra, graph: BlockGraph) -> None:
        self._algebra = algebra
        self._operations = graph.operations
        by_node = {shift.node: shift for shift in algebra.program.shifts if shift.input}
        self._loads: dict[int, Shift] = {}
        for number, operation in enumerate(graph.operations):
            if operation.kind is Kind.INPUT:
                node = algebra.program.inputs[operation.source].node
                if node in by_node:
                    self._loads[number] = by_node[node]
        self._shifts: list[frozenset[Shift]] = []
        """Those of the inputs that an operation depends on."""
        self._same: list[bool] = []
        """Whether the value is the same with and without all of them."""
        self._multiplied: list[bool] = []
        """Whether products are formed since values that are."""
        for number, operation in enumerate(graph.operations):
            self._add(number, operation)

    def load(self, number: int) -> Shift | None:
        """The shift of a loaded input; None without one."""
        return self._loads.get(number)

    def depends(self, number: int) -> bool:
        """Whether an operation depends on an input that may be shifted."""
        return bool(self._shifts[number])

    def is_same(self, number: int) -> bool:
        """Whether an operation has the same value from x and from x - c."""
        return self._same[number]

    def shifted(self, number: int, wanted: bool) -> bool:
        """Whether to compute an operation from x - c, given whether its user is."""
        if not self._shifts[number]:
            return False
        return self._multiplied[number] if self._same[number] else wanted

    def _add(self, number: int, operation: BlockOperation) -> None:
        own = [self._loads[number]] if number in self._loads else []
        shifts = frozenset(own).union(*(self._shifts[operand] for operand in operation.operands))
        self._shifts.append(shifts)
        centred = self._algebra.centred
        same = bool(shifts) and all(operation.form in centred[shift] for shift in shifts)
        self._same.append(same)
        open_ = [o for o in operation.operands if self._shifts[o] and not self._same[o]]
        before = any(self._multiplied[operand] for operand in open_)
        self._multiplied.append(before or any(self._products(operation, open_)))

    def _products(self, operation: BlockOperation, operands: list[int]) -> Iterator[bool]:
        """
        For each of `operands` whether a product with it cancels unless it is computed from x - c.
        """
        if operation.kind not in (Kind.MUL, Kind.MATMUL):
            return
        others = [self._operations[operand] for operand in operation.operands]
        if any(other.kind is Kind.CONSTANT for other in others):
            return
        for operand in operands:
            read = self._operations[operand]
            along = any(axis in read.axes for s in self._shifts[operand] for axis in s.axes)
            exact = operation.kind is Kind.MATMUL and self._is_exact(read)
            yield along and not exact

    def _is_exact(self, operation: BlockOperation) -> bool:
        """Whether an MMA multiplies what the program itself has narrowed to the operands' type."""
        return operation.form is not None and self._algebra.narrowing.has(operation.form)
