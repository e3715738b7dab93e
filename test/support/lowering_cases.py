"""Small functions of uGraphs, one or more for each shape of kernel that the lowering emits."""

from collections.abc import Sequence
from typing import NamedTuple

from small_graphs import Graph, Program, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb

ALL = -1
"""In a map: the axis cuts no dim, and all blocks or turns get the whole."""


def matmul(g: Graph, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """A product in f32."""
    return g.add(tb.MatmulOp(lhs, rhs))


def total(g: Graph, value: SSAValue, kind: str = "sum") -> SSAValue:
    """The accumulator of `value`."""
    return g.add(tb.AccumulateOp(value, kind))


class Linear(NamedTuple):
    """
    Sizes of a fused norm and product.

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
        """Blocks along rows and columns."""
        return -(-self.m // self.rows), -(-self.n // self.columns)

    @property
    def turns(self) -> int:
        """Of the loop."""
        return -(-self.k // self.depth)


def rmsnorm_linear(s: Linear) -> ModuleOp:
    """`x / rms(x) @ w`, with the division behind the product."""
    p = Program(f"{s.m}x{s.k}x{s.kind}", f"{s.k}x{s.n}x{s.kind}")
    x, w = p.inputs
    with p.graph(s.grid, [s.turns]) as g:
        xt = g.load(x, f"{s.rows}x{s.depth}", [0, ALL], [1])
        wt = g.load(w, f"{s.depth}x{s.columns}", [ALL, 1], [0])
        product = total(g, matmul(g, xt, wt))
        squares = total(g, g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [1])))
        root = g.add(tb.SqrtOp(g.add(tb.ScaleOp(squares, 1 / s.k))))
        g.store(g.add(tb.DivOp(product, root)), f"{s.m}x{s.n}x{s.kind}", [0, 1])
    return p.finish(*g.results)


def plain_linear(s: Linear, grid: Sequence[int] = (1,)) -> ModuleOp:
    """A product of whole matrices, without a loop."""
    p = Program(f"{s.m}x{s.k}x{s.kind}", f"{s.k}x{s.n}x{s.kind}")
    x, w = p.inputs
    with p.graph(grid) as g:
        xt = g.load(x, f"{s.rows}x{s.k}", [0])
        wt = g.load(w, f"{s.k}x{s.n}", [ALL])
        g.store(matmul(g, xt, wt), f"{s.m}x{s.n}x{s.kind}", [0])
    return p.finish(*g.results)


def biased_linear(s: Linear) -> ModuleOp:
    """`relu(x @ w + b + c)`: a row and a column, read in the layout of the product."""
    p = Program(
        f"{s.m}x{s.k}x{s.kind}",
        f"{s.k}x{s.n}x{s.kind}",
        f"{s.n}x{s.kind}",
        f"{s.m}x1x{s.kind}",
        f"{s.m}x{s.n}x{s.kind}",
    )
    x, w, b, c, d = p.inputs
    with p.graph(s.grid, [s.turns]) as g:
        xt = g.load(x, f"{s.rows}x{s.depth}", [0, ALL], [1])
        wt = g.load(w, f"{s.depth}x{s.columns}", [ALL, 1], [0])
        bt = g.load(b, f"{s.columns}", [ALL, 0])
        ct = g.load(c, f"{s.rows}x1", [0, ALL])
        dt = g.load(d, f"{s.rows}x{s.columns}", [0, 1])
        y = g.add(tb.AddOp(total(g, matmul(g, xt, wt)), bt))
        y = g.add(tb.MulOp(g.add(tb.AddOp(y, ct)), dt))
        g.store(g.add(tb.ReluOp(y)), f"{s.m}x{s.n}x{s.kind}", [0, 1])
    return p.finish(*g.results)


def gated_mlp(s: Linear) -> ModuleOp:
    """`silu(x @ v) * (x @ w)`: two products in one loop."""
    p = Program(f"{s.m}x{s.k}x{s.kind}", *[f"{s.k}x{s.n}x{s.kind}"] * 2)
    x, v, w = p.inputs
    with p.graph(s.grid, [s.turns]) as g:
        xt = g.load(x, f"{s.rows}x{s.depth}", [0, ALL], [1])
        parts = [g.load(each, f"{s.depth}x{s.columns}", [ALL, 1], [0]) for each in (v, w)]
        gate, up = (total(g, matmul(g, xt, each)) for each in parts)
        y = g.add(tb.MulOp(g.add(tb.SiluOp(gate)), up))
        g.store(y, f"{s.m}x{s.n}x{s.kind}", [0, 1])
    return p.finish(*g.results)


def lora(s: Linear, rank: int) -> ModuleOp:
    """`x @ w + (x @ a) @ b`: a product after the loop, of what the loop summed."""
    p = Program(
        f"{s.m}x{s.k}x{s.kind}",
        f"{s.k}x{s.n}x{s.kind}",
        f"{s.k}x{rank}x{s.kind}",
        f"{rank}x{s.n}x{s.kind}",
    )
    x, w, a, b = p.inputs
    with p.graph(s.grid, [s.turns]) as g:
        xt = g.load(x, f"{s.rows}x{s.depth}", [0, ALL], [1])
        wt = g.load(w, f"{s.depth}x{s.columns}", [ALL, 1], [0])
        at = g.load(a, f"{s.depth}x{rank}", [ALL, ALL], [0])
        bt = g.load(b, f"{rank}x{s.columns}", [ALL, 1])
        down = g.cast(total(g, matmul(g, xt, at)), s.kind)
        y = g.add(tb.AddOp(total(g, matmul(g, xt, wt)), matmul(g, down, bt)))
        g.store(y, f"{s.m}x{s.n}x{s.kind}", [0, 1])
    return p.finish(*g.results)


def softmax(rows: int, columns: int, tile_rows: int, kind: str = "f16") -> ModuleOp:
    """Softmax of whole rows, several rows in a block."""
    p = Program(f"{rows}x{columns}x{kind}")
    (x,) = p.inputs
    with p.graph([-(-rows // tile_rows)]) as g:
        xt = g.load(x, f"{tile_rows}x{columns}", [0])
        shifted = g.add(tb.SubOp(xt, g.add(tb.ReduceMaxOp(xt, [1]))))
        weights = g.add(tb.ExpOp(shifted))
        sums = g.add(tb.ReduceSumOp(weights, [1]))
        g.store(g.add(tb.DivOp(weights, sums)), f"{rows}x{columns}x{kind}", [0])
    return p.finish(*g.results)


def attention(queries: int, keys: int, depth: int, kind: str = "f16", heads: int = 2) -> ModuleOp:
    """`softmax(q k^T) v` of one head in a block; k is seen through a transpose."""
    p = Program(
        f"{heads}x{queries}x{depth}x{kind}",
        f"{heads}x{keys}x{depth}x{kind}",
        f"{heads}x{keys}x{depth}x{kind}",
    )
    q, k, v = p.inputs
    flipped = p.view(kernel.TransposeOp(k, [0, 2, 1]))
    with p.graph([heads]) as g:
        qt = g.load(q, f"1x{queries}x{depth}", [0])
        kt = g.load(flipped, f"1x{depth}x{keys}", [0])
        vt = g.load(v, f"1x{keys}x{depth}", [0])
        scores = g.add(tb.ScaleOp(matmul(g, qt, kt), depth**-0.5))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, g.add(tb.ReduceMaxOp(scores, [2]))))))
        sums = g.add(tb.ReduceSumOp(weights, [2]))
        product = matmul(g, g.cast(weights, kind), vt)
        g.store(g.add(tb.DivOp(product, sums)), f"{heads}x{queries}x{depth}x{kind}", [0])
    return p.finish(*g.results)


def looped_attention(
    queries: int, keys: int, depth: int, step: int, tile_queries: int, kind: str = "f16"
) -> ModuleOp:
    """`exp(q k^T) v` by sums over steps of the keys: a product in the loop feeds another."""
    p = Program(f"{queries}x{depth}x{kind}", *[f"{keys}x{depth}x{kind}"] * 2)
    q, k, v = p.inputs
    flipped = p.view(kernel.TransposeOp(k, [1, 0]))
    with p.graph([-(-queries // tile_queries)], [-(-keys // step)]) as g:
        qt = g.load(q, f"{tile_queries}x{depth}", [0])
        kt = g.load(flipped, f"{depth}x{step}", [ALL], [1])
        vt = g.load(v, f"{step}x{depth}", [ALL], [0])
        scores = g.add(tb.ScaleOp(matmul(g, qt, kt), 0.5 * depth**-0.5))
        weights = g.add(tb.ExpOp(scores))
        sums = total(g, g.add(tb.ReduceSumOp(weights, [1])))
        product = total(g, matmul(g, g.cast(weights, kind), vt))
        g.store(g.add(tb.DivOp(product, sums)), f"{queries}x{depth}x{kind}", [0])
    return p.finish(*g.results)


def reduction(
    shape: Sequence[int],
    tile: Sequence[int],
    dims: Sequence[int],
    kind: str = "sum",
    cut: int | None = None,
    element: str = "f16",
) -> ModuleOp:
    """A sum or maximum over `dims`; blocks cut dim `cut` where it is given."""
    sizes = "x".join(map(str, shape))
    p = Program(f"{sizes}x{element}")
    (x,) = p.inputs
    grid = 1 if cut is None else -(-shape[cut] // tile[cut])
    place = ALL if cut is None else cut
    op = tb.ReduceSumOp if kind == "sum" else tb.ReduceMaxOp
    result = [1 if dim in dims else size for dim, size in enumerate(shape)]
    with p.graph([grid]) as g:
        xt = g.load(x, "x".join(map(str, tile)), [place])
        y = g.add(op(g.add(tb.ScaleOp(xt, 0.5)), dims))
        g.store(y, f"{'x'.join(map(str, result))}x{element}", [place])
    return p.finish(*g.results)


def looped_reduction(
    rows: int, columns: int, step: int, kind: str, dims: Sequence[int], loop_dim: int = 1
) -> ModuleOp:
    """A reduction accumulated over steps of the rows or columns."""
    p = Program(f"{rows}x{columns}xf16")
    (x,) = p.inputs
    turns = -(-(rows, columns)[loop_dim] // step)
    sizes = f"{rows}x{step}" if loop_dim == 1 else f"{step}x{columns}"
    op = tb.ReduceSumOp if kind == "sum" else tb.ReduceMaxOp
    with p.graph([1], [turns]) as g:
        xt = g.load(x, sizes, [ALL], [loop_dim])
        y = total(g, g.add(op(g.add(tb.ScaleOp(xt, 2.0)), dims)), kind)
        shape = tb.shape_of(y)
        g.store(y, f"{shape[0]}x{shape[1]}xf32", [ALL])
    return p.finish(*g.results)


def summed_tiles(rows: int, columns: int, step: int, kind: str) -> ModuleOp:
    """Tiles added up, or their maxima, element by element."""
    p = Program(f"{rows}x{columns}xf16")
    (x,) = p.inputs
    with p.graph([1], [-(-columns // step)]) as g:
        xt = g.load(x, f"{rows}x{step}", [ALL], [1])
        g.store(total(g, xt, kind), f"{rows}x{step}xf32", [ALL])
    return p.finish(*g.results)


def two_loops(m: int, k: tuple[int, int], n: int, tile_k: tuple[int, int]) -> ModuleOp:
    """A product summed over two dims, a loop for each."""
    p = Program(f"{k[0]}x{m}x{k[1]}xf16", f"{k[0]}x{k[1]}x{n}xf16")
    x, w = p.inputs
    turns = [k[0], -(-k[1] // tile_k[1])]
    with p.graph([1], turns) as g:
        xt = g.load(x, f"1x{m}x{tile_k[1]}", [ALL], [0, 2])
        wt = g.load(w, f"1x{tile_k[1]}x{n}", [ALL], [0, 1])
        g.store(total(g, matmul(g, xt, wt)), f"1x{m}x{n}xf32", [ALL])
    return p.finish(*g.results)
