"""Errors, tolerances and inputs of the floating-point gate."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.axes import distinct, uniform
from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.float_domain import Floats, round_to_tf32
from mirage_mlir.interpreters.representatives import rounding_axes
from mirage_mlir.interpreters.rounding import RoundingTests, longest_sum, relative_errors
from mirage_mlir.interpreters.tensors import Tensor

Parse = Callable[[str], list[FuncOp]]


def make_tests(function: FuncOp) -> RoundingTests:
    classes = DimensionClasses([function])
    axes = rounding_axes([function], classes)
    return RoundingTests(function, longest_sum(function, classes), axes, 0)


def test_relative_errors() -> None:
    exact = np.array([[3.0, 4.0], [inf, 1.0], [0.0, 0.0], [1e6, 1.0]])
    found = np.array([[3.0, 4.5], [7.0, 1.0], [0.0, 0.25], [inf, 1.5]])
    axes = (distinct(2),)
    errors = relative_errors(Tensor(found, axes), Tensor(exact, axes), 65504.0)
    assert errors == [0.1, 0.0, 0.25, 0.5]
    found[0, 0] = np.nan
    assert relative_errors(Tensor(found, axes), Tensor(exact, axes))[0] == inf


def test_relative_errors_of_different_axes() -> None:
    exact: Tensor[Floats] = Tensor(np.ones((1, 2)), (distinct(2),))
    found: Tensor[Floats] = Tensor(np.ones((1, 1)), (uniform(2),))
    assert relative_errors(found, exact) == [0.0]


LINEAR = """
func.func @f(%x: tensor<4x1024x{0}>, %w: tensor<1024x64x{0}>) -> tensor<4x64x{0}> {{
  %y = kernel.matmul %x, %w : (tensor<4x1024x{0}>, tensor<1024x64x{0}>) -> tensor<4x64x{0}>
  func.return %y : tensor<4x64x{0}>
}}
"""


@pytest.mark.parametrize(("name", "roundoff"), [("f16", 2**-11), ("bf16", 2**-8), ("f32", 2**-24)])
def test_tolerance_follows_types_and_sums(parse: Parse, name: str, roundoff: float) -> None:
    (function,) = parse(LINEAR.format(name))
    losses = make_tests(function).losses(function)
    assert [loss.inputs for loss in losses] == [
        "normal inputs",
        "argument 0 far from zero",
        "argument 1 far from zero",
    ]
    base = 4 * roundoff + 1024 * 2**-24
    for loss in losses:
        assert loss.tolerance == pytest.approx(base)
        assert 0 < loss.error < roundoff + 1e-5
        assert loss.acceptable


def test_tolerance_follows_the_precision_that_is_asked_for(parse: Parse) -> None:
    """A product in tf32 may be as wrong as one of f16, and is no candidate for one of f32."""
    (precise,) = parse(LINEAR.format("f32"))
    asked = LINEAR.format("f32").replace("%x, %w :", '%x, %w {precision = "tf32"} :')
    (rounded,) = parse(asked)
    for loss in make_tests(rounded).losses(rounded):
        assert loss.tolerance == pytest.approx(4 * 2**-11 + 1024 * 2**-24)
        assert 2**-15 < loss.error < 2**-11
        assert loss.acceptable
    assert all(loss.acceptable for loss in make_tests(rounded).losses(precise))
    assert not any(loss.acceptable for loss in make_tests(precise).losses(rounded))


def test_rounding_to_tf32() -> None:
    """To the nearest number with ten bits of fraction, ties away from zero."""
    step = 2.0**-10
    numbers = np.array(
        [1, 1 + step / 2, 1 + step * 0.49, -1 - step / 2, np.inf, np.nan], np.float32
    )
    expected = np.array([1, 1 + step, 1, -1 - step, np.inf, np.nan], np.float32)
    assert np.array_equal(round_to_tf32(numbers), expected, equal_nan=True)


def test_inputs_far_from_zero(parse: Parse) -> None:
    """Their mean is 256 times their spread in f16; weights are small where sums are long."""
    (function,) = parse(LINEAR.format("f16"))
    (result,) = make_tests(function).exact(function)
    normal, far_input, far_weight = np.abs(result.array).mean(axis=(1, 2))
    assert normal == pytest.approx(0.8, rel=0.3)
    assert far_input > 50 * normal
    assert far_weight > 50 * normal


SCORES = """
func.func @f(%q: tensor<4x64xf16>, %k: tensor<64x256xf16>) -> tensor<4x256xf32> {
  %s = kernel.matmul %q, %k : (tensor<4x64xf16>, tensor<64x256xf16>) -> tensor<4x256xf32>
  %e = kernel.exp %s : (tensor<4x256xf32>) -> tensor<4x256xf32>
  func.return %e : tensor<4x256xf32>
}
"""


def test_arguments_of_exp_are_large_and_no_larger(parse: Parse) -> None:
    """Up to 60 on hard inputs and 10 on all others."""
    (function,) = parse(SCORES)
    tests = make_tests(function)
    (result,) = tests.exact(function)
    with np.errstate(all="ignore"):
        largest = np.abs(np.log(result.array)).max(axis=(1, 2))
    assert tests.kinds[-1].name == "arguments of exp up to 60"
    assert largest[-1] == pytest.approx(60, rel=0.1)
    assert (largest[:-1] <= 11).all()


def test_overflowing_intermediates_are_no_excuse(parse: Parse) -> None:
    (function,) = parse("""
