"""Attention under masks that are formulas: against numpy, and against programs that are wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sampling import sampled
from verdicts import verify
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.float_domain import FloatDomain
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.passes.patterns.decompose import take_apart_unsearched
from mirage_mlir.passes.superoptimize import candidates

MASKS = Path(__file__).parents[3] / "examples" / "masks"

Array = NDArray[np.float64]

LOW = "0xFF800000"


@dataclass(frozen=True)
class Mask:
    """A program of `examples/masks`, and what it means."""

    score: Callable[[int, int, int, float], float]
    """What becomes of the score of a head, a query and a key."""
    mutants: Sequence[tuple[str, str]]
    """Replacements in the program's text, each of which makes it wrong."""


def _masked(s: Array, score: Callable[[int, int, int, float], float]) -> Array:
    result = np.empty_like(s)
    for h, i, j in np.ndindex(*s.shape):
        result[h, i, j] = score(h, i, j, float(s[h, i, j]))
    return result


def _alibi(h: int, i: int, j: int, s: float) -> float:
    return s - (0.5 * h + 0.5) * (i - j) if j <= i else -np.inf


ROWS = "kernel.reshape %n : (tensor<32xf16>) -> tensor<32x1xf16>"
COLUMNS = "kernel.reshape %n : (tensor<32xf16>) -> tensor<1x32xf16>"
SELECT = (
    "kernel.select %mask, %s, %low : (tensor<32x32xf16>, tensor<2x32x32xf16>, tensor<1x1x1xf16>)"
)
SWAPPED = (
    "kernel.select %mask, %low, %s : (tensor<32x32xf16>, tensor<1x1x1xf16>, tensor<2x32x32xf16>)"
)


def _offset(name: str, definition: str, shape: str, by: str) -> tuple[str, str]:
    """An index that is off by a number."""
    return (
        f"%{name} = {definition}",
        f"%{name}_0 = {definition}\n"
        f"  %{name}_by = kernel.constant {{value = {by} : f32}} : {shape}\n"
        f"  %{name} = kernel.add %{name}_0, %{name}_by : ({shape}, {shape}) -> {shape}",
    )


OTHER_ROW = (
    "%masked =",
    "%turned = kernel.transpose %mask {permutation = array<i64: 1, 0>}"
    " : (tensor<32x32xf16>) -> tensor<32x32xf16>\n  %masked =",
)

