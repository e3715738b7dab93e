"""Reports: the same for the same seed, within budgets, and what the two arguments say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from bodies import compare, programs
from graph_mutants import mutants
from rewritten_programs import DIFFERENT, EQUAL, INACCURATE, UGRAPHS
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import (
    EquivalenceReport,
    Verdict,
    Verifier,
    bounds,
    check_equivalence,
    comparison,
)
from mirage_mlir.equivalence.random_tests import Outcome, RandomTests
from mirage_mlir.equivalence.symbolic import Proof


def same(one: EquivalenceReport, other: EquivalenceReport) -> bool:
    return replace(one, seconds=0.0) == replace(other, seconds=0.0)


def test_seeds_reproduce() -> None:
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    one, two, other = (check_equivalence(reference, candidate, seed=s) for s in (5, 5, 6))
    assert one.seed == 5
    assert same(one, two)
    assert one.losses != other.losses


def test_candidates_do_not_matter_to_each_other() -> None:
    """A verifier says of each candidate what it says of that one alone."""
    path = UGRAPHS / "ntrans.mlir"
    reference, graph, *_ = functions(parse_program(path.read_text(), path.name))
    wrong = [mutant.function for mutant in mutants(graph, every=7)]
    verifier = Verifier(reference)
    for candidate in [graph, *wrong[:3], graph, reference.clone()]:
        assert same(verifier.compare(candidate), check_equivalence(reference, candidate))


def test_number_of_primes() -> None:
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    few, many = (check_equivalence(reference, candidate, tests=n) for n in (3, 5))
    assert "modulo 3 primes" in few.tests.theorem
    assert "modulo 5 primes" in many.tests.theorem
    assert 0 < many.tests.bound < few.tests.bound <= 1e-9
    assert "sqrt as random functions" in few.tests.theorem


def test_budget() -> None:
    """What would take too long is left to normal forms, and the report says so."""
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.EQUAL
    assert report.arguments == ("proved",)
    assert "random tests would take about 0 s, 0 s are allowed" in str(report)
    assert report.tests.bound == 1.0


def says(proof: Proof) -> Callable[..., Proof]:
    """What normal forms say, whatever they are asked."""

    def prove(reference: FuncOp, candidate: FuncOp, *, partial: frozenset[int]) -> Proof:
        return proof

    return prove


MAXIMA = "%r = reduce_max %0 {dims = array<i64: 0>} : 100x1 -> 1x1"
SAME_MAXIMA = (
    "%m = reshape %0 : 100x1 -> 4x25\n"
    "%s = reduce_max %m {dims = array<i64: 1>} : 4x25 -> 4x1\n"
    "%r = reduce_max %s {dims = array<i64: 0>} : 4x1 -> 1x1"
)
OTHER_MAXIMA = SAME_MAXIMA.replace("4x25\n", "4x25\n%t = square %m : 4x25 -> 4x25\n", 1).replace(
    "reduce_max %m", "reduce_max %t"
)


@pytest.mark.parametrize(
    ("of_a_pair", "bound"),
    [
        # There are six maxima, 18 pairs. More primes do not tell their words apart.
        (1e-12, "at most 1.8e-11 by Schwartz-Zippel, degree 1, modulo 3 primes; max as"),
        (1e-6, "at most 3.2e-10 by Schwartz-Zippel, degree 1, modulo 3 primes; max as"),
        (1e-3, "not tested: equal at all elements, but wrong with a probability of up to 1.8e-02"),
    ],
)
def test_a_second_test(of_a_pair: float, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one test may be wrong too often, one that is independent of it follows."""
    monkeypatch.setattr(comparison, "prove", says(Proof(False, "it was not tried")))
    monkeypatch.setattr(bounds, "SUM", of_a_pair)
    report = compare("100x1", "1x1", MAXIMA, SAME_MAXIMA)
    assert bound in str(report)
    assert ("tested twice" in str(report)) == (of_a_pair == 1e-6)
    assert report.accepted(unverified=False) == (of_a_pair < 1e-3)


def test_a_second_test_draws_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first test cannot see the second one finds."""
    functions = programs("100x1", "1x1", MAXIMA, OTHER_MAXIMA)
    monkeypatch.setattr(comparison, "prove", says(Proof(False, "it was not tried")))
    monkeypatch.setattr(bounds, "SUM", 1e-6)
    run = RandomTests.run
    seeds: list[int] = []

    def blind(self: RandomTests, candidate: FuncOp, private: Sequence[int] | None) -> Outcome:
        seeds.append(self.seed)
        return run(self, functions[0] if len(seeds) == 1 else candidate, private)

    monkeypatch.setattr(RandomTests, "run", blind)
    report = Verifier(functions[0]).compare(functions[1])
    assert len(set(seeds)) == len(seeds) == 2
    assert report.verdict is Verdict.DIFFERENT


def test_neither_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without proof and tests the same functions are not accepted, and different ones are told."""
    monkeypatch.setattr(comparison, "prove", says(Proof(False, "it was not tried")))
    reference, candidate = programs(*EQUAL["a norm below a matmul"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.UNDECIDED
    assert report.arguments == ()
    assert not report.accepted(unverified=False)
    assert report.accepted(unverified=True)
    assert "normal forms: it was not tried; not tested: random tests would take" in str(report)
    reference, candidate = programs(*DIFFERENT["another epsilon"])
    report = Verifier(reference).compare(candidate, budget=0.0)
    assert report.verdict is Verdict.DIFFERENT
    assert not report.accepted(unverified=True)


def test_arguments_that_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A normal form that says that polynomials are equal, of which tests know better."""
    monkeypatch.setattr(comparison, "prove", says(Proof(True)))
    report = compare(*DIFFERENT["a sum for a mean"])
    assert report.verdict is Verdict.UNDECIDED
    assert "the arguments contradict each other, which is a bug" in str(report)


def test_reports_as_json() -> None:
    equal = compare(*EQUAL["a norm below a matmul"])
    inaccurate = compare(*INACCURATE["softmax without a shift"])
    different = compare(*DIFFERENT["a sum for a mean"])
    fields = [json.loads(json.dumps(each.fields())) for each in (equal, inaccurate, different)]
    assert [each["status"] for each in fields] == ["verified", "NOT VERIFIED", "NOT VERIFIED"]
    assert [each["verdict"] for each in fields] == ["equal", "inaccurate", "not equal"]
    assert fields[0]["arguments"] == ["proved", "tested"]
    assert fields[0]["bound"] == equal.tests.bound
    assert fields[0]["normal_form"] is fields[0]["not_tested"] is fields[0]["witness"] is None
    assert fields[0]["scope"] == "all elements" or "stand for all" in fields[0]["scope"]
    losses = fields[1]["losses"]
    assert {loss["output"] for loss in losses} == {0}
    assert any(not loss["error"] <= loss["tolerance"] for loss in losses)
    witness = fields[2]["witness"]
    assert witness["f64"]["candidate"] == pytest.approx(6 * witness["f64"]["reference"])
    assert witness["f64"]["element"] == witness["residues"]["element"]
