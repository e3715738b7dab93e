"""What the verifier says of a pair of functions, for tests and campaigns: the one place."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple
from unittest.mock import patch

from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import Verdict, check_equivalence, comparison

TESTS = 3
"""Random tests of one verification."""


class Answer(NamedTuple):
    """What a verification came to."""

    accepted: bool
    """Whether the candidate may take the place of the reference."""
    verdict: str
    arguments: str
    """Those that hold for equality: "tests", "normal form", both or none."""
    report: str


def verify(reference: FuncOp, candidate: FuncOp, seed: int = 0) -> Answer:
    """What the verifier answers with a seed of its random numbers."""
    report = check_equivalence(reference, candidate, tests=TESTS, seed=seed)
    arguments = " and ".join(report.arguments) or "none"
    return Answer(report.verdict is Verdict.EQUAL, report.verdict.value, arguments, str(report))


def verify_with(reference: FuncOp, candidate: FuncOp, seeds: Sequence[int]) -> list[Answer]:
    """
    What the verifier answers with each of some seeds.

    The normal forms, which have no random numbers, are compared once, and no operator is looked for
    that differs: verdicts are those of `verify`.
    """
    with _without_repetition():
        return [verify(reference, candidate, seed) for seed in seeds]


@contextmanager
def _without_repetition() -> Generator[None]:
    def nothing(reference: FuncOp, candidate: FuncOp) -> str:
        return ""

    with (
        patch.object(comparison, "prove", cache(comparison.prove)),
        patch.object(comparison, "first_divergence", nothing),
    ):
        yield
