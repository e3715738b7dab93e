"""Barriers of known graphs: as few as there can be, and none that a reader needs is missing."""

from math import ceil

import attention_cases
import lowering_cases as cases
import lowering_tiles as tiles
import pytest
from attention_cases import Heads
from lowering_cases import Linear
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.decisions.schedule import FLIGHT_BYTES
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PROLOGUE,
    AwaitMmaOp,
    AwaitTileOp,
    AwaitTilesOp,
    BarrierOp,
    RefillBuffersOp,
    ReleaseTilesOp,
)
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.schedule.block_resources import iteration_bytes, unshared_bytes
from mirage_mlir.passes.schedule.order import reads
from mirage_mlir.passes.schedule.sections import sections_of
from mirage_mlir.passes.software_pipeline import SoftwarePipelinePass

LINEAR = Linear(16, 192, 96, 16, 64, 48)
HEADS = Heads(2, 16, 192, 32, 16, 64)

GRAPHS = {
    "rmsnorm-linear": cases.rmsnorm_linear(LINEAR),
    "gated-mlp": cases.gated_mlp(LINEAR),
    "lora": cases.lora(LINEAR, 16),
    "computed-operands": cases.transposed_linear(
        Linear(16, 64, 16, 0, 16, 0), computed=True, views=False
    ),
    "loop-invariant-tiles": cases.invariant_tiles(LINEAR),
    "attention": attention_cases.attention(HEADS),
    "maximum-of-the-iteration": attention_cases.observed_attention(HEADS),
    "sums": attention_cases.softmax_sums(16, 64, 16),
}


def scheduled(module: ModuleOp, target: str) -> kernel.GraphDefinedOp:
    """The kernel of a copy of `module`, as a block of `target` runs it."""
    module = module.clone()
    for step in (
        *lowering_passes(target, last="assign-layouts"),
        SoftwarePipelinePass(),
    ):
        step.apply(Context(), module)
    module.verify()
    return next(op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp))


def count(graph: kernel.GraphDefinedOp) -> dict[str, int]:
    """Barriers before, in and after the loop."""
    sections = sections_of(graph)
    return {
        name: sum(isinstance(op, BarrierOp) for op in sections[name])
        for name in (PROLOGUE, MAIN_LOOP, EPILOGUE)
    }


@pytest.mark.parametrize(
    ("name", "prologue", "loop", "epilogue"),
    [
        ("rmsnorm-linear", 0, 0, 2),
        ("gated-mlp", 0, 0, 2),
        ("lora", 0, 0, 3),
        # Written by some threads, read by others; the next iteration writes another buffer.
        ("computed-operands", 0, 1, 0),
        # Computed from by other threads than have read it, then read in the loop.
        ("loop-invariant-tiles", 2, 0, 0),
        ("attention", 0, 0, 3),
        ("maximum-of-the-iteration", 0, 1, 2),
        ("sums", 0, 0, 0),
    ],
)
def test_warps_that_wait_for_copies_need_no_barrier_for_them(
    name: str, prologue: int, loop: int, epilogue: int
) -> None:
    graph = scheduled(GRAPHS[name], "H200")
    assert graph.schedule.producer_warps
    assert count(graph) == {PROLOGUE: prologue, MAIN_LOOP: loop, EPILOGUE: epilogue}


@pytest.mark.parametrize(
    ("name", "section"),
    [("lora", EPILOGUE), ("loop-invariant-tiles", PROLOGUE), ("attention", PROLOGUE)],
)
def test_the_first_reader_waits_for_a_loop_invariant_tile(name: str, section: str) -> None:
    graph = scheduled(GRAPHS[name], "H200")
    ops: list[Operation] = list(graph.body.block.ops)
    (wait,) = [op for op in ops if isinstance(op, AwaitTileOp)]
    assert wait in sections_of(graph)[section]
    load = wait.tile.owner
    assert isinstance(load, Operation)
    readers = [place for place, op in enumerate(ops) if load in reads(op)]
    # What the loop reads is waited for in front of it.
    start = next(place for place, op in enumerate(ops) if isinstance(op, AwaitTilesOp))
    between = ops[ops.index(wait) + 1 : min(readers)]
    assert not between or min(readers) > start > ops.index(wait)


@pytest.mark.parametrize(
    ("name", "loop"), [("rmsnorm-linear", 1), ("computed-operands", 2), ("sums", 1)]
)
def test_without_producers_all_meet_at_the_top_of_the_loop(name: str, loop: int) -> None:
    graph = scheduled(GRAPHS[name], "sm_80")
    assert not graph.schedule.producer_warps
    assert count(graph)[MAIN_LOOP] == loop
    assert not any(isinstance(op, AwaitTilesOp | ReleaseTilesOp) for op in graph.walk())


@pytest.mark.parametrize("name", GRAPHS)
def test_tiles_are_read_between_await_and_release(name: str) -> None:
    """And released at once: behind the last reader stand waits for its matmul alone."""
    graph = scheduled(GRAPHS[name], "H200")
    ops: list[Operation] = list(graph.body.block.ops)
    (start,) = [place for place, op in enumerate(ops) if isinstance(op, AwaitTilesOp)]
    end = next(place for place, op in enumerate(ops) if isinstance(op, ReleaseTilesOp))
    readers = [place for place, op in enumerate(ops) if any(is_staged(b) for b in reads(op))]
    assert readers
    assert start < min(readers)
    assert all(isinstance(op, AwaitMmaOp) for op in ops[max(readers) + 1 : end])
    release = ops[end]
    assert isinstance(release, ReleaseTilesOp)
    assert (max(readers) < end) or release.behind is not None


def test_copies_that_no_box_can_make_stay_with_the_threads() -> None:
    """Lines of 40 bytes: their addresses are no multiples of 16."""
    graph = scheduled(cases.rmsnorm_linear(Linear(5, 20, 7, 5, 10, 7)), "H200")
    assert not graph.schedule.producer_warps
    assert count(graph)[MAIN_LOOP] >= 1


def test_without_a_loop_nobody_produces() -> None:
    graph = scheduled(tiles.softmax(5, 33, 2), "H200")
    assert not graph.schedule.producer_warps
    assert not any(isinstance(op, threadblock.AccumulateOp) for op in graph.walk())


def test_what_many_blocks_load_does_not_hold_copies_back() -> None:
    """Of 4 x 2 blocks each left tile is loaded by 4, each right one by 2: 4096 bytes each."""
    graph = scheduled(cases.gated_mlp(Linear(128, 640, 256, 64, 32, 64)), "sm_90a")
    assert iteration_bytes(graph) == 3 * 4096
    assert unshared_bytes(graph) == 4096 // 4 + 2 * 4096 // 2
    (refill,) = [op for op in graph.walk() if isinstance(op, RefillBuffersOp)]
    read = iteration_bytes(graph) // 2
    assert refill.ahead.value.data == ceil((FLIGHT_BYTES + read) / unshared_bytes(graph))
