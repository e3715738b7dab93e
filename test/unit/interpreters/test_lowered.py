"""Lowered kernels compute what their uGraphs do, without a fault, for every shape of kernel."""

from collections.abc import Sequence

import lowering_cases as cases
import lowering_tiles as tiles
import numpy as np
import pytest
from lowered_kernels import check, draw, function_of, lower, schedule
from lowering_cases import Linear
from random_graphs import GraphMaker
from sampling import round_robin, sampled
from xdsl.dialects import gpu, llvm
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.interpreters.gpu_simulator import random_inputs, run_kernels

LINEARS = {
    "usual": Linear(16, 192, 96, 16, 64, 48),
    "one-row": Linear(1, 64, 16, 1, 16, 16),
    "three-rows-ragged": Linear(3, 100, 50, 16, 32, 32),
    "four-byte-columns": Linear(2, 40, 6, 2, 20, 6),
    "eight-byte-columns": Linear(33, 48, 12, 33, 24, 4),
    "odd-columns": Linear(5, 20, 7, 5, 10, 7),
    "odd-everything": Linear(17, 33, 35, 16, 16, 16),
    "warps-along-rows": Linear(40, 80, 24, 40, 16, 24),
    "ragged-rows": Linear(40, 80, 24, 16, 32, 16),
    "more-warps-than-tiles": Linear(16, 64, 8, 16, 16, 8),
}

ODD = Linear(5, 20, 7, 5, 10, 7)


def kinds_of(module: gpu.ModuleOp) -> set[type[Operation]]:
    return {type(op) for op in module.walk()}


@pytest.mark.parametrize("name", sampled(list(LINEARS), 2))
def test_rmsnorm_linear(name: str) -> None:
    check(cases.rmsnorm_linear(LINEARS[name]))


@pytest.mark.parametrize("name", ["usual", "odd-columns", "warps-along-rows"])
def test_rmsnorm_linear_in_bf16(name: str) -> None:
    check(cases.rmsnorm_linear(LINEARS[name]._replace(kind="bf16")))


@pytest.mark.parametrize("name", ["one-row", "odd-columns", "eight-byte-columns"])
def test_rmsnorm_linear_in_f32(name: str) -> None:
    """Three matmuls of parts make one of f32: the error is that of f32, not of tf32."""
    kernels = check(cases.rmsnorm_linear(LINEARS[name]._replace(kind="f32")))
    assert nvvm.MmaSyncOp in kinds_of(kernels)


@pytest.mark.parametrize("name", ["usual", "one-row", "odd-columns", "eight-byte-columns"])
def test_tf32_on_request(name: str) -> None:
    """One matmul of rounded numbers: a third of the instructions, and the error of tf32."""
    s = LINEARS[name]._replace(kind="f32")
    precise, rounded = (check(cases.linear_in(asked, s)) for asked in (None, "tf32"))
    matmuls = [
        sum(isinstance(op, nvvm.MmaSyncOp) for op in kernels.walk())
        for kernels in (precise, rounded)
    ]
    assert matmuls[0] == 3 * matmuls[1]
    random = random_inputs(rounded)
    exact = random[0].astype(np.float64) @ random[1]
    (result,) = run_kernels(rounded, random)
    error = np.linalg.norm(result - exact) / np.linalg.norm(exact)
    # More than f32 would have: nothing else brings tf32's rounding into the result.
    assert 2.0**-16 < error < 2.0**-11


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages(stages: int) -> None:
    check(cases.rmsnorm_linear(LINEARS["three-rows-ragged"]), stages=stages)


@pytest.mark.parametrize("threads", [32, 64, 256, 512])
def test_threads(threads: int) -> None:
    check(cases.rmsnorm_linear(LINEARS["odd-columns"]), threads=threads)
    check(tiles.softmax(5, 33, 2), threads=threads)


