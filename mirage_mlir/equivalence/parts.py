"""
Compares large candidates with their program, as a whole or part by part.

Pairs of values propose where both functions can be cut. A part leads from some pairs to others:
operators of the program, and kernels of the candidate. If both sides of each part compute the same
from whatever they read, so do the functions, by induction over the candidate's operations. Wrong
pairs do no harm: then parts differ. The time of random tests and the size of normal forms grow with
a program; those of parts do not.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.effort import VERIFY_BUDGET
from mirage_mlir.equivalence.check import Verifier
from mirage_mlir.equivalence.comparison_report import EquivalenceReport, Tests, Verdict, verdict_of
from mirage_mlir.equivalence.definedness import partial_values
from mirage_mlir.equivalence.merging import left_of, merge_equal
from mirage_mlir.equivalence.printed import printed
from mirage_mlir.equivalence.random_tests import LANES
from mirage_mlir.equivalence.steps import changed_step
from mirage_mlir.equivalence.symbolic import Proof

MOST_AT_ONCE = 5
"""Parts that are compared as one program: of more, normal forms are too large."""

WHOLE = 1.0
"""Seconds that random tests of several parts as one program may take: parts take less."""

Pairs = Sequence[Sequence[tuple[int, int]]]
"""For each part, numbers of values of a program and of a candidate that should be equal."""


@dataclass(frozen=True)
class Part:
    """The operations of the candidate between pairs, and the operators that they stand for."""

    reference: FuncOp
    candidate: FuncOp
    partial: frozenset[int] = frozenset()
    """The arguments some of whose elements may be undefined: each element of the candidate reads
    only those that the same element of the reference reads."""


def numbered_values(function: FuncOp) -> list[SSAValue]:
    """The values of a function, numbered: arguments first, then results in order."""
    block = function.body.block
    return [*block.args, *(result for op in block.ops for result in op.results)]


@dataclass
class PartVerifier:
    """
    Compares candidates with one program, which must not change.

    Equal parts are compared once.

    Args:
        program: what is to be computed.
        tests: modulo how many random primes functions are compared, at least.
        seed: of all random numbers.
        budget: seconds that random tests of one comparison may take.
    """

    program: FuncOp
    tests: int = LANES
    seed: int = 0
    budget: float = VERIFY_BUDGET
    _known: dict[str, EquivalenceReport] = field(default_factory=dict[str, EquivalenceReport])
    _verifiers: dict[str, Verifier] = field(default_factory=dict[str, Verifier])
    """By the text of what a part stands for."""

    def __post_init__(self) -> None:
        self._whole = self._verifier(self.program)

    def compare(self, candidate: FuncOp, pairs: Pairs = ()) -> EquivalenceReport:
        """Compare a candidate with the program, part by part if needed."""
        if len(pairs) <= 1:
            return self._whole.compare(candidate)
        parts = list(_parts(self.program, candidate, pairs))
        if len(parts) <= MOST_AT_ONCE:
            whole = self._whole.compare(candidate, WHOLE)
            if whole.verdict is not Verdict.EQUAL or whole.tests.counts:
                return whole
            tests = _together([self._of(part) for part in parts])
            return replace(whole, tests=tests) if tests.counts else whole
        return self._by_parts(candidate, parts)

    def _by_parts(self, candidate: FuncOp, parts: Sequence[Part]) -> EquivalenceReport:
        reports: list[EquivalenceReport] = []
        for part in parts:
            reports.append(self._of(part))
            if reports[-1].verdict is not Verdict.EQUAL:
                return reports[-1]
        losses = self._whole.losses(candidate)
        different = list({id(report): report for report in reports}.values())
        unproved = [report.proof for report in different if not report.proof.proved]
        step = changed_step(self.program, candidate)
        remarks = [f"part by part, {len(reports)} of them, {len(different)} different"]
        if losses is None:
            remarks.append("rounding errors were measured of parts: the whole is too large")
        return EquivalenceReport(
            verdict_of(losses, step),
            self.seed,
            unproved[0] if unproved else Proof(True),
            _together(reports),
            tuple(losses or ()),
            reason=step or "",
            remarks=tuple(remarks),
            seconds=sum(report.seconds for report in different),
        )

    def _of(self, part: Part) -> EquivalenceReport:
        expected = printed(ModuleOp([part.reference.clone()]))
        expected += str(sorted(part.partial))
        text = expected + printed(ModuleOp([part.candidate.clone()]))
        if text not in self._known:
            if expected not in self._verifiers:
                self._verifiers[expected] = self._verifier(part.reference, part.partial)
            self._known[text] = self._verifiers[expected].compare(part.candidate)
        return self._known[text]

    def _verifier(self, reference: FuncOp, partial: frozenset[int] = frozenset()) -> Verifier:
        return Verifier(reference, self.tests, self.seed, self.budget, partial=partial)


def _together(reports: Sequence[EquivalenceReport]) -> Tests:
    """The tests of all parts as tests of the whole; they count only if those of each part do."""
    different = list({id(report): report.tests for report in reports}.values())
    missing = [tests for tests in different if not tests.counts]
    if missing:
        return replace(missing[0], reason=f"one part is {missing[0]}", passed=False)
    return Tests(
        passed=True,
        bound=min(1.0, sum(tests.bound for tests in different)),
        theorem=max((tests.theorem for tests in different), key=len),
        scope=f"each of {len(reports)} parts, {max((t.scope for t in different), key=len)}",
    )


# Cutting


def _parts(program: FuncOp, candidate: FuncOp, pairs: Pairs) -> Iterator[Part]:
    """
    The parts between pairs, and the one from the last pairs to the results.

    Pairs with arguments, or with values of different types, are left out, and such as depend on no
    argument: a constant may stand for equal ones that the other function has in other places.
    """
    program, left = _merged(program)
    right = numbered_values(candidate)
    dependent, partial = _dependent(program), partial_values(program)
    arguments = zip(candidate.body.block.args, program.body.block.args, strict=True)
    partners: dict[SSAValue, SSAValue] = dict(arguments)
    groups: list[list[SSAValue]] = []
    for part in pairs:
        group: list[SSAValue] = []
        for one, other in part:
            if one < len(left) and other < len(right) and left[one].type == right[other].type:
                if left[one] in dependent and right[other] not in partners:
                    partners[right[other]] = left[one]
                    group.append(right[other])
        if group:
            groups.append(group)
    for group in groups:
        yield _part([partners[value] for value in group], group, partners, partial)
    returned = list(zip(_returned(program), _returned(candidate), strict=True))
    rest = [(one, other) for one, other in returned if partners.get(other) is not one]
    if rest:
        yield _part([one for one, _ in rest], [other for _, other in rest], partners, partial)


def _merged(program: FuncOp) -> tuple[FuncOp, list[SSAValue]]:
    """
    A copy of a program in which equal operators are one, and its values by the program's numbers.

    Else a part might read one of two equal values, and what it is compared with the other one.
    """
    copied: dict[SSAValue, SSAValue] = {}
    copy = program.clone(copied)
    merged = merge_equal(copy.body.block)
    return copy, [left_of(copied[value], merged) for value in numbered_values(program)]


def _dependent(function: FuncOp) -> set[SSAValue]:
    """The values that depend on an argument."""
    found: set[SSAValue] = {*function.body.block.args}
    for op in function.body.block.ops:
        if not found.isdisjoint(op.operands):
            found.update(op.results)
    return found


def _returned(function: FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last.operands


def _part(
    wanted: Sequence[SSAValue],
    made: Sequence[SSAValue],
    partners: Mapping[SSAValue, SSAValue],
    partial: Container[SSAValue],
) -> Part:
    """The part that leads to `wanted` in the program and to `made` in the candidate."""
    own = set(made)
    kernels, read = _leading_to(made, {value for value in partners if value not in own})
    known = {partners[value] for value in read}
    operators, needed = _leading_to(wanted, known)
    # Behind what is read: inputs of the program that the candidate does not read, as they cancel.
    inputs = list(dict.fromkeys([*(partners[value] for value in read), *needed]))
    places = {value: inputs.index(partners[value]) for value in read}
    types = [value.type for value in inputs]
    reference = Block(arg_types=types)
    stands_for: dict[SSAValue, SSAValue] = dict(zip(inputs, reference.args, strict=True))
    block = Block(arg_types=types)
    arguments: dict[SSAValue, SSAValue] = {v: block.args[n] for v, n in places.items()}
    return Part(
        _function(reference, operators, wanted, stands_for),
        _function(block, kernels, made, arguments),
        frozenset(n for n, value in enumerate(inputs) if value in partial),
    )


def _leading_to(
    values: Sequence[SSAValue], known: Container[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """The operations that compute `values`, in order, and the known values that they read."""
    operations: dict[Operation, None] = {}
    leaves: dict[SSAValue, None] = {}
    pending: list[SSAValue | Operation] = list(reversed(values))
    # Not by recursion: a function may launch thousands of kernels one after the other.
    while pending:
        last = pending.pop()
        if isinstance(last, Operation):
            operations.setdefault(last)
        elif last in known or not isinstance(last.owner, Operation):
            leaves.setdefault(last)
        elif last.owner not in operations:
            pending += [last.owner, *reversed(last.owner.operands)]
    return list(operations), list(leaves)


def _function(
    block: Block,
    operations: Iterable[Operation],
    results: Sequence[SSAValue],
    values: dict[SSAValue, SSAValue],
) -> FuncOp:
    """Copies of `operations` as a function; `values` are its arguments."""
    for op in operations:
        block.add_op(op.clone(values))
    block.add_op(ReturnOp(*(values[value] for value in results)))
    types = [value.type for value in block.args], [value.type for value in results]
    return FuncOp("part", types, Region(block))
