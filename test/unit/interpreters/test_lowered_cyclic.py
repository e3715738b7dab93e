"""Lowered kernels whose blocks take turns with the tiles of what a loop cuts, too."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod

import attention_cases as attention
import lowering_cases as linear
import lowering_tiles as tiles
import numpy as np
import pytest
from attention_cases import Heads
from kernel_kinds import cyclic
from lowered_kernels import check, graphs_of, lower
from lowering_cases import Linear
from sampling import round_robin
from small_graphs import Program
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes import graph_pass
from mirage_mlir.targets.target import H200, Target

TARGETS = ["H200", "A100"]

ROWS = [
    # Whole tiles, copied by TMA or cp.async; ragged ones; fewer rows than blocks.
    (64, 128, 4, 1, "f16"),
    (64, 128, 4, 2, "bf16"),
    (61, 64, 3, 4, "bf16"),
    (31, 67, 4, 3, "f16"),
    (5, 40, 8, 1, "f32"),
]


@pytest.mark.parametrize(("case", "target"), round_robin(ROWS, TARGETS))
def test_row_gradients(case: tuple[int, int, int, int, str], target: str) -> None:
    check(cyclic(tiles.row_gradients(*case)), target=target)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages(stages: int) -> None:
    check(cyclic(tiles.row_gradients(59, 64, 3, 2, "f16")), stages=stages)


CASES: dict[str, Callable[[], ModuleOp]] = {
    "a dim of columns": partial(tiles.grid_and_loop, 61, 3, 4, 6, "sum"),
    "maxima": partial(tiles.grid_and_loop, 61, 3, 4, 6, "max"),
    "sums across": partial(tiles.sums_across, 17, 61, 2, 8),
    "split-K": partial(linear.split_linear, Linear(16, 512, 64, 16, 64, 64), 2, more=False),
    "split-K, ragged": partial(linear.split_linear, Linear(5, 93, 20, 5, 10, 20), 5, more=True),
    "attention across": partial(attention.attention, Heads(1, 6, 150, 16, 8, 32, 3)),
    "attention across, empty": partial(attention.attention, Heads(1, 8, 70, 16, 8, 32, 4)),
    "attention in two kernels": partial(attention.split_attention, Heads(1, 6, 150, 16, 8, 32, 3)),
}


@pytest.mark.parametrize(("name", "target"), round_robin(list(CASES), TARGETS))
def test_kernels(name: str, target: str) -> None:
    module = cyclic(CASES[name]())
    assert any(graph.is_cyclic for graph in graphs_of(module))
    check(module, target=target)


@pytest.mark.parametrize(("columns", "target"), round_robin([18, 19, 40], TARGETS))
def test_maxima_of_tiles_that_are_empty(columns: int, target: str) -> None:
    """Each block has a whole tile in its first iteration, and few or none behind."""
    p = Program(f"8x{columns}xf16")
    (x,) = p.inputs
    with p.graph([3], [4], cyclic=True) as g:
        xt = g.load(x, (8, 6), [1], [1])
        rows = linear.total(g, g.add(tb.ReduceMaxOp(xt, [1])), "max")
        g.store(linear.total(g, xt, "max"), "8x18xf32", [1])
        g.store(rows, "8x3xf32", [1])
    check(p.finish(*g.results), target=target)


def test_parts_are_those_of_the_blocks() -> None:
    """Block b of 3 sums up the columns of tiles b, 3 + b and 6 + b."""
    module = cyclic(tiles.grid_and_loop(36, 3, 3, 4, "sum"))
    x = np.arange(8 * 36, dtype=np.float32).reshape(8, 36)
    (found,) = run_kernels(lower(module), [x])
    wanted = x.reshape(8, 3, 3, 4).sum(1).reshape(8, 12)
    assert np.array_equal(found, wanted)


def test_persistent_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block computes one tile of the grid after another, alternately with the other blocks."""
    few = replace(H200, sm_count=3, sm_count_in_clusters=2, shared_memory_per_sm=8 << 10)

    def settled(module: ModuleOp, asked: str | None, by: str) -> Target:
        return few

    monkeypatch.setattr(graph_pass, "settle_target", settled)
    module = cyclic(linear.partial_products(Linear(64, 1000, 128, 64, 64, 32), 4))
    launches = [each for op in check(module).walk() if (each := launch_of(op))]
    assert [prod(launch.grid) for launch in launches] == [3]
