"""What `--explain` says of kernels that share a launch, in which they do not run in their order."""

import pytest

from mirage_mlir.driver.explain import ChosenFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.view.source import seen_in_text

NARROW_FIRST = """
func.func @h(%x: tensor<16x512xf16>, %w: tensor<512x768xf16>,
             %z: tensor<16x128xf16>, %u: tensor<128x64xf16>)
    -> (tensor<16x64xf16>, tensor<16x768xf16>) {
  %p = kernel.matmul %z, %u : (tensor<16x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>
  %o = kernel.matmul %x, %w : (tensor<16x512xf16>, tensor<512x768xf16>) -> tensor<16x768xf16>
  func.return %p, %o : tensor<16x64xf16>, tensor<16x768xf16>
}
"""

# One process of a run searches.
pytestmark = pytest.mark.xdist_group("explain_joint")


@pytest.fixture(scope="module")
def chosen() -> ChosenFunction:
    (seen,) = seen_in_text(NARROW_FIRST, "h.mlir", Options(chips=("sm_90a",)), search=True)
    found = seen.results[0].chosen
    assert found is not None
    assert [kernel.sharing.kernels for kernel in found.kernels] == [2, 2]
    return found


def test_the_first_kernel_of_a_launch_is_the_one_whose_blocks_start_first(
    chosen: ChosenFunction,
) -> None:
    """The wide product: each of its blocks loads most."""
    narrow, wide = chosen.kernels
    assert (narrow.sharing.place, wide.sharing.place) == (2, 1)


def test_other_plans_are_compared_with_the_kernels_that_compute_the_same(
    chosen: ChosenFunction,
) -> None:
    """The depths of both products differ, and no plan has other ones."""
    said = [each for one in chosen.contests[0].runners_up for each in one.differences]
    assert said
    assert not [each for each in said if "j 128 instead of 512" in each]
    assert not [each for each in said if "j 512 instead of 128" in each]


def test_no_candidate_is_another_one_again() -> None:
    """Plans that the search finds in two ways have the same kernels."""
    (function,) = functions(parse_program(NARROW_FIRST, "h"))
    texts = [str(one.function) for one in candidates(function) if not one.alone]
    assert len(texts) > 3
    assert len(set(texts)) == len(texts)