def test_against_numpy() -> None:
    """Without the other interpreter."""
    module = cases.rmsnorm_linear(LINEARS["three-rows-ragged"])
    x, w = draw(function_of(module))
    (result,) = run_kernels(lower(module), [x, w])
    x, w = (each.astype(np.float16).astype(np.float64) for each in (x, w))
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True)) @ w
    assert result.dtype == np.float16
    assert np.allclose(result, expected, rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize(
    "name", sampled(["usual", "three-rows-ragged", "odd-columns", "warps-along-rows"], 2)
)
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_biased_linear(name: str, kind: str) -> None:
    check(cases.biased_linear(LINEARS[name]._replace(kind=kind)))


@pytest.mark.parametrize("name", ["one-row", "odd-everything", "eight-byte-columns"])
def test_linear_without_loop(name: str) -> None:
    check(cases.plain_linear(LINEARS[name]))


def test_deep_matmul_becomes_a_loop() -> None:
    check(cases.plain_linear(Linear(3, 300, 20, 3, 300, 20)))


@pytest.mark.parametrize("name", ["three-rows-ragged", "odd-columns", "warps-along-rows"])
def test_gated_mlp(name: str) -> None:
    check(cases.gated_mlp(LINEARS[name]))


@pytest.mark.parametrize(
    "name", sampled(["usual", "three-rows-ragged", "odd-columns", "ragged-rows"], 2)
)
@pytest.mark.parametrize("rank", [12, 16])
def test_lora(name: str, rank: int) -> None:
    check(cases.lora(LINEARS[name], rank))


def test_lora_in_f32() -> None:
    check(cases.lora(ODD._replace(kind="f32"), 3))


@pytest.mark.parametrize("batch", [1, 2])
def test_batched_linear(batch: int) -> None:
    check(cases.batched_linear(batch, Linear(33, 40, 20, 16, 16, 8)))


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize(
    "s",
    sampled(
        [Linear(16, 32, 16, 0, 16, 0), Linear(5, 20, 9, 0, 8, 0), Linear(33, 48, 24, 0, 48, 0)], 2
    ),
)
def test_transposed_linear(s: Linear, *, computed: bool, views: bool) -> None:
    check(cases.transposed_linear(s, computed=computed, views=views))


@pytest.mark.parametrize("sizes", [(16, 16, 16), (5, 9, 7), (17, 40, 24), (1, 33, 16)])
def test_attention(sizes: tuple[int, int, int]) -> None:
    check(cases.attention(*sizes))


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_attention_in(kind: str) -> None:
    check(cases.attention(5, 9, 7, kind))


@pytest.mark.parametrize("sizes", [(16, 48, 16, 16, 16), (5, 9, 7, 8, 5), (17, 40, 24, 16, 8)])
def test_looped_attention(sizes: tuple[int, int, int, int, int]) -> None:
    check(cases.looped_attention(*sizes))


REDUCED = [
    (dims, kinds)
    for kinds in sampled([("sum", "sum"), ("sum", "max"), ("max", "sum"), ("max", "max")], 2)
    for dims in ([0], [1], [0, 1])
]


@pytest.mark.parametrize(
    ("case", "s"), round_robin(REDUCED, [Linear(16, 128, 16, 0, 64, 0), Linear(5, 40, 9, 0, 8, 0)])
)
def test_reduced_matmuls(case: tuple[list[int], tuple[str, str]], s: Linear) -> None:
    """Sums and maxima of matmuls, in the loop and after it, in every combination."""
    dims, kinds = case
    check(cases.reduced_linear(s, dims, *kinds))


@pytest.mark.parametrize("s", [Linear(16, 64, 32, 0, 16, 0), Linear(5, 20, 7, 0, 8, 0)])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_tiles_from_before_the_loop(s: Linear, kind: str) -> None:
    check(cases.invariant_tiles(s._replace(kind=kind)))
    check(cases.invariant_matmul(s._replace(kind=kind)))


@pytest.mark.parametrize("sizes", [(16, (2, 32), 16, 16), (5, (3, 20), 9, 8)])
def test_two_loops(sizes: tuple[int, tuple[int, int], int, int]) -> None:
    check(cases.two_loops(*sizes))


def test_blocks_that_start_the_loop_apart() -> None:
    check(cases.rmsnorm_linear(Linear(4, 60, 150, 4, 16, 8)))


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(
    ("s", "blocks"),
    [
        (Linear(16, 128, 32, 16, 16, 16), 4),
        (Linear(5, 100, 33, 5, 16, 33), 2),
        (Linear(4, 40, 6, 4, 8, 6, "f32"), 2),
    ],
)
def test_sums_over_the_blocks_of_a_cluster(s: Linear, blocks: int, *, more: bool) -> None:
    check(cases.split_linear(s, blocks, more=more))


@pytest.mark.parametrize("s", [Linear(16, 128, 32, 0, 64, 0), Linear(5, 100, 9, 0, 16, 0)])
def test_sums_over_blocks_that_move_between_threads(s: Linear) -> None:
    check(cases.split_roots(s, 2))


@pytest.mark.parametrize("seed", sampled(range(40), 6))
def test_random_graph(seed: int) -> None:
    check(GraphMaker(seed).make(), stages=(None, 2, 3)[seed % 3], threads=(None, 64)[seed % 2])


def test_sums_over_blocks_that_are_used_one_after_the_other() -> None:
    check(tiles.sums_across(17, 64, 2, 8))


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize("sizes", [(3, 2, 4), (5, 2, 4), (2, 3, 8)])
def test_tiles_that_are_never_full(sizes: tuple[int, int, int], kind: str) -> None:
    check(tiles.partly_empty_sum(*sizes, kind))


@pytest.mark.parametrize("columns", [24, 22])
def test_two_loops_over_one_dim(columns: int) -> None:
    check(tiles.loops_over_one_dim(columns, [2, 3], 4))


@pytest.mark.parametrize("kind", ["sum", "max"])
def test_grid_and_loop_over_one_dim(kind: str) -> None:
    check(tiles.grid_and_loop(24, 2, 3, 4, kind))


@pytest.mark.parametrize(
    ("shape", "tile", "cuts", "other"),
    sampled(
        [
            ((256, 64), (256, 64), [0], (1, 64)),
            ((64, 512), (64, 256), [1], (64, 1)),
            ((100, 37), (50, 37), [0], (37,)),
            ((130,), (64,), [0], (1,)),
            ((2, 3, 40), (1, 3, 40), [0], (3, 1)),
            ((4, 5, 6, 7), (2, 5, 3, 7), [0, 2], (4, 1, 6, 1)),
            ((3, 5, 9), (2, 2, 4), [0, 1, 2], (1, 5, 1)),
        ],
        2,
    ),
)
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_elementwise(
    shape: Sequence[int], tile: Sequence[int], cuts: Sequence[int], other: Sequence[int], kind: str
) -> None:
    check(tiles.elementwise(shape, tile, cuts, other, kind))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_functions(kind: str) -> None:
    check(tiles.all_functions((5, 24), kind))


@pytest.mark.parametrize("sizes", [(16, 16, (16, 16)), (5, 7, (5, 7)), (20, 33, (8, 16))])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_transpose(sizes: tuple[int, int, tuple[int, int]], kind: str) -> None:
    check(tiles.transposes(*sizes, kind))


@pytest.mark.parametrize(
    ("shapes", "dim", "cut", "blocks"),
    [
        ([[4, 8], [4, 8]], 1, -1, 1),
        ([[4, 5], [4, 1], [4, 2]], 1, -1, 1),
        ([[5, 7], [3, 7], [1, 7]], 0, -1, 1),
        ([[4, 8], [4, 16]], 1, 0, 3),
        ([[4, 8], [6, 8]], 0, 1, 2),
        ([[2, 3, 8], [2, 5, 8]], 1, -1, 1),
        ([[2, 3, 4], [2, 3, 6]], 2, -1, 1),
        ([[2, 2, 3, 4], [2, 1, 3, 4]], 1, -1, 1),
    ],
)
def test_concat(shapes: Sequence[Sequence[int]], dim: int, cut: int, blocks: int) -> None:
    check(tiles.concat(shapes, dim, cut, blocks))


@pytest.mark.parametrize("sizes", [(16, (16, 16), 16, 3), (5, (7, 6), 9, 1), (5, (3, 4), 9, 3)])
def test_matmul_of_joined_tiles(sizes: tuple[int, tuple[int, int], int, int]) -> None:
    check(tiles.joined_matmul(*sizes))


@pytest.mark.parametrize("sizes", [(10, 4, 4), (1, 3, 1)])
def test_blocks_without_elements(sizes: tuple[int, int, int]) -> None:
    check(tiles.empty_blocks(*sizes))


@pytest.mark.parametrize("name", tiles.VIEWS)
def test_view(name: str) -> None:
    check(tiles.viewed(name))


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_several_kernels(kind: str) -> None:
    kernels = check(tiles.chain(5, 9, 20, kind))
    written = [last_argument(op) for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp)]
    scratch = [name for name in written if name.startswith("scratch")]
    assert len(written) == 5
    assert len(set(scratch)) < len(scratch), "two tensors take turns in one place"


