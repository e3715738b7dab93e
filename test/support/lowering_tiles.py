"""Small functions without matmuls: reductions, elementwise work, moves of tiles, views."""

from collections.abc import Callable, Sequence

from lowering_cases import total, transposed
from small_graphs import ALL, Graph, Program, size, tensor
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb

REDUCTIONS = {"sum": tb.ReduceSumOp, "max": tb.ReduceMaxOp}


def softmax(rows: int, columns: int, tile_rows: int, kind: str = "f16") -> ModuleOp:
    """Softmax of whole rows, several rows in a block."""
    p = Program(f"{rows}x{columns}x{kind}")
    (x,) = p.inputs
    with p.graph([-(-rows // tile_rows)]) as g:
        xt = g.load(x, (tile_rows, columns), [0])
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(xt, g.add(tb.ReduceMaxOp(xt, [1]))))))
        sums = g.add(tb.ReduceSumOp(weights, [1]))
        g.store(g.add(tb.DivOp(weights, sums)), f"{rows}x{columns}x{kind}", [0])
    return p.finish(*g.results)


def layer_norm(rows: int, columns: int, tile_rows: int, kind: str) -> ModuleOp:
    """Centred and scaled rows, with rows of weights and biases of rank 1."""
    p = Program(f"{rows}x{columns}x{kind}", *[f"{columns}x{kind}"] * 2)
    x, weight, bias = p.inputs
    with p.graph([-(-rows // tile_rows)]) as g:
        xt = g.load(x, (tile_rows, columns), [0])
        factor, offset = (g.load(each, (columns,), [ALL]) for each in (weight, bias))
        mean = g.add(tb.ScaleOp(g.add(tb.ReduceSumOp(xt, [1])), 1 / columns))
        centred = g.add(tb.SubOp(xt, mean))
        squares = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(centred)), [1]))
        eps = g.constant(1e-5, "1x1xf32")
        root = g.add(tb.RsqrtOp(g.add(tb.AddOp(g.add(tb.ScaleOp(squares, 1 / columns)), eps))))
        y = g.add(tb.MulOp(g.add(tb.MulOp(centred, root)), factor))
        g.store(g.add(tb.AddOp(y, offset)), f"{rows}x{columns}x{kind}", [0])
    return p.finish(*g.results)


