"""Small functions with matmuls, for each way in which the lowering makes one."""

from typing import NamedTuple

from small_graphs import ALL, Graph, Program, size, tile
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb


def matmul(g: Graph, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """A matmul in f32."""
    return g.add(tb.MatmulOp(lhs, rhs))


def total(g: Graph, value: SSAValue, kind: str = "sum") -> SSAValue:
    """The sum, or the maximum, of `value` over the iterations of the loop."""
    return g.add(tb.AccumulateOp(value, kind))


def transposed(g: Graph, value: SSAValue) -> SSAValue:
    """A tile of two dims, exchanged."""
    return g.add(tb.TransposeOp(value, [1, 0]))


class Linear(NamedTuple):
    """
    Sizes of a matmul, whose depth a loop cuts.

    Args:
        m, k, n: rows, depth and columns.
        rows, depth, columns: of a tile.
        kind: of all tensors.
    """

    m: int
    k: int
    n: int
    rows: int
    depth: int
    columns: int
    kind: str = "f16"

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks along columns and rows."""
        return -(-self.n // self.columns), -(-self.m // self.rows)

    @property
    def iterations(self) -> int:
        """Of the loop."""
        return -(-self.k // self.depth)

    def type_of(self, letters: str) -> str:
        """The type of the tensor whose sizes `letters` name, as `mk`."""
        return f"{size(getattr(self, letter) for letter in letters)}x{self.kind}"

    def left(self, g: Graph, x: SSAValue) -> SSAValue:
        """A tile of an m x k tensor."""
        return g.load(x, (self.rows, self.depth), [ALL, 0], [1])

    def right(self, g: Graph, w: SSAValue) -> SSAValue:
        """A tile of a k x n tensor."""
        return g.load(w, (self.depth, self.columns), [1, ALL], [0])

    def store(self, g: Graph, value: SSAValue) -> None:
        """Write a tile of an m x n tensor."""
        g.store(value, self.type_of("mn"), [1, 0])


def rmsnorm_linear(s: Linear) -> ModuleOp:
    """`x / rms(x) @ w`, with the division behind the matmul."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        xt = s.left(g, x)
        product = total(g, matmul(g, xt, s.right(g, w)))
        squares = total(g, g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [1])))
        root = g.add(tb.SqrtOp(g.add(tb.ScaleOp(squares, 1 / s.k))))
        s.store(g, g.add(tb.DivOp(product, root)))
    return p.finish(*g.results)


def plain_linear(s: Linear) -> ModuleOp:
    """A matmul without a loop."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph(s.grid) as g:
        xt = g.load(x, (s.rows, s.k), [ALL, 0])
        wt = g.load(w, (s.k, s.columns), [1, ALL])
        s.store(g, matmul(g, xt, wt))
    return p.finish(*g.results)


def linear_in(precision: str | None, s: Linear) -> ModuleOp:
    """A matmul of f32 in a loop, of a given precision."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        product = g.add(tb.MatmulOp(s.left(g, x), s.right(g, w), precision=precision))
        s.store(g, total(g, product))
    return p.finish(*g.results)


def biased_linear(s: Linear) -> ModuleOp:
    """`relu((x @ w + b + c) * d)`: a row, a column and a tile in the layout of the matmul."""
    p = Program(s.type_of("mk"), s.type_of("kn"), s.type_of("n"), f"{s.m}x1xf32", s.type_of("mn"))
    x, w, b, c, d = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        product = total(g, matmul(g, s.left(g, x), s.right(g, w)))
        row = g.load(b, (s.columns,), [0, ALL])
        column = g.load(c, (s.rows, 1), [ALL, 0])
        factor = g.load(d, (s.rows, s.columns), [1, 0])
        moved = g.add(tb.AddOp(g.add(tb.AddOp(product, row)), column))
        s.store(g, g.add(tb.ReluOp(g.add(tb.MulOp(moved, factor)))))
    return p.finish(*g.results)


def gated_mlp(s: Linear) -> ModuleOp:
    """`silu(x @ v) * (x @ w)`: two matmuls in one loop."""
    p = Program(s.type_of("mk"), s.type_of("kn"), s.type_of("kn"))
    x, v, w = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        xt = s.left(g, x)
        gate, up = (total(g, matmul(g, xt, s.right(g, each))) for each in (v, w))
        s.store(g, g.add(tb.MulOp(g.add(tb.SiluOp(gate)), up)))
    return p.finish(*g.results)


