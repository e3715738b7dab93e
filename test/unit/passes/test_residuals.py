"""Residuals and biases beside matmuls with swapped operands: read in place, behind the loop."""

import numpy as np
import pytest
from xdsl.dialects import gpu

from mirage_mlir.driver.source import compiler_context, parse_program
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.pipelines import lowering_passes

GRAPH = """
func.func @f(%x: tensor<{m}x128x{t}>, %w: tensor<128x{n}x{t}>, %b: tensor<{n}x{t}>, %r: tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %y = kernel.graph_defined ins(%x, %w, %b, %r) grid [{gm}, {gn}] loop [2] {{
  ^bb0(%0: tensor<{m}x128x{t}>, %1: tensor<128x{n}x{t}>, %2: tensor<{n}x{t}>, %3: tensor<{m}x{n}x{t}>):
    %4 = threadblock.load %0 grid_map [0, _] loop_map [1] : (tensor<{m}x128x{t}>) -> !threadblock.tile<72x64x{t}>
    %5 = threadblock.load %1 grid_map [_, 1] loop_map [0] : (tensor<128x{n}x{t}>) -> !threadblock.tile<64x128x{t}>
    %6 = threadblock.load %2 grid_map [_, 0] loop_map [_] : (tensor<{n}x{t}>) -> !threadblock.tile<128x{t}>
    %7 = threadblock.load %3 grid_map [0, 1] loop_map [_] : (tensor<{m}x{n}x{t}>) -> !threadblock.tile<72x128x{t}>
    %8 = threadblock.add %6, %7 : (!threadblock.tile<128x{t}>, !threadblock.tile<72x128x{t}>) -> !threadblock.tile<72x128xf32>
    %9 = threadblock.matmul %4, %5 : (!threadblock.tile<72x64x{t}>, !threadblock.tile<64x128x{t}>) -> !threadblock.tile<72x128xf32>
    %10 = threadblock.accumulate %9 : (!threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128xf32>
    %11 = threadblock.add %10, %8 : (!threadblock.tile<72x128xf32>, !threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128xf32>
    %12 = threadblock.cast %11 : (!threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128x{t}>
    threadblock.store %12 grid_map [0, 1] : !threadblock.tile<72x128x{t}>
  }} : (tensor<{m}x128x{t}>, tensor<128x{n}x{t}>, tensor<{n}x{t}>, tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  func.return %y : tensor<{m}x{n}x{t}>
}}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "wide"), [(144, 256, True), (100, 200, True), (75, 130, False)]
)
def test_against_numpy(rows: int, columns: int, wide: bool) -> None:
    blocks = -(-rows // 72), -(-columns // 128)
    text = GRAPH.format(m=rows, n=columns, t="f16", gm=blocks[0], gn=blocks[1])
    module = parse_program(text, "residual")
    for each in lowering_passes("sm_90a"):
        each.apply(compiler_context(), module)
    assert ("matrix" in str(module)) == wide
    (kernels,) = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
    random = np.random.default_rng(0)
    shapes = (rows, 128), (128, columns), (columns,), (rows, columns)
    x, w, b, r = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    (found,) = run_kernels(kernels, [x, w, b, r])
    true = x.astype(float) @ w.astype(float) + b + r
    assert np.allclose(found.astype(float), true, rtol=2e-3, atol=2e-2)
