"""Powers of quotients stay what they are where quotients of powers leave the range of f32."""

import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, Verifier
from mirage_mlir.passes.superoptimize import candidates

SIZE = """
  %q = kernel.square %x : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = kernel.reduce_mean %q {dims = array<i64: 1>} : (tensor<8x32xf32>) -> tensor<8x1xf32>
  %t = kernel.sqrt %m : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %c = kernel.constant {value = 1.0e-12 : f32} : tensor<1x1xf32>
  %s = kernel.max %t, %c : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %n = kernel.div %x, %s : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x32xf32>
"""
POWER = """
  %p = kernel.pow %n {exponent = 4.0 : f32} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = kernel.reduce_mean %p {dims = array<i64: 1>} : (tensor<8x32xf32>) -> tensor<8x1xf32>
"""
TWICE = """
  %a = kernel.abs %n : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %l = kernel.reduce_max %a {dims = array<i64: 1>} : (tensor<8x32xf32>) -> tensor<8x1xf32>
  %d = kernel.max %l, %c : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %k = kernel.div %n, %d : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x32xf32>
  %e = kernel.square %k : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<8x32xf32>) -> tensor<8x1xf32>
"""


@pytest.mark.parametrize("body", [POWER, TWICE], ids=["power", "twice"])
def test_one_kernel_that_is_as_accurate(body: str) -> None:
    text = f"func.func @f(%x: tensor<8x32xf32>) -> tensor<8x1xf32> {{{SIZE}{body}"
    text += "  func.return %r : tensor<8x1xf32>\n}"
    (function,) = functions(parse_program(text, "quotients"))
    verifier = Verifier(function)
    found = [(one, verifier.compare(one.function).verdict) for one in candidates(function)]
    if body is POWER:
        assert found[0][1] is Verdict.INACCURATE
    assert any(one.report.kernels == 1 for one, verdict in found if verdict is Verdict.EQUAL)
