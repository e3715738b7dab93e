"""Random uGraphs with rescaled sums: scores of any making, one or two chains, any grid and loop."""

from random import Random

from attention_cases import Heads, rescaled
from lowering_cases import matmul, total
from small_graphs import ALL, Graph, Program
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb

STEPS = (1, 5, 8, 16, 24, 32, 48, 64)

ROWS = (1, 3, 8, 16, 17, 32, 40, 64)


class AttentionMaker:
    """Makes one function; the same seed makes the same."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        rows, step = self.random.choice(ROWS), self.random.choice(STEPS)
        self.blocks = self.random.choice([1, 1, 2, 3])
        self.looped = self.blocks == 1 or self.chance(0.8)
        parts = self.blocks * (self.random.randint(1, 4) if self.looped else 1)
        # Some parts may be empty, but not all.
        keys = self.random.randint(1, parts * step)
        self.s = Heads(
            self.random.choice([1, 2]),
            self.random.randint(1, 2 * rows),
            keys,
            self.random.choice([8, 9, 16, 24, 40]),
            rows,
            step,
            self.blocks,
            self.random.choice(["f16", "f16", "f16", "bf16", "f32"]),
        )
        self.iterations = -(-parts // self.blocks)

    def make(self) -> ModuleOp:
        """The verified module."""
        s = self.s
        bias = f"{s.queries}x{s.keys}x{self.random.choice(['f32', s.kind])}"
        p = Program(s.tensor(s.queries), s.tensor(s.keys), s.tensor(s.keys), bias)
        q, k, v, b = p.inputs
        viewed = self.chance(0.5)
        seen = p.view(kernel.TransposeOp(k, [0, 2, 1])) if viewed else k
        with p.graph(s.grid, [self.iterations] if self.looped else []) as g:
            qt = g.load(q, (1, s.rows, s.depth), [0, 1, ALL])
            kt = self.load(g, seen, 2 if viewed else 1)
            kt = kt if viewed else g.add(tb.TransposeOp(kt, [0, 2, 1]))
            vt = self.load(g, v, 1)
            scores = g.add(tb.ScaleOp(matmul(g, qt, kt), s.depth**-0.5))
            if self.chance(0.4):
                bt = g.load(b, (s.rows, s.step), [ALL, 0, 1], self.loop(1))
                scores = g.add(tb.AddOp(scores, bt))
            self.store(g, scores, vt)
        return p.finish(*g.results)

    def load(self, g: Graph, source: SSAValue, dim: int) -> SSAValue:
        """A tile of the keys or values, whose number is dim `dim`."""
        sizes = [1, self.s.depth, self.s.depth]
        sizes[dim] = self.s.step
        return g.load(source, sizes, [0, ALL, dim], self.loop(dim))

    def loop(self, dim: int) -> list[int]:
        """The map of the loop, if there is one."""
        return [dim] if self.looped else []

    def store(self, g: Graph, scores: SSAValue, values: SSAValue) -> None:
        """Results of one softmax, or of two with row maxima of their own."""
        result = self.softmax(g, scores, values)
        if self.chance(0.2):
            other = self.softmax(g, g.add(tb.ScaleOp(scores, 0.5)), values)
            result = g.add(tb.SubOp(result, g.add(tb.ScaleOp(other, 0.5))))
        g.store(result, self.s.tensor(self.s.queries), [0, 1, ALL])

    def softmax(self, g: Graph, scores: SSAValue, values: SSAValue) -> SSAValue:
        """Weighted values, and what else is made of the row maximum."""
        largest = g.add(tb.ReduceMaxOp(scores, [2]))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, largest))))
        if self.chance(0.3):
            weights = g.add(tb.ScaleOp(weights, 2.0))
        split = self.blocks > 1
        sums = rescaled(g, g.add(tb.ReduceSumOp(weights, [2])), largest, split)
        product = rescaled(g, matmul(g, g.cast(weights, self.s.kind), values), largest, split)
        result = g.add(tb.DivOp(product, sums))
        if self.looped and self.chance(0.3):
            axes = [2] if split else []
            kind = self.random.choice(["max", "sum"])
            seen = g.add(tb.AccumulateOp(largest, kind, axes))
            result = g.add(tb.AddOp(result, g.add(tb.TanhOp(seen))))
        if self.looped and not split and self.chance(0.2):
            result = g.add(tb.AddOp(result, g.add(tb.ReduceMaxOp(total(g, scores, "max"), [2]))))
        return result

    def chance(self, share: float) -> bool:
        """True in a `share` of the cases."""
        return self.random.random() < share
