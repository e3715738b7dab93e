"""Small functions with rescaled sums: attention in pieces, merges of pieces, other row maxima."""

from typing import NamedTuple

from lowering_cases import Linear, matmul, total
from small_graphs import ALL, Graph, Program, size
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb


class Heads(NamedTuple):
    """
    Sizes of attention of some heads.

    Args:
        heads, queries, keys, depth: of all; `depth` is the length of a query.
        rows: queries of a tile.
        step: keys of a tile.
        blocks: that share the keys of one tile of queries.
        kind: of all tensors.
    """

    heads: int
    queries: int
    keys: int
    depth: int
    rows: int
    step: int
    blocks: int = 1
    kind: str = "f16"

    @property
    def grid(self) -> tuple[int, int, int]:
        """Heads, tiles of queries, parts of the keys."""
        return self.heads, -(-self.queries // self.rows), self.blocks

    @property
    def iterations(self) -> int:
        """Of the loop over a part of the keys."""
        return -(-self.keys // (self.blocks * self.step))

    def tensor(self, rows: int) -> str:
        """The type of a tensor with `rows` rows for each head."""
        return f"{self.heads}x{rows}x{self.depth}x{self.kind}"

    def program(self) -> tuple[Program, list[SSAValue]]:
        """A function of queries, keys and values; keys are seen through a transpose."""
        p = Program(self.tensor(self.queries), self.tensor(self.keys), self.tensor(self.keys))
        q, k, v = p.inputs
        return p, [q, p.view(kernel.TransposeOp(k, [0, 2, 1])), v]

    def tiles(self, g: Graph, tensors: list[SSAValue]) -> list[SSAValue]:
        """A tile of each in one iteration."""
        q, k, v = tensors
        return [
            g.load(q, (1, self.rows, self.depth), [0, 1, ALL]),
            g.load(k, (1, self.depth, self.step), [0, ALL, 2], [2]),
            g.load(v, (1, self.step, self.depth), [0, ALL, 1], [1]),
        ]


class IterationValues(NamedTuple):
    """
    What one iteration finds: scores, their row maxima, weights and their sums, weighted values.
    """

    scores: SSAValue
    largest: SSAValue
    weights: SSAValue
    sums: SSAValue
    values: SSAValue


def pieces(g: Graph, s: Heads, tiles: list[SSAValue]) -> IterationValues:
    """Softmax of one tile of keys, relative to its own maximum."""
    q, k, v = tiles
    scores = g.add(tb.ScaleOp(matmul(g, q, k), s.depth**-0.5))
    largest = g.add(tb.ReduceMaxOp(scores, [2]))
    weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, largest))))
    sums = g.add(tb.ReduceSumOp(weights, [2]))
    return IterationValues(scores, largest, weights, sums, matmul(g, g.cast(weights, s.kind), v))


def rescaled(g: Graph, value: SSAValue, row_maximum: SSAValue, across: bool = False) -> SSAValue:
    """A rescaled sum, over grid axis 2 too where `across`."""
    axes = [2] if across else []
    return g.add(tb.AccumulateOp(value, across=axes, rescale=row_maximum))


def attention(s: Heads) -> ModuleOp:
    """Softmax in pieces, brought together over the loop and the blocks of a cluster."""
    p, tensors = s.program()
    with p.graph(s.grid, [s.iterations]) as g:
        found = pieces(g, s, s.tiles(g, tensors))
        sums = rescaled(g, found.sums, found.largest, s.blocks > 1)
        product = rescaled(g, found.values, found.largest, s.blocks > 1)
        g.store(g.add(tb.DivOp(product, sums)), s.tensor(s.queries), [0, 1, ALL])
    return p.finish(*g.results)


def observed_attention(s: Heads) -> ModuleOp:
    """
    As `attention`, but the iteration's own maximum is used for more: no other may stand in for it.
    """
    p, tensors = s.program()
    with p.graph(s.grid, [s.iterations]) as g:
        found = pieces(g, s, s.tiles(g, tensors))
        sums = rescaled(g, found.sums, found.largest, s.blocks > 1)
        product = rescaled(g, found.values, found.largest, s.blocks > 1)
        axes = [2] if s.blocks > 1 else []
        seen = g.add(tb.AccumulateOp(found.largest, across=axes))
        value = g.add(tb.AddOp(g.add(tb.DivOp(product, sums)), seen))
        g.store(value, s.tensor(s.queries), [0, 1, ALL])
    return p.finish(*g.results)