def last_argument(function: llvm.FuncOp) -> str:
    """Where a kernel's only result goes."""
    launch = launch_of(function)
    assert launch is not None
    return launch.arguments[-1]


def test_views_between_kernels() -> None:
    check(tiles.views_between())


def test_depth_is_split_over_warps() -> None:
    """What the names of the cases promise is what the lowering does."""
    assert warps_of("usual") == (1, 1, 4)
    assert warps_of("warps-along-rows")[0] > 1
    down, across, _ = warps_of("more-warps-than-tiles")
    assert down * across > 1


def warps_of(name: str) -> tuple[int, ...]:
    module = schedule(cases.rmsnorm_linear(LINEARS[name]))
    (warps,) = [op.warp_counts for op in module.walk() if isinstance(op, threadblock.MatmulOp)]
    return warps


def test_chosen_blocks() -> None:
    kernels = lower(tiles.softmax(6, 16, 2, "f32"))
    inputs = random_inputs(kernels)
    (whole,) = run_kernels(kernels, inputs)
    (part,) = run_kernels(kernels, inputs, blocks=[(1, 0, 0)])
    assert np.array_equal(part[2:4], whole[2:4])
    assert np.isnan(part[:2]).all()
    assert np.isnan(part[4:]).all()


def test_inputs_must_fit() -> None:
    kernels = lower(tiles.softmax(6, 16, 2))
    with pytest.raises(ValueError, match="the kernels take 1 inputs, got 2"):
        run_kernels(kernels, [np.zeros((6, 16)), np.zeros(3)])
    with pytest.raises(ValueError, match=r"input 0 has shape \(6, 15\), expected \(6, 16\)"):
        run_kernels(kernels, [np.zeros((6, 15))])


def test_random_inputs_repeat() -> None:
    kernels = lower(tiles.softmax(6, 16, 2))
    (first,), (again,), (other,) = (random_inputs(kernels, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
