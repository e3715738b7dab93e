"""Programs of views alone, of elementwise operators, and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.draws import Draw
from program_pairs.program import Program
from program_pairs.tiling import GraphWriter, random_tiling
from program_pairs.writer import Build, Ops, element_of, shape_of

FUNCTIONS = (
    (kernel.TanhOp, tb.TanhOp),
    (kernel.SigmoidOp, tb.SigmoidOp),
    (kernel.SquareOp, tb.SquareOp),
    (kernel.ReluOp, tb.ReluOp),
    (kernel.SiluOp, tb.SiluOp),
    (kernel.GeluOp, tb.GeluOp),
)
"""Of each element, at kernel and at threadblock level."""

PAIRS = (
    (kernel.AddOp, tb.AddOp),
    (kernel.SubOp, tb.SubOp),
    (kernel.MulOp, tb.MulOp),
    (kernel.MaxOp, tb.MaxOp),
)


class Views(Program):
    """An operand as it is, or transposed: all that can be wrong are the views around it."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, columns = draw.pair()
        self.flipped = draw.chance(0.5)
        self.shapes = ((rows, columns),)
        self.result = (columns, rows) if self.flipped else (rows, columns)
        sizes = dict(zip("mn", self.result, strict=True))
        self.tiling = random_tiling(draw, sizes, {})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.transpose(values[0], (1, 0)) if self.flipped else values[0]

    def rewrites(self) -> list[Build]:
        return [self.in_parts(self.shapes[0][0], [0], int(self.flipped))]

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.tiling, values)
        tile = writer.load(0, "nm" if self.flipped else "mn")
        if self.flipped:
            tile = writer.add(tb.TransposeOp(tile, (1, 0)))
        writer.store(tile, "mn", element_of(values[0]))
        return writer.finish(ops)[0]


class Elementwise(Program):
    """`pair(pair(f(x), row), column)`, the row and the column broadcast."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, columns = draw.pair()
        several = draw.chance(0.3) and 4 * rows * columns < draw.scale.elements
        lead = (draw.few(),) if several else ()
        self.result = (*lead, rows, columns)
        self.shapes = self.result, (1, columns), (rows, 1)
        self.function = draw.random.choice(FUNCTIONS)
        self.by_row, self.by_column = draw.random.choice(PAIRS), draw.random.choice(PAIRS)
        self.dims = "hmn"[3 - len(self.result) :]
        self.tiling = random_tiling(draw, dict(zip(self.dims, self.result, strict=True)), {})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, row, column = values
        inner = ops.add(self.by_row[0](ops.add(self.function[0](x)), row))
        return ops.add(self.by_column[0](inner, column))

    def spread(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The row and the column broadcast before."""
        x, *others = values
        return self.plain(ops, [x, *(ops.broadcast(other, self.result) for other in others)])

    def rewrites(self) -> list[Build]:
        last = len(self.result) - 1
        return [self.spread, self.in_parts(self.result[-1], [last, 1, None], last)]

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.tiling, values)
        x, row, column = (writer.load(i, d) for i, d in enumerate((self.dims, "1n", "m1")))
        if self.draw.chance(0.3):
            whole = tb.TileType(tb.shape_of(x), tb.tile_type(column).element_type)
            column = writer.add(tb.BroadcastOp(column, whole))
        inner = writer.add(self.by_row[1](writer.add(self.function[1](x)), row))
        result = writer.add(self.by_column[1](inner, column))
        writer.store(result, self.dims, element_of(values[0]))
        return writer.finish(ops)[0]


class Rotary(Program):
    """`x cos + concat(-x2, x1) sin`, where x1 and x2 are the halves of the rows of x."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        half = draw.short()
        heads = draw.few() if draw.chance(0.5) else 1
        rows = draw.long(draw.scale.elements // (heads * 2 * half))
        self.result = (heads, rows, 2 * half)
        self.shapes = self.result, self.result[1:], self.result[1:]
        self.halves = [0, half, 2 * half]
        self.tiling = random_tiling(draw, {"h": heads, "m": rows}, {})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, cos, sin = values
        first, second = ops.parts(x, 2, self.halves)
        turned = ops.concat([ops.add(kernel.ScaleOp(second, -1.0)), first], 2)
        return ops.sum_of([ops.add(kernel.MulOp(x, cos)), ops.add(kernel.MulOp(turned, sin))])

    def rewrites(self) -> list[Build]:
        return [self.by_halves]

    def by_halves(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The halves of the result one by one."""
        (a, b), (c, d), (s, t) = (
            ops.parts(value, len(shape_of(value)) - 1, self.halves) for value in values
        )
        first = ops.add(kernel.SubOp(ops.add(kernel.MulOp(a, c)), ops.add(kernel.MulOp(b, s))))
        second = ops.sum_of([ops.add(kernel.MulOp(b, d)), ops.add(kernel.MulOp(a, t))])
        return ops.concat([first, second], 2)

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = element_of(values[0])
        writer = GraphWriter(self.tiling, [*ops.parts(values[0], 2, self.halves), *values[1:]])
        dims = ("hm1", "hm1", "m1", "m1")
        a, b, cos, sin = (writer.load(i, d) for i, d in enumerate(dims))
        x = writer.add(tb.ConcatOp([a, b], 2))
        minus = writer.cast(writer.add(tb.ScaleOp(b, -1.0)), kind)
        turned = writer.add(tb.ConcatOp([minus, a], 2))
        direct, crossed = writer.add(tb.MulOp(x, cos)), writer.add(tb.MulOp(turned, sin))
        writer.store(writer.add(tb.AddOp(direct, crossed)), "hm1", kind)
        return writer.finish(ops)[0]
