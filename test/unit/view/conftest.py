"""One small search that the tests of this folder look at."""

import pytest

from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.view.source import Seen, seen_of

PROGRAM = """
func.func @f(
    %x: tensor<16x256xf16>, %w: tensor<256x512xf16> {kernel.constant}) -> tensor<16x512xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %o = kernel.matmul %y, %w : (tensor<16x256xf16>, tensor<256x512xf16>) -> tensor<16x512xf16>
  func.return %o : tensor<16x512xf16>
}
"""


@pytest.fixture(scope="session")
def found() -> Superoptimized:
    """What a search finds for an H200."""
    module = parse_program(PROGRAM, "f.mlir")
    return superoptimize_function(module, "f", Options(chips=("sm_90a",)))


@pytest.fixture(scope="session")
def searched(found: Superoptimized) -> Seen:
    """The program beside that."""
    return seen_of(function_named(parse_program(PROGRAM, "f.mlir"), "f"), found)


@pytest.fixture(scope="session")
def artifact_of_f(found: Superoptimized) -> bytes:
    """The same as a file."""
    return found.artifact.to_bytes()
