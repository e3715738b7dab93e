"""Elementwise kernels work on a few elements of a thread at a time."""

import lowering_tiles as tiles
import pytest
from lowered_kernels import check
from sampling import round_robin
from small_graphs import ALL, Program
from xdsl.dialects import gpu, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.nvvm_attributes import GLOBAL
from mirage_mlir.interpreters.gpu_simulator.encoding import byte_count
from mirage_mlir.passes.schedule.streams import BYTES_AT_ONCE

TARGETS = ("H200", "A100")

Shape = tuple[int, ...]


def bytes_read(op: Operation) -> int:
    """Bytes that one execution of all loads from device memory inside `op` reads in a thread."""
    reads = [inner for inner in op.walk() if isinstance(inner, llvm.LoadOp)]
    return sum(
        byte_count(read.dereferenced_value.type) for read in reads if read.ptr.type == GLOBAL
    )


def loops(kernels: gpu.ModuleOp) -> list[scf.ForOp]:
    """The loops with no loop inside."""
    found = [op for op in kernels.walk() if isinstance(op, scf.ForOp)]
    return [op for op in found if sum(isinstance(inner, scf.ForOp) for inner in op.walk()) == 1]


def gated(rows: int, columns: int, tile_rows: int) -> ModuleOp:
    """`x y / sqrt(s) + b` and `x y`: a factor for each row, a summand for each column."""
    whole, tile = f"{rows}x{columns}", (tile_rows, columns)
    p = Program(f"{whole}xf16", f"{whole}xf32", f"{rows}x1xf32", f"{columns}xf16")
    with p.graph([-(-rows // tile_rows)]) as g:
        x, y = (g.load(value, tile, [0]) for value in p.inputs[:2])
        root = g.add(tb.SqrtOp(tiles.positive(g, g.load(p.inputs[2], (tile_rows, 1), [0]))))
        product = g.add(tb.MulOp(x, y))
        scaled = g.add(tb.DivOp(product, root))
        g.store(
            g.add(tb.AddOp(scaled, g.load(p.inputs[3], (columns,), [ALL]))), f"{whole}xf16", [0]
        )
        g.store(product, f"{whole}xf32", [0])
    return p.finish(*g.results)


LARGE: list[tuple[Shape, Shape, list[int], Shape, str]] = [
    ((70, 300), (40, 300), [0], (300,), "f16"),
    ((70, 300), (40, 300), [0], (70, 1), "f32"),
    ((9, 1003), (9, 1003), [0], (9, 1003), "bf16"),
    ((3, 50, 130), (1, 50, 130), [0], (50, 130), "f32"),
    ((200, 96), (70, 40), [0, 1], (200, 96), "f16"),
]


@pytest.mark.parametrize(("case", "target"), round_robin(LARGE, TARGETS))
def test_large_tiles(case: tuple[Shape, Shape, list[int], Shape, str], target: str) -> None:
    kernels = check(tiles.elementwise(*case), threads=32, target=target)
    inner = loops(kernels)
    assert inner
    # What is read of a row or column that others share comes on top.
    assert max(bytes_read(loop) for loop in inner) <= 2 * BYTES_AT_ONCE


@pytest.mark.parametrize("target", TARGETS)
def test_two_results_of_mixed_types(target: str) -> None:
    assert loops(check(gated(70, 300, 40), threads=64, target=target))


def test_tiles_that_fit_are_written_out() -> None:
    kernels = check(tiles.elementwise((16, 64), (8, 64), [0], (64,), "f16"), threads=32)
    assert not loops(kernels)


def test_what_a_reduction_read_is_not_read_again() -> None:
    """A softmax of few rows by few threads: its tiles are in registers when results are stored."""
    kernels = check(tiles.softmax(8, 256, 4), threads=32)
    assert not loops(kernels)
    assert bytes_read(kernels) == 4 * 256 * 2 // 32


def test_a_transposed_operand() -> None:
    p = Program("130x70xf32", "130x70xf32")
    with p.graph([1]) as g:
        x, y = (g.load(value, (130, 70), [ALL]) for value in p.inputs)
        total = g.add(tb.AddOp(x, g.add(tb.ExpOp(y))))
        g.store(g.add(tb.TransposeOp(total, [1, 0])), "70x130xf32", [ALL])
    check(p.finish(*g.results), threads=64)
