"""
Normal forms of graphs over blocks: blocks and iterations are variables of indices.

A load reads its tensor at `(block * iterations + iteration) * tile + element`, or in a cyclic graph
at `(iteration * blocks + block) * tile + element`. Sums of an accumulator run over iterations and,
with `across`, over blocks. A result is read the other way round: its element p is element
`p mod tile` of block `floor(p / tile)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.indices import (
    ZERO,
    Index,
    Variable,
    all_variables,
    floor_div,
    of,
    plus,
    remainder,
    scaled,
)
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.scalars import ScalarForms
from mirage_mlir.equivalence.symbolic.symbolic import Dim, Symbolic, conjunction
from mirage_mlir.equivalence.symbolic.terms import Undecided, free_of
from mirage_mlir.interpreters.operators import element_type_of, integers, shape_of
from mirage_mlir.interpreters.tile_cuts import TileCut, load_cuts, store_cuts

Watch = Callable[[Operation, Symbolic], None]
"""Is shown each operation with its value."""


class BlockForms:
    """The normal forms of one graph on given tensors."""

    def __init__(
        self,
        operators: Operators,
        graph: kernel.GraphDefinedOp,
        inputs: Sequence[Symbolic],
        watch: Watch,
    ):
        self.watch = watch
        self.operators = operators
        self.tensors = operators.tensors
        self.graph = graph
        self.grid = [self.tensors.forms.variable(size) for size in graph.grid_sizes]
        self.loops = [self.tensors.forms.variable(size) for size in graph.loop_sizes]
        self.stages = threadblock.stages(graph)
        self.values: dict[SSAValue, Symbolic] = dict(
            zip(graph.body.block.args, inputs, strict=True)
        )

    def outputs(self) -> list[Symbolic]:
        """The results that the graph's stores make up."""
        stored: list[Symbolic] = []
        operations = self.graph.body.block.ops
        live = live_operations(op for op in operations if not op.results)
        for op in operations:
            if op not in live:
                continue
            if isinstance(op, threadblock.StoreOp):
                shape = shape_of(self.graph.outputs[len(stored)])
                stored.append(self._stored(op, shape))
            else:
                for value, result in zip(op.results, self._results(op), strict=True):
                    self.values[value] = result
                    self.watch(op, result)
        return stored

    def _results(self, op: Operation) -> list[Symbolic]:
        match op:
            case threadblock.LoadOp():
                return [self._loaded(op)]
            case threadblock.AccumulateOp():
                return [self._accumulated(op)]
            case thread.GraphOp():
                operands = [self.values[operand] for operand in op.operands]
                return ScalarForms(self.tensors).results(op, operands)
            case _ if op.results:
                operands = [self.values[operand] for operand in op.operands]
                result = self.operators.result(op, operands)
                return [self.tensors.rounded(result, element_type_of(op.results[0].type))]
            case _:
                raise Undecided(f"'{op.name}' has no normal form")

    # Loads and stores

    def _loaded(self, op: threadblock.LoadOp) -> Symbolic:
        """The tile of a block in an iteration."""
        result = self.values[op.source]
        for dim, cut in enumerate(load_cuts(self.graph, op).dims):
            size = result.dims[dim].size
            if cut.grid_axis is None and not cut.loops and cut.tile == size:
                continue
            new = self.tensors.dim(cut.tile)
            element = ZERO if new.variable is None else of(new.variable)
            index = plus(scaled(self._tile_number(cut), cut.tile), element)
            valid = conjunction([guards_.guard(index, 0, size)])
            new = replace(new, valid=valid)
            result = self.operators.views.read_at(result, dim, new, index)
        return result

    def _tile_number(self, cut: TileCut) -> Index:
        """Which of the tiles of a dimension a block has in an iteration."""
        index = ZERO
        for variable, count in self._digits(cut):
            index = plus(scaled(index, count), of(variable))
        return index

    def _digits(self, cut: TileCut) -> list[tuple[Variable, int]]:
        """What the number of a tile is made of, slowest first, each with how much it counts."""
        loops = [self.loops[loop] for loop in cut.loops]
        digits = [*zip(loops, cut.iterations, strict=True)]
        if cut.grid_axis is not None:
            place = len(digits) if cut.cyclic else 0
            digits.insert(place, (self.grid[cut.grid_axis], cut.blocks))
        return digits

    def _stored(self, op: threadblock.StoreOp, shape: Sequence[int]) -> Symbolic:
        """
        The tensor that the tiles of all blocks make up.

        Raises:
            Undecided: elements depend on the block otherwise than by their place, or lack.
        """
        tile = self.values[op.tile]
        dims: list[Dim] = []
        values: dict[Variable, Index] = {}
        for old, cut, size in zip(tile.dims, store_cuts(self.graph, op).dims, shape, strict=True):
            new = self.tensors.dim(size)
            index = ZERO if new.variable is None else of(new.variable)
            if digits := self._digits(cut):
                number, index = floor_div(index, cut.tile), remainder(index, cut.tile)
                for variable, count in reversed(digits[1:]):
                    values[variable] = remainder(number, count)
                    number = floor_div(number, count)
                values[digits[0][0]] = number
            if old.variable is not None:
                values[old.variable] = index
            dims.append(new)
        there = conjunction(tile.exists, *(dim.valid for dim in tile.dims))
        if guards_.moved(there, values) != ():
            raise Undecided("not every element of a result is stored")
        pieces = self.tensors.moved(tile.pieces, values)
        own = {dim.variable for dim in dims if dim.variable is not None}
        for piece in pieces:
            read = free_of(piece.form) | all_variables(each.value for each in piece.guards)
            if not read <= own:
                raise Undecided("stored elements depend on the block that stores them")
        # What the block alone says counts for all blocks: each of them stores the element.
        return Symbolic(pieces, tuple(dims), demands=self.tensors.moved_demands(tile, values))

    # Accumulators

    def _accumulated(self, op: threadblock.AccumulateOp) -> Symbolic:
        value = self.values[op.value]
        over = [] if self.stages[op.value] == Stage.POST else list(self.loops)
        over += [self.grid[axis] for axis in integers(op, "across")]
        assert isinstance(op.kind, StringAttr)
        if op.kind.data == "max":
            return self._largest(value, over)
        if op.rescale is not None:
            value = self._rescaled(value, self.values[op.rescale], over)
        # Of a tile that is nowhere the sum is zero.
        there = conjunction(value.exists, _valid(value, over))
        pieces = self.tensors.sum_over(value, over, there)
        demands = self.tensors.of_all(value, over, there)
        return Symbolic(pieces, _first(value, over).dims, demands=demands)

    def _largest(self, value: Symbolic, over: Sequence[Variable]) -> Symbolic:
        there = conjunction(guards_.reading(value.exists, over), _valid(value, over))
        return self.tensors.maximum_over(value, over, there, _first(value, over))

    def _rescaled(
        self, value: Symbolic, row_maximum: Symbolic, over: Sequence[Variable]
    ) -> Symbolic:
        """`value * exp(m - M)`, M being the largest m."""
        # Where there is an m there is M.
        largest = replace(
            self._largest(row_maximum, over), dims=row_maximum.dims, exists=row_maximum.exists
        )
        factor = self.tensors.function("exp", self.tensors.subtract(row_maximum, largest))
        return self.tensors.multiply(value, factor)


def live_operations(
    operations: Iterable[Operation], through: Callable[[Operation], bool] = lambda _: True
) -> set[Operation]:
    """Some operations, and those that they need; of some of them all, but not what these need."""
    pending = list(operations)
    live: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op not in live:
            live.add(op)
            if through(op):
                pending += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
    return live


def _valid(x: Symbolic, over: Sequence[Variable]) -> guards_.Guards:
    """The conditions that elements are there, as far as they depend on some variables."""
    return conjunction(*(guards_.reading(dim.valid, over) for dim in x.dims))


def _first(x: Symbolic, over: Sequence[Variable]) -> Symbolic:
    """`x` where the first of what variables count is: what is there at all, is there."""
    values = dict.fromkeys(over, ZERO)

    def first(guards: guards_.Guards) -> guards_.Guards:
        found = guards_.moved(guards, values)
        return conjunction((False,) if found is None else found)

    dims = tuple(replace(dim, valid=first(dim.valid)) for dim in x.dims)
    return replace(x, dims=dims, exists=first(x.exists))
