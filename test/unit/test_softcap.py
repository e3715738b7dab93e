"""`softcap`, an operator that is one row: its checks, and what becomes of a row that is wrong."""

from dataclasses import replace
from typing import TypeVar

import pytest
from xdsl.utils.exceptions import DiagnosticException

import mirage_mlir as mi
from mirage_mlir.driver.source import text_of
from mirage_mlir.operators.elementwise import (
    Arithmetic,
    Code,
    Composite,
    Parameters,
    Row,
    Unary,
)
from mirage_mlir.operators.table import ROWS

V = TypeVar("V")


def program() -> mi.KernelGraph:
    graph = mi.new_kernel_graph("capped")
    x = graph.new_input(dims=(16, 64), dtype=mi.float32)
    graph.mark_output(graph.softcap(x, 30.0))
    return graph


def test_operation() -> None:
    text = text_of(program().to_module())
    assert "kernel.softcap %input0 {cap = 3.000000e+01 : f32} : (tensor<16x64xf32>)" in text


@pytest.mark.parametrize("cap", [0.0, -2.0])
def test_cap_is_positive(cap: float) -> None:
    graph = mi.new_kernel_graph("capped")
    x = graph.new_input(dims=(16, 64))
    with pytest.raises(
        ValueError, match=rf"'kernel.softcap' op has cap {cap}, which is not above 0"
    ):
        graph.softcap(x, cap)


def test_right_row_compiles() -> None:
    program().superoptimize(compile_for=["sm_90a"], cache=False)


def no_cap(c: Code[V], p: Parameters, x: V) -> V:
    """`tanh(x)`."""
    return c.op("math.tanh", x)


def no_factor(c: Code[V], p: Parameters, x: V) -> V:
    """`tanh(x / cap)`."""
    return c.op("math.tanh", c.op("arith.mulf", x, c.constant(1 / p.float("cap"))))


def multiplied(a: Arithmetic[V], p: Parameters, x: V) -> V:
    """`cap * tanh(x * cap)`."""
    return a.scale(a.function("tanh", a.scale(x, p.number("cap"))), p.number("cap"))


def right(a: Arithmetic[V], p: Parameters, x: V) -> V:
    """`cap * tanh(x / cap)`."""
    return a.scale(a.function("tanh", a.scale(x, 1 / p.number("cap"))), p.number("cap"))


ROW = ROWS["softcap"]
assert isinstance(ROW, Unary)


@pytest.mark.parametrize(
    "row",
    [replace(ROW, code=no_cap), replace(ROW, code=no_factor)],
    ids=["no cap", "no factor"],
)
def test_wrong_code_is_refused(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS, "softcap", row)
    with pytest.raises(DiagnosticException, match="code on threads computes something else"):
        program().superoptimize(compile_for=["sm_90a"], cache=False)


def test_wrong_composition_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A right one compiles."""
    monkeypatch.setitem(ROWS, "softcap", replace(ROW, search=Composite(right)))
    program().superoptimize(compile_for=["sm_90a"], cache=False)
    monkeypatch.setitem(ROWS, "softcap", replace(ROW, search=Composite(multiplied)))
    with pytest.raises(DiagnosticException):
        program().superoptimize(compile_for=["sm_90a"], cache=False)