def split_attention(s: Heads) -> ModuleOp:
    """Two kernels: parts with the maxima that they are relative to, and their merge in a loop."""
    p, tensors = s.program()
    with p.graph(s.grid, [s.iterations]) as g:
        found = pieces(g, s, s.tiles(g, tensors))
        parts = [
            rescaled(g, found.values, found.largest),
            rescaled(g, found.sums, found.largest),
            total(g, found.largest, "max"),
        ]
        for value in parts:
            shape = tb.shape_of(value)
            wide = g.add(tb.BroadcastOp(value, tb.TileType((1, *shape), f32)))
            full = (s.blocks, s.heads, s.queries, shape[-1])
            g.store(wide, f"{size(full)}xf32", [1, 2, 0])
    return p.finish(merged(p, s, g.results))


def merged(p: Program, s: Heads, parts: list[SSAValue]) -> SSAValue:
    """The parts of `split_attention` brought together."""
    rows = min(8, s.queries)
    with p.graph([s.heads, -(-s.queries // rows)], [s.blocks]) as g:
        tiles = [
            g.load(part, (1, 1, rows, kernel.shape_of(part)[-1]), [1, 2], [0]) for part in parts
        ]
        product, sums = (rescaled(g, value, tiles[2]) for value in tiles[:2])
        shape = (1, s.heads, s.queries, s.depth)
        g.store(g.add(tb.DivOp(product, sums)), f"{size(shape)}x{s.kind}", [1, 2])
    return g.results[0]


def merged_at_once(s: Heads, columns: int) -> ModuleOp:
    """Parts of attention, all of them in one tile, brought together by hand."""
    shape = (s.blocks, s.heads, s.queries)
    p = Program(f"{size(shape)}x{s.depth}xf32", *[f"{size(shape)}x1xf32"] * 2)
    o, sums, m = p.inputs
    with p.graph([s.heads, -(-s.queries // s.rows), -(-s.depth // columns)]) as g:
        ot = g.load(o, (s.blocks, 1, s.rows, columns), [1, 2, 3])
        lt, mt = (g.load(each, (s.blocks, 1, s.rows, 1), [1, 2, ALL]) for each in (sums, m))
        top = g.add(tb.ReduceMaxOp(mt, [0]))
        factor = g.add(tb.ExpOp(g.add(tb.SubOp(mt, top))))
        both = [
            g.add(tb.ReduceSumOp(g.add(tb.MulOp(each, factor)), [0]))
            for each in (ot, g.add(tb.SquareOp(lt)))
        ]
        value = g.add(tb.DivOp(both[0], both[1]))
        g.store(value, f"{size((1, s.heads, s.queries, s.depth))}xf16", [1, 2, 3])
    return p.finish(*g.results)


def softmax_sums(rows: int, columns: int, step: int, kind: str = "f16") -> ModuleOp:
    """`sum(exp(x - max x))` and the maximum, in a loop over steps of the columns."""
    p = Program(f"{rows}x{columns}x{kind}")
    (x,) = p.inputs
    with p.graph([1], [-(-columns // step)]) as g:
        xt = g.load(x, (rows, step), [ALL], [1])
        largest = g.add(tb.ReduceMaxOp(xt, [1]))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(xt, largest))))
        sums = g.add(tb.ReduceSumOp(weights, [1]))
        g.store(g.add(tb.AccumulateOp(sums, rescale=largest)), f"{rows}x1xf32", [ALL])
        g.store(total(g, largest, "max"), f"{rows}x1xf32", [ALL])
    return p.finish(*g.results)


def attention_without_loop(s: Heads) -> ModuleOp:
    """Each block of a cluster has one tile of the keys, and they bring their parts together."""
    p, tensors = s.program()
    q, k, v = tensors
    with p.graph(s.grid) as g:
        tiles = [
            g.load(q, (1, s.rows, s.depth), [0, 1, ALL]),
            g.load(k, (1, s.depth, s.step), [0, ALL, 2]),
            g.load(v, (1, s.step, s.depth), [0, ALL, 1]),
        ]
        found = pieces(g, s, tiles)
        sums = rescaled(g, found.sums, found.largest, across=True)
        product = rescaled(g, found.values, found.largest, across=True)
        g.store(g.add(tb.DivOp(product, sums)), s.tensor(s.queries), [0, 1, ALL])
    return p.finish(*g.results)


def sums_after_the_loop(s: Linear, blocks: int) -> ModuleOp:
    """Blocks that cut the columns of a product add up what they make of it after the loop."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph([blocks], [s.iterations]) as g:
        xt = g.load(x, (s.m, s.depth), [ALL], [1])
        wt = g.load(w, (s.depth, s.columns), [1], [0])
        value = g.add(tb.TanhOp(total(g, matmul(g, xt, wt))))
        sums = g.add(tb.AccumulateOp(g.add(tb.ReduceSumOp(value, [1])), across=[0]))
        largest = g.add(tb.AccumulateOp(g.add(tb.ReduceMaxOp(value, [1])), "max", across=[0]))
        g.store(g.add(tb.AddOp(sums, largest)), f"{s.m}x1xf32", [ALL])
        g.store(g.add(tb.MulOp(value, sums)), s.type_of("mn"), [1])
    return p.finish(*g.results)


def jointly_shifted(s: Heads) -> ModuleOp:
    """
    Scores and their opposites, both relative to the larger of their maxima; and weights from
    outside that are taken to be relative to it, in a product of tiles as they are loaded.
    """
    given = f"{s.heads}x{s.queries}x{s.keys}x{s.kind}"
    p = Program(s.tensor(s.queries), s.tensor(s.keys), s.tensor(s.keys), given)
    q, k, v, w = p.inputs
    tensors: list[SSAValue] = [q, p.view(kernel.TransposeOp(k, [0, 2, 1])), v]
    with p.graph(s.grid, [s.iterations]) as g:
        qt, kt, vt = s.tiles(g, tensors)
        wt = g.load(w, (1, s.rows, s.step), [0, 1, 2], [2])
        scores = g.add(tb.ScaleOp(matmul(g, qt, kt), s.depth**-0.5))
        both = [scores, g.add(tb.ScaleOp(scores, -0.5))]
        maxima = [g.add(tb.ReduceMaxOp(each, [2])) for each in both]
        largest = g.add(tb.MaxOp(maxima[0], maxima[1]))
        product = rescaled(g, matmul(g, wt, vt), largest, s.blocks > 1)
        for each in both:
            weights = g.add(tb.ExpOp(g.add(tb.SubOp(each, largest))))
            values = matmul(g, g.cast(weights, s.kind), vt)
            product = g.add(tb.AddOp(product, rescaled(g, values, largest, s.blocks > 1)))
            sums = rescaled(g, g.add(tb.ReduceSumOp(weights, [2])), largest, s.blocks > 1)
            product = g.add(tb.DivOp(product, sums))
        g.store(product, s.tensor(s.queries), [0, 1, ALL])
    return p.finish(*g.results)


def maximum_with_nothing(s: Heads) -> ModuleOp:
    """
    Row maxima that take in a number even in an iteration without scores, where they are nothing.
    """
    given = f"{s.heads}x{s.queries}x{s.blocks * s.iterations}xf32"
    p = Program(s.tensor(s.queries), s.tensor(s.keys), s.tensor(s.keys), given)
    q, k, v, m = p.inputs
    tensors: list[SSAValue] = [q, p.view(kernel.TransposeOp(k, [0, 2, 1])), v]
    with p.graph(s.grid, [s.iterations]) as g:
        tiles = s.tiles(g, tensors)
        mt = g.load(m, (1, s.rows, 1), [0, 1, 2], [2])
        scores = matmul(g, tiles[0], tiles[1])
        # Mostly far above what scores are.
        far = g.add(tb.ScaleOp(mt, 100.0))
        largest = g.add(tb.MaxOp(g.add(tb.ReduceMaxOp(scores, [2])), far))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, largest))))
        sums = rescaled(g, g.add(tb.ReduceSumOp(weights, [2])), largest, s.blocks > 1)
        axes = [2] if s.blocks > 1 else []
        seen = g.add(tb.AccumulateOp(largest, "max", across=axes))
        g.store(g.add(tb.AddOp(sums, seen)), f"{s.heads}x{s.queries}x1xf32", [0, 1, ALL])
    return p.finish(*g.results)
