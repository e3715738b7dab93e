"""Attention: grouped heads, caches, keys in parts, online softmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.common import FloatType
from program_pairs.draws import Draw
from program_pairs.program import Program, cast_to
from program_pairs.softmax import powers, tile_powers
from program_pairs.tiling import F32, GraphWriter, random_tiling
from program_pairs.writer import Build, Ops, element_of


class Attention(Program):
    """`softmax(q k^T / sqrt(d)) v` for each head; several heads may share keys and values."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.groups, self.shared = draw.few(), draw.random.choice([1, 2, 3])
        heads = self.groups * self.shared
        queries = draw.few() if draw.chance(0.4) else draw.short()
        self.depth = draw.short()
        elements = 2 * draw.scale.elements
        most = min(elements // (heads * queries), elements // (self.groups * self.depth))
        self.keys = draw.long(most)
        self.interleaved = draw.chance(0.7)
        self.result = (heads, queries, self.depth)
        cache = (self.groups, self.keys, self.depth)
        self.shapes = self.result, cache, cache
        self.merged = draw.chance(0.4)
        free = {"h": heads, "m": queries}
        shared = True if self.merged else None
        self.tiling = random_tiling(draw, free, {"n": self.keys}, shared=shared)

    def _spread(self, ops: Ops, x: SSAValue) -> SSAValue:
        """Keys or values of a group for each of its heads."""
        if self.shared == 1:
            return x
        kind = kernel.RepeatInterleaveOp if self.interleaved else kernel.RepeatOp
        return ops.add(kind(x, 0, self.shared))

    def _spread_by_broadcast(self, ops: Ops, x: SSAValue) -> SSAValue:
        pair, one = (self.groups, self.shared), (self.groups, 1)
        if not self.interleaved:
            pair, one = pair[::-1], one[::-1]
        parted = ops.reshape(x, (*one, self.keys, self.depth))
        whole = ops.broadcast(parted, (*pair, self.keys, self.depth))
        return ops.reshape(whole, (self.result[0], self.keys, self.depth))

    def _scores(self, ops: Ops, q: SSAValue, k: SSAValue) -> SSAValue:
        return ops.add(kernel.ScaleOp(ops.matmul(q, ops.swap(k)), 1 / sqrt(self.depth)))

    def _attend(self, ops: Ops, q: SSAValue, k: SSAValue, v: SSAValue) -> SSAValue:
        return ops.matmul(ops.add(kernel.SoftmaxOp(self._scores(ops, q, k), 2)), v)

    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        q, k, v = values
        return self._attend(ops, q, self._spread(ops, k), self._spread(ops, v))

    def rewrites(self) -> list[Build]:
        by_rows = self.in_parts(self.result[1], [1, None, None], 1)
        return [self.by_groups, self.parted, self.parted, by_rows]

    def by_groups(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """Heads of a group by a broadcast."""
        q, k, v = values
        keys, weighted = (self._spread_by_broadcast(ops, x) for x in (k, v))
        return self._attend(ops, q, keys, weighted)

    def parted(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The keys in parts: each with its own maximum, sums and products, rescaled at the end."""
        bounds = self.bounds(self.keys)
        keys, weighted = (ops.parts(self._spread(ops, x), 1, bounds) for x in values[1:])
        scores = [self._scores(ops, values[0], key) for key in keys]
        maxima = [ops.add(kernel.ReduceMaxOp(score, [2])) for score in scores]
        most = ops.largest_of(maxima)
        products: list[SSAValue] = []
        totals: list[SSAValue] = []
        for score, own, value in zip(scores, maxima, weighted, strict=True):
            power, factor = powers(ops, score, own), powers(ops, own, most)
            total = ops.add(kernel.ReduceSumOp(power, [2]))
            products.append(ops.add(kernel.MulOp(ops.matmul(power, value), factor)))
            totals.append(ops.add(kernel.MulOp(total, factor)))
        return ops.add(kernel.DivOp(ops.sum_of(products), ops.sum_of(totals)))

    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = element_of(values[0])
        inputs = [values[0], *(self._spread(ops, value) for value in values[1:])]
        writer = GraphWriter(self.tiling, inputs)
        partial = "n" if self.merged and self.tiling.blocks("n") > 1 else ""
        writer.across = not partial
        q, k, v = (writer.load(i, d) for i, d in enumerate(("hm1", "hn1", "hn1")))
        product = writer.matmul(q, writer.add(tb.TransposeOp(k, (0, 2, 1))), kind)
        score = writer.add(tb.ScaleOp(product, 1 / sqrt(self.depth)))
        most = writer.add(tb.ReduceMaxOp(score, [2]))
        power = tile_powers(writer, score, most)
        part = writer.add(tb.ReduceSumOp(power, [2]))
        total = writer.total(part, "n", rescale=most)
        value = writer.total(writer.matmul(power, v, kind), "n", rescale=most)
        if not partial:
            writer.store(writer.add(tb.DivOp(value, total)), "hm1", kind)
            return writer.finish(ops)[0]
        for result in (value, total, writer.total(most, "n", "max")):
            writer.store(result, "hm1", F32, partial)
        return self._merged(ops, writer.finish(ops), kind)

    def _merged(self, ops: Ops, parts: Sequence[SSAValue], kind: FloatType) -> SSAValue:
        """What blocks found, put together by their maxima."""
        value, total, own = parts
        factor = powers(ops, own, ops.add(kernel.ReduceMaxOp(own, [0])))
        sums = [
            ops.add(kernel.ReduceSumOp(ops.add(kernel.MulOp(x, factor)), [0]))
            for x in (value, total)
        ]
        result = ops.reshape(ops.add(kernel.DivOp(sums[0], sums[1])), self.result)
        return cast_to(ops, result, kind)
