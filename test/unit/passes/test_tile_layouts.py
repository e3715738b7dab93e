"""The layouts that tiles get: conflicts as counted are those of the kernels, and none in loops."""

from collections import Counter
from collections.abc import Callable

import lowering_cases as cases
import lowering_tiles
import numpy as np
import pytest
from lowered_kernels import draw, emit, function_of, graphs_of
from lowering_cases import Linear
from sampling import sampled
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import ConvertLayoutOp, SharedAttr, layout_of
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.interpreters.gpu_simulator.traffic import TrafficWatcher
from mirage_mlir.layouts.banks import Access as TileAccess
from mirage_mlir.layouts.banks import CopiedPieces, Fragments, traffic
from mirage_mlir.passes.analysis.buffers import buffer_element, is_tensor_copy, shared_layout
from mirage_mlir.passes.layouts.tile_layouts import TileLayouts, Use
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.plan_memory import PlanMemoryPass
from mirage_mlir.passes.software_pipeline import SoftwarePipelinePass

USUAL = Linear(16, 192, 96, 16, 64, 48)

CASES: dict[str, Callable[[], ModuleOp]] = {
    "usual": lambda: cases.rmsnorm_linear(USUAL),
    "narrow": lambda: cases.rmsnorm_linear(Linear(16, 128, 64, 16, 32, 16)),
    "warps-along-rows": lambda: cases.rmsnorm_linear(Linear(40, 80, 24, 40, 16, 24)),
    "ragged": lambda: cases.rmsnorm_linear(Linear(17, 100, 50, 16, 32, 32)),
    "odd": lambda: cases.rmsnorm_linear(Linear(5, 20, 7, 5, 10, 7)),
    "f32": lambda: cases.rmsnorm_linear(USUAL._replace(kind="f32")),
    "no-loop": lambda: cases.plain_linear(Linear(16, 64, 64, 16, 64, 32)),
    "transposed": lambda: cases.transposed_linear(USUAL, computed=False, views=False),
    "views": lambda: cases.transposed_linear(USUAL, computed=False, views=True),
    "two": lambda: cases.gated_mlp(USUAL),
    "attention": lambda: cases.attention(16, 64, 32),
    "transposes": lambda: lowering_tiles.transposes(40, 24, (20, 12), "f16"),
}


LOOPS: dict[str, Callable[[Linear], ModuleOp]] = {
    "rmsnorm": cases.rmsnorm_linear,
    "two": cases.gated_mlp,
    "views": lambda s: cases.transposed_linear(s, computed=False, views=True),
    "transposed": lambda s: cases.transposed_linear(s, computed=False, views=False),
}


def laid_out(module: ModuleOp, target: str) -> ModuleOp:
    for step in lowering_passes(target, last="assign-layouts"):
        step.apply(Context(), module)
    module.verify()
    return module


def uses(module: ModuleOp) -> list[tuple[Operation, Use]]:
    """All accesses of all tiles that are loaded or written by threads."""
    (graph,) = graphs_of(module)
    layouts = TileLayouts(graph, threadblock.stages(graph))
    return [
        (op, use)
        for op in graph.body.block.ops
        if isinstance(op, threadblock.LoadOp | threadblock.ConcatOp | ConvertLayoutOp)
        and isinstance(layout_of(op.results[0]), SharedAttr)
        for use in layouts.uses(op)
    ]


def predicted(module: ModuleOp, kind: type[TileAccess]) -> int:
    """Passes that the banks take for all accesses of a kind, of one block."""
    return sum(
        traffic(use.access, shared_layout(op.results[0]), item_of(op), use.transposed).passes
        * use.times
        for op, use in uses(module)
        if isinstance(use.access, kind)
    )


def item_of(op: Operation) -> int:
    return byte_width(buffer_element(op))


def measured(module: ModuleOp) -> Counter[str]:
    """Passes of the banks by what asks for them, while the kernel runs."""
    for step in (SoftwarePipelinePass(), PlanMemoryPass()):
        step.apply(Context(), module)
    inputs = draw(function_of(module))
    watcher = TrafficWatcher()
    run_kernels(emit(module), inputs, checker=watcher)
    (asked,) = watcher.kernels.values()
    return asked.passes


@pytest.mark.parametrize("name", sampled(list(CASES), 3))
def test_the_kernels_do_what_was_counted(name: str) -> None:
    """Matrix loads and copies of all blocks, thread by thread."""
    module = laid_out(CASES[name](), "sm_80")
    (graph,) = graphs_of(module)
    blocks = int(np.prod(graph.grid_sizes))
    matrices, copies = (blocks * predicted(module, kind) for kind in (Fragments, CopiedPieces))
    found = measured(module)
    if "f32" not in name:
        assert found["ldmatrix"] == matrices
    if name not in ("odd", "ragged"):
        # Pieces below 4 bytes are no asynchronous copies.
        assert found["cp.async"] == copies


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("columns", [16, 32, 64])
@pytest.mark.parametrize("program", LOOPS)
def test_no_conflicts_in_the_loop(program: str, columns: int, target: str) -> None:
    """As the demo does: copies, matrix loads, and the rows' squares."""
    module = laid_out(LOOPS[program](Linear(16, 192, 128, 16, 64, columns)), target)
    looped = [(op, use) for op, use in uses(module) if use.times > 1]
    assert looped
    for op, use in looped:
        layout = shared_layout(op.results[0])
        assert traffic(use.access, layout, item_of(op), use.transposed).conflicts == 0


def test_tiles_of_tensor_copies_have_no_padding() -> None:
    module = laid_out(CASES["narrow"](), "sm_90a")
    (graph,) = graphs_of(module)
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    for op in loads:
        assert is_tensor_copy(op)
        assert shared_layout(op.result).swizzle in (32, 64, 128)
        assert shared_layout(op.result).size == np.prod(threadblock.shape_of(op.result))


def test_all_loads_of_a_loop_are_tensor_copies_or_none() -> None:
    """Rows of 100 elements of f16 do not start at multiples of 16 bytes."""
    module = laid_out(cases.rmsnorm_linear(Linear(16, 100, 64, 16, 32, 32)), "sm_90a")
    (graph,) = graphs_of(module)
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    assert [is_tensor_copy(op) for op in loads] == [False, False]


def test_layouts_are_the_same_every_time() -> None:
    first, second = (str(laid_out(CASES["attention"](), "sm_90a")) for _ in range(2))
    assert first == second
