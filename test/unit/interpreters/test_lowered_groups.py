"""Warpgroup matmuls in whole kernels: right, without a race, and used where they fit."""

from collections.abc import Callable

import pytest
from attention_cases import Heads, attention, attention_without_loop, jointly_shifted
from lowered_kernels import check, graphs_of, schedule
from lowering_cases import (
    Linear,
    gated_mlp,
    invariant_matmul,
    lora,
    matmul,
    plain_linear,
    rmsnorm_linear,
    split_linear,
    total,
    transposed_linear,
)
from small_graphs import ALL, Program
from xdsl.dialects import gpu
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.nvvm import Ex2Op
from mirage_mlir.dialects.nvvm_wgmma import (
    RegistersForm,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaMmaAsyncOp,
    WgmmaWaitOp,
)
from mirage_mlir.dialects.pipeline import BarrierOp, IssueCopiesOp

NORMAL, SWAPPED = False, True


def matmuls_of(module: ModuleOp) -> list[threadblock.MatmulOp]:
    """All matmuls of tiles."""
    return [
        op
        for graph in graphs_of(module)
        for op in graph.body.block.ops
        if isinstance(op, threadblock.MatmulOp)
    ]


def groups_of(module: ModuleOp, threads: int | None = None) -> list[tuple[list[int], bool]]:
    """The warpgroups of each matmul that has some, and whether it is computed transposed."""
    found: list[tuple[list[int], bool]] = []
    for op in matmuls_of(schedule(module.clone(), threads=threads)):
        if op.mma is not None:
            found.append(([*op.warp_counts], op.swapped is not None))
    return found


LINEAR = [
    (lambda: plain_linear(Linear(64, 128, 64, 64, 64, 32)), None, [([1, 1, 1], NORMAL)]),
    # Rows and columns that tiles do not divide.
    (lambda: plain_linear(Linear(100, 112, 40, 64, 112, 32)), None, [([1, 1, 1], NORMAL)]),
    (lambda: plain_linear(Linear(5, 112, 64, 5, 112, 64, "bf16")), None, [([1, 1, 1], SWAPPED)]),
    # Two groups along the rows of the unit, along its columns, along the depth.
    (lambda: plain_linear(Linear(8, 64, 128, 8, 32, 128)), 256, [([1, 2, 1], SWAPPED)]),
    (lambda: rmsnorm_linear(Linear(16, 120, 64, 16, 32, 64)), 256, [([1, 1, 2], SWAPPED)]),
    (lambda: plain_linear(Linear(16, 64, 64, 16, 64, 64)), 256, [([2, 1, 1], SWAPPED)]),
    (lambda: plain_linear(Linear(128, 64, 32, 128, 32, 32)), 256, [([2, 1, 1], NORMAL)]),
    (lambda: rmsnorm_linear(Linear(8, 256, 64, 8, 128, 64)), None, [([1, 1, 1], SWAPPED)]),
    (lambda: gated_mlp(Linear(8, 64, 64, 8, 32, 64)), None, [([1, 1, 1], SWAPPED)] * 2),
    (
        lambda: split_linear(Linear(8, 256, 64, 8, 64, 64), 2, more=False),
        None,
        [([1, 1, 1], SWAPPED)],
    ),
    (
        lambda: invariant_matmul(Linear(64, 64, 32, 64, 32, 32)),
        None,
        [([1, 2, 1], NORMAL), ([1, 1, 2], NORMAL)],
    ),
]


@pytest.mark.parametrize(("make", "threads", "expected"), LINEAR)
def test_matmuls_with_weights(
    make: Callable[[], ModuleOp], threads: int | None, expected: list[tuple[list[int], bool]]
):
    module = make()
    assert groups_of(module, threads) == expected
    check(module, threads=threads)


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("rows", [16, 64])
def test_transposed_operands(rows: int, computed: bool, views: bool):
    module = transposed_linear(Linear(rows, 64, 64, rows, 64, 64), computed=computed, views=views)
    assert [swapped for _, swapped in groups_of(module)] == [rows < 64]
    check(module)


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize(("rows", "across"), [(192, 192), (192, 64), (96, 64), (64, 96)])
def test_parts_of_transposed_operands(rows: int, across: int, views: bool) -> None:
    """Rows that lie along lines are shared in whole lines: 96 of 192 would start within one."""
    shape = Linear(rows, 128, across, rows, 64, across)
    module = transposed_linear(shape, computed=False, views=views)
    check(module, threads=256)


def test_leading_sides_that_change_places_transpose_nothing() -> None:
    """A tile of 32x1x192 as one of 1x32x192: its matrix stays, whole lines are shared."""
    p = Program("192x64xf16", "64x1x192xf16")
    x, w = p.inputs
    with p.graph([1], [2]) as g:
        xt = g.load(x, (192, 32), [ALL], [1])
        wt = g.add(threadblock.TransposeOp(g.load(w, (32, 1, 192), [ALL], [0]), [1, 0, 2]))
        g.store(total(g, matmul(g, xt, wt)), "1x192x192xf32", [ALL])
    check(p.finish(*g.results))


def test_rows_of_the_transpose_are_shared() -> None:
    """96 rows of 192 for each warpgroup, where neighbours in a line lie along the depth."""
    module = rmsnorm_linear(Linear(192, 128, 192, 192, 64, 192))
    assert groups_of(module) == [([2, 1, 1], SWAPPED)]
    check(module)


