"""What threads do beside warpgroup matmuls: barriers, buffers, joined left sides."""

import pytest
from attention_cases import Heads, rescaled
from lowered_kernels import check, graphs_of, schedule
from lowering_cases import matmul, total
from sampling import round_robin
from small_graphs import ALL, Program
from xdsl.dialects.builtin import ModuleOp, f16
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.layout import ConvertLayoutOp, shared_buffer
from mirage_mlir.dialects.nvvm_wgmma import WgmmaMmaAsyncOp, WgmmaWaitOp
from mirage_mlir.dialects.pipeline import MAIN_LOOP, BarrierOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.tile_attributes import (
    batch_place,
    registers_of,
)
from mirage_mlir.passes.schedule.sections import sections_of


def normed_attention(s: Heads) -> ModuleOp:
    """Attention whose values are divided by their length: factors of the weights' columns."""
    p, tensors = s.program()
    with p.graph(s.grid, [s.iterations]) as g:
        q, k, v = s.tiles(g, tensors)
        scores = matmul(g, q, k)
        largest = g.add(tb.ReduceMaxOp(scores, [2]))
        weights = g.add(tb.ExpOp(g.add(tb.SubOp(scores, largest))))
        lengths = g.add(tb.ReduceSumOp(g.add(tb.SquareOp(v)), [2]))
        factors = g.add(tb.TransposeOp(g.add(tb.RsqrtOp(lengths)), [0, 2, 1]))
        scaled = g.cast(g.add(tb.MulOp(weights, factors)), s.kind)
        product = rescaled(g, matmul(g, scaled, v), largest)
        sums = rescaled(g, g.add(tb.ReduceSumOp(weights, [2])), largest)
        g.store(g.add(tb.DivOp(product, sums)), s.tensor(s.queries), [0, 1, ALL])
    return p.finish(*g.results)


