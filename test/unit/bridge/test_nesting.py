"""Programs that are nested so deep that upstream's parser would end the process."""

import pytest

from mirage_mlir.bridge import bindings
from mirage_mlir.bridge.linalg_text import in_generic_form
from mirage_mlir.bridge.nesting import DEEPEST, too_deep
from mirage_mlir.diagnostics import PassFailure

LINALG = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{a = {attribute}}} {{
  %y = linalg.abs ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_depth() -> None:
    assert too_deep(nested(DEEPEST) * 3) is None
    assert too_deep("\n " + nested(DEEPEST + 1)) == (2, DEEPEST + 2)
    assert too_deep('"' + "[" * 9999 + '" // ' + "{" * 9999) is None
    assert too_deep("%a = f.g : (i32) -> i32\n" * 9999) is None
    assert too_deep(">" * 9999 + nested(DEEPEST)) is None


def test_linalg() -> None:
    with pytest.raises(PassFailure, match=r"f.mlir:1:\d+: error: nested too deep"):
        in_generic_form(LINALG.format(attribute=nested(20_000)), "f.mlir")
    assert '"linalg.abs"' in in_generic_form(LINALG.format(attribute=nested(20)), "f.mlir")


def test_bindings() -> None:
    with pytest.raises(bindings.BindingsError, match="nested too deep"):
        bindings.generic_form('"test.op"() {a = ' + nested(20_000) + "} : () -> ()")
