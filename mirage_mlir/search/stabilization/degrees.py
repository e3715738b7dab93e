"""
Computes which power of a row maximum's factor each value of a found graph contains: its degree.

With exp(S - m) in the place of exp(S) a value is multiplied by exp(-m) to some power. The degree of
a product is the sum of its operands' degrees. Operands of a sum must have equal degrees, and all
terms of a sum along an axis the same m.
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
    """A graph that no row maximum keeps in range; the text says why."""


def named(operation: BlockOperation) -> str:
    """An operation in words: its kind and the dimensions that it has."""
    axes = ", ".join(operation.axes)
    return f"{operation.kind.name.lower()} over ({axes})" if axes else operation.kind.name.lower()


class Degrees:
    """The degrees of all operations of a graph, and its exps."""

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
        """The degrees of an operation; shifts of degree 0 are left out."""
        return self._of[number]

    def members(self, group: Group) -> Iterator[int]:
        """The exps that a shift keeps in range."""
        return (number for number, shift in self.exps.items() if shift.group == group)

    def _shift_of(self, operation: BlockOperation) -> Shift | None:
        if operation.function != EXP:
            return None
        form = self.graph.operations[operation.operands[0]].form
        exponents = self._algebra.exponents
        if form not in exponents and any(exponents.values()):
            what = "of a part of its argument, whose own maximum it would need"
            raise UnstableError(f"{named(operation)} is an exp {what}")
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
                return self._summed(operation, operands[0], (operation.axis or "",))
            case Kind.MATMUL:
                both = _product(operands[0], operands[1], 1)
                return self._summed(operation, both, (operation.axis or "",))
            case Kind.ACCUMULATE_SUM:
                return self._accumulated(operation, operands[0])
            case _ if not any(operands):
                return {self.exps[number].group: 1} if number in self.exps else {}
            case _:
                reason = "takes exps before the maxima that they are relative to cancel"
                raise UnstableError(f"{named(operation)} {reason}")

    def _summed(
        self, operation: BlockOperation, degrees: Mapping[Group, int], axes: Sequence[str]
    ) -> Mapping[Group, int]:
        for axis in axes:
            if any(axis in self._kept[group] for group in degrees):
                reason = f"sums exps along {axis}, along which their maximum changes"
                raise UnstableError(f"{named(operation)} {reason}")
        return degrees

    def _accumulated(
        self, operation: BlockOperation, degrees: Mapping[Group, int]
    ) -> Mapping[Group, int]:
        """
        The degrees of a sum over iterations: its row maximum may change with them if the degree is
        one.
        """
        changing = [group for group in degrees if group in self.changing]
        if len(changing) > 1 or any(degrees[group] != 1 for group in changing):
            reason = "sums products of exps whose maxima change in each iteration"
            raise UnstableError(f"{named(operation)} {reason}")
        configuration = self.graph.configuration
        return self._summed(operation, degrees, (*configuration.loop, *configuration.cluster))


def _product(a: Mapping[Group, int], b: Mapping[Group, int], sign: int) -> Mapping[Group, int]:
    """The degrees of a product, or with sign -1 of a quotient."""
    total = {group: a.get(group, 0) + sign * b.get(group, 0) for group in (*a, *b)}
    return {group: degree for group, degree in total.items() if degree}
