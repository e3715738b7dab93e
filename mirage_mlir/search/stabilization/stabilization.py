"""
Rewrites found graphs so that their numbers stay in the range of floating-point numbers.

The search knows no row maximum: it computes exp(S). Here exp(S) becomes exp(S - m), with m the
largest element of the row within the tile, and values that contain the factor exp(-m) are tracked
by their degrees (`degrees.py`). Sums over iterations are rescaled from the maximum of each
iteration to that of all (`rescale`). What is stored contains no such factor, or the maximum is
stored beside it. With a single sum this is the online softmax of Milakov and Gimelshein, "Online
normalizer calculation for softmax" (2018).

Of inputs whose variance is computed the first element of each row is subtracted (`centring.py`).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf

from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import CHOSEN, Kind, Output, Program, Shift
from mirage_mlir.search.saturation.hypergraph import Stage
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.stabilization.centring import Centring
from mirage_mlir.search.stabilization.degrees import EXP, Degrees, Group, UnstableError, named

ACCUMULATIONS = (Kind.ACCUMULATE_SUM, Kind.ACCUMULATE_MAX)
SUMS = (Kind.MATMUL, Kind.REDUCE_SUM, Kind.ACCUMULATE_SUM)

LEAST, LEAST_OF_HALF = Fraction(-((1 << 24) - 1) << 104), Fraction(-(1 << 127))
"""
Numbers that no score is below, but minus infinity: the least of f32, as masks are often the least
number of their type (`torch.finfo`); and, where all inputs are f16, one whose multiple by log2 e is
a number, as their exponents are the differences of such multiples.
"""


def stabilized(program: Program, algebra: Algebra, graph: BlockGraph) -> BlockGraph:
    """
    `graph` with the shifts that its program admits.

    Args:
        program: what the graph computes; it says which maxima are stored.
        algebra: the forms of which the graph was made, and the shifts.
        graph: as it was found.

    Raises:
        UnstableError: no shift keeps all outputs; the text says which operation is in the way.
    """
    if not algebra.program.shifts:
        return graph
    return _Stabilizer(program, algebra, graph).run()


class _Stabilizer:
    """
    Rewrites the operations of one graph, each when it is first needed.

    An operation may be needed from shifted and from unshifted inputs. One that comes before the
    loop may be needed relative to a maximum that is known only after it.
    """

    def __init__(self, program: Program, algebra: Algebra, graph: BlockGraph) -> None:
        self.program = program
        self.algebra = algebra
        self.graph = graph
        self.degrees = Degrees(algebra, graph)
        self.centring = Centring(algebra, graph)
        self.centred = not any(self._is_mixed(number) for number in self.degrees.exps)
        self.operations: list[BlockOperation] = []
        self._known: dict[tuple[int, bool, Stage], int] = {}
        self._maxima: dict[tuple[Group, Stage], int] = {}
        self._totals: dict[Group, int] = {}
        """Maxima of all iterations."""
        self._factors: dict[Group, int] = {}
        """What brings sums from these to maxima over more than is in iterations."""

    def run(self) -> BlockGraph:
        """
        The rewritten graph.

        Raises:
            UnstableError: the maxima of some exps cannot be one.
        """
        computed = iter(self.graph.outputs)
        outputs = [
            self._stored_maximum(output)
            if output.shift is not None
            else self._stored(output, next(computed))
            for output in self.program.outputs
        ]
        order = sorted(range(len(self.operations)), key=self._rank)
        place = {old: new for new, old in enumerate(order)}
        operations = tuple(_renumbered(self.operations[old], place) for old in order)
        return replace(
            self.graph, operations=operations, outputs=tuple(place[number] for number in outputs)
        )

    def _rank(self, number: int) -> tuple[int, int]:
        """Sorts loads to the front, in the order of the inputs, and all others by stage."""
        operation = self.operations[number]
        if operation.kind is Kind.INPUT:
            return -1, operation.source
        return operation.stage, 0

    def _is_mixed(self, exp: int) -> bool:
        """Whether the maximum of an exp's argument would depend on whether inputs are shifted."""
        (argument,) = self.graph.operations[exp].operands
        return self.centring.depends(argument) and not self.centring.is_same(argument)

    # Outputs

    def _stored(self, output: Output, number: int) -> int:
        """
        The operation that an output stores: relative to no maximum, or to one that is stored, too.
        """
        for group, degree in self.degrees[number].items():
            if degree != 1 or not self._is_stored(group, output.partial):
                reason = "is stored relative to a maximum that is not stored beside it"
                raise UnstableError(f"{named(self.graph.operations[number])} {reason}")
        return self._copy(number, Stage.POST, shifted=False)

    def _is_stored(self, group: Group, partial: tuple[str, ...]) -> bool:
        """Whether the maximum of a shift is stored for each block along the same axes."""
        shifts = self.algebra.program.shifts
        return any(
            output.shift is not None
            and shifts[output.shift].group == group
            and output.partial == partial
            for output in self.program.outputs
        )

    def _stored_maximum(self, output: Output) -> int:
        assert output.shift is not None
        group = self.algebra.program.shifts[output.shift].group
        if not any(self.degrees.members(group)):
            raise UnstableError("a maximum is to be stored, of which it has no exp")
        return self._maximum(group, Stage.POST if group in self.degrees.late else Stage.INVARIANT)

    # Operations

    def _append(self, operation: BlockOperation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def _copy(self, number: int, user: Stage, *, shifted: bool) -> int:
        """The rewritten operation of an old one, for a user at some stage."""
        shifted = self.centred and self.centring.shifted(number, shifted)
        stage = self._stage(number, user)
        key = number, shifted, stage
        if key not in self._known:
            self._known[key] = self._written(number, stage, shifted)
        return self._known[key]

    def _stage(self, number: int, user: Stage) -> Stage:
        """The stage of the rewritten operation: that at which the maxima of its user are known."""
        own = self.graph.operations[number].stage
        if own is not Stage.INVARIANT or self.degrees.late.isdisjoint(self.degrees[number]):
            return own
        if user is Stage.LOOP:
            what = named(self.graph.operations[number])
            raise UnstableError(f"{what} is needed in the loop, relative to the maximum after it")
        return user

    def _written(self, number: int, stage: Stage, shifted: bool) -> int:
        operation = self.graph.operations[number]
        shift = self.centring.load(number)
        if shifted and shift is not None:
            return self._centred(number, operation, shift)
        if number in self.degrees.exps:
            return self._shifted(operation, self.degrees.exps[number].group, stage)
        looped = operation.kind in ACCUMULATIONS and not self.graph.configuration.cluster
        at = Stage.LOOP if looped else stage
        operands = tuple(self._copy(o, at, shifted=shifted) for o in operation.operands)
        copy = replace(operation, operands=operands, stage=stage)
        if operation.kind is Kind.ACCUMULATE_SUM:
            for group in self.degrees[number]:
                if group in self.degrees.changing:
                    return self._rescaled(copy, group)
        return self._append(copy)

    def _rescaled(self, total: BlockOperation, group: Group) -> int:
        """A sum over iterations, rescaled to the maximum of all of them."""
        iteration = self._maximum(group, Stage.LOOP)
        place = self._append(replace(total, rescale=iteration))
        if all(self._stage_of(member) is Stage.LOOP for member in self.degrees.members(group)):
            return place
        if group not in self._factors:
            over_iterations, over_all = (
                self._over_iterations(group),
                self._maximum(group, Stage.POST),
            )
            self._factors[group] = self._exp(over_iterations, over_all, Stage.POST)
        operands = place, self._factors[group]
        return self._append(BlockOperation(Kind.MUL, operands, Stage.POST, total.axes))

    def _stage_of(self, number: int) -> Stage:
        return self.graph.operations[number].stage

    # Maxima

    def _shifted(self, exp: BlockOperation, group: Group, stage: Stage) -> int:
        """exp(S - m) for an exp(S)."""
        argument = self._copy(exp.operands[0], stage, shifted=False)
        return self._exp(argument, self._maximum(group, stage), stage)

    def _exp(self, argument: int, largest: int, stage: Stage) -> int:
        axes = self.operations[argument].axes
        difference = self._append(BlockOperation(Kind.SUB, (argument, largest), stage, axes))
        return self._append(BlockOperation(Kind.FUNCTION, (difference,), stage, axes, function=EXP))

    def _maximum(self, group: Group, stage: Stage) -> int:
        """The row maximum that is subtracted at a stage, as far as it is known by then."""
        if (group, stage) not in self._maxima:
            self._maxima[group, stage] = self._computed_maximum(group, stage)
        return self._maxima[group, stage]

    def _computed_maximum(self, group: Group, stage: Stage) -> int:
        looped = stage is Stage.POST and group in self.degrees.changing
        rows = [self._over_iterations(group)] if looped else []
        for member in self.degrees.members(group):
            own = self._stage_of(member)
            if own is stage or (own is Stage.INVARIANT and stage is Stage.POST):
                rows.append(self._largest(member))
        largest = rows[0]
        for row in rows[1:]:
            axes = self.operations[largest].axes, self.operations[row].axes
            both = tuple(dict.fromkeys(axis for each in axes for axis in each))
            largest = self._append(BlockOperation(Kind.MAX, (largest, row), stage, both))
        return largest

    def _over_iterations(self, group: Group) -> int:
        """The maximum over all iterations."""
        if group not in self._totals:
            iteration = self._maximum(group, Stage.LOOP)
            axes = self.operations[iteration].axes
            total = BlockOperation(Kind.ACCUMULATE_MAX, (iteration,), Stage.POST, axes)
            self._totals[group] = self._append(total)
        return self._totals[group]

    def _largest(self, exp: int) -> int:
        """The maximum of the exp's argument within a tile."""
        operation = self.graph.operations[exp]
        largest = self._copy(operation.operands[0], operation.stage, shifted=False)
        axes = operation.axes
        if self._may_be_masked(exp):
            # Where `KernelContext.is_half` holds for the kernel.
            read = (each for each in self.program.inputs if each.indices is None)
            half = all(each.element_type == "f16" for each in read)
            value = LEAST_OF_HALF if half else LEAST
            constant = BlockOperation(Kind.CONSTANT, (), Stage.INVARIANT, (), value=value)
            operands = largest, self._append(constant)
            largest = self._append(BlockOperation(Kind.MAX, operands, operation.stage, axes))
        for axis in self.degrees.exps[exp].axes:
            if axis in axes:
                axes = tuple(other for other in axes if other != axis)
                kinds = [Kind.REDUCE_MAX]
                if axis in self.graph.configuration.cluster:
                    kinds.append(Kind.ACCUMULATE_MAX)
                for kind in kinds:
                    largest = self._append(
                        BlockOperation(kind, (largest,), operation.stage, axes, axis)
                    )
        return largest

    def _may_be_masked(self, exp: int) -> bool:
        """
        Whether a tile may have nothing but minus infinity of a row whose other elements are finite.

        Masks are inputs that are added to scores or select them. The maximum of such a part cannot
        be subtracted: infinity minus infinity is not a number.
        """
        group = self.degrees.exps[exp].group
        if self._stage_of(exp) is not Stage.LOOP and not self._is_stored_at_all(group):
            return False
        pending = list(self.graph.operations[exp].operands)
        while pending:
            operation = self.graph.operations[pending.pop()]
            function = operation.function
            chosen = function.parameters if function and function.name == CHOSEN else ()
            if operation.kind is Kind.INPUT or -inf in chosen:
                return True
            if operation.kind not in SUMS:
                pending += operation.operands
        return False

    def _is_stored_at_all(self, group: Group) -> bool:
        shifts = self.algebra.program.shifts
        stored = [output.shift for output in self.program.outputs if output.shift is not None]
        return any(shifts[number].group == group for number in stored)

    # Inputs

    def _centred(self, number: int, load: BlockOperation, shift: Shift) -> int:
        """A loaded tile minus the first element of each row, which is usually in another tile."""
        (axis,) = shift.axes
        axes = tuple(other for other in load.axes if other != axis)
        present = self.algebra.program.inputs[load.source].axes
        looped = any(a in present and a != axis for a in self.graph.configuration.loop)
        stage = Stage.LOOP if looped else Stage.INVARIANT
        first = replace(load, stage=stage, axes=axes, first=axis, form=None)
        operands = self._copy(number, load.stage, shifted=False), self._append(first)
        return self._append(BlockOperation(Kind.SUB, operands, load.stage, load.axes))


def _renumbered(operation: BlockOperation, place: Mapping[int, int]) -> BlockOperation:
    """The operation with new numbers of its operands."""
    rescale = None if operation.rescale is None else place[operation.rescale]
    operands = tuple(place[operand] for operand in operation.operands)
    return replace(operation, operands=operands, rescale=rescale)
