"""`softcap`, an operator that is one row: its checks, and what becomes of a row that is wrong."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from xdsl.utils.exceptions import DiagnosticException

import mirage_mlir as mi
from mirage_mlir.driver.source import text_of
from mirage_mlir.operators.elementwise import Composite, Row, Unary
from mirage_mlir.operators.table import ROWS


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


def wrong_code(row: Unary) -> Row:
    """`tanh(x)`, without the cap."""
    return replace(row, code=lambda c, p, x: c.op("math.tanh", x))


def wrong_factor(row: Unary) -> Row:
    """`tanh(x / cap)` in the code on threads."""
    return replace(
        row,
        code=lambda c, p, x: c.op(
            "math.tanh", c.op("arith.mulf", x, c.constant(1 / p.float("cap")))
        ),
    )


def wrong_composition(row: Unary) -> Row:
    """`cap * tanh(x * cap)` in the search."""
    return replace(
        row,
        search=Composite(
            lambda a, p, x: a.scale(
                a.function("tanh", a.scale(x, p.number("cap"))), p.number("cap")
            )
        ),
    )


@pytest.mark.parametrize("change", [wrong_code, wrong_factor, wrong_composition])
def test_wrong_row_is_refused(
    change: Callable[[Unary], Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROWS["softcap"]
    assert isinstance(row, Unary)
    monkeypatch.setitem(ROWS, "softcap", change(row))
    with pytest.raises(DiagnosticException):
        program().superoptimize(compile_for=["sm_90a"], cache=False)


def test_right_composition_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it is the wrong ones that are refused."""
    row = ROWS["softcap"]
    assert isinstance(row, Unary)
    monkeypatch.setitem(ROWS, "softcap", replace(row, search=Composite(row.meaning)))
    program().superoptimize(compile_for=["sm_90a"], cache=False)
