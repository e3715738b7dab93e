"""Maxima, exponents, and the bound that is printed against how often wrong functions pass."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from bodies import compare, programs, slice_of

from mirage_mlir.equivalence import Verdict, bounds, random_tests
from mirage_mlir.equivalence.bounds import Evidence, bound_of, lanes_needed
from mirage_mlir.equivalence.random_tests import Outcome, RandomTests, exponential_arguments
from mirage_mlir.equivalence.sample import whole
from mirage_mlir.field.height import Height
from mirage_mlir.field.primes import is_prime

MAXIMUM = "%r = reduce_max %0 {dims = array<i64: 0>} : 100x1 -> 1x1"


def outcome_of(inputs: str, result: str, *bodies: str, seed: int = 0) -> Outcome:
    """What random tests alone say."""
    reference, candidate = programs(inputs, result, *bodies)
    tests = RandomTests(
        reference,
        whole(reference),
        seed,
        exponential=exponential_arguments((reference, candidate)),
        expand_sigmoid=False,
    )
    return tests.run(candidate, None)


# Maxima


def rows(*parts: tuple[int, int]) -> str:
    """The maximum of some rows, given by start and number."""
    lines = [
        f"%s{n} = slice %0 {slice_of(f'{start} 0', f'{count} 1')} : 100x1 -> {count}x1"
        for n, (start, count) in enumerate(parts)
    ]
    names = ", ".join(f"%s{n}" for n in range(len(parts)))
    types = " ".join(f"{count}x1" for _, count in parts)
    total = sum(count for _, count in parts)
    return "\n".join(
        [
            *lines,
            f"%c = concat {names} {{dim = 0 : i64}} : {types} -> {total}x1",
            f"%r = reduce_max %c {{dims = array<i64: 0>}} : {total}x1 -> 1x1",
        ]
    )


@pytest.mark.parametrize("missing", [0, 1, 57, 99])
def test_a_maximum_that_misses_an_element(missing: int) -> None:
    parts = [(0, missing), (missing + 1, 99 - missing)]
    body = rows(*(part for part in parts if part[1]))
    for seed in range(4):
        assert not outcome_of("100x1", "1x1", MAXIMUM, body, seed=seed).passed
        report = compare("100x1", "1x1", MAXIMUM, body, seed=seed)
        assert report.verdict is not Verdict.EQUAL, str(report)


def test_maxima_in_any_order() -> None:
    outcome = outcome_of("100x1", "1x1", MAXIMUM, rows((60, 40), (0, 1), (1, 59)))
    assert outcome.passed
    assert outcome.bound.probability < 1e-9


def test_a_maximum_that_has_an_element_twice() -> None:
    """Equal as functions, which normal forms know; tests count elements and do not."""
    assert not outcome_of("100x1", "1x1", MAXIMUM, rows((0, 100), (57, 1))).passed
    report = compare("100x1", "1x1", MAXIMUM, rows((0, 100), (57, 1)))
    assert report.verdict is not Verdict.DIFFERENT, str(report)


def test_one_element_for_another() -> None:
    """As many elements, but one of them twice in the place of another."""
    body = rows((0, 57), (56, 1), (58, 42))
    assert not outcome_of("100x1", "1x1", MAXIMUM, body).passed
    assert compare("100x1", "1x1", MAXIMUM, body).verdict is not Verdict.EQUAL


# Exponents

ATTENTION = """
%s = matmul %0, %1 : 4x3 3x5 -> 4x5
%p = softmax %s {dim = 1 : i64} : 4x5 -> 4x5
%r = matmul %p, %2 : 4x5 5x3 -> 4x3
"""


def test_independent_exponents_have_a_bound() -> None:
    report = compare("4x3 3x5 5x3", "4x3", ATTENTION, ATTENTION)
    assert report.tests.passed
    assert report.tests.counts or "exponents" not in report.tests.theorem


@pytest.mark.parametrize(
    ("inputs", "body", "missing"),
    [
        ("4x4", "%s = square %0 : 4x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4", True),
        ("4x4", "%s = scale %0 {factor = 0.5 : f32} : 4x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4", False),
        (
            "4x4",
            "%t = transpose %0 {permutation = array<i64: 1, 0>} : 4x4 -> 4x4\n"
            "%s = add %0, %t : 4x4 4x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4",
            True,
        ),
        (
            "4x4 4x4",
            "%s = mul %0, %1 : 4x4 4x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4",
            False,
        ),
        (
            "4x4 4x1 1x4",
            "%s = add %1, %2 : 4x1 1x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4",
            False,
        ),
        (
            "4x4 4x1 1x4",
            "%s = add %1, %2 : 4x1 1x4 -> 4x4\n%e = exp %s : 4x4 -> 4x4\n"
            "%t = reduce_sum %e {dims = array<i64: 0, 1>} : 4x4 -> 1x1\n"
            "%r = mul %0, %t : 4x4 1x1 -> 4x4",
            True,
        ),
    ],
    ids=[
        "squares",
        "linear",
        "x plus its transpose",
        "a product",
        "one of each axis",
        "sums of rows and columns",
    ],
)
def test_exponents_that_depend_on_each_other(inputs: str, body: str, missing: bool) -> None:
    """Then tests have no bound, and say so; a slab has some of the exponents only."""
    report = compare(inputs, "4x4", body, body)
    assert report.verdict is Verdict.EQUAL
    assert report.arguments == (("proved",) if missing else ("proved", "tested"))
    assert ("may depend on each other" in report.tests.theorem) is missing


def test_exponents_of_the_candidate_alone() -> None:
    """exp(a) exp(b) for exp(a + b): exponents that the reference does not have."""
    report = compare(
        "4x4 4x4",
        "4x4",
        "%s = add %0, %1 : 4x4 4x4 -> 4x4\n%r = exp %s : 4x4 -> 4x4",
        "%s = exp %0 : 4x4 -> 4x4\n%t = exp %1 : 4x4 -> 4x4\n%r = mul %s, %t : 4x4 4x4 -> 4x4",
    )
    assert report.tests.passed
    assert report.tests.bound == 1.0
    assert "exponents that the reference does not have" in report.tests.theorem


def test_an_exponent_that_vanishes() -> None:
    """exp(0 x) of an input that is not there: drawing it again changes nothing."""
    body = "%z = sub %0, %0 : 4x4 4x4 -> 4x4\n%s = mul %z, %1 : 4x4 4x4 -> 4x4\n"
    body += "%r = exp %s : 4x4 -> 4x4"
    report = compare("4x4 4x4", "4x4", body, body)
    assert report.verdict is Verdict.EQUAL


# Rates of false acceptance

SMALL = [p for p in range(200, 500) if is_prime(p) and is_prime((p - 1) // 2)]
"""Primes so small that wrong functions pass often."""

TRIALS = 400


def small_primes(count: int, random: np.random.Generator) -> list[int]:
    return [int(each) for each in random.choice(SMALL, count, replace=False)]


WRONG: dict[str, tuple[str, str, str, str]] = {
    "two products of sums": (
        "1x4",
        "1x1",
        "%r = reduce_sum %0 {dims = array<i64: 1>} : 1x4 -> 1x1",
        "%s = pow %0 {exponent = 4.0 : f32} : 1x4 -> 1x4\n"
        "%r = reduce_sum %s {dims = array<i64: 1>} : 1x4 -> 1x1",
    ),
    "a fifth power that is a number": (
        "1x1",
        "1x1",
        "%r = pow %0 {exponent = 6.0 : f32} : 1x1 -> 1x1",
        "%r = scale %0 {factor = 1.0 : f32} : 1x1 -> 1x1",
    ),
    "exponentials": (
        "1x4",
        "1x1",
        "%e = exp %0 : 1x4 -> 1x4\n%r = reduce_sum %e {dims = array<i64: 1>} : 1x4 -> 1x1",
        "%s = scale %0 {factor = 2.0 : f32} : 1x4 -> 1x4\n%e = exp %s : 1x4 -> 1x4\n"
        "%r = reduce_sum %e {dims = array<i64: 1>} : 1x4 -> 1x1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_rates_are_below_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo one small prime wrong functions pass sometimes, and not more often than is said."""
    monkeypatch.setattr(random_tests, "safe_primes", small_primes)
    monkeypatch.setattr(bounds, "RESIDUE", 1.02 / min(SMALL))
    monkeypatch.setattr(bounds, "EXPONENT", 2.04 / min(SMALL))
    monkeypatch.setattr(bounds, "PRIMES", len(SMALL))
    monkeypatch.setattr(bounds, "BITS", 7)
    reference, candidate = programs(*WRONG[name])
    exponential = exponential_arguments((reference, candidate))
    passed, largest = 0, 0.0
    for seed in range(TRIALS):
        tests = RandomTests(
            reference,
            whole(reference),
            seed,
            exponential=exponential,
            expand_sigmoid=False,
            lanes=1,
        )
        outcome = tests.run(candidate, None)
        passed += outcome.passed
        largest = max(largest, bound_of(replace(outcome.evidence, exponentials=0)).probability)
    # Three deviations of a binomial distribution.
    assert passed / TRIALS <= largest + 3 * (largest / TRIALS) ** 0.5
    assert largest < 0.5
    if name == "a fifth power that is a number":
        assert passed > 0, "the primes are small enough to see it"


def test_more_primes_are_better() -> None:
    height = Height(degree=4, bits=30.0)
    evidence = Evidence(1, height, 0, height)
    found = [bound_of(replace(evidence, lanes=n)).probability for n in (1, 2, 3)]
    assert found[1] == pytest.approx(found[0] ** 2)
    assert found[2] == pytest.approx(found[0] ** 3)
    # One prime of 73,658 divides coefficients below 2^30; four of 2^25 values are zeros.
    assert found[0] == pytest.approx(1 / 73_658 + 4 * 1.02 / 2**25)
    assert lanes_needed(evidence) == 2


def test_no_bound() -> None:
    for height in (Height(degree=1 << 60), Height(bits=inf)):
        evidence = Evidence(3, height, 0, height)
        assert bound_of(evidence).probability == 1.0
        assert lanes_needed(evidence) == 3
