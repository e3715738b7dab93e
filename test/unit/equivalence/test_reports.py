"""Reports: the same for the same seed, within budgets, and what the two arguments say."""

from __future__ import annotations

import json
from collections.abc import Callable
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
    check_equivalence,
    comparison,
)
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
