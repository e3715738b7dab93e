"""When one kernel for a whole program is enough, so that it is not looked at in pieces, too."""

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.passes.frontend.good_enough import is_near
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function
from mirage_mlir.targets.target import H200

ROWS = """
func.func @f(%x: tensor<8x64xf32>, %c: tensor<1x1xf32>) -> tensor<8x64xf32> {
  %n = kernel.constant {value = 3.0 : f32} : tensor<1x1xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %i = kernel.div %o, %n : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %s = kernel.reduce_sum %x {dims = array<i64: 1>} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %t = kernel.mul %s, %i : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %e = kernel.exp %t : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %r = kernel.mul %x, %e : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  func.return %r : tensor<8x64xf32>
}
"""


def test_two_kernels_of_few_bytes_take_longer() -> None:
    """Each takes 0.88 us at least, most of it to start."""
    b = ProgramBuilder()
    b.output(b.function(Function("exp"), b.input((7, 34), "f32")), "f32")
    program = resolve(b)
    assert is_near(program, H200, 1.6e-6)
    assert not is_near(program, H200, 2.4e-6)


def test_one_kernel_is_not_mixed_with_what_is_fixed() -> None:
    """What depends on no argument was searched in pieces, too, though one kernel had it all."""
    (function,) = functions(parse_program(ROWS, "rows"))
    found = list(candidates(function))
    assert found[0].report.kernels == 1
    assert "partition" not in found[-1].report.phases