def several_sides(
    rows: int, columns: int, depth: int, iterations: int, kind: str = "f16"
) -> ModuleOp:
    """Rows times a gain, the gain, and a bias, each multiplied by one matrix."""
    deep = depth * iterations
    p = Program(
        f"{rows}x{deep}x{kind}", f"{deep}x{kind}", f"{deep}x{kind}", f"{deep}x{columns}x{kind}"
    )
    x, gain, bias, w = p.inputs
    with p.graph([columns // 64], [iterations]) as g:
        factor = g.load(gain, (depth,), [ALL], [0])
        shift = g.load(bias, (depth,), [ALL], [0])
        tile = g.load(w, (depth, 64), [1], [0])
        scaled = g.cast(g.add(tb.MulOp(g.load(x, (rows, depth), [ALL], [1]), factor)), kind)
        element = tb.tile_type(factor).element_type
        wide = [
            g.add(tb.BroadcastOp(value, tb.TileType((1, depth), element)))
            for value in (factor, shift)
        ]
        for side in (scaled, *wide):
            value = total(g, matmul(g, side, tile))
            g.store(value, f"{tb.shape_of(side)[0]}x{columns}xf32", [1])
    return p.finish(*g.results)


SMALL = Heads(1, 128, 256, 64, 128, 64)


def ops_of(module: ModuleOp) -> list[Operation]:
    """The operations of the only kernel, in order."""
    (graph,) = graphs_of(module)
    return list(graph.body.block.ops)


SIZES = [SMALL, Heads(2, 20, 70, 32, 16, 32, kind="bf16"), Heads(1, 64, 200, 64, 64, 64)]


@pytest.mark.parametrize(("sizes", "target"), round_robin(SIZES, ["H200", "sm_80"]))
def test_factors_of_columns_that_threads_compute(sizes: Heads, target: str) -> None:
    check(normed_attention(sizes), target=target)


def test_threads_compute_while_the_matmul_runs() -> None:
    """
    They synchronize once an iteration, and the fence is there; the result waits behind their work.
    """
    (graph,) = graphs_of(schedule(normed_attention(SMALL)))
    ops = list(graph.body.block.ops)
    (product, _) = [op for op in ops if isinstance(op, tb.MatmulOp)]
    (move,) = [
        op for op in ops if isinstance(op, ConvertLayoutOp) and shared_buffer(op).double_buffered
    ]
    (maximum,) = [op for op in ops if isinstance(op, tb.ReduceMaxOp)]
    assert ops.index(product) < ops.index(move)
    loop = sections_of(graph)[MAIN_LOOP]
    (barrier,) = [op for op in loop if isinstance(op, BarrierOp)]
    assert ops.index(move) < ops.index(barrier) < ops.index(maximum)
    (release,) = [op for op in ops if isinstance(op, ReleaseTilesOp)]
    assert release.async_proxy_fence is None


def test_two_threads_share_a_row_that_is_summed() -> None:
    """One exchange a row; the usual spread has eight threads to a row, and three."""
    ops = ops_of(schedule(normed_attention(Heads(1, 128, 256, 64, 128, 128))))
    (sums,) = [
        op
        for op in ops
        if isinstance(op, tb.ReduceSumOp) and tb.shape_of(op.input)[1:] == (128, 64)
    ]
    columns = [column for _, column in registers_of(sums.input).threads if column]
    assert columns == [8]


def test_threads_bring_their_sums_together_once() -> None:
    """Behind the loop: in an iteration each adds up what it has of a row."""
    ops = ops_of(schedule(normed_attention(SMALL)))
    release = next(place for place, op in enumerate(ops) if isinstance(op, ReleaseTilesOp))
    late = [op for op in ops[release:] if isinstance(op, tb.ReduceSumOp)]
    assert [op.input.owner.name for op in late if isinstance(op.input.owner, Operation)] == [
        "threadblock.accumulate"
    ]


SIDES = [(8, 128, 64, "f16"), (5, 64, 128, "bf16"), (16, 64, 64, "f16"), (20, 64, 32, "f16")]


@pytest.mark.parametrize(("case", "target"), round_robin(SIDES, ["sm_80", "H200"]))
def test_sides_of_one_matrix(case: tuple[int, int, int, str], target: str) -> None:
    rows, columns, depth, kind = case
    check(several_sides(rows, columns, depth, 3, kind), target=target)


def test_two_warpgroups_join_sides() -> None:
    check(several_sides(8, 64, 64, 3), threads=256)


def test_matmuls_with_one_right_side_are_one() -> None:
    """Rows of 8, and of 1 twice, each padded to 8: four steps of 24 columns and one wait."""
    module = several_sides(8, 64, 64, 2)
    ops = ops_of(schedule(module.clone()))
    sides = [op for op in ops if isinstance(op, ConvertLayoutOp) and op.batched]
    offsets = [shared_buffer(op).offset for op in sides]
    assert len(sides) == len(set(offsets)) == 3
    products = [op for op in check(module).walk() if isinstance(op, WgmmaMmaAsyncOp)]
    assert [op.shape.n.data for op in products] == [24] * 4


def test_a_side_that_is_loaded_is_multiplied_alone() -> None:
    p = Program("8x128xf16", "128xf16", "128x64xf16")
    x, gain, w = p.inputs
    with p.graph([1], [2]) as g:
        tile = g.load(w, (64, 64), [ALL], [0])
        factor = g.load(gain, (64,), [ALL], [0])
        wide = g.add(tb.BroadcastOp(factor, tb.TileType((1, 64), f16)))
        for side in (g.load(x, (8, 64), [ALL], [1]), wide):
            g.store(total(g, matmul(g, side, tile)), f"{tb.shape_of(side)[0]}x64xf32", [ALL])
    module = p.finish(*g.results)
    assert not any(batch_place(op) for op in ops_of(schedule(module.clone())))
    waits = [op for op in check(module).walk() if isinstance(op, WgmmaWaitOp)]
    assert len(waits) == 2
