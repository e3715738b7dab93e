"""Last tiles that end with their tensors: results are those of the uGraph in f64."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lowered_kernels import check, graphs_of, schedule
from lowering_cases import Linear, biased_linear, lora, rmsnorm_linear
from small_graphs import ALL, Graph, Program
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.passes.schedule.shifted_tiles import keeps_places


def adapter(s: Linear) -> ModuleOp:
    """A linear layer with an adapter of rank 16."""
    return lora(s, 16)


MAKERS: dict[str, Callable[[Linear], ModuleOp]] = {
    "norm": rmsnorm_linear,
    "bias, column and factor": biased_linear,
    "adapter": adapter,
}


def shifted(module: ModuleOp) -> list[tuple[int, ...]]:
    """The axes of each graph along which the last tiles are shifted."""
    scheduled = schedule(module.clone())
    return [graph.schedule.shifted_axes for graph in graphs_of(scheduled)]


@settings(max_examples=10)
@given(
    st.integers(1, 3),
    st.integers(1, 15),
    st.integers(1, 3),
    st.integers(1, 7),
    st.sampled_from(sorted(MAKERS)),
    st.sampled_from(["f16", "bf16"]),
)
@example(1, 1, 1, 1, "bias, column and factor", "f16")
@example(3, 15, 3, 7, "norm", "bf16")
def test_rows_and_columns(
    down: int, rows: int, across: int, eights: int, maker: str, kind: str
) -> None:
    """Rows end anywhere, columns at whole vectors; the first tile is whole."""
    s = Linear(16 * down + rows, 96, 64 * across + 8 * eights, 16, 32, 64, kind)
    module = MAKERS[maker](s)
    assert shifted(module) == [(0, 1)]
    check(module)


def test_warpgroups() -> None:
    """Rows that warpgroups share, in the transposed matmul."""
    module = rmsnorm_linear(Linear(104, 256, 192, 96, 64, 128))
    assert shifted(module) == [(0, 1)]
    check(module)


def test_tiles_that_are_larger_than_their_tensor_stay() -> None:
    module = rmsnorm_linear(Linear(12, 96, 136, 16, 32, 64))
    assert shifted(module) == [(0,)]
    check(module)


def rows_of_a_block(combine: str) -> ModuleOp:
    """Matmuls of 40 rows in tiles of 16 whose rows meet, in each block alone."""
    p = Program("40x64xf16", "64x64xf16", "16x64xf16")
    x, w, c = p.inputs
    with p.graph([3], [2]) as g:
        xt = g.load(x, (16, 32), [0], [1])
        wt = g.load(w, (32, 64), [ALL], [0])
        product = tb.MatmulOp(xt, wt)
        total = g.add(tb.AccumulateOp(g.add(product), "sum"))
        g.store(combined(g, combine, total, c), "40x64xf16", [0])
    return p.finish(*g.results)


def combined(g: Graph, combine: str, total: SSAValue, c: SSAValue) -> SSAValue:
    """What is stored of a tile of 16 rows; `c` has as many, the same for every block."""
    if combine == "a row of its own":
        return g.add(tb.ReluOp(total))
    if combine == "the sum of all rows":
        return g.add(tb.AddOp(total, g.add(tb.ReduceSumOp(total, [0]))))
    return g.add(tb.AddOp(total, g.load(c, (16, 64), [ALL])))


@pytest.mark.parametrize(
    ("combine", "axes"),
    [
        ("a row of its own", (0,)),
        # A shifted tile would have other rows in its sum, or the same rows in other places.
        ("the sum of all rows", ()),
        ("a constant tile", ()),
    ],
)
def test_only_rows_that_stand_alone_are_shifted(combine: str, axes: tuple[int, ...]) -> None:
    module = rows_of_a_block(combine)
    assert shifted(module) == [axes]
    check(module)


def test_sums_across_blocks_are_not_shifted() -> None:
    """Each block has its own part of the depth: to begin earlier would add some of it twice."""
    p = Program("16x72xf16", "72x64xf16")
    x, w = p.inputs
    with p.graph([1, 2], [2]) as g:
        xt = g.load(x, (16, 32), [ALL, 1], [1])
        wt = g.load(w, (32, 64), [ALL, 0], [0])
        total = g.add(tb.AccumulateOp(g.add(tb.MatmulOp(xt, wt)), "sum", [1]))
        g.store(total, "16x64xf16", [ALL, ALL])
    module = p.finish(*g.results)
    assert shifted(module) == [()]
    check(module)


def batch(partners: int) -> ModuleOp:
    """Matmuls of five matrices, two in each block, by the same one or two."""
    p = Program("5x16x32xf16", f"{partners}x32x64xf16")
    x, w = p.inputs
    with p.graph([3]) as g:
        xt = g.load(x, (2, 16, 32), [0])
        wt = g.load(w, (partners, 32, 64), [ALL])
        g.store(g.add(tb.MatmulOp(xt, wt)), "5x16x64xf32", [0])
    return p.finish(*g.results)


def test_matrices_of_a_batch_keep_their_partners() -> None:
    """The second of a block meets the second, wherever the block begins."""
    (two,) = graphs_of(batch(2))
    assert not keeps_places(two, 0)
    (single,) = graphs_of(batch(1))
    assert keeps_places(single, 0)
