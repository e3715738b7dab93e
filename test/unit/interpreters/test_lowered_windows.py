"""
Lines that start at no multiples of 16 bytes, copied in the aligned pieces in which they lie.

Results are compared with those of the uGraph in f64, and no access is out of bounds.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_kinds import cyclic
from lowered_kernels import check, graphs_of, lower, schedule
from lowering_cases import total
from lowering_tiles import row_gradients
from sampling import round_robin
from small_graphs import ALL, Program
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.decisions.copies import LEAST_WINDOW, is_windowed
from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.interpreters.gpu_simulator import run_kernels


def copies_of(module: ModuleOp) -> set[str | None]:
    """How the loads of a module's first kernel are copied."""
    (graph, *_) = graphs_of(schedule(module.clone()))
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    return {None if op.copy is None else op.copy.data for op in loads}


ROWS = [
    # As many rows as tiles; tiles without rows; more pieces than threads; one row.
    (12, 203, 4, "f16"),
    (13, 131, 4, "bf16"),
    (9, 1003, 2, "f16"),
    (7, 65, 3, "f32"),
    (5, 1001, 2, "f32"),
    (1, 129, 1, "bf16"),
]


@pytest.mark.parametrize(
    ("case", "run"), round_robin(ROWS, list(product([False, True], ["H200", "A100"])))
)
def test_row_gradients(case: tuple[int, int, int, str], run: tuple[bool, str]) -> None:
    rows, columns, blocks, element = case
    takes_turns, target = run
    module = row_gradients(rows, columns, blocks, 1, element)
    assert copies_of(module) == {"window"}
    check(cyclic(module) if takes_turns else module, target=target)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages(stages: int) -> None:
    check(row_gradients(11, 205, 2, 1, "f16"), stages=stages)


def sums_of_rows(rows: int, columns: int, offset: int, wide: int, kind: str) -> ModuleOp:
    """The sum of rows, of a part of the columns or of all, one in each iteration."""
    p = Program(f"{rows}x{wide}x{kind}")
    (x,) = p.inputs
    if columns != wide:
        x = p.view(kernel.SliceOp(x, [0, offset], [rows, columns], [1, 1]))
    with p.graph([1], [rows]) as g:
        row = g.load(x, (1, columns), [ALL], [0])
        g.store(total(g, g.add(threadblock.ScaleOp(row, 2.0))), f"1x{columns}xf32", [ALL])
    return p.finish(*g.results)


@given(
    st.integers(1, 6),
    st.integers(128, 300),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(("f16", "bf16", "f32")),
)
@settings(max_examples=15, deadline=None)
def test_parts_of_rows(rows: int, columns: int, before: int, behind: int, kind: str) -> None:
    """Wherever they start, and however much of the tensor is behind the last."""
    check(sums_of_rows(rows, columns, before, before + columns + behind, kind))


def test_what_lies_beside_a_line_is_not_used() -> None:
    p = Program("5x300xf16")
    (x,) = p.inputs
    view = p.view(kernel.SliceOp(x, [0, 3], [5, 201], [1, 1]))
    with p.graph([1], [5]) as g:
        row = g.load(view, (1, 201), [ALL], [0])
        g.store(g.add(threadblock.ReduceSumOp(row, [1])), "5x1xf32", [ALL], [0])
    numbers = np.full((5, 300), np.nan, np.float16)
    numbers[:, 3:204] = np.arange(5)[:, None]
    (found,) = run_kernels(lower(p.finish(*g.results)), [numbers])
    assert (found == 201.0 * np.arange(5)[:, None]).all()


def test_many_pieces_are_a_loop() -> None:
    """Of 18 that each of 128 threads copies eight are written out, and the last two."""
    module = sums_of_rows(2, 9001, 0, 9001, "f32")
    check(module)
    copies = sum(isinstance(op, nvvm.CpAsyncSharedGlobalOp) for op in lower(module).walk())
    assert copies <= 2 * (8 + 2)


def test_what_is_no_window() -> None:
    """Lines that lie at multiples of 16 bytes, short ones, and several in a tile."""
    assert not is_windowed(512, 512, 16)
    assert not is_windowed(LEAST_WINDOW - 2, LEAST_WINDOW - 2, 2)
    assert not is_windowed(1204, 602, 2)
    assert is_windowed(602, 602, 2)
    # The weight is a line.
    assert copies_of(row_gradients(12, 203, 2, 2, "f16")) == {"threads", "window"}
    # Zeros are read past the tensor's edge, where a window has what follows.
    p = Program("4x300xf16")
    (x,) = p.inputs
    with p.graph([1], [3]) as g:
        row = g.load(x, (4, 128), [ALL], [1])
        g.store(total(g, g.add(threadblock.ScaleOp(row, 2.0))), "4x128xf32", [ALL])
    assert "window" not in copies_of(p.finish(*g.results))
