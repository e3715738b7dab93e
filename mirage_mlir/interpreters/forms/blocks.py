"""
Graphs over blocks in normal form: blocks and iterations are digits of indices.

A load reads its tensor at the place (block, iteration, element); sums of an accumulator run over
iterations and, with `across`, over blocks. What a store puts together must read each of its
dimensions as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.interpreters.cuts import load_cuts, store_cuts
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.tensors import Dim, Symbolic
from mirage_mlir.interpreters.forms.terms import (
    Form,
    Place,
    Undecided,
    Variable,
    place,
    variables_of,
)
from mirage_mlir.interpreters.operators import integers, shape_of

Watch = Callable[[Operation, Symbolic], None]
"""Is shown each operation with its value."""


class BlockForms:
    """One graph on given tensors."""

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
        self.forms = operators.forms
        self.graph = graph
        self.grid = [self.forms.variable(size) for size in graph.grid_sizes]
        self.loops = [self.forms.variable(size) for size in graph.loop_sizes]
        self.stages = threadblock.stages(graph)
        self.values: dict[SSAValue, Symbolic] = dict(
            zip(graph.body.block.args, inputs, strict=True)
        )

    def outputs(self) -> list[Symbolic]:
        """What the graph's stores put together."""
        stored: list[Symbolic] = []
        for op in self.graph.body.block.ops:
            if isinstance(op, threadblock.StoreOp):
                shape = shape_of(self.graph.outputs[len(stored)])
                stored.append(self._stored(op, shape))
            else:
                result = self.values[op.results[0]] = self._result(op)
                self.watch(op, result)
        return stored

    def _result(self, op: Operation) -> Symbolic:
        match op:
            case threadblock.LoadOp():
                return self._loaded(op)
            case threadblock.AccumulateOp():
                return self._accumulated(op)
            case _:
                if len(op.results) != 1:
                    raise Undecided(f"'{op.name}' has no normal form")
                return self.operators.result(op, [self.values[operand] for operand in op.operands])

    # Loads and stores

    def _loaded(self, op: threadblock.LoadOp) -> Symbolic:
        """The tile of a block and an iteration."""
        result = self.values[op.source]
        sizes = [dim.size for dim in result.dims]
        for dim, (cut, size) in enumerate(zip(load_cuts(self.graph, op).dims, sizes, strict=True)):
            outer = [] if cut.grid_axis is None else [self.grid[cut.grid_axis]]
            outer += [self.loops[loop] for loop in cut.loops]
            result = self._cut(result, dim, outer, min(cut.tile, size))
        return result

    def _cut(self, x: Symbolic, dim: int, outer: Sequence[Variable], tile: int) -> Symbolic:
        """A dimension cut into tiles that the digits `outer` count."""
        old = x.dims[dim]
        inner = self.forms.variable(tile)
        where = place([*outer, inner], old.size)
        if where.digits == (inner,) and tile == old.size:
            return x
        new = Dim(tile, (inner,) if tile > 1 else (), where if where.limit else None)
        if not old.digits:
            if old.size > 1 or where.limit:
                return _with_dim(x, dim, new)
            return x
        first, *others = old.digits
        if others:
            if where.limit:
                raise Undecided("a dimension that is made of several is cut into ragged tiles")
            x = self.tensors.split(x, dim, [v.size for v in where.digits])
            digits, low = x.dims[dim].digits, 0
            values: dict[Variable, Place] = {}
            for target in where.digits:
                high = low
                while prod(v.size for v in digits[low:high]) < target.size:
                    high += 1
                values |= self._renaming(digits[low:high], target, inner)
                low = high
            kept = tuple(p.digits[0] for v, p in values.items() if p.digits == (v,))
            form = self.forms.insert(x.form, {v: p for v, p in values.items() if p.digits != (v,)})
            return _with_dim(Symbolic(form, x.dims), dim, Dim(tile, kept))
        form = self.forms.insert(x.form, {first: where})
        return _with_dim(Symbolic(form, x.dims), dim, new)

    def _renaming(
        self, digits: Sequence[Variable], target: Variable, inner: Variable
    ) -> dict[Variable, Place]:
        """Digits of a dimension as those of one block, iteration or element."""
        if target == inner:
            return {v: Place((v,)) for v in digits}
        if len(digits) > 1:
            raise Undecided("blocks or iterations walk a dimension that is made of several")
        return {digits[0]: Place((target,))}

    def _stored(self, op: threadblock.StoreOp, shape: Sequence[int]) -> Symbolic:
        """The tensor that the tiles of all blocks are."""
        tile = self.values[op.tile]
        form, dims = tile.form, list[Dim]()
        for dim, cut, size in zip(tile.dims, store_cuts(op).dims, shape, strict=True):
            outer = [] if cut.grid_axis is None else [self.grid[cut.grid_axis]]
            digits = place([*outer, *dim.digits]).digits
            if len(digits) < 2:
                new = Dim(size, digits)
                if digits and digits[0].size != size:
                    form, new = self._whole(form, digits, size)
            else:
                form, new = self._whole(form, digits, size)
            dims.append(new)
        return self._without_blocks(Symbolic(form, tuple(dims)))

    def _whole(self, form: Form, digits: Sequence[Variable], size: int) -> tuple[Form, Dim]:
        """A form with the digits of a dimension, which stand together, as one index."""
        new = self.tensors.dim(size)
        names = tuple(digits)

        def joined(p: Place) -> Place:
            if not any(digit in names for digit in p.digits):
                return p
            start = next(n for n, digit in enumerate(p.digits) if digit in names)
            rest = p.digits[start + len(names) :]
            if p.digits[start : start + len(names)] != names or (p.limit and p.limit < size):
                raise Undecided("stored elements depend on how the result is cut into tiles")
            return place((*p.digits[:start], *new.digits, *rest), 0, p.offset, p.stride)

        return self.forms.moved(form, joined), new

    def _without_blocks(self, x: Symbolic) -> Symbolic:
        """`x`, unless it depends on the block or the iteration otherwise than by its place."""
        own = {v for dim in x.dims for v in dim.digits}
        read = {v for m, _ in x.form for v in variables_of(m) if not v.bound}
        if read - own:
            raise Undecided("stored elements depend on the block that stores them")
        # Digits of blocks stay with this run: a later use has its own.
        return x

    # Accumulators

    def _accumulated(self, op: threadblock.AccumulateOp) -> Symbolic:
        value = self.values[op.value]
        over = [] if self.stages[op.value] == Stage.POST else list(self.loops)
        over += [self.grid[axis] for axis in integers(op, "across")]
        assert isinstance(op.kind, StringAttr)
        if op.kind.data == "max":
            form = value.form
            for variable in over:
                form = self.forms.largest(form, variable)
            return Symbolic(form, _settled(value.dims, over))
        if op.rescale is not None:
            value = self._rescaled(value, self.values[op.rescale], over)
        form = value.form
        for variable in reversed(over):
            form = self.forms.bind(form, variable, _valid(value.dims, variable))
        return Symbolic(form, _settled(value.dims, over))

    def _rescaled(
        self, value: Symbolic, stabiliser: Symbolic, over: Sequence[Variable]
    ) -> Symbolic:
        """`value * exp(m - M)`, M being the largest m."""
        form = stabiliser.form
        for variable in over:
            form = self.forms.largest(form, variable)
        largest = Symbolic(form, stabiliser.dims)
        factor = self.tensors.function("exp", self.tensors.subtract(stabiliser, largest))
        return self.tensors.multiply(value, factor)


def _with_dim(x: Symbolic, dim: int, new: Dim) -> Symbolic:
    return Symbolic(x.form, (*x.dims[:dim], new, *x.dims[dim + 1 :]))


def _valid(dims: Sequence[Dim], variable: Variable) -> Place | None:
    """The place that says for which values of a variable there is anything to add up."""
    places = (dim.valid for dim in dims if dim.valid is not None)
    return next((p for p in places if variable in p.digits), None)


def _settled(dims: Sequence[Dim], over: Sequence[Variable]) -> tuple[Dim, ...]:
    """Dimensions of a total: where one of its parts has an element, it has."""
    return tuple(
        Dim(dim.size, dim.digits)
        if dim.valid is not None and not set(dim.valid.digits).isdisjoint(over)
        else dim
        for dim in dims
    )