CASES = {
    "causal": Mask(
        lambda h, i, j, s: s if j <= i else -np.inf,
        [
            _offset("i", ROWS, "tensor<32x1xf16>", "1.0"),
            _offset("i", ROWS, "tensor<32x1xf16>", "-1.0"),
            _offset("j", COLUMNS, "tensor<1x32xf16>", "1.0"),
            _offset("j", COLUMNS, "tensor<1x32xf16>", "0.5"),
            ('predicate = "ge"', 'predicate = "gt"'),
            ('predicate = "ge"', 'predicate = "le"'),
            ('predicate = "ge"', 'predicate = "ne"'),
            (SELECT, SWAPPED),
            (LOW, "0.0"),
            (LOW, "-1.0"),
            (
                f"{OTHER_ROW[0]} kernel.select %mask,",
                f"{OTHER_ROW[1]} kernel.select %turned,",
            ),
        ],
    ),
    "sliding_window": Mask(
        lambda h, i, j, s: s if i - 8 < j <= i else -np.inf,
        [
            _offset("i", ROWS, "tensor<32x1xf16>", "1.0"),
            ("value = 8.0", "value = 9.0"),
            ("value = 8.0", "value = 7.0"),
            ('predicate = "lt"', 'predicate = "le"'),
            ('predicate = "ge"', 'predicate = "gt"'),
            ("kernel.mul %past, %near", "kernel.max %past, %near"),
            (
                "kernel.sub %i, %j : (tensor<32x1xf16>, tensor<1x32xf16>)",
                "kernel.sub %j, %i : (tensor<1x32xf16>, tensor<32x1xf16>)",
            ),
            (SELECT, SWAPPED),
            (LOW, "0.0"),
        ],
    ),
    "padded": Mask(
        lambda h, i, j, s: s if j < 32 else -np.inf,
        [
            ("value = 32.0", "value = 31.0"),
            ("value = 32.0", "value = 33.0"),
            ("value = 32.0", "value = 48.0"),
            ('predicate = "lt"', 'predicate = "le"'),
            ('predicate = "lt"', 'predicate = "ge"'),
            (LOW, "0.0"),
        ],
    ),
    "alibi": Mask(
        _alibi,
        [
            ("factor = 0.5", "factor = 0.25"),
            ("%half = kernel.constant {value = 0.5", "%half = kernel.constant {value = 1.0"),
            ("{dim = 0 : i64} : tensor<2x1x1xf16>", "{dim = 1 : i64} : tensor<2x1x1xf16>"),
            (
                "kernel.sub %j, %i : (tensor<1x1x32xf16>, tensor<1x32x1xf16>)",
                "kernel.sub %i, %j : (tensor<1x32x1xf16>, tensor<1x1x32xf16>)",
            ),
            ('predicate = "le"', 'predicate = "lt"'),
            ("%mask, %biased, %low", "%mask, %s, %low"),
            (LOW, "0.0"),
        ],
    ),
    "around": Mask(
        lambda h, i, j, s: s if abs(i - j) < 5 else -np.inf,
        [
            ("value = 5.0", "value = 4.0"),
            ("value = 5.0", "value = 6.0"),
            ('predicate = "lt"', 'predicate = "le"'),
            ('predicate = "lt"', 'predicate = "ne"'),
            ("kernel.abs", "kernel.relu"),
            (SELECT, SWAPPED),
        ],
    ),
    "global": Mask(
        lambda h, i, j, s: s if abs(i - j) < 5 or j < 4 or i < 4 else -np.inf,
        [
            ("value = 5.0", "value = 6.0"),
            ("value = 4.0", "value = 3.0"),
            ("value = 4.0", "value = 5.0"),
            ("kernel.compare %i, %first {predicate", "kernel.compare %i, %window {predicate"),
            ("kernel.compare %j, %first {predicate", "kernel.compare %j, %window {predicate"),
            ("kernel.max %near, %keys", "kernel.mul %near, %keys"),
            ("kernel.max %seen, %queries", "kernel.mul %seen, %queries"),
            ("kernel.abs", "kernel.relu"),
            (SELECT, SWAPPED),
        ],
    ),
    "dilated": Mask(
        lambda h, i, j, s: s if (i - j) % 4 == 0 else -np.inf,
        [
            ("factor = 0.25", "factor = 0.5"),
            ("factor = 0.25", "factor = 0.125"),
            ("kernel.floor", "kernel.square"),
            ('predicate = "eq"', 'predicate = "ge"'),
            ('predicate = "eq"', 'predicate = "ne"'),
            _offset("j", COLUMNS, "tensor<1x32xf16>", "1.0"),
        ],
    ),
    "neighbourhood": Mask(
        lambda h, i, j, s: s if (i // 8 - j // 8) ** 2 + (i % 8 - j % 8) ** 2 <= 4 else -np.inf,
        [
            ("value = 4.0", "value = 5.0"),
            ('predicate = "le"', 'predicate = "lt"'),
            (
                "%i_start = kernel.scale %i_row {factor = 8.0",
                "%i_start = kernel.scale %i_row {factor = 4.0",
            ),
            ("%i_row = kernel.floor", "%i_row = kernel.ceil"),
            ("kernel.add %rows_squared", "kernel.max %rows_squared"),
            ("kernel.square %rows", "kernel.abs %rows"),
        ],
    ),
}


def program(name: str, change: tuple[str, str] = ("", "")) -> FuncOp:
    """A program, perhaps with a change."""
    text = (MASKS / f"{name}.mlir").read_text()
    assert change[0] in text, change[0]
    (function,) = functions(parse_program(text.replace(*change) if change[0] else text, name))
    return function


def attention(name: str, q: Array, k: Array, v: Array) -> Array:
    """What a program means, in float64."""
    masked = _masked(q @ k.swapaxes(1, 2), CASES[name].score)
    weights = np.exp(masked - masked.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ v


def interpreted(function: FuncOp) -> tuple[list[Array], Array]:
    """Random inputs, and what a function makes of them in float64."""
    generator = np.random.default_rng(0)
    inputs = [generator.standard_normal(kernel.shape_of(argument)) for argument in function.args]
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    (result,) = interpreter.run(
        function, [interpreter.domain.literal(each[None]) for each in inputs]
    )
    return inputs, interpreter.domain.expanded(result)[0]


@pytest.mark.parametrize("name", CASES)
def test_meaning(name: str) -> None:
    inputs, found = interpreted(program(name))
    assert found == pytest.approx(attention(name, *inputs), rel=1e-12, abs=1e-13)


# The others are searched for in the same way; their meaning and their mutants are tests above.
@pytest.mark.parametrize(
    "name", sampled(["causal", "padded", "dilated", "neighbourhood", "global"], 2)
)
@pytest.mark.usefixtures("first_look")
def test_best_is_verified_and_right(name: str) -> None:
    reference = program(name)
    searched = program(name)
    take_apart_unsearched(searched)
    best = next(iter(candidates(searched))).function
    answer = verify(reference, best)
    assert answer.accepted, answer.report
    inputs, found = interpreted(best)
    assert found == pytest.approx(attention(name, *inputs), rel=1e-9, abs=1e-11)


def test_half_an_index_decides_nothing() -> None:
    change = _offset("j", COLUMNS, "tensor<1x32xf16>", "-0.5")
    answer = verify(program("causal"), program("causal", change))
    assert answer.accepted
    assert answer.report.startswith("proved")


@pytest.mark.parametrize(
    ("name", "change"),
    sampled(
        [
            pytest.param(name, change, id=f"{name}-{number}")
            for name, case in CASES.items()
            for number, change in enumerate(case.mutants)
        ],
        2,
    ),
)
def test_mutants_are_refused(name: str, change: tuple[str, str]) -> None:
    mutant = program(name, change)
    inputs, found = interpreted(mutant)
    difference = np.abs(found - attention(name, *inputs))
    assert not np.nanmax(difference, initial=0.0) < 1e-3 or np.isnan(found).any()
    answer = verify(program(name), mutant)
    assert not answer.accepted
    assert answer.arguments == "none"
