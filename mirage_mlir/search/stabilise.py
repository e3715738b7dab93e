"""
Found graphs with the shifts that keep their numbers in the range of floating-point numbers.

The search knows no maximum of a softmax: exp(S) stands for itself there. Here exp(S) becomes
exp(S - m), m the largest element that the tile has of a row, which multiplies it by exp(-m). How
often a value contains that factor is its degree: products add degrees, sums need equal ones. What
a loop adds up is of degree 1 and brought from the maximum of each turn to that of all turns
(`rescale`); what is stored is of degree 0, or the maximum is stored beside it. A graph in which
some value mixes degrees is no candidate. Milakov and Gimelshein, "Online normalizer calculation for
softmax" (2018), is the case of one sum.

Of inputs whose variance is taken the first element of each row is subtracted as they are loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mirage_mlir.search.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.hypergraph import Stage
from mirage_mlir.search.program import Function, Kind, Output, Program, Shift
from mirage_mlir.search.values import Algebra

Degrees = Mapping[Shift, int]
"""How often a value contains exp(-m), for each shift; without those of degree 0."""

EXP = Function("exp")

CENTRES = (Kind.ADD, Kind.SUB)
PRODUCTS = (Kind.MUL, Kind.MATMUL)
SUMS = (Kind.REDUCE_SUM, Kind.ACCUMULATE_SUM)


class UnstableError(Exception):
    """A graph that cannot be shifted as a whole."""


def stabilised(program: Program, algebra: Algebra, graph: BlockGraph) -> BlockGraph | None:
    """
    `graph` with the shifts of its program put in; None where it has none that keeps all outputs.

    Args:
        program: what the graph computes; it says which maxima are stored.
        algebra: the forms of which the graph was made, and the shifts.
        graph: as it was found.
    """
    try:
        return _Stabiliser(program, algebra, graph).run()
    except UnstableError:
        return None


class _Stabiliser:
    """Copies the operations of one graph, in order, and puts shifts in."""

    def __init__(self, program: Program, algebra: Algebra, graph: BlockGraph) -> None:
        self.program = program
        self.algebra = algebra
        self.graph = graph
        self.operations: list[BlockOperation] = []
        self._place: list[int] = []
        """For each old operation its place among the new ones."""
        self._degrees: list[Degrees] = []
        """Of the old operations."""
        self._maxima: dict[Shift, dict[Stage, int]] = {}
        """The operations that compute the maxima of the shifts that were put in."""

    def run(self) -> BlockGraph:
        """
        The new graph.

        Raises:
            UnstableError: the degrees do not fit.
        """
        for number, operation in enumerate(self.graph.operations):
            self._degrees.append(self._degrees_of(operation))
            self._place.append(self._copy(number, operation))
        computed = iter(self.graph.outputs)
        outputs = tuple(
            self._largest(output) if output.shift is not None else self._stored(output, computed)
            for output in self.program.outputs
        )
        return replace(self.graph, operations=tuple(self.operations), outputs=outputs)

    # Outputs

    def _stored(self, output: Output, computed: Iterator[int]) -> int:
        """The operation that an output stores, its degree 0 or that of a maximum beside it."""
        number = next(computed)
        for shift, degree in self._degrees[number].items():
            if degree != 1 or not self._is_stored(shift, output.partial):
                raise UnstableError
        return self._place[number]

    def _is_stored(self, shift: Shift, partial: tuple[str, ...]) -> bool:
        """Whether the maximum of a shift is stored for each block along the same axes."""
        shifts = self.algebra.program.shifts
        return any(
            output.shift is not None and shifts[output.shift] == shift and output.partial == partial
            for output in self.program.outputs
        )

    def _largest(self, output: Output) -> int:
        """The maximum of all turns for a shift that the program stores."""
        assert output.shift is not None
        maxima = self._maxima.get(self.algebra.program.shifts[output.shift], {})
        if Stage.LOOP not in maxima:
            if not maxima:
                raise UnstableError
            return maxima[max(maxima)]
        own = self.operations[maxima[Stage.LOOP]]
        over_turns = BlockOperation(
            Kind.ACCUMULATE_MAX, (maxima[Stage.LOOP],), Stage.POST, own.axes
        )
        return self._append(over_turns)

    # Operations

    def _append(self, operation: BlockOperation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def _copy(self, number: int, operation: BlockOperation) -> int:
        """The place of the new operation for an old one."""
        copy = replace(operation, operands=tuple(self._place[o] for o in operation.operands))
        if operation.kind is Kind.INPUT:
            return self._loaded(number, copy)
        if (shift := self._shift_of(operation)) is not None:
            return self._shifted(copy, shift)
        if operation.kind is Kind.ACCUMULATE_SUM:
            copy = replace(copy, rescale=self._rescale(self._degrees[number]))
        return self._append(copy)

    def _shift_of(self, operation: BlockOperation) -> Shift | None:
        """The shift of an exp."""
        if operation.function != EXP:
            return None
        form = self.graph.operations[operation.operands[0]].form
        exponents = self.algebra.exponents
        if form not in exponents and any(exponents.values()):
            raise UnstableError  # A part of an exp: the maximum of the whole is not its own.
        return None if form is None else exponents.get(form)

    def _shifted(self, exp: BlockOperation, shift: Shift) -> int:
        """exp(S - m), m the maximum along the shift's axes of what a tile has of S."""
        argument = largest = exp.operands[0]
        axes = exp.axes
        for axis in shift.axes:
            if axis in axes:
                axes = tuple(other for other in axes if other != axis)
                reduction = BlockOperation(Kind.REDUCE_MAX, (largest,), exp.stage, axes, axis)
                largest = self._append(reduction)
        self._maxima.setdefault(shift, {})[exp.stage] = largest
        operands = argument, largest
        difference = self._append(BlockOperation(Kind.SUB, operands, exp.stage, exp.axes))
        return self._append(replace(exp, operands=(difference,)))

    def _rescale(self, degrees: Degrees) -> int | None:
        """The maximum that changes from turn to turn and is a factor of what is summed."""
        for shift in degrees:
            if Stage.LOOP in self._maxima[shift]:
                return self._maxima[shift][Stage.LOOP]
        return None

    # Degrees

    def _degrees_of(self, operation: BlockOperation) -> Degrees:
        operands = [self._degrees[operand] for operand in operation.operands]
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
                shift = self._shift_of(operation)
                return {} if shift is None else {shift: 1}
            case _:
                raise UnstableError

    def _summed(self, degrees: Degrees, axes: Sequence[str]) -> Degrees:
        """
        Of a sum along axes: a factor must be the same for all its terms.

        A maximum is over the shift's axes and depends on all others of the argument of exp.
        """
        for shift in degrees:
            present = self.algebra.program.nodes[shift.node].present
            if any(axis in present and axis not in shift.axes for axis in axes):
                raise UnstableError
        return degrees

    def _accumulated(self, degrees: Degrees) -> Degrees:
        """Of a sum over turns: one maximum at most may change with them, and be a factor once."""
        changing = [shift for shift in degrees if Stage.LOOP in self._maxima[shift]]
        if len(changing) > 1 or any(degrees[shift] != 1 for shift in changing):
            raise UnstableError
        return self._summed(degrees, self.graph.configuration.loop)

    # Inputs

    def _loaded(self, number: int, load: BlockOperation) -> int:
        """A loaded tile, its first element along an axis subtracted where that is needed."""
        place = self._append(load)
        node = self.algebra.program.inputs[load.source].node
        for shift in self.algebra.program.shifts:
            if shift.input and shift.node == node and self._is_multiplied(number, shift.axes[0]):
                place = self._centred(place, load, shift.axes[0])
        return place

    def _is_multiplied(self, number: int, axis: str) -> bool:
        """
        Whether products are formed of a tile, alone or after sums with others along `axis`.

        Sums of it keep most of its digits, and so do differences with what is the same along the
        axis; the difference of a sum of squares and the square of a sum does not.
        """
        operations = self.graph.operations
        for user, operation in enumerate(operations):
            if number not in operation.operands or operation.kind in SUMS:
                continue
            others = [operations[o] for o in operation.operands if o != number]
            scaled = any(other.kind is Kind.CONSTANT for other in others)
            if operation.kind in PRODUCTS and not scaled:
                return True
            along = operation.kind in CENTRES and all(axis in other.axes for other in others)
            if (scaled or along) and self._is_multiplied(user, axis):
                return True
        return False

    def _centred(self, place: int, load: BlockOperation, axis: str) -> int:
        """The tile minus its first element along `axis`, which lies in another tile as a rule."""
        axes = tuple(other for other in load.axes if other != axis)
        present = self.algebra.program.inputs[load.source].axes
        looped = any(a in present and a != axis for a in self.graph.configuration.loop)
        stage = Stage.LOOP if looped else Stage.INVARIANT
        first = self._append(
            BlockOperation(Kind.INPUT, (), stage, axes, source=load.source, first=axis)
        )
        return self._append(BlockOperation(Kind.SUB, (place, first), load.stage, load.axes))


def _product(a: Degrees, b: Degrees, sign: int) -> Degrees:
    """The degrees of a product, or with sign -1 of a quotient."""
    total = {shift: a.get(shift, 0) + sign * b.get(shift, 0) for shift in (*a, *b)}
    return {shift: degree for shift, degree in total.items() if degree}