func.func @f(%x: tensor<4x1024xf16>) -> tensor<4x1xf16> {
  %s = kernel.square %x : (tensor<4x1024xf16>) -> tensor<4x1024xf16>
  %a = kernel.reduce_mean %s {dims = array<i64: 1>} : (tensor<4x1024xf16>) -> tensor<4x1xf16>
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x1024xf16>) -> tensor<4x1xf16>
  %b = kernel.square %m : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %v = kernel.sub %a, %b : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  func.return %v : tensor<4x1xf16>
}""")
    losses = {loss.inputs: loss for loss in make_tests(function).losses(function)}
    # Squares of numbers near 256 are not in f16, but their variance is.
    assert losses["argument 0 far from zero"].error == inf
    assert losses["argument 0 far from zero"].tolerance < 0.01
    assert losses["normal inputs"].acceptable


def test_usual_inputs_are_no_smaller_than_exp_asks_for(parse: Parse) -> None:
    """Of arguments of the sixth power the first steps go too far; they are taken back."""
    (function,) = parse("""
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %a = kernel.mul %x, %y : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %b = kernel.square %a : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = kernel.mul %b, %a : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %e = kernel.exp %c : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %e : tensor<4x64xf32>
}""")
    tests = make_tests(function)
    (result,) = tests.exact(function)
    largest = np.abs(np.log(result.array)).max(axis=(1, 2))
    assert (largest[1:-1] > 5).all()
    assert (largest[:-1] < 15).all()


def test_calibrated_inputs_do_not_overflow_behind_exp(parse: Parse) -> None:
    """
    The square of a number near 256 is not in f16; where exp asks for other inputs anyway, it is
    no number near 256."""
    (function,) = parse("""
func.func @f(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %s = kernel.square %y : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %d = kernel.div %s, %y : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %e = kernel.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %o = kernel.mul %e, %d : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  func.return %o : tensor<4x64xf16>
}""")
    losses = {loss.inputs: loss for loss in make_tests(function).losses(function)}
    assert losses["argument 1 far from zero"].acceptable


def test_inputs_that_no_kernel_can_take_are_halved(parse: Parse) -> None:
    """Squares near 256^2 are not in f16, and a matrix unit takes nothing wider."""
    (function,) = parse("""
func.func @f(%x: tensor<4x64xf16>, %w: tensor<64x16xf16>) -> tensor<4x16xf16> {
  %s = kernel.square %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %o = kernel.matmul %s, %w : (tensor<4x64xf16>, tensor<64x16xf16>) -> tensor<4x16xf16>
  func.return %o : tensor<4x16xf16>
}""")
    tests = make_tests(function)
    losses = {loss.inputs: loss for loss in tests.losses(function)}
    assert losses["argument 0 far from zero"].acceptable
    x, _ = tests.inputs(1)
    assert 100 < np.abs(x.array).max() < 256
