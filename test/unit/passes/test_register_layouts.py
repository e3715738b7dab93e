"""Which way threads lie along tiles that nothing else decides."""

import lowering_tiles as tiles
import pytest
from lowered_kernels import check, graphs_of
from sampling import round_robin
from small_graphs import ALL, Program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import kernel, thread
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.layouts.banks import traffic
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.tile_attributes import registers_of
from mirage_mlir.passes.layouts.tile_layouts import TileLayouts
from mirage_mlir.passes.pipelines import lowering_passes


def layouts(module: ModuleOp) -> list[RegisterLayout]:
    """Those of the thread graphs of the only kernel."""
    for step in lowering_passes("H200", last="assign-layouts"):
        step.apply(Context(), module)
    (graph,) = graphs_of(module)
    ops = list(graph.body.block.ops)
    return [registers_of(op.results[0]) for op in ops if isinstance(op, thread.GraphOp)]


def along_rows(layout: RegisterLayout) -> int:
    """Neighbouring threads that lie along rows."""
    bits = 0
    while bits < 5 and layout.threads[bits][0]:
        bits += 1
    return 1 << bits


def test_threads_lie_along_columns_of_a_row_major_tile() -> None:
    (layout,) = layouts(tiles.elementwise((64, 64), (32, 64), [0], (64,), "f16"))
    assert along_rows(layout) == 1
    assert layout.vector == 8


def test_threads_lie_along_both_sides_of_a_transposed_tile() -> None:
    """Columns of the tensor are read whole, and rows of the result written whole."""
    (layout,) = layouts(tiles.viewed("transpose"))
    assert along_rows(layout) > 1


def test_rows_of_a_block_share_a_warp() -> None:
    """Four rows, each in a quarter of each warp: sums take two exchanges less, and fewer each."""
    *_, layout = layouts(tiles.layer_norm(16, 4096, 4, "f16"))
    assert along_rows(layout) == 4


def test_a_change_needs_no_conversion() -> None:
    module = tiles.softmax(16, 4096, 4)
    layouts(module)
    assert not [op for op in module.walk() if isinstance(op, ConvertLayoutOp)]


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_kernels_of_few_rows(rows: int) -> None:
    check(tiles.layer_norm(2 * rows, 640, rows, "f16"))
    check(tiles.softmax(rows, 1000, rows))


def by_threads(keys: int, depth: int, tile: tuple[int, int], kind: str = "f16") -> ModuleOp:
    """A product of one row with the transposed matrix of keys, element by element."""
    p = Program(f"{keys}x{depth}x{kind}", f"{depth}x1x{kind}")
    matrix, row = p.inputs
    with p.graph([-(-keys // tile[0])], [-(-depth // tile[1])]) as g:
        seen = g.add(tb.TransposeOp(g.load(matrix, tile, [0], [1]), [1, 0]))
        factor = g.load(row, (tile[1], 1), [ALL], [0])
        scores = g.add(tb.ReduceSumOp(g.add(tb.MulOp(seen, factor)), [0]))
        g.store(g.add(tb.AccumulateOp(scores, "sum")), f"1x{keys}xf32", [1])
    return p.finish(*g.results)


def test_threads_read_runs_of_rows() -> None:
    """Neighbours lie along the rows of what is multiplied: each thread reads eight at once."""
    module = by_threads(128, 256, (64, 128))
    (layout,) = layouts(module)
    assert layout.down == 8
    (graph,) = graphs_of(module)
    tiles_of = TileLayouts(graph, tb.stages(graph))
    for op in (op for op in graph.body.block.ops if isinstance(op, tb.LoadOp)):
        for use in tiles_of.uses(op):
            assert traffic(use.access, shared_layout(op.result), 2, use.transposed).conflicts == 0


BY_THREADS = [(128, 256, (64, 128), "f16"), (70, 100, (32, 24), "f16"), (40, 96, (20, 48), "f32")]


@pytest.mark.parametrize(("case", "target"), round_robin(BY_THREADS, ["sm_80", "H200"]))
def test_products_by_threads(case: tuple[int, int, tuple[int, int], str], target: str) -> None:
    check(by_threads(*case), target=target)


def sums_of_columns(rows: int, columns: int) -> ModuleOp:
    """Of a tensor seen through a transpose, which the kernel reads where it lies."""
    p = Program(f"{rows}x{columns}xf16", f"{columns}x1xf16")
    x, factor = p.inputs
    turned = p.view(kernel.TransposeOp(x, [1, 0]))
    with p.graph([-(-rows // 16)]) as g:
        tile = g.load(turned, (columns, 16), [1])
        product = g.add(tb.MulOp(tile, g.load(factor, (columns, 1), [ALL])))
        g.store(g.add(tb.ReduceSumOp(product, [0])), f"1x{rows}xf32", [1])
    return p.finish(*g.results)


def test_runs_of_rows_in_device_memory() -> None:
    (layout,) = layouts(sums_of_columns(64, 64))
    assert layout.down == 8


@pytest.mark.parametrize("shape", [(64, 64), (40, 72), (33, 20), (24, 68)])
def test_columns_of_device_memory(shape: tuple[int, int]) -> None:
    """Also where no tile divides the columns, or no run of 16 bytes."""
    check(sums_of_columns(*shape))
