"""Normal forms of long programs: chains take few steps, and large programs are cut into parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.symbolic import prove, terms

Parse = Callable[[str], list[FuncOp]]

T = "tensor<16x16xf16>"


def chain(names: list[str], body: str = "") -> str:
    """Operators one after the other, and what may follow them."""
    lines = [f"%v{n + 1} = kernel.{name} %v{n} : ({T}) -> {T}" for n, name in enumerate(names)]
    return (
        f"func.func @f(%v0: {T}) -> {T} {{\n" + "\n".join([*lines, body]) + f"\nfunc.return "
        f"%v{len(names)} : {T}\n}}"
    )


@pytest.mark.parametrize("names", [["silu"], ["silu", "relu", "log"], ["tanh", "silu", "relu"]])
def test_chains_of_functions_that_use_their_argument_twice(parse: Parse, names: list[str]) -> None:
    """Each of 40 functions reads its argument twice; the form does not have 2^40 reads."""
    words = [names[n % len(names)] for n in range(40)]
    (function,) = parse(chain(words))
    swapped = parse(chain([*words[:20], "exp", *words[21:]]))[0]
    (other,) = parse(
        chain(words)
        .replace("kernel.silu %v0", "kernel.silu %w0")
        .replace("{\n", f"{{\n%w0 = kernel.scale %v0 {{factor = 1.0 : f32}} : ({T}) -> {T}\n", 1)
    )
    assert prove(function, other).proved
    assert not prove(function, swapped).proved


LAYERS = """
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = kernel.silu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = kernel.matmul %b, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = kernel.silu %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.matmul %d, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %e : tensor<4x8xf32>
}
"""

SCALED = LAYERS.replace(
    "%a = kernel.matmul %x, %w",
    "%h = kernel.scale %x {factor = 0.5 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %g = kernel.matmul %h, %w",
).replace(
    "%b = ",
    "%a = kernel.scale %g {factor = 2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n  %b = ",
)
"""The same, with two operators that undo each other."""


def steps_of(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let one comparison take so many steps."""
    monkeypatch.setattr(terms, "MOST_STEPS", most)


def test_a_large_program_is_proved_in_parts(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    (reference,), (candidate,) = parse(LAYERS), parse(SCALED)
    steps_of(monkeypatch, 130)
    assert prove(reference, candidate).proved
    (unnamed,) = parse(SCALED.replace("%a", "%0").replace("%b", "%1").replace("%c", "%2"))
    assert "more than 130 steps" in prove(reference, unnamed).reason


@pytest.mark.parametrize("factor", ["2.5", "1.0", "-2.0"])
def test_names_prove_nothing(parse: Parse, monkeypatch: pytest.MonkeyPatch, factor: str) -> None:
    """%a is another value than the reference's of that name."""
    (reference,), (candidate,) = parse(LAYERS), parse(SCALED.replace("2.0 :", f"{factor} :"))
    steps_of(monkeypatch, 130)
    assert not prove(reference, candidate).proved


@pytest.mark.parametrize(
    ("value", "divisor"),
    [
        ("kernel.relu %c : (T) -> T", "kernel.scale %d {factor = 1.0 : f32} : (T) -> T"),
        ("kernel.scale %c {factor = -1.0 : f32} : (T) -> T", "kernel.add %c, %d : (T, T) -> T"),
    ],
    ids=["zero for many inputs", "opposite values"],
)
def test_parts_know_nothing_of_where_values_are_zero(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, value: str, divisor: str
) -> None:
    """A candidate divides by what is zero for many inputs, or for all, and both name the parts."""
    tensor = "tensor<4x8xf32>"
    text = LAYERS.replace("%d = kernel.silu %c : (T) -> T".replace("T", tensor), f"%d = {value}")
    text = text.replace("%e = ", "%s = kernel.add %b, %c : (T, T) -> T\n  %e = ")
    text = text.replace("matmul %d,", "matmul %t,").replace(
        "%e = ", "%t = kernel.add %d, %s : (T, T) -> T\n  %e = "
    )
    (reference,) = parse(text.replace("T", tensor))
    (candidate,) = parse(
        text.replace("return %e", "return %h")
        .replace(
            "  func.return",
            f"  %q = {divisor}\n  %p = kernel.mul %e, %q : (T, T) -> T\n"
            "  %h = kernel.div %p, %q : (T, T) -> T\n  func.return",
        )
        .replace("T", tensor)
    )
    for most in (150, 200, 250, terms.MOST_STEPS):
        steps_of(monkeypatch, most)
        assert not prove(reference, candidate).proved


def test_parts_together_take_few_steps(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 30 values can be proved by itself, in fewer steps than a proof may take."""
    spent: list[int] = []
    spend = terms.ProofWork.spend

    def counted(work: terms.ProofWork, steps: int) -> None:
        spent.append(steps)
        spend(work, steps)

    text = chain(["silu"] * 30)
    (function,) = parse(text)
    twice = f"%o = kernel.max %v30, %v30 : ({T}, {T}) -> {T}\nfunc.return %o"
    (other,) = parse(text.replace("func.return %v30", twice))
    steps_of(monkeypatch, 60)
    monkeypatch.setattr(terms.ProofWork, "spend", counted)
    assert not prove(function, other).proved
    assert sum(spent) < 4 * 60
