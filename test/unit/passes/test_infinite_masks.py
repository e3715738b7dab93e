"""Large numbers of masks: softmax is the same with minus infinity instead, or keeps them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.infinite_masks import AT_ONCE, make_masks_infinite

LOWEST = -3.4e38


def masked_softmax(
    rows: int, columns: int, predicate: str, shift: int, dim: int, *, number: float = LOWEST
) -> ModuleOp:
    """A softmax of what is seen where `row + shift` and the column are as `predicate` says."""
    return parse_program(
        f"""
func.func @f(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %i = kernel.iota {{dim = 0 : i64}} : tensor<{rows}x1xf32>
  %j = kernel.iota {{dim = 1 : i64}} : tensor<1x{columns}xf32>
  %c = kernel.constant {{value = {shift:.1f} : f32}} : tensor<1x1xf32>
  %k = kernel.add %i, %c : (tensor<{rows}x1xf32>, tensor<1x1xf32>) -> tensor<{rows}x1xf32>
  %seen = kernel.compare %k, %j {{predicate = "{predicate}"}}
      : (tensor<{rows}x1xf32>, tensor<1x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %n = kernel.constant {{value = {number:.8e} : f32}} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<{rows}x{columns}xf32>,
      tensor<{rows}x{columns}xf32>, tensor<1x1xf32>) -> tensor<{rows}x{columns}xf32>
  %y = kernel.softmax %s {{dim = {dim} : i64}}
      : (tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  func.return %y : tensor<{rows}x{columns}xf32>
}}
""",
        "masked",
    )


def is_infinite(module: ModuleOp) -> bool:
    """Whether it has the number no more."""
    return "0xff800000" in str(module)


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(("ge", "gt", "le", "lt", "eq", "ne")),
    st.integers(-9, 9),
    st.integers(0, 1),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_softmaxes(
    rows: int, columns: int, predicate: str, shift: int, dim: int, seed: int
) -> None:
    module = masked_softmax(rows, columns, predicate, shift, dim)
    x = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32) * 100
    (before,) = run_function(functions(module)[0], [x])
    make_masks_infinite(module)
    module.verify()
    (after,) = run_function(functions(module)[0], [x])
    assert (before == after).all()
    i, j = np.indices((rows, columns))
    numpy = {"ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less}
    numpy |= {"eq": np.equal, "ne": np.not_equal}
    seen = numpy[predicate](i + shift, j)
    assert is_infinite(module) == bool(seen.any(axis=dim).all())


def test_many_rows_are_looked_at_in_parts() -> None:
    """The last of 5,000 rows sees nothing, or the last column."""
    assert 5000 * 4999 > AT_ONCE
    for shift, some in ((0, False), (-1, True)):
        module = masked_softmax(5000, 4999, "le", shift, 1)
        make_masks_infinite(module)
        assert is_infinite(module) == some


def test_numbers_that_scores_may_have() -> None:
    module = masked_softmax(8, 8, "ge", 0, 1, number=-1e29)
    make_masks_infinite(module)
    assert not is_infinite(module)