def lora(s: Linear, rank: int) -> ModuleOp:
    """`x @ w + (x @ a) @ b`: a matmul after the loop, of what the loop summed."""
    p = Program(
        s.type_of("mk"), s.type_of("kn"), f"{s.k}x{rank}x{s.kind}", f"{rank}x{s.n}x{s.kind}"
    )
    x, w, a, b = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        xt = s.left(g, x)
        at = g.load(a, (s.depth, rank), [ALL, ALL], [0])
        bt = g.load(b, (rank, s.columns), [1, ALL])
        down = g.cast(total(g, matmul(g, xt, at)), s.kind)
        straight = total(g, matmul(g, xt, s.right(g, w)))
        s.store(g, g.add(tb.AddOp(straight, matmul(g, down, bt))))
    return p.finish(*g.results)


def batched_linear(batch: int, s: Linear) -> ModuleOp:
    """A matmul of tiles with a leading dim of size 1, on a grid of three axes."""
    p = Program(f"{batch}x{s.type_of('mk')}", f"{batch}x{s.type_of('kn')}")
    x, w = p.inputs
    with p.graph([batch, *s.grid], [s.iterations]) as g:
        xt = g.load(x, (1, s.rows, s.depth), [0, ALL, 1], [2])
        wt = g.load(w, (1, s.depth, s.columns), [0, 2, ALL], [1])
        g.store(total(g, matmul(g, xt, wt)), f"{batch}x{s.type_of('mn')}", [0, 2, 1])
    return p.finish(*g.results)


def transposed_linear(s: Linear, *, computed: bool, views: bool) -> ModuleOp:
    """
    `x^T @ w^T` of k x m and n x k tensors.

    The transposes are kernel-level `views` or operations on tiles; tiles are `computed` from what
    is loaded, or loaded.
    """
    p = Program(s.type_of("km"), s.type_of("nk"))
    x, w = p.inputs
    if views:
        x, w = (p.view(kernel.TransposeOp(each, [1, 0])) for each in (x, w))
    with p.graph([1], [s.iterations]) as g:
        if views:
            xt = g.load(x, (s.m, s.depth), [ALL], [1])
            wt = g.load(w, (s.depth, s.n), [ALL], [0])
        else:
            xt = g.load(x, (s.depth, s.m), [ALL], [0])
            wt = g.load(w, (s.n, s.depth), [ALL], [1])
        if computed:
            xt, wt = (g.cast(g.add(tb.ScaleOp(each, 2.0)), s.kind) for each in (xt, wt))
        if not views:
            xt, wt = transposed(g, xt), transposed(g, wt)
        g.store(total(g, matmul(g, xt, wt)), f"{s.m}x{s.n}xf32", [ALL])
    return p.finish(*g.results)


def out_in_linear(s: Linear) -> ModuleOp:
    """`silu(x @ v^T) * (x @ w^T)` of n x k weights, as `nn.Linear` has them."""
    p = Program(s.type_of("mk"), s.type_of("nk"), s.type_of("nk"))
    x, *weights = p.inputs
    views = [p.view(kernel.TransposeOp(each, [1, 0])) for each in weights]
    with p.graph([-(-s.n // s.columns)], [s.iterations]) as g:
        xt = g.load(x, (s.m, s.depth), [ALL], [1])
        loads = [g.load(view, (s.depth, s.columns), [1], [0]) for view in views]
        gate, up = (total(g, matmul(g, xt, each)) for each in loads)
        g.store(g.add(tb.MulOp(g.add(tb.SiluOp(gate)), up)), s.type_of("mn"), [1])
    return p.finish(*g.results)


def attention(queries: int, keys: int, depth: int, kind: str = "f16") -> ModuleOp:
    """`softmax(q k^T) v`, a head in each block; k is seen through a transpose."""
    heads = 2
    p = Program(f"{heads}x{queries}x{depth}x{kind}", *[f"{heads}x{keys}x{depth}x{kind}"] * 2)
    q, k, v = p.inputs
    flipped = p.view(kernel.TransposeOp(k, [0, 2, 1]))
    with p.graph([heads]) as g:
        qt = g.load(q, (1, queries, depth), [0])
        kt = g.load(flipped, (1, depth, keys), [0])
        vt = g.load(v, (1, keys, depth), [0])
        scores = g.add(tb.ScaleOp(matmul(g, qt, kt), depth**-0.5))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, g.add(tb.ReduceMaxOp(scores, [2]))))))
        sums = g.add(tb.ReduceSumOp(weights, [2]))
        product = matmul(g, g.cast(weights, kind), vt)
        g.store(g.add(tb.DivOp(product, sums)), f"{heads}x{queries}x{depth}x{kind}", [0])
    return p.finish(*g.results)


