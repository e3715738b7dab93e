"""Sums of more blocks than a cluster has: right in each call, on any stream, again and again."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_runs import chip_here

import mirage_mlir as mi

ROWS, COLUMNS = 64, 32768

PROGRAM = f"""
func.func @sums(%x: tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}x1xf32> {{
  %o = kernel.graph_defined ins(%x) grid [8, 32] loop [4] {{
  ^bb0(%a: tensor<{ROWS}x{COLUMNS}xf32>):
    %t = threadblock.load %a grid_map [0, 1] loop_map [1]
      : (tensor<{ROWS}x{COLUMNS}xf32>) -> !threadblock.tile<8x256xf32>
    %s = threadblock.reduce_sum %t {{dims = array<i64: 1>}}
      : (!threadblock.tile<8x256xf32>) -> !threadblock.tile<8x1xf32>
    %b = threadblock.accumulate %s across [1]
      : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    threadblock.store %b grid_map [0, _] : !threadblock.tile<8x1xf32>
  }} : (tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}x1xf32>
  func.return %o : tensor<{ROWS}x1xf32>
}}
"""

CALLS = 50


@pytest.fixture
def kernel(tmp_path: Path) -> mi.CompiledKernel:
    """Row sums: 32 blocks share each."""
    path = tmp_path / "sums.mlir"
    path.write_text(PROGRAM)
    compiled = mi.compile_file(path, compile_for=[chip_here()])
    assert compiled.artifact.targets[0].counter_bytes
    return compiled


def random_rows(torch: Any) -> tuple[Any, Any]:
    """Rows, and their sums in float64."""
    x = torch.randn(ROWS, COLUMNS, device="cuda")
    return x, x.double().sum(dim=1, keepdim=True)


def close(output: Any, wanted: Any) -> bool:
    """Within what f32 rounds."""
    distance = (output.double() - wanted).norm() / wanted.norm()
    return bool(np.isfinite(distance.item()) and distance.item() < 1e-5)


def test_call_after_call(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Each finds the counters as the one before left them; no order of blocks changes a bit."""
    x, wanted = random_rows(torch)
    outputs = [kernel(x) for _ in range(CALLS)]
    assert all(close(output, wanted) for output in outputs)
    assert all(torch.equal(output, outputs[0]) for output in outputs)


def test_streams_at_once(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Calls that run side by side count their own blocks."""

    def call(_: int) -> bool:
        x, wanted = random_rows(torch)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            outputs = [kernel(x) for _ in range(CALLS)]
        stream.synchronize()
        return all(close(output, wanted) for output in outputs)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(16)))


def test_graphs_beside_calls(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Two graphs captured from streams of one pool, replayed on two streams while a third calls."""
    x, wanted = random_rows(torch)
    graphs, captured = [torch.cuda.CUDAGraph() for _ in range(2)], list[Any]()
    for graph in graphs:
        with torch.cuda.graph(graph):
            captured.append([kernel(x) for _ in range(4)])
    streams = [torch.cuda.Stream() for _ in graphs]
    torch.cuda.synchronize()
    outputs: list[Any] = []
    for _ in range(CALLS):
        for graph, stream in zip(graphs, streams, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
        outputs.append(kernel(x))
    torch.cuda.synchronize()
    assert all(close(output, wanted) for output in outputs)
    assert all(close(one, wanted) for replayed in captured for one in replayed)
