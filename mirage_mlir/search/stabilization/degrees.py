"""
How often the values of a found graph contain the factor that a shift of exp brings in.

With exp(S - m) in place of exp(S) a value is multiplied by exp(-m) to some power, its degree: in a
product degrees add up, in a sum they must be equal, and what is summed along an axis must have the
same m for all its terms.
"""

from collections.abc import Iterator, Mapping, Sequence

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import Function, Kind, Shift
from mirage_mlir.search.saturation.hypergraph import Stage
from mirage_mlir.search.saturation.values import Algebra

Group = tuple[int, int]
"""Shifts by one value; see `Shift.group`."""

EXP = Function("exp")


class UnstableError(Exception):
    """A graph that cannot be shifted as a whole."""


class Degrees:
    """The degrees of a graph's operations, and where its exps are."""

    def __init__(self, algebra: Algebra, graph: BlockGraph) -> None:
        """
        Args:
            algebra: the forms of which the graph was made, and the shifts.
            graph: as it was found.

        Raises:
            UnstableError: degrees do not fit.
        """
        self.graph = graph
        self.exps: dict[int, Shift] = {}
        """The exps that are shifted."""
        self._algebra = algebra
        self._kept: dict[Group, frozenset[str]] = {}
        """The axes that the value of a shift depends on."""
        for number, operation in enumerate(graph.operations):
            if (shift := self._shift_of(operation)) is not None:
                self.exps[number] = shift
                present = algebra.program.nodes[shift.node].present
                self._kept[shift.group] = frozenset(present) - frozenset(shift.axes)
        self.late = {
            shift.group
            for number, shift in self.exps.items()
            if graph.operations[number].stage is not Stage.INVARIANT
        }
        """Shifts whose value is not known before the loop."""
        self.changing = {
            shift.group
            for number, shift in self.exps.items()
            if graph.operations[number].stage is Stage.LOOP
        }
        """Shifts by another value in each iteration of the loop."""
        self._of: list[Mapping[Group, int]] = []
        for number, operation in enumerate(graph.operations):
            self._of.append(self._degrees_of(number, operation))

    def __getitem__(self, number: int) -> Mapping[Group, int]:
        """Of an operation; shifts of degree 0 are left out."""
        return self._of[number]

    def members(self, group: Group) -> Iterator[int]:
        """The exps that a shift belongs to."""
        return (number for number, shift in self.exps.items() if shift.group == group)

    def _shift_of(self, operation: BlockOperation) -> Shift | None:
        if operation.function != EXP:
            return None
        form = self.graph.operations[operation.operands[0]].form
        exponents = self._algebra.exponents
        if form not in exponents and any(exponents.values()):
            raise UnstableError  # A part of an exp: the maximum of the whole is not its own.
        return None if form is None else exponents.get(form)

    def _degrees_of(self, number: int, operation: BlockOperation) -> Mapping[Group, int]:
        operands = [self._of[operand] for operand in operation.operands]
        match operation.kind:
            case Kind.MUL:
                return _product(operands[0], operands[1], 1)
            case Kind.DIV:
                return _product(operands[0], operands[1], -1)
            case Kind.INVERSE:
                return _product({}, operands[0], -1)
            case Kind.ADD | Kind.SUB if operands[0] == operands[1]:
                return operands[0]
            case Kind.REDUCE_SUM:
                return self._summed(operands[0], (operation.axis or "",))
            case Kind.MATMUL:
                return self._summed(_product(operands[0], operands[1], 1), (operation.axis or "",))
            case Kind.ACCUMULATE_SUM:
                return self._accumulated(operands[0])
            case _ if not any(operands):
                return {self.exps[number].group: 1} if number in self.exps else {}
            case _:
                raise UnstableError

    def _summed(self, degrees: Mapping[Group, int], axes: Sequence[str]) -> Mapping[Group, int]:
        if any(axis in self._kept[group] for group in degrees for axis in axes):
            raise UnstableError
        return degrees

    def _accumulated(self, degrees: Mapping[Group, int]) -> Mapping[Group, int]:
        """
        Of a sum over iterations: one value at most may change with them, and be a factor once.
        """
        changing = [group for group in degrees if group in self.changing]
        if len(changing) > 1 or any(degrees[group] != 1 for group in changing):
            raise UnstableError
        return self._summed(degrees, self.graph.configuration.loop)


def _product(a: Mapping[Group, int], b: Mapping[Group, int], sign: int) -> Mapping[Group, int]:
    """The degrees of a product, or with sign -1 of a quotient."""
    total = {group: a.get(group, 0) + sign * b.get(group, 0) for group in (*a, *b)}
    return {group: degree for group, degree in total.items() if degree}
