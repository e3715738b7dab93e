"""Softmax and its denominator: in parts, with a maximum of each part, in one kernel or two."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.draws import Draw
from program_pairs.program import Program
from program_pairs.tiling import F32, GraphWriter, random_tiling
from program_pairs.writer import Build, Ops, element_of


def powers(ops: Ops, x: SSAValue, most: SSAValue) -> SSAValue:
    """`exp(x - most)` of tensors."""
    return ops.add(kernel.ExpOp(ops.add(kernel.SubOp(x, most))))


def tile_powers(writer: GraphWriter, x: SSAValue, most: SSAValue) -> SSAValue:
    """`exp(x - most)` of tiles."""
    return writer.add(tb.ExpOp(writer.add(tb.SubOp(x, most))))


class Softmax(Program):
    """Softmax of rows."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.columns = draw.pair()
        self.shapes = ((rows, self.columns),)
        self.result = rows, self.columns
        self.whole = random_tiling(draw, {"m": rows}, {})
        self.loop = random_tiling(draw, {"m": rows}, {"n": self.columns})
        self.second = random_tiling(draw, {"m": rows, "n": self.columns}, {})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.add(kernel.SoftmaxOp(values[0], 1))

    def rewrites(self) -> list[Build]:
        by_rows = self.in_parts(self.result[0], [0], 0)
        return [self.by_hand, self.rescaled, self.rescaled, by_rows]

    def by_hand(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The maximum and the sum in parts."""
        bounds = self.bounds(self.columns)
        parts = ops.parts(values[0], 1, bounds)
        most = ops.largest_of([ops.add(kernel.ReduceMaxOp(part, [1])) for part in parts])
        value = powers(ops, values[0], most)
        sums = [ops.add(kernel.ReduceSumOp(part, [1])) for part in ops.parts(value, 1, bounds)]
        return ops.add(kernel.DivOp(value, ops.sum_of(sums)))

    def rescaled(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """Each part with a maximum of its own, and rescaled in the end."""
        parts = ops.parts(values[0], 1, self.bounds(self.columns))
        maxima = [ops.add(kernel.ReduceMaxOp(part, [1])) for part in parts]
        most = ops.largest_of(maxima)
        scaled = [
            ops.add(kernel.MulOp(powers(ops, part, own), powers(ops, own, most)))
            for part, own in zip(parts, maxima, strict=True)
        ]
        total = ops.sum_of([ops.add(kernel.ReduceSumOp(part, [1])) for part in scaled])
        divided = [ops.add(kernel.DivOp(part, total)) for part in scaled]
        return divided[0] if len(divided) == 1 else ops.concat(divided, 1)

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return (self._two_kernels if self.draw.chance(0.6) else self._one_kernel)(ops, values)

    def _one_kernel(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.whole, values)
        x = writer.load(0, "m1")
        power = tile_powers(writer, x, writer.add(tb.ReduceMaxOp(x, [1])))
        total = writer.add(tb.ReduceSumOp(power, [1]))
        writer.store(writer.add(tb.DivOp(power, total)), "m1", element_of(values[0]))
        return writer.finish(ops)[0]

    def _two_kernels(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The first finds the maximum and the sum of each row, rescaled in every iteration."""
        writer = GraphWriter(self.loop, values)
        x = writer.load(0, "mn")
        most = writer.add(tb.ReduceMaxOp(x, [1]))
        part = writer.add(tb.ReduceSumOp(tile_powers(writer, x, most), [1]))
        writer.store(writer.total(part, "n", rescale=most), "m1", F32)
        writer.store(writer.total(most, "n", "max"), "m1", F32)
        writer = GraphWriter(self.second, [values[0], *writer.finish(ops)])
        x, total, most = (writer.load(i, d) for i, d in enumerate(("mn", "m1", "m1")))
        result = writer.add(tb.DivOp(tile_powers(writer, x, most), total))
        writer.store(result, "mn", element_of(values[0]))
        return writer.finish(ops)[0]


class LogSumExp(Program):
    """`log(sum(exp(x)))` of rows."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.columns = draw.pair()
        self.shapes = ((rows, self.columns),)
        self.result = rows, 1
        self.tiling = random_tiling(draw, {"m": rows}, {"n": self.columns})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        total = ops.add(kernel.ReduceSumOp(ops.add(kernel.ExpOp(values[0])), [1]))
        return ops.add(kernel.LogOp(total))

    def rewrites(self) -> list[Build]:
        return [self.parted]

    def parted(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The sum in parts."""
        parts = ops.parts(ops.add(kernel.ExpOp(values[0])), 1, self.bounds(self.columns))
        sums = [ops.add(kernel.ReduceSumOp(part, [1])) for part in parts]
        return ops.add(kernel.LogOp(ops.sum_of(sums)))

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.tiling, values)
        power = writer.add(tb.ExpOp(writer.load(0, "mn")))
        total = writer.total(writer.add(tb.ReduceSumOp(power, [1])), "n")
        writer.store(writer.add(tb.LogOp(total)), "m1", element_of(values[0]))
        return writer.finish(ops)[0]
