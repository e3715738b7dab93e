"""Graphs whose blocks take turns with tiles: proved where they are right, and refused where not."""

from __future__ import annotations

from pathlib import Path

import oracle
import pytest
from graph_mutants import mutants
from oracle import Judge
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence

BACKWARD = Path(__file__).parents[2] / "ugraphs" / "rmsnorm_backward.mlir"


def gradients(rows: int, blocks: int, iterations: int, tile: int) -> tuple[FuncOp, FuncOp]:
    """The gradients of RMSNorm for rows of 64, and a cyclic graph for them."""
    text = BACKWARD.read_text()
    for old, new in (
        ("256", "64"),
        ("0.00390625", "0.015625"),
        ("250", str(rows)),
        ("grid [8] loop [8]", f"grid [{blocks}] loop [{iterations}] cyclic"),
        ("tile<4x", f"tile<{tile}x"),
        ("<8x", f"<{blocks}x"),
        ("grid [4]", "grid [1]"),
    ):
        assert old in text
        text = text.replace(old, new)
    reference, candidate = functions(parse_program(text, "gradients"))
    return reference, candidate


@pytest.mark.parametrize(
    ("rows", "blocks", "iterations", "tile"),
    [
        (32768, 263, 125, 1),
        (32763, 263, 125, 1),
        (1003, 66, 8, 2),
        # Fewer rows than blocks.
        (9, 8, 2, 1),
        (5, 8, 2, 1),
    ],
)
def test_gradients_are_proved(rows: int, blocks: int, iterations: int, tile: int) -> None:
    reference, candidate = gradients(rows, blocks, iterations, tile)
    report = check_equivalence(reference, candidate)
    assert report.verdict is Verdict.EQUAL
    assert "proved" in str(report)


def test_mutants_are_rejected() -> None:
    """Single edits of the gradients: what float64 tells apart is not equal."""
    reference, candidate = gradients(23, 3, 4, 2)
    judge, rejected = Judge(reference, seed=3), 0
    for mutant in mutants(candidate, every=3):
        if check_equivalence(reference, mutant.function).verdict is Verdict.EQUAL:
            assert not judge.differs(mutant.function), mutant.description
        else:
            rejected += 1
    assert rejected > 10


def sums(rows: int, blocks: int, iterations: int, tile: int, *, cyclic: bool) -> FuncOp:
    """The sums of the rows that each block has."""
    word = "cyclic " if cyclic else ""
    x, t, s = (
        f"tensor<{rows}x4xf32>",
        f"!threadblock.tile<{tile}x4xf32>",
        "!threadblock.tile<1x4xf32>",
    )
    (function,) = functions(
        parse_program(
            f"""func.func @f(%x: {x}) -> tensor<{blocks}x4xf32> {{
  %p = kernel.graph_defined ins(%x) grid [{blocks}] loop [{iterations}] {word}{{
  ^bb0(%a: {x}):
    %t = threadblock.load %a grid_map [0] loop_map [0] : ({x}) -> {t}
    %r = threadblock.reduce_sum %t {{dims = array<i64: 0>}} : ({t}) -> {s}
    %s = threadblock.accumulate %r : ({s}) -> {s}
    threadblock.store %s grid_map [0] : {s}
  }} : ({x}) -> tensor<{blocks}x4xf32>
  func.return %p : tensor<{blocks}x4xf32>
}}""",
            "sums",
        )
    )
    return function


@pytest.mark.parametrize(
    ("rows", "blocks", "iterations", "tile", "same"),
    [
        (24, 4, 6, 1, False),
        (23, 3, 4, 2, False),
        (36, 6, 6, 1, False),
        # One block, or one iteration each, has the same tiles either way.
        (11, 1, 6, 2, True),
        (11, 6, 1, 2, True),
    ],
)
def test_parts_depend_on_it(rows: int, blocks: int, iterations: int, tile: int, same: bool) -> None:
    plain, cyclic = (sums(rows, blocks, iterations, tile, cyclic=c) for c in (False, True))
    assert (check_equivalence(plain, cyclic).verdict is Verdict.EQUAL) is same
    assert oracle.differ(plain, cyclic, seed=1) is not same
    assert check_equivalence(cyclic, cyclic.clone()).verdict is Verdict.EQUAL