ATTENTION = [
    (lambda: attention(Heads(1, 64, 128, 32, 64, 64)), [1, 2, 1], [1, 1, 2]),
    # Keys that tiles do not divide, and rows past the last query.
    (lambda: attention(Heads(1, 50, 100, 32, 64, 32, 1, "bf16")), [1, 2, 1], [1, 1, 2]),
    (lambda: attention(Heads(1, 128, 64, 32, 128, 32)), [2, 1, 1], [2, 1, 1]),
    (lambda: attention_without_loop(Heads(1, 64, 64, 32, 64, 32, 2)), [1, 2, 1], [1, 1, 2]),
]


@pytest.mark.parametrize(("make", "first", "second"), ATTENTION)
def test_scores_stay_in_registers(
    make: Callable[[], ModuleOp], first: list[int], second: list[int]
):
    module = make()
    assert groups_of(module) == [(first, NORMAL), (second, NORMAL)]
    kernels = check(module)
    forms = [form for op in kernels.walk() if (form := RegistersForm.of(op))]
    assert forms, "the second matmul takes its left side from registers"
    assert any(isinstance(op, WgmmaMmaAsyncOp) for op in kernels.walk())


def test_several_matmuls_of_one_tile():
    module = jointly_shifted(Heads(1, 64, 64, 32, 64, 32))
    assert len(groups_of(module)) > 2
    check(module)


@pytest.mark.parametrize(
    "linear",
    [
        # Neither rows nor columns fill 64.
        Linear(16, 64, 48, 16, 64, 48),
        # No whole number of steps of 16.
        Linear(64, 24, 64, 64, 24, 64),
        # Lines of less than 32 bytes.
        Linear(64, 64, 24, 64, 32, 8),
        Linear(64, 64, 64, 64, 32, 64, "f32"),
    ],
)
def test_matmuls_of_single_warps(linear: Linear):
    assert not groups_of(plain_linear(linear))


def test_threads_work_while_a_matmul_runs():
    kernels = check(rmsnorm_linear(Linear(16, 256, 64, 16, 64, 64)))
    (loop,) = {op.parent for op in kernels.walk() if isinstance(op, WgmmaCommitOp)}
    assert loop is not None
    ops = list(loop.ops)
    names = [op.name for op in ops]
    start, end = names.index(WgmmaCommitOp.name), names.index(WgmmaWaitOp.name)
    assert names.index(WgmmaFenceOp.name) < start < end
    wait = ops[end]
    assert isinstance(wait, WgmmaWaitOp)
    assert wait.group.value.data == 1, "only the matmul of the iteration before is over"
    assert names[end:].count("arith.mulf") > 0, "squares for the norm"
    assert "nvvm.mbarrier.arrive" in [op.name for op in kernels.walk()]


def test_two_matmuls_run_into_the_next_iteration():
    kernels = check(gated_mlp(Linear(64, 256, 64, 64, 64, 64)))
    waits = [op.group.value.data for op in kernels.walk() if isinstance(op, WgmmaWaitOp)]
    assert waits[0] == 2
    assert set(waits[1:]) == {0}


def test_a_matmul_of_warps_runs_beside_one_that_goes_on():
    """A low-rank adapter's is over in its iteration, the other is not."""
    module = lora(Linear(48, 256, 64, 48, 64, 64), 8)
    assert groups_of(module) == [([1, 1, 1], SWAPPED)]
    kernels = check(module)
    waits = [op.group.value.data for op in kernels.walk() if isinstance(op, WgmmaWaitOp)]
    assert waits[0] == 1


def test_a_matmul_starts_when_its_own_tiles_have_come():
    module = schedule(attention_without_loop(Heads(1, 64, 64, 32, 64, 32, 2)))
    (graph,) = graphs_of(module)
    ops = list(graph.body.block.ops)
    groups = [op for op in ops if isinstance(op, IssueCopiesOp)]
    assert [len(op.tiles) for op in groups] == [2, 1]
    waits = [op for op in ops if isinstance(op, BarrierOp) and op.pending is not None]
    first, second = matmuls_of(module)
    soon, late, *_ = waits
    assert (soon.pending, late.pending) == (IntegerAttr(1, i64), IntegerAttr(0, i64))
    assert ops.index(soon) < ops.index(first) < ops.index(late) < ops.index(second)


def exponentials_between(kernels: gpu.ModuleOp) -> list[int]:
    """How many exponentials are computed between each two matmuls of registers in the loop."""
    blocks = {op.parent for op in kernels.walk() if RegistersForm.of(op)}
    (block,) = blocks
    assert block is not None
    counts: list[int] = []
    for op in block.ops:
        if RegistersForm.of(op):
            counts.append(0)
        elif isinstance(op, Ex2Op) and counts:
            counts[-1] += 1
    return counts[:-1]


def test_weights_are_computed_while_others_are_multiplied():
    kernels = check(attention(Heads(1, 128, 128, 32, 128, 64)))
    # Four steps of 16 keys, two at a time: 8 weights of each step are a thread's.
    assert exponentials_between(kernels) == [0, 16, 0]


def test_values_that_threads_write_are_waited_for_first():
    # The second operand is not there before a barrier, in front of the sum.
    s = Heads(1, 64, 64, 32, 64, 32)
    p, tensors = s.program()
    with p.graph(s.grid, [s.iterations]) as g:
        q, k, v = s.tiles(g, tensors)
        weights = g.add(threadblock.ExpOp(g.add(threadblock.ScaleOp(matmul(g, q, k), 0.01))))
        values = g.cast(g.add(threadblock.ScaleOp(v, 0.5)), s.kind)
        product = total(g, matmul(g, g.cast(weights, s.kind), values))
        g.store(product, f"{s.heads}x{s.queries}x{s.depth}xf32", [0, 1, ALL])
    module = p.finish(*g.results)
    assert len(groups_of(module)) == 2
    check(module)
