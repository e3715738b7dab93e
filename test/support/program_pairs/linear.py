"""Programs of matrix products: linear layers, LoRA, gated MLPs, products behind a norm."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.draws import Draw
from program_pairs.program import Program, cast_to
from program_pairs.tiling import F16, F32, GraphWriter, random_tiling
from program_pairs.writer import Build, Ops, element_of, shape_of

EPS = 1e-5


def sizes(draw: Draw) -> tuple[int, int, int]:
    """Rows, depth and columns, one of them long; sometimes all alike, for maps of another axis."""
    if draw.square or draw.chance(0.2):
        size = draw.long(256)
        return size, size, size
    drawn = [draw.short(), draw.short()]
    drawn.append(draw.long(draw.scale.elements // max(drawn)))
    draw.random.shuffle(drawn)
    return drawn[0], drawn[1], drawn[2]


class Linear(Program):
    """`x w`, `x w^T` or a batch of products."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.depth, columns = sizes(draw)
        products = rows * self.depth * columns
        several = products < 4 * draw.scale.elements and draw.chance(0.4)
        self.lead = (draw.few(),) if several else ()
        self.flipped = draw.chance(0.3)
        weight = (columns, self.depth) if self.flipped else (self.depth, columns)
        self.shapes = (*self.lead, rows, self.depth), (*self.lead, *weight)
        self.result = (*self.lead, rows, columns)
        self.dims = "hmn"[1 - len(self.lead) :]
        free = dict(zip(self.dims, self.result, strict=True))
        self.tiling = random_tiling(draw, free, {"k": self.depth})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, w = values
        return ops.matmul(x, ops.swap(w) if self.flipped else w)

    def rewrites(self) -> list[Build]:
        dim = len(self.lead)
        rows, columns = self.result[-2:]
        by_columns = self.in_parts(columns, [None, dim + 1 - int(self.flipped)], dim + 1)
        by_rows = self.in_parts(rows, [dim, None], dim)
        return [self.by_depth, self.by_depth, self.turned, by_columns, by_rows]

    def by_depth(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The sum in parts."""
        dim, bounds = len(self.lead), self.bounds(self.depth)
        x, w = values
        xs = ops.parts(x, dim + 1, bounds)
        ws = ops.parts(w, dim + int(self.flipped), bounds)
        return ops.sum_of([self.plain(ops, pair) for pair in zip(xs, ws, strict=True)])

    def turned(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """`(w^T x^T)^T`."""
        x, w = values
        return ops.swap(ops.matmul(w if self.flipped else ops.swap(w), ops.swap(x)))

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """Where blocks share the depth, their sums are added across or left to a second kernel."""
        kind, rank = element_of(values[0]), len(self.result)
        writer = GraphWriter(self.tiling, values)
        partial = "k" if self.tiling.blocks("k") > 1 and self.draw.chance(0.5) else ""
        writer.across = not partial
        lead = self.dims[:-2]
        x = writer.load(0, f"{lead}mk")
        w = writer.load(1, f"{lead}nk" if self.flipped else f"{lead}kn")
        if self.flipped:
            w = writer.add(tb.TransposeOp(w, [*range(rank - 2), rank - 1, rank - 2]))
        total = writer.total(writer.matmul(x, w, kind), "k")
        writer.store(total, self.dims, F32 if partial else kind, partial)
        result = writer.finish(ops)[0]
        if not partial:
            return result
        added = ops.add(kernel.ReduceSumOp(result, [0]))
        return cast_to(ops, ops.reshape(added, self.result), kind)


class Lora(Program):
    """`x w + (x a) b`."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.depth, self.columns = sizes(draw)
        self.rank = draw.few() + 3
        weights = (self.depth, self.columns), (self.depth, self.rank), (self.rank, self.columns)
        self.shapes = (rows, self.depth), *weights
        self.result = rows, self.columns
        self.tiling = random_tiling(draw, {"m": rows, "n": self.columns}, {"k": self.depth})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, w, a, b = values
        return ops.sum_of([ops.matmul(x, w), ops.matmul(ops.matmul(x, a), b)])

    def rewrites(self) -> list[Build]:
        return [self.joined, self.by_depth]

    def joined(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """One product with both weights side by side."""
        x, w, a, b = values
        both = ops.matmul(x, ops.concat([w, a], 1))
        wide, narrow = ops.parts(both, 1, [0, self.columns, self.columns + self.rank])
        return ops.sum_of([wide, ops.matmul(narrow, b)])

    def by_depth(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The sums in parts."""
        x, w, a, b = values
        bounds = self.bounds(self.depth)
        xs, ws, parts = (ops.parts(v, d, bounds) for v, d in ((x, 1), (w, 0), (a, 0)))
        inner = ops.sum_of([ops.matmul(*pair) for pair in zip(xs, parts, strict=True)])
        outer = [ops.matmul(*pair) for pair in zip(xs, ws, strict=True)]
        return ops.sum_of([*outer, ops.matmul(inner, b)])

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = element_of(values[0])
        writer = GraphWriter(self.tiling, values)
        x, w, a, b = (writer.load(i, d) for i, d in enumerate(("mk", "kn", "k1", "1n")))
        wide = writer.total(writer.matmul(x, w, kind), "k")
        narrow = writer.total(writer.matmul(x, a, kind), "k")
        more = writer.matmul(narrow, b, kind)
        writer.store(writer.add(tb.AddOp(wide, more)), "mn", kind)
        return writer.finish(ops)[0]


class GatedMlp(Program):
    """`silu(x w1) * (x w3)`, the two weights side by side in one tensor."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, depth, columns = sizes(draw)
        columns = max(2, columns // 2)
        self.halves = [0, columns, 2 * columns]
        self.shapes = (rows, depth), (depth, 2 * columns)
        self.result = rows, columns
        self.tiling = random_tiling(draw, {"m": rows, "n": columns}, {"k": depth})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, w = values
        gate, up = (ops.matmul(x, part) for part in ops.parts(w, 1, self.halves))
        return ops.add(kernel.MulOp(ops.add(kernel.SiluOp(gate)), up))

    def rewrites(self) -> list[Build]:
        return [self.joined, self.in_parts(self.result[0], [0, None], 0)]

    def joined(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """One product, whose halves are taken."""
        gate, up = ops.parts(ops.matmul(*values), 1, self.halves)
        return ops.add(kernel.MulOp(up, ops.add(kernel.SiluOp(gate))))

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = element_of(values[0])
        writer = GraphWriter(self.tiling, [values[0], *ops.parts(values[1], 1, self.halves)])
        x, first, second = (writer.load(i, d) for i, d in enumerate(("mk", "kn", "kn")))
        gate, up = (writer.total(writer.matmul(x, w, kind), "k") for w in (first, second))
        gated = writer.add(tb.MulOp(writer.add(tb.SiluOp(gate)), up))
        writer.store(gated, "mn", kind)
        return writer.finish(ops)[0]


class NormLinear(Program):
    """`rms_norm(x, g) w`; the division moved behind the product in all other ways."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        rows, self.depth, columns = sizes(draw)
        self.shapes = (rows, self.depth), (1, self.depth), (self.depth, columns)
        self.result = rows, columns
        self.tiling = random_tiling(draw, {"m": rows, "n": columns}, {"k": self.depth})

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        x, gain, w = values
        weight = ops.reshape(gain, (self.depth,))
        return ops.matmul(ops.add(kernel.RmsNormOp(x, weight, EPS)), w)

    def rewrites(self) -> list[Build]:
        return [self.moved, self.by_depth]

    def moved(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The division behind the product."""
        x, gain, w = values
        mean = ops.add(kernel.ReduceMeanOp(ops.add(kernel.SquareOp(x)), [1]))
        return _divided(ops, ops.matmul(ops.add(kernel.MulOp(x, gain)), w), mean)

    def by_depth(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """Both sums in parts."""
        bounds = self.bounds(self.depth)
        xs, gains, ws = (ops.parts(v, d, bounds) for v, d in zip(values, (1, 1, 0), strict=True))
        squares = [ops.add(kernel.ReduceSumOp(ops.add(kernel.SquareOp(x)), [1])) for x in xs]
        mean = ops.add(kernel.ScaleOp(ops.sum_of(squares), 1 / self.depth))
        triples = zip(xs, gains, ws, strict=True)
        products = [ops.matmul(ops.add(kernel.MulOp(x, g)), w) for x, g, w in triples]
        return _divided(ops, ops.sum_of(products), mean)

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = element_of(values[0])
        writer = GraphWriter(self.tiling, values)
        x, gain, w = (writer.load(i, d) for i, d in enumerate(("mk", "1k", "kn")))
        # x g may be too large for f16, where the norm is not.
        product = writer.matmul(writer.add(tb.MulOp(x, gain)), w, F32 if kind == F16 else kind)
        squares = writer.add(tb.ReduceSumOp(writer.add(tb.SquareOp(x)), [1]))
        sums = writer.total(product, "k"), writer.total(squares, "k")
        mean = writer.add(tb.ScaleOp(sums[1], 1 / self.depth))
        shift = writer.add(tb.ConstantOp(EPS, tb.TileType(tb.shape_of(mean), F32)))
        root = writer.add(tb.SqrtOp(writer.add(tb.AddOp(mean, shift))))
        writer.store(writer.add(tb.DivOp(sums[0], root)), "mn", kind)
        return writer.finish(ops)[0]


def _divided(ops: Ops, product: SSAValue, mean: SSAValue) -> SSAValue:
    shifted = ops.add(kernel.AddOp(mean, ops.constant(EPS, mean, shape_of(mean))))
    return ops.add(kernel.DivOp(product, ops.add(kernel.SqrtOp(shifted))))
