"""Kernels that start before the previous grid has ended."""

from xdsl.dialects import gpu

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.driver.source import compiler_context, parse_program
from mirage_mlir.passes.pipelines import lowering_passes

T32, TILE = "tensor<64x64xf32>", "!threadblock.tile<16x64xf32>"

TWO_KERNELS = f"""
func.func @two(%x: {T32}, %w: {T32} {{kernel.constant}}) -> {T32} {{
  %y = kernel.graph_defined ins(%x) grid [4] {{
  ^bb0(%xa: {T32}):
    %t = threadblock.load %xa grid_map [0] : ({T32}) -> {TILE}
    %e = threadblock.exp %t : ({TILE}) -> {TILE}
    threadblock.store %e grid_map [0] : {TILE}
  }} : ({T32}) -> {T32}
  %z = kernel.graph_defined ins(%y, %w) grid [4] {{
  ^bb0(%ya: {T32}, %wa: {T32}):
    %t = threadblock.load %ya grid_map [0] : ({T32}) -> {TILE}
    %u = threadblock.load %wa grid_map [0] : ({T32}) -> {TILE}
    %e = threadblock.mul %t, %u : ({TILE}, {TILE}) -> {TILE}
    threadblock.store %e grid_map [0] : {TILE}
  }} : ({T32}, {T32}) -> {T32}
  func.return %z : {T32}
}}
"""


def kernels_of(target: str) -> list[str]:
    """The PTX of each kernel."""
    module = parse_program(TWO_KERNELS, "two")
    for each in lowering_passes(target):
        each.apply(compiler_context(), module)
    kernels = next(op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp))
    return to_ptx(kernels, {"H200": "sm_90a", "A100": "sm_80"}[target]).split(".entry")[1:]


def reads(kernel: str) -> tuple[int, int]:
    """Loads from device memory: all, and those of read-only memory, which may be old."""
    lines = [line.strip() for line in kernel.splitlines()]
    return (
        sum(line.startswith("ld.global") for line in lines),
        sum(line.startswith("ld.global.nc") for line in lines),
    )


def test_only_constants_are_read_as_read_only_memory() -> None:
    """
    What the previous grid writes is not read-only: it changes after this kernel's start.

    As read-only memory ptxas loads it before the wait: the second kernel got results of the call
    before on an H200.
    """
    (first, first_old), (second, second_old) = map(reads, kernels_of("H200"))
    assert first > 0
    assert first_old == 0
    assert second > second_old > 0


def test_kernels_in_iteration_read_all_as_read_only_memory() -> None:
    """On sm_80 a kernel starts after the previous grid: its inputs do not change."""
    for every, old in map(reads, kernels_of("A100")):
        assert every == old > 0
