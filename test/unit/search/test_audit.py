"""
No small graph is missed: brute force over tiles and cuts of the inputs, without any pruning.

`benchmarks/search/audit.py` does the same with more operators, larger graphs and all cuts.
"""

import pytest
from audited_programs import SUBJECTS
from brute_audit import Audit, Missed
from cut_graphs import Application, Found, InputCuts
from random_programs import RandomProgram, subject
from sampling import sampled

from mirage_mlir.expr.heads import Poly
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra

CONFIGURATIONS = {
    "rmsnorm_linear": 6,
    "weighted_rmsnorm_linear": 6,
    "lora": 9,
    "gated_mlp": 6,
    "sum_of_linears": 6,
    "residual": 3,
    "softmax": 2,
}
"""In how many configurations one kernel computes the program."""

LONG = {"attention_core": "grid(i) loop(k)", "centred_linear": "grid(k) loop(j)"}
"""Programs whose graphs have an operator more, and the configuration that is audited here."""


MOST_STEPS = 7
"""Of random programs: larger ones have no graph of four operators."""


def explained(audit: Audit) -> int:
    """How many graphs the search has, all others being no business of its."""
    outcome = audit.outcome
    assert outcome.missed == [], "\n".join(map(str, outcome.missed))
    assert outcome.complete == outcome.cuts
    assert outcome.explained + outcome.outside == outcome.right
    return outcome.explained


@pytest.mark.parametrize("name", sampled(list(CONFIGURATIONS), 2))
def test_all_configurations(name: str) -> None:
    audit = Audit(SUBJECTS[name])
    for cut in audit.cuts():
        if audit.configuration(cut) is not None:
            audit.run(cut, audit.subject.most)
    assert explained(audit) >= len(audit.outcome.configurations) == CONFIGURATIONS[name]


@pytest.mark.parametrize("name", LONG)
def test_one_configuration(name: str) -> None:
    audit = Audit(SUBJECTS[name])
    for cut in audit.cuts():
        if str(audit.configuration(cut)) == LONG[name]:
            audit.run(cut, audit.subject.most)
    assert audit.outcome.cuts == 1
    assert explained(audit) >= 1


@pytest.mark.parametrize("name", ["rmsnorm_linear", "centred_linear", "softmax"])
def test_cuts_that_the_search_does_not_have(name: str) -> None:
    """Inputs cut along different axes, or along an axis here and not there: nothing comes of it."""
    audit = Audit(SUBJECTS[name])
    cuts = [cut for cut in audit.cuts() if audit.configuration(cut) is None]
    for cut in cuts:
        audit.run(cut, 3)
    assert len(cuts) >= 6
    assert explained(audit) == audit.outcome.right == 0


def test_the_division_may_follow_the_matmul() -> None:
    """What the audit finds first of all."""
    audit = Audit(SUBJECTS["rmsnorm_linear"])
    cut = InputCuts(grid=(-1, 1), loop=(1, 0))
    assert str(audit.configuration(cut)) == "grid(k) loop(j)"
    (found,) = audit.brute.enumerate(cut, 3).found
    assert found == Found(
        (
            Application("rms_accumulate", (0,)),
            Application("matmul_accumulate", (0, 1)),
            Application("div", (3, 2)),
        ),
        stored=1,
    )


def test_random_programs() -> None:
    """
    Of other programs nothing is missed either, as far as random ones show.

    Known to be missed, and not among these: `x + y` where the program cancels (`(x + y) / x`),
    tiles summed in a loop of which a term lacks the axis, graphs in which one axis plays two roles
    that the program does not give it, and products of sums that are multiplied out in part.
    """
    right = 0
    for seed in range(60):
        program = RandomProgram(seed).builder
        axes = [tensor.axes for tensor in resolve(program).inputs]
        # Roles of an axis make more inputs, merged axes inputs of one axis.
        if len(program.steps) > MOST_STEPS or [len(each) for each in axes] != [2] * len(
            program.inputs
        ):
            continue
        audit = Audit(subject(seed, 4))
        for cut in audit.cuts():
            if audit.configuration(cut) is not None:
                audit.run(cut, 4)
        explained(audit)
        right += audit.outcome.right
    assert right > 200


def missed_without(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Missed]:
    """What is missed by a search that lacks something."""
    audit = Audit(SUBJECTS[name])
    (cut,) = (cut for cut in audit.cuts() if str(audit.configuration(cut)) == "grid(k) loop(j)")
    audit.run(cut, 4)
    monkeypatch.undo()
    return audit.outcome.missed


def test_a_search_without_quotients_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = Algebra.pairs

    def fewer(algebra: Algebra, a: Poly, b: Poly) -> tuple[tuple[Kind, Poly], ...]:
        return tuple(way for way in pairs(algebra, a, b) if way[0] is not Kind.DIV)

    monkeypatch.setattr(Algebra, "pairs", fewer)
    missed = missed_without(monkeypatch, "rmsnorm_linear")
    assert missed
    assert all("div" in one.reason for one in missed)


def test_a_search_without_accumulators_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(saturation: Saturation, index: int) -> None: ...

    monkeypatch.setattr(Saturation, "_accumulate", nothing)
    assert missed_without(monkeypatch, "lora")
