"""One small search that the tests of this folder look at."""

import pytest

from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import parse_program
from mirage_mlir.driver.superoptimize import superoptimize_function
from mirage_mlir.view.source import Seen, seen_in_text

PROGRAM = """
func.func @f(%x: tensor<16x256xf16>, %w: tensor<256x512xf16> {kernel.constant}) -> tensor<16x512xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %o = kernel.matmul %y, %w : (tensor<16x256xf16>, tensor<256x512xf16>) -> tensor<16x512xf16>
  func.return %o : tensor<16x512xf16>
}
"""


@pytest.fixture(scope="session")
def searched() -> Seen:
    """The program and what a search finds for an H200."""
    (seen,) = seen_in_text(PROGRAM, "f.mlir", Options(chips=("sm_90a",)), search=True)
    return seen


@pytest.fixture(scope="session")
def artifact_of_f() -> bytes:
    """The same as an artifact."""
    options = Options(chips=("sm_90a",))
    module = parse_program(PROGRAM, "f.mlir")
    return superoptimize_function(module, "f", options).artifact.to_bytes()
