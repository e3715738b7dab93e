"""RMSNorm of rows that lie over a cluster, and wait in shared memory for their sums."""

import numpy as np
import pytest
from lowered_kernels import lower

import mirage_mlir as mi
from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters.gpu_simulator import random_inputs, run_kernels
from mirage_mlir.passes.analysis import row_sums

COLUMNS, TILE = 16384, 8192

PROGRAM = f"""
func.func @rms_norm(%x: tensor<3x{COLUMNS}xf16>) -> tensor<3x{COLUMNS}xf16> {{
  %o = kernel.graph_defined ins(%x) grid [3, 2] {{
  ^bb0(%xa: tensor<3x{COLUMNS}xf16>):
    %t = threadblock.load %xa grid_map [0, 1]
      : (tensor<3x{COLUMNS}xf16>) -> !threadblock.tile<1x{TILE}xf16>
    %s = threadblock.square %t
      : (!threadblock.tile<1x{TILE}xf16>) -> !threadblock.tile<1x{TILE}xf32>
    %r = threadblock.reduce_sum %s {{dims = array<i64: 1>}}
      : (!threadblock.tile<1x{TILE}xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %r across [1]
      : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %i = threadblock.rsqrt %a : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %y = threadblock.mul %i, %t
      : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x{TILE}xf16>)
      -> !threadblock.tile<1x{TILE}xf32>
    %h = threadblock.cast %y
      : (!threadblock.tile<1x{TILE}xf32>) -> !threadblock.tile<1x{TILE}xf16>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<1x{TILE}xf16>
  }} : (tensor<3x{COLUMNS}xf16>) -> tensor<3x{COLUMNS}xf16>
  func.return %o : tensor<3x{COLUMNS}xf16>
}}
"""


def test_rows_in_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid of a few blocks keeps them there, too, where no multiprocessor has room for more."""
    monkeypatch.setattr(row_sums, "MEETING_THREADS", 0)
    kernels = lower(parse_program(PROGRAM, "rows"))
    assert "nvvm.cp.async.shared.global" in str(kernels)
    (x,) = inputs = random_inputs(kernels)
    (y,) = run_kernels(kernels, inputs)
    rows = np.asarray(x, np.float64).reshape(3, COLUMNS)
    wanted = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
    found = np.asarray(y, np.float64).reshape(wanted.shape)
    assert np.allclose(found, wanted, rtol=2e-3, atol=1e-6)


@pytest.mark.usefixtures("first_look")
def test_log_softmax_behind_a_product() -> None:
    """What blocks of a cluster compute again behind their sums is told from what comes first."""
    g = mi.KernelGraph()
    x, w = g.new_input((8, 16), mi.float16), g.new_input((16, 50257), mi.float16)
    logits = g.cast(g.matmul(x, w), mi.float32)
    largest = g.reduce_max(logits, 1)
    total = g.reduce_sum(g.exp(g.sub(logits, largest)), 1)
    g.mark_output(g.sub(logits, g.add(largest, g.log(total))))
    assert mi.superoptimize(g, compile_for=["sm_90a"]).ugraph.count("kernel.graph_defined") == 2
