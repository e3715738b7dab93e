"""Which way threads lie along tiles that nothing else decides."""

import lowering_tiles as tiles
import pytest
from lowered_kernels import check, graphs_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import thread
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.graph.layout import RegisterLayout
from mirage_mlir.passes.assign_layouts import AssignLayoutsPass
from mirage_mlir.passes.fuse_thread_graphs import FuseThreadGraphsPass
from mirage_mlir.passes.lowering.register_layouts import registers_of


def layouts(module: ModuleOp) -> list[RegisterLayout]:
    """Those of the thread graphs of the only kernel."""
    FuseThreadGraphsPass().apply(Context(), module)
    AssignLayoutsPass().apply(Context(), module)
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
