"""Few indices stand for many, and all that matter are among them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters import representatives
from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.representatives import (
    ROUNDING_ELEMENTS,
    Axes,
    field_axes,
    rounding_axes,
)

Parse = Callable[[str], list[FuncOp]]

FOLDER = Path(__file__).parents[2] / "ugraphs"


def load(parse: Parse, name: str) -> tuple[list[FuncOp], DimensionClasses]:
    functions = parse((FOLDER / f"{name}.mlir").read_text())[:2]
    return functions, DimensionClasses(functions)


def test_dimensions_that_run_together(parse: Parse) -> None:
    """Of X[16,4096] W[4096,6144]: the contracted ones, and what cuts them."""
    functions, classes = load(parse, "rmsnorm_linear")
    x, w = functions[0].body.block.args
    assert classes.of((x, 1)) is classes.of((w, 0))
    assert classes.of((x, 0)) is not classes.of((w, 1))
    assert classes.of((x, 1)).reduced
    assert not classes.of((w, 1)).reduced
    assert not classes.of((x, 0)).reduced
    assert any(cut.loops == (0,) for cut in classes.of((x, 1)).cuts)
    assert any(cut.grid_axis == 0 for cut in classes.of((w, 1)).cuts)


@pytest.mark.parametrize("name", ["rmsnorm_linear", "rmsnorm_linear_ragged", "attention_across"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_field_axes(parse: Parse, name: str, level: int) -> None:
    functions, classes = load(parse, name)
    axes = field_axes(functions, classes, level, 0)
    for each, argument in zip(axes, functions[0].body.block.args, strict=True):
        assert tuple(axis.size for axis in each) == kernel.shape_of(argument)
        for axis in each:
            assert min(axis.size, 2) <= axis.classes <= (2 if level == 0 else 3 * 2 * 2)
    assert axes == field_axes(functions, classes, level, 0)


def test_blocks_and_iterations_have_two_kinds(parse: Parse) -> None:
    """Tiles of one kind hold the same, element for element, and both kinds occur."""
    functions, classes = load(parse, "rmsnorm_linear")
    axes = field_axes(functions, classes, 2, 0)
    contracted = axes[0][1]
    (cut,) = {
        cut.tile for cut in classes.of((functions[0].body.block.args[0], 1)).cuts if cut.loops
    }
    tiles = contracted.labels.reshape(-1, cut)
    assert len(np.unique(tiles, axis=0)) == 2
    assert len(np.unique(tiles[0])) == 3


def test_kinds_depend_on_the_seed(parse: Parse) -> None:
    functions, classes = load(parse, "rmsnorm_linear")
    assert field_axes(functions, classes, 2, 0) != field_axes(functions, classes, 2, 1)


TWO_TILINGS = """
func.func @f(%x: tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>) {{
  %r, %s = kernel.graph_defined ins(%x) grid [{0}] {{
  ^bb0(%a: tensor<96xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<96xf32>) -> !threadblock.tile<{1}xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<{1}xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<{1}xf32>
  }} : (tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
  func.return %r, %s : tensor<96xf32>, tensor<96xf32>
}}
"""


def test_tiles_that_do_not_fit_into_each_other(parse: Parse) -> None:
    """Tiles of 16 and of 24 share steps of 8; the first and the last index are special."""
    functions = [parse(TWO_TILINGS.format(n, t))[0] for n, t in ((6, 16), (4, 24))]
    ((axis,),) = field_axes(functions, DimensionClasses(functions), 2, 0)
    steps = axis.labels.reshape(-1, 8)
    assert len(np.unique(steps[1:-1], axis=0)) == 1
    assert axis.counts[axis.labels[0]] == 1
    assert axis.counts[axis.labels[-1]] == 1


def elements(axes: Axes) -> int:
    return max(prod(axis.classes for axis in each) for each in axes)


def test_rounding_axes_keep_sums(parse: Parse) -> None:
    """4096 different terms, 16 rows and 6144 columns by a few."""
    functions, classes = load(parse, "rmsnorm_linear")
    (rows, terms), (same_terms, columns) = rounding_axes(functions, classes)
    assert terms is same_terms
    assert not terms.repeats
    assert rows.classes <= 8
    assert columns.classes <= 8
    assert columns.size == 6144


def test_rounding_axes_are_bounded(parse: Parse) -> None:
    """Both dimensions of a matrix may be summed over, as between two layers."""
    (function,) = parse("""
func.func @f(%x: tensor<16x4096xf16>, %w: tensor<4096x14336xf16>, %v: tensor<14336x4096xf16>)
    -> tensor<16x4096xf16> {
  %h = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x14336xf16>) -> tensor<16x14336xf16>
  %o = kernel.matmul %h, %v : (tensor<16x14336xf16>, tensor<14336x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}""")
    axes = rounding_axes([function], DimensionClasses([function]))
    assert ROUNDING_ELEMENTS // 8 < elements(axes) <= ROUNDING_ELEMENTS
    assert axes[1][1].size == 14336


def test_rounding_axes_bound_what_tiles_hold(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 176 of which none begins where the indices repeat hold more than the tensor."""
    (function,) = parse("""
func.func @f(%x: tensor<8x4224xf32>) -> tensor<8x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] loop [24] {
  ^bb0(%a: tensor<8x4224xf32>):
    %t = threadblock.load %a grid_map [_] loop_map [1]
      : (tensor<8x4224xf32>) -> !threadblock.tile<8x176xf32>
    %r = threadblock.reduce_sum %t {dims = array<i64: 1>}
      : (!threadblock.tile<8x176xf32>) -> !threadblock.tile<8x1xf32>
    %s = threadblock.accumulate %r : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<8x1xf32>
  } : (tensor<8x4224xf32>) -> tensor<8x1xf32>
  func.return %o : tensor<8x1xf32>
}""")
    monkeypatch.setattr(representatives, "ROUNDING_ELEMENTS", 1 << 12)
    ((_, terms),) = rounding_axes([function], DimensionClasses([function]))
    parts = [terms.labels[start : start + 176] for start in range(0, 4224, 176)]
    tiles = {part.tobytes(): len(np.unique(part)) for part in parts}
    assert 8 * sum(tiles.values()) <= 1 << 12
    assert terms.classes >= 32


HEADS = """
func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x96xf32>, %k: tensor<2x32xf32>)
    -> tensor<4x6x32xf32> {
  %y = kernel.matmul %x, %w : (tensor<4x64xf32>, tensor<64x96xf32>) -> tensor<4x96xf32>
  %h = kernel.reshape %y : (tensor<4x96xf32>) -> tensor<4x3x32xf32>
  %d = kernel.repeat %h {dim = 1 : i64, times = 2 : i64}
    : (tensor<4x3x32xf32>) -> tensor<4x6x32xf32>
  %r = kernel.repeat_interleave %k {dim = 0 : i64, times = 3 : i64}
    : (tensor<2x32xf32>) -> tensor<6x32xf32>
  %o = kernel.mul %d, %r : (tensor<4x6x32xf32>, tensor<6x32xf32>) -> tensor<4x6x32xf32>
  func.return %o : tensor<4x6x32xf32>
}
"""


def test_dimensions_made_of_others(parse: Parse) -> None:
    """Columns are heads and places in them; both are as different alone as in the columns."""
    functions = parse(HEADS)
    classes = DimensionClasses(functions)
    _, w, k = functions[0].body.block.args
    (heads, _), (places, _) = classes.of((w, 1)).factors
    assert classes.of((k, 1)) is places
    (_, columns), (_, inner) = field_axes(functions, classes, 1, 0)[1:]
    rows = columns.labels.reshape(3, 32)
    kinds = {tuple(row) for row in rows}
    assert columns.classes <= len(kinds) * inner.classes
    for row in rows:
        # What is alike within a head is alike in every head.
        assert len({(int(a), int(b)) for a, b in zip(row, inner.labels, strict=True)}) == (
            inner.classes
        )
    assert heads is not places