def looped_attention(
    queries: int, keys: int, depth: int, step: int, tile_queries: int, kind: str = "f16"
) -> ModuleOp:
    """`exp(q k^T) v` by sums over steps of the keys: a matmul in the loop feeds another."""
    p = Program(f"{queries}x{depth}x{kind}", *[f"{keys}x{depth}x{kind}"] * 2)
    q, k, v = p.inputs
    flipped = p.view(kernel.TransposeOp(k, [1, 0]))
    with p.graph([-(-queries // tile_queries)], [-(-keys // step)]) as g:
        qt = g.load(q, (tile_queries, depth), [0])
        kt = g.load(flipped, (depth, step), [ALL], [1])
        vt = g.load(v, (step, depth), [ALL], [0])
        weights = g.add(tb.ExpOp(g.add(tb.ScaleOp(matmul(g, qt, kt), 0.5 * depth**-0.5))))
        sums = total(g, g.add(tb.ReduceSumOp(weights, [1])))
        product = total(g, matmul(g, g.cast(weights, kind), vt))
        g.store(g.add(tb.DivOp(product, sums)), f"{queries}x{depth}x{kind}", [0])
    return p.finish(*g.results)


def reduced_linear(s: Linear, dims: list[int], kind: str, over_iterations: str) -> ModuleOp:
    """A reduction of each iteration's matmul, accumulated; and one of the accumulated matmul."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    op = tb.ReduceSumOp if kind == "sum" else tb.ReduceMaxOp
    with p.graph([1], [s.iterations]) as g:
        xt = g.load(x, (s.m, s.depth), [ALL], [1])
        wt = g.load(w, (s.depth, s.n), [ALL], [0])
        product = matmul(g, xt, wt)
        early = total(g, g.add(op(product, dims)), over_iterations)
        late = g.add(op(total(g, matmul(g, xt, wt)), dims))
        for value in (early, late, total(g, product, "max")):
            g.store(value, f"{size(tb.shape_of(value))}xf32", [ALL])
    return p.finish(*g.results)


def invariant_tiles(s: Linear) -> ModuleOp:
    """Tiles that are loaded, or computed, before the loop and used in it and after it."""
    p = Program(s.type_of("mk"), s.type_of("kn"), f"1x{s.n}x{s.kind}", s.type_of("mn"))
    x, w, b, d = p.inputs
    with p.graph([1], [s.iterations]) as g:
        xt = g.load(x, (s.m, s.depth), [ALL], [1])
        wt = g.load(w, (s.depth, s.n), [ALL], [0])
        row, whole = g.load(b, (1, s.n), [ALL]), g.load(d, (s.m, s.n), [ALL])
        largest = g.add(tb.ReduceMaxOp(whole, [0]))
        weights = g.add(tb.ExpOp(g.add(tb.ScaleOp(whole, 0.1))))
        product = g.add(tb.MulOp(matmul(g, xt, wt), row))
        iteration = g.add(tb.AddOp(product, g.add(tb.MulOp(largest, weights))))
        after = g.add(tb.SubOp(weights, largest))
        g.store(
            g.add(tb.AddOp(g.add(tb.AddOp(total(g, iteration), row)), after)),
            s.type_of("mn"),
            [ALL],
        )
        g.store(largest, f"1x{s.n}xf32", [ALL])
        g.store(total(g, iteration, "max"), f"{s.m}x{s.n}xf32", [ALL])
    return p.finish(*g.results)


def invariant_matmul(s: Linear) -> ModuleOp:
    """A matmul before the loop, whose result each iteration multiplies again."""
    p = Program(s.type_of("mn"), f"{s.n}x{s.n}x{s.kind}", s.type_of("nk"))
    x, w, v = p.inputs
    with p.graph([1], [s.iterations]) as g:
        xt, wt = g.load(x, (s.m, s.n), [ALL]), g.load(w, (s.n, s.n), [ALL])
        vt = g.load(v, (s.n, s.depth), [ALL], [1])
        first = g.cast(g.add(tb.TanhOp(matmul(g, xt, wt))), s.kind)
        iteration = g.add(tb.ReduceSumOp(g.add(tb.SigmoidOp(matmul(g, first, vt))), [1]))
        g.store(g.add(tb.AddOp(total(g, iteration), first)), f"{s.m}x{s.n}xf32", [ALL])
    return p.finish(*g.results)


def two_loops(m: int, k: tuple[int, int], n: int, step: int) -> ModuleOp:
    """A matmul summed over two dims, a loop for each."""
    p = Program(f"{k[0]}x{m}x{k[1]}xf16", f"{k[0]}x{k[1]}x{n}xf16")
    x, w = p.inputs
    with p.graph([1], [k[0], -(-k[1] // step)]) as g:
        xt = g.load(x, (1, m, step), [ALL], [0, 2])
        wt = g.load(w, (1, step, n), [ALL], [0, 1])
        g.store(total(g, matmul(g, xt, wt)), f"1x{m}x{n}xf32", [ALL])
    return p.finish(*g.results)


def split_linear(s: Linear, blocks: int, *, more: bool) -> ModuleOp:
    """
    The norm and matmul with the depth split over `blocks` too, which add up their parts.

    With `more`, a second matmul and a reduction follow.
    """
    p = Program(s.type_of("mk"), s.type_of("kn"), f"{s.columns}x{s.columns}x{s.kind}")
    x, w, v = p.inputs
    with p.graph([s.grid[0], blocks], [-(-s.iterations // blocks)]) as g:
        xt = g.load(x, (s.m, s.depth), [ALL, 1], [1])
        wt = g.load(w, (s.depth, s.columns), [1, 0], [0])
        squares = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [1]))
        root = g.add(tb.SqrtOp(g.add(tb.AccumulateOp(squares, across=[1]))))
        product = g.add(tb.AccumulateOp(matmul(g, xt, wt), across=[1]))
        value = g.add(tb.DivOp(product, root))
        if more:
            value = matmul(g, g.cast(value, s.kind), g.load(v, (s.columns, s.columns), [ALL, ALL]))
            largest = g.add(tb.ReduceMaxOp(value, [0]))
            g.store(largest, f"1x{s.n}xf32", [1, ALL])
        g.store(value, s.type_of("mn"), [1, ALL])
    return p.finish(*g.results)


def split_roots(s: Linear, blocks: int) -> ModuleOp:
    """As `split_linear`, with the roots as a result of their own: few threads have them all."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph([blocks], [-(-s.iterations // blocks)]) as g:
        xt = g.load(x, (s.m, s.depth), [1], [1])
        wt = g.load(w, (s.depth, s.n), [0], [0])
        squares = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [1]))
        root = g.add(tb.SqrtOp(g.add(tb.AccumulateOp(squares, across=[0]))))
        product = g.add(tb.AccumulateOp(matmul(g, xt, wt), across=[0]))
        g.store(root, f"{s.m}x1xf32", [ALL])
        g.store(g.add(tb.DivOp(product, root)), s.type_of("mn"), [ALL])
        # The sum over warps and blocks, reduced once more.
        again = g.add(tb.AccumulateOp(matmul(g, xt, wt), across=[0]))
        g.store(g.add(tb.ReduceSumOp(again, [1])), f"{s.m}x1xf32", [ALL])
    return p.finish(*g.results)


def partial_products(s: Linear, blocks: int) -> ModuleOp:
    """A matmul whose depth is split over `blocks`, each of which stores its part."""
    p = Program(s.type_of("mk"), s.type_of("kn"))
    x, w = p.inputs
    with p.graph([*s.grid, blocks], [-(-s.iterations // blocks)]) as g:
        xt = g.load(x, (s.rows, s.depth), [ALL, 0, 1], [1])
        wt = g.load(w, (s.depth, s.columns), [1, ALL, 0], [0])
        part = total(g, matmul(g, xt, wt))
        stored = tb.BroadcastOp(part, tile(f"1x{s.rows}x{s.columns}xf32"))
        g.store(g.add(stored), f"{blocks}x{s.m}x{s.n}xf32", [2, 1, 0])
    return p.finish(*g.results)
