"""Programs that reduce rows: sums, maxima, means and layer norms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.draws import Draw
from program_pairs.program import Program
from program_pairs.tiling import F32, GraphWriter, random_tiling
from program_pairs.writer import Build, Ops, Shape, element_of, shape_of

KINDS = {
    "sum": (kernel.ReduceSumOp, tb.ReduceSumOp),
    "max": (kernel.ReduceMaxOp, tb.ReduceMaxOp),
    "mean": (kernel.ReduceMeanOp, tb.ReduceSumOp),
}

EPS = 1e-5


class Reduction(Program):
    """The sum, maximum or mean of an elementwise function over some dimensions."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.kind = self.drawn_kind()
        shape = self._drawn_shape()
        long = [dim for dim, size in enumerate(shape) if size > 1]
        count = draw.random.randint(1, min(2, len(long)))
        self.dims = sorted(draw.random.sample(long, count))
        self.shapes = (shape,)
        self.result = tuple(1 if dim in self.dims else size for dim, size in enumerate(shape))
        self.letters = "hmn"[3 - len(shape) :]
        self.summed = {self.letters[dim]: shape[dim] for dim in self.dims}
        letters = dict(zip(self.letters, shape, strict=True))
        free = {letter: size for letter, size in letters.items() if letter not in self.summed}
        self.tiling = random_tiling(draw, free, self.summed)
        self.factor = 1 / prod(self.summed.values())

    def drawn_kind(self) -> str:
        """A key of `KINDS`."""
        return self.draw.random.choice(sorted(KINDS))

    def _drawn_shape(self) -> Shape:
        draw = self.draw
        if draw.chance(0.2):
            size = draw.long(16384)
            return (1, size) if draw.chance(0.5) else (size, 1)
        rows, columns = draw.pair()
        if draw.chance(0.3) and 4 * rows * columns < draw.scale.elements:
            return draw.few(), rows, columns
        return rows, columns

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.add(KINDS[self.kind][0](ops.add(kernel.TanhOp(values[0])), self.dims))

    def rewrites(self) -> list[Build]:
        return [self.parted, self.parted, self.one_by_one]

    def parted(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """One dimension in parts."""
        dim = self.dims[0]
        reduce = KINDS["max" if self.kind == "max" else "sum"][0]
        value = ops.add(kernel.TanhOp(values[0]))
        parts = ops.parts(value, dim, self.bounds(self.shapes[0][dim]))
        reduced = [ops.add(reduce(part, self.dims)) for part in parts]
        if self.kind == "max":
            return ops.largest_of(reduced)
        total = ops.sum_of(reduced)
        return ops.add(kernel.ScaleOp(total, self.factor)) if self.kind == "mean" else total

    def one_by_one(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """One dimension after the other."""
        value = ops.add(kernel.TanhOp(values[0]))
        for dim in reversed(self.dims):
            value = ops.add(KINDS[self.kind][0](value, [dim]))
        return value

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.tiling, values)
        x = writer.add(tb.TanhOp(writer.load(0, self.letters)))
        part = writer.add(KINDS[self.kind][1](x, self.dims))
        kind = "max" if self.kind == "max" else "sum"
        value = writer.total(part, "".join(self.summed), kind)
        if self.kind == "mean":
            value = writer.add(tb.ScaleOp(value, self.factor))
        kept = "".join("1" if letter in self.summed else letter for letter in self.letters)
        writer.store(value, kept, element_of(values[0]))
        return writer.finish(ops)[0]


class Maximum(Reduction):
    """A maximum, of one row now and then."""

    def drawn_kind(self) -> str:
        """A key of `KINDS`."""
        return "max"


class LayerNorm(Program):
    """A layer norm with weight and bias."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.columns = draw.pair()
        self.shapes = (rows, self.columns), (1, self.columns), (1, self.columns)
        self.result = rows, self.columns
        self.tiling = random_tiling(draw, {"m": rows}, {})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, gain, bias = values
        weight, shift = (ops.reshape(value, (self.columns,)) for value in (gain, bias))
        return ops.add(kernel.LayerNormOp(x, weight, shift, EPS))

    def rewrites(self) -> list[Build]:
        return [self.by_hand, self.in_parts(self.result[0], [0, None, None], 0)]

    def by_hand(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """With elementary operators, both means in parts."""
        x, gain, bias = values
        bounds = self.bounds(self.columns)

        def mean(value: SSAValue) -> SSAValue:
            parts = ops.parts(value, 1, bounds)
            sums = [ops.add(kernel.ReduceSumOp(part, [1])) for part in parts]
            return ops.add(kernel.ScaleOp(ops.sum_of(sums), 1 / self.columns))

        centred = ops.add(kernel.SubOp(x, mean(x)))
        variance = mean(ops.add(kernel.SquareOp(centred)))
        shifted = ops.add(kernel.AddOp(variance, ops.constant(EPS, x, shape_of(variance))))
        scaled = ops.add(kernel.MulOp(centred, ops.add(kernel.RsqrtOp(shifted))))
        return ops.sum_of([ops.add(kernel.MulOp(scaled, gain)), bias])

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        writer = GraphWriter(self.tiling, values)
        x, gain, bias = (writer.load(i, d) for i, d in enumerate(("m1", "11", "11")))

        def mean(value: SSAValue) -> SSAValue:
            total = writer.add(tb.ReduceSumOp(value, [1]))
            return writer.add(tb.ScaleOp(total, 1 / self.columns))

        centred = writer.add(tb.SubOp(x, mean(x)))
        variance = mean(writer.add(tb.SquareOp(centred)))
        shift = writer.add(tb.ConstantOp(EPS, tb.TileType((1, 1), F32)))
        root = writer.add(tb.RsqrtOp(writer.add(tb.AddOp(variance, shift))))
        scaled = writer.add(tb.MulOp(writer.add(tb.MulOp(centred, root)), gain))
        writer.store(writer.add(tb.AddOp(scaled, bias)), "m1", element_of(values[0]))
        return writer.finish(ops)[0]
