"""Floors of quotients: right for all whole numbers, where an approximate quotient would not be."""

from pathlib import Path
from typing import Any

import pytest

import mirage_mlir as mi

SIZE = 65536

KIND = f"tensor<{SIZE}xf32>"

OF_DATA = f"""
func.func @f(%x: {KIND}, %y: {KIND}) -> {KIND} {{
  %q = kernel.div %x, %y : ({KIND}, {KIND}) -> {KIND}
  %r = kernel.floor %q : ({KIND}) -> {KIND}
  func.return %r : {KIND}
}}"""


ROWS, COLUMNS = 512, 4096

TABLE, ROW = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{COLUMNS}xf32>"

BY_A_ROW = f"""
func.func @f(%x: {TABLE}, %y: {ROW}) -> {TABLE} {{
  %q = kernel.div %x, %y : ({TABLE}, {ROW}) -> {TABLE}
  %r = kernel.floor %q : ({TABLE}) -> {TABLE}
  func.return %r : {TABLE}
}}"""


def of_indices(divisor: int) -> str:
    """A vector plus `floor(i / divisor)`."""
    return f"""
func.func @f(%x: {KIND}) -> {KIND} {{
  %i = kernel.iota {{dim = 0 : i64}} : {KIND}
  %c = kernel.constant {{value = {divisor}.0 : f32}} : {KIND}
  %q = kernel.div %i, %c : ({KIND}, {KIND}) -> {KIND}
  %f = kernel.floor %q : ({KIND}) -> {KIND}
  %r = kernel.add %x, %f : ({KIND}, {KIND}) -> {KIND}
  func.return %r : {KIND}
}}"""


def compiled(path: Path, text: str) -> mi.CompiledKernel:
    """The best kernel of a program, for the GPU that is there."""
    path.write_text(text)
    return mi.superoptimize_file(path)


def test_of_data(torch: Any, tmp_path: Path) -> None:
    """Multiples of the divisor, whose quotients are whole numbers."""
    kernel = compiled(tmp_path / "data.mlir", OF_DATA)
    divisor = torch.randint(1, 4000, (SIZE,), device="cuda").float()
    quotient = torch.randint(0, 4000, (SIZE,), device="cuda").float()
    assert torch.equal(kernel(quotient * divisor, divisor), quotient)


def test_by_what_rows_share(torch: Any, tmp_path: Path) -> None:
    """The inverse of a divisor is one for all rows, and products with it may be less."""
    kernel = compiled(tmp_path / "row.mlir", BY_A_ROW)
    divisor = torch.randint(1, 4000, (COLUMNS,), device="cuda").float()
    quotient = torch.randint(0, 4000, (ROWS, COLUMNS), device="cuda").float()
    assert torch.equal(kernel(quotient * divisor, divisor), quotient)


@pytest.mark.parametrize("divisor", [3, 41, 47, 55, 1000])
def test_of_indices(torch: Any, tmp_path: Path, divisor: int) -> None:
    kernel = compiled(tmp_path / "indices.mlir", of_indices(divisor))
    wanted = torch.arange(SIZE, device="cuda") // divisor
    assert torch.equal(kernel(torch.zeros(SIZE, device="cuda")), wanted.float())
