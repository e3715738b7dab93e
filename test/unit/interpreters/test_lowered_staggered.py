"""Loops that begin with another iteration in each block: results are those of the uGraph in f64."""

from math import prod

import pytest
from few_multiprocessors import lower_for_few
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lowered_kernels import check, graphs_of, schedule
from lowering_cases import Linear, out_in_linear
from small_graphs import Program
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.dialects.nvvm_hopper import CpAsyncBulkTensorLoadOp


def stagger_of(module: ModuleOp, target: str) -> int:
    """The step from one block's first iteration to its neighbour's."""
    (graph,) = graphs_of(schedule(module.clone(), target=target))
    return graph.schedule.stagger


def row_sums(rows: int, columns: int, wide: int) -> ModuleOp:
    """Sums of rows, two in each block, and the last of them alone where their number is odd."""
    p = Program(f"{rows}x{columns}xf32")
    (x,) = p.inputs
    with p.graph([-(-rows // 2)], [-(-columns // wide)]) as g:
        tile = g.load(x, (2, wide), [0], [1])
        sums = g.add(tb.AccumulateOp(g.add(tb.ReduceSumOp(tile, [1])), "sum"))
        g.store(sums, f"{rows}x1xf32", [0])
    return p.finish(*g.results)


@settings(max_examples=12)
@given(
    st.integers(1, 17),
    st.integers(2, 11),
    st.integers(-24, 0),
    st.integers(2, 5),
    st.sampled_from(["f16", "bf16"]),
    st.sampled_from(["H200", "A100"]),
)
# Ragged in depth and columns, and a single row; and a block without columns.
@example(1, 3, -8, 3, "f16", "H200")
@example(16, 2, -24, 4, "bf16", "A100")
def test_products(
    rows: int, iterations: int, ragged: int, blocks: int, kind: str, target: str
) -> None:
    depth = 32
    k, n = iterations * depth + ragged, blocks * 16 + ragged // 8 * 2
    module = out_in_linear(Linear(rows, k, n, rows, depth, 16, kind))
    assert stagger_of(module, target) > 0
    check(module, target=target)


@pytest.mark.parametrize(("stages", "kind"), [(3, "f16"), (4, "bf16")])
def test_clusters(stages: int, kind: str) -> None:
    """Blocks that copy tiles to each other stay together; more iterations than buffers."""
    module = out_in_linear(Linear(64, 512, 64, 64, 64, 32, kind))
    for graph in graphs_of(module):
        graph.cluster = DenseArrayBase.from_list(i64, [2])
    kernels = check(module, stages=stages)
    assert [
        op for op in kernels.walk() if isinstance(op, CpAsyncBulkTensorLoadOp) and op.multicast_mask
    ]
    assert stagger_of(module, "H200") == 0


def test_persistent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tile of a block has a first iteration of its own."""
    lower_for_few(monkeypatch)
    module = out_in_linear(Linear(64, 184, 280, 64, 32, 64))
    assert stagger_of(module, "H200") > 0
    (launch,) = [each for op in check(module).walk() if (each := launch_of(op))]
    assert prod(launch.grid) == 3


@settings(max_examples=8)
@given(st.integers(3, 9), st.integers(2, 7), st.integers(-31, 0), st.sampled_from(["H200", "A100"]))
def test_sums_of_rows(rows: int, iterations: int, ragged: int, target: str) -> None:
    module = row_sums(rows, iterations * 64 + ragged, 64)
    assert stagger_of(module, target) > 0
    check(module, target=target)