def reduction(
    shape: Sequence[int], dims: Sequence[int], kind: str, element: str = "f16", cut: int = ALL
) -> ModuleOp:
    """A sum or maximum over `dims`; three blocks share dim `cut` where it is given."""
    p = Program(f"{size(shape)}x{element}")
    (x,) = p.inputs
    tile = [-(-n // 3) if dim == cut else n for dim, n in enumerate(shape)]
    result = [1 if dim in dims else n for dim, n in enumerate(shape)]
    with p.graph([1 if cut == ALL else 3]) as g:
        halves = g.add(tb.ScaleOp(g.load(x, tile, [cut]), 0.5))
        g.store(g.add(REDUCTIONS[kind](halves, dims)), f"{size(result)}x{element}", [cut])
    return p.finish(*g.results)


def looped_reduction(
    shape: Sequence[int], step: int, cut: int, dims: Sequence[int], kinds: tuple[str, str]
) -> ModuleOp:
    """A reduction, accumulated over steps along dim `cut`; the tiles accumulated too."""
    p = Program(f"{size(shape)}xf16")
    (x,) = p.inputs
    tile = [step if dim == cut else n for dim, n in enumerate(shape)]
    with p.graph([1], [-(-shape[cut] // step)]) as g:
        xt = g.load(x, tile, [ALL], [cut])
        reduced = total(g, g.add(REDUCTIONS[kinds[0]](xt, dims)), kinds[1])
        for value in (reduced, total(g, g.add(tb.ScaleOp(xt, 2.0)), kinds[1])):
            if tb.shape_of(value)[cut] <= shape[cut]:
                g.store(value, f"{size(tb.shape_of(value))}xf32", [ALL])
    return p.finish(*g.results)


def partly_empty_sum(columns: int, iterations: int, step: int, kind: str) -> ModuleOp:
    """
    `sum(exp(total))` of tiles that may never be full: elements that no iteration had add nothing.
    """
    p = Program(f"8x{columns}xf16")
    (x,) = p.inputs
    with p.graph([1], [iterations]) as g:
        summed = total(g, g.load(x, (8, step), [ALL], [1]), kind)
        weights = g.add(tb.ExpOp(g.add(tb.ScaleOp(summed, 0.1))))
        g.store(g.add(tb.ReduceSumOp(weights, [1])), "8x1xf32", [ALL])
    return p.finish(*g.results)


def rows_and_sums(rows: int, columns: int, blocks: int, step: int, element: str) -> ModuleOp:
    """Rows that a loop stores, scaled by their sums; the sums of columns, in parts and whole."""
    p = Program(f"{rows}x{columns}x{element}")
    (x,) = p.inputs
    iterations = -(-rows // (blocks * step))
    with p.graph([blocks], [iterations]) as g:
        xt = g.load(x, (step, columns), [0], [0])
        scaled = g.add(tb.MulOp(xt, g.add(tb.ReduceSumOp(xt, [1]))))
        summed = total(g, g.add(tb.ReduceSumOp(xt, [0])))
        g.store(scaled, f"{rows}x{columns}x{element}", [0], [0])
        g.store(summed, f"{blocks}x{columns}xf32", [0])
    stored, parts = g.results
    with p.graph([1]) as g:
        whole = g.load(parts, (blocks, columns), [ALL])
        g.store(g.add(tb.ReduceSumOp(whole, [0])), f"1x{columns}xf32", [ALL])
    return p.finish(stored, *g.results)


def row_gradients(rows: int, columns: int, blocks: int, step: int, element: str) -> ModuleOp:
    """The gradients of RMSNorm: each block walks rows, and leaves its part of the weight's."""
    kind = f"{rows}x{columns}x{element}"
    p = Program(kind, kind, f"{columns}x{element}")
    x, dy, weight = p.inputs
    with p.graph([blocks], [-(-rows // (blocks * step))]) as g:
        xt, yt = (g.load(each, (step, columns), [0], [0]) for each in (x, dy))
        wt = g.load(weight, (columns,), [ALL])
        squares = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [1]))
        eps = g.constant(1e-5, "1x1xf32")
        root = g.add(tb.RsqrtOp(g.add(tb.AddOp(g.add(tb.ScaleOp(squares, 1 / columns)), eps))))
        normal = g.add(tb.MulOp(xt, root))
        scaled = g.add(tb.MulOp(g.cast(yt, "f32"), wt))
        mean = g.add(tb.ReduceSumOp(g.add(tb.MulOp(normal, scaled)), [1]))
        shift = g.add(tb.MulOp(normal, g.add(tb.ScaleOp(mean, 1 / columns))))
        g.store(g.add(tb.MulOp(g.add(tb.SubOp(scaled, shift)), root)), kind, [0], [0])
        summed = g.add(tb.ReduceSumOp(g.add(tb.MulOp(normal, yt)), [0]))
        g.store(total(g, summed), f"{blocks}x{columns}xf32", [0])
    stored, parts = g.results
    with p.graph([1]) as g:
        whole = g.load(parts, (blocks, columns), [ALL])
        g.store(g.add(tb.ReduceSumOp(whole, [0])), f"1x{columns}xf32", [ALL])
    return p.finish(stored, *g.results)


def loops_over_one_dim(columns: int, iterations: Sequence[int], step: int) -> ModuleOp:
    """Two loops that cut one dim."""
    p = Program(f"8x{columns}xf16")
    (x,) = p.inputs
    with p.graph([1], iterations) as g:
        xt = g.load(x, (8, step), [ALL], [1, 1])
        g.store(total(g, g.add(tb.ReduceSumOp(xt, [1]))), "8x1xf32", [ALL])
    return p.finish(*g.results)


def grid_and_loop(columns: int, blocks: int, iterations: int, step: int, kind: str) -> ModuleOp:
    """A grid axis and a loop that cut one dim."""
    p = Program(f"8x{columns}xf16")
    (x,) = p.inputs
    with p.graph([blocks], [iterations]) as g:
        summed = total(g, g.load(x, (8, step), [1], [1]), kind)
        g.store(summed, f"8x{blocks * step}xf32", [1])
    return p.finish(*g.results)


def sums_across(rows: int, columns: int, blocks: int, step: int) -> ModuleOp:
    """Two sums over the blocks of a cluster, used at different times after they met."""
    p = Program(f"{rows}x{columns}xf16")
    (x,) = p.inputs
    with p.graph([blocks], [-(-columns // (blocks * step))]) as g:
        xt = g.load(x, (rows, step), [1], [1])
        whole = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(xt)), [0, 1]))
        whole = g.add(tb.AccumulateOp(whole, across=[0]))
        each = g.add(tb.AccumulateOp(g.add(tb.ReduceSumOp(xt, [1])), across=[0]))
        largest = g.add(tb.ReduceMaxOp(each, [0]))
        g.store(g.add(tb.MaxOp(largest, whole)), "1x1xf32", [ALL])
    return p.finish(*g.results)


def rows_in_clusters(rows: int, columns: int, blocks: int, kind: str) -> ModuleOp:
    """Softmax of rows of which each block of a cluster has a part: a maximum, then a sum."""
    p = Program(f"{rows}x{columns}x{kind}")
    (x,) = p.inputs
    part = -(-columns // (8 * blocks)) * 8
    with p.graph([rows, blocks]) as g:
        xt = g.load(x, (1, part), [0, 1])
        most = g.add(tb.AccumulateOp(g.add(tb.ReduceMaxOp(xt, [1])), "max", across=[1]))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(xt, most))))
        sums = g.add(tb.AccumulateOp(g.add(tb.ReduceSumOp(weights, [1])), across=[1]))
        g.store(g.add(tb.DivOp(weights, sums)), f"{rows}x{columns}x{kind}", [0, 1])
    return p.finish(*g.results)


def elementwise(
    shape: Sequence[int], tile: Sequence[int], cuts: Sequence[int], other: Sequence[int], kind: str
) -> ModuleOp:
    """`exp(x / 10) * y`, where y broadcasts; grid axis i cuts dim `cuts[i]`."""
    p = Program(f"{size(shape)}x{kind}", f"{size(other)}x{kind}")
    x, y = p.inputs
    missing = len(shape) - len(other)
    tile_of_other = [1 if n == 1 else tile[missing + dim] for dim, n in enumerate(other)]
    inner = [cut - missing for cut in cuts]
    cuts_of_other = [dim if dim >= 0 and other[dim] > 1 else ALL for dim in inner]
    with p.graph([-(-shape[cut] // tile[cut]) for cut in cuts]) as g:
        weights = g.add(tb.ExpOp(g.add(tb.ScaleOp(g.load(x, tile, cuts), 0.1))))
        factor = g.load(y, tile_of_other, cuts_of_other)
        g.store(g.add(tb.MulOp(weights, factor)), f"{size(shape)}x{kind}", cuts)
    return p.finish(*g.results)


def positive(g: Graph, x: SSAValue) -> SSAValue:
    """`x^2 + 0.1`."""
    return g.add(tb.AddOp(g.add(tb.SquareOp(x)), g.constant(0.1, "1x1xf32")))


FUNCTIONS: dict[str, Callable[[Graph, SSAValue], Operation]] = {
    "exp": lambda g, x: tb.ExpOp(x),
    "log": lambda g, x: tb.LogOp(positive(g, x)),
    "sqrt": lambda g, x: tb.SqrtOp(positive(g, x)),
    "rsqrt": lambda g, x: tb.RsqrtOp(positive(g, x)),
    "sigmoid": lambda g, x: tb.SigmoidOp(x),
    "silu": lambda g, x: tb.SiluOp(x),
    "gelu": lambda g, x: tb.GeluOp(x),
    "gelu-tanh": lambda g, x: tb.GeluOp(x, "tanh"),
    "relu": lambda g, x: tb.ReluOp(x),
    "tanh": lambda g, x: tb.TanhOp(x),
    "clamp": lambda g, x: tb.ClampOp(x, -0.5, 0.7),
    "cube": lambda g, x: tb.PowOp(x, 3.0),
    "power": lambda g, x: tb.PowOp(positive(g, x), -1.5),
    "max": lambda g, x: tb.MaxOp(x, g.constant(0.2, "1x1xf32")),
    "broadcast": lambda g, x: tb.BroadcastOp(x, tb.TileType((3, *tb.shape_of(x)), f32)),
}


def all_functions(shape: Sequence[int], kind: str) -> ModuleOp:
    """Every elementwise function, a result for each."""
    p = Program(f"{size(shape)}x{kind}")
    (x,) = p.inputs
    with p.graph([1]) as g:
        xt = g.cast(g.load(x, shape, [ALL]), "f32")
        for function in FUNCTIONS.values():
            value = g.add(function(g, xt))
            g.store(value, f"{size(tb.shape_of(value))}x{kind}", [ALL])
    return p.finish(*g.results)


def transposes(rows: int, columns: int, tile: tuple[int, int], kind: str) -> ModuleOp:
    """A transposed tile as it is, computed before, and computed after."""
    p = Program(f"{rows}x{columns}x{kind}")
    (x,) = p.inputs
    with p.graph([-(-rows // tile[0]), -(-columns // tile[1])]) as g:
        xt = g.load(x, tile, [0, 1])
        before = transposed(g, g.cast(g.add(tb.ExpOp(g.add(tb.ScaleOp(xt, 0.5)))), kind))
        after = g.add(tb.TanhOp(transposed(g, xt)))
        for value in (transposed(g, xt), before, after):
            g.store(value, f"{columns}x{rows}x{kind}", [1, 0])
        twice = g.add(tb.SquareOp(transposed(g, transposed(g, xt))))
        g.store(twice, f"{rows}x{columns}x{kind}", [0, 1])
    return p.finish(*g.results)


def concat(shapes: Sequence[Sequence[int]], dim: int, cut: int = ALL, blocks: int = 1) -> ModuleOp:
    """Tiles side by side, stored and used again; `blocks` share dim `cut`, the last one short."""

    def whole(shape: Sequence[int]) -> list[int]:
        return [n * blocks - 1 if i == cut else n for i, n in enumerate(shape)]

    p = Program(*[f"{size(whole(shape))}xf16" for shape in shapes])
    result = whole(shapes[0])
    result[dim] = sum(whole(shape)[dim] for shape in shapes)
    with p.graph([blocks]) as g:
        pairs = zip(p.inputs, shapes, strict=True)
        joined = g.add(tb.ConcatOp([g.load(x, shape, [cut]) for x, shape in pairs], dim))
        g.store(joined, f"{size(result)}xf16", [cut])
        g.store(g.add(tb.SquareOp(joined)), f"{size(result)}xf32", [cut])
    return p.finish(*g.results)


def joined_matmul(m: int, parts: tuple[int, int], n: int, iterations: int) -> ModuleOp:
    """`[x y] @ w`, with x and y joined in shared memory in each iteration of the loop."""
    p = Program(*[f"{m}x{k * iterations}xf16" for k in parts], f"{sum(parts)}x{n}xf16")
    x, y, w = p.inputs
    with p.graph([1], [iterations]) as g:
        loads = [g.load(v, (m, k), [ALL], [1]) for v, k in zip((x, y), parts, strict=True)]
        joined = g.add(tb.ConcatOp(loads, 1))
        matmul = g.add(tb.MatmulOp(joined, g.load(w, (sum(parts), n), [ALL])))
        g.store(total(g, matmul), f"{m}x{n}xf16", [ALL])
    return p.finish(*g.results)


def empty_blocks(columns: int, blocks: int, step: int) -> ModuleOp:
    """More blocks than there are tiles."""
    p = Program(f"8x{columns}xf16")
    (x,) = p.inputs
    with p.graph([blocks]) as g:
        xt = g.load(x, (8, step), [1])
        g.store(g.add(tb.TanhOp(xt)), f"8x{columns}xf16", [1])
        g.store(transposed(g, xt), f"{columns}x8xf16", [0])
    return p.finish(*g.results)


VIEWS: dict[str, tuple[str, Callable[[SSAValue], Operation]]] = {
    "transpose": ("12x20", lambda x: kernel.TransposeOp(x, [1, 0])),
    "transpose-3": ("3x5x8", lambda x: kernel.TransposeOp(x, [2, 0, 1])),
    "reshape": ("12x20", lambda x: kernel.ReshapeOp(x, tensor("6x2x20xf16"))),
    "broadcast-columns": ("12x1", lambda x: kernel.BroadcastOp(x, tensor("4x12x20xf16"))),
    "broadcast-rows": ("1x20", lambda x: kernel.BroadcastOp(x, tensor("12x20xf16"))),
    "slice": ("12x20", lambda x: kernel.SliceOp(x, [1, 4], [8, 16], [1, 1])),
    "slice-odd": ("12x20", lambda x: kernel.SliceOp(x, [1, 3], [9, 7], [1, 1])),
    "slice-strided": ("12x20", lambda x: kernel.SliceOp(x, [1, 3], [4, 6], [2, 2])),
}


def viewed(name: str) -> ModuleOp:
    """A kernel that reads a tensor through a view, in two uneven blocks."""
    sizes, view = VIEWS[name]
    p = Program(f"{sizes}xf16")
    seen = p.view(view(p.inputs[0]))
    shape = kernel.shape_of(seen)
    tile = [shape[0] // 2 + 1, *shape[1:]]
    with p.graph([-(-shape[0] // tile[0])]) as g:
        xt = g.load(seen, tile, [0])
        g.store(xt, f"{size(shape)}xf16", [0])
        # A tile that is read twice is copied to shared memory first.
        g.store(g.add(tb.TanhOp(xt)), f"{size(shape)}xf16", [0])
    return p.finish(*g.results)


def chain(m: int, k: int, n: int, kind: str) -> ModuleOp:
    """Five kernels that hand tensors on in scratch memory, two of which share a place there."""
    p = Program(f"{m}x{k}x{kind}", f"{k}x{n}x{kind}", f"{n}x{k}x{kind}")
    x, down, up = p.inputs

    def matmul(value: SSAValue, weight: SSAValue) -> SSAValue:
        depth, columns = kernel.shape_of(weight)
        with p.graph([-(-columns // 16)]) as g:
            loads = g.load(value, (m, depth), [ALL]), g.load(weight, (depth, 16), [1])
            g.store(g.add(tb.TanhOp(g.add(tb.MatmulOp(*loads)))), f"{m}x{columns}x{kind}", [1])
        return g.results[0]

    first = matmul(matmul(x, down), up)
    third = matmul(first, down)
    last = matmul(third, up)
    with p.graph([1]) as g:
        loads = g.load(first, (m, k), [ALL]), g.load(last, (m, k), [ALL])
        g.store(g.add(tb.AddOp(*loads)), f"{m}x{k}x{kind}", [ALL])
    return p.finish(*g.results, third)


def views_between() -> ModuleOp:
    """Two kernels with views between them and after them."""
    p = Program("8x24xf16")
    (x,) = p.inputs
    with p.graph([2]) as g:
        g.store(g.add(tb.TanhOp(g.load(x, (4, 24), [0]))), "8x24xf16", [0])
    flipped = p.view(kernel.TransposeOp(g.results[0], [1, 0]))
    folded = p.view(kernel.ReshapeOp(flipped, tensor("4x6x8xf16")))
    with p.graph([2]) as h:
        h.store(h.add(tb.SquareOp(h.load(folded, (2, 6, 8), [0]))), "4x6x8xf16", [0])
    return p.finish(p.view(kernel.TransposeOp(h.results[0], [2, 0, 1])))
