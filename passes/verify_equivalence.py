"""The `verify-equivalence` pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.diagnostics import fail, remark
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.candidate import (
    candidate_of,
    kept_programs,
    mark_alternative,
    mark_unverified,
    unmark,
)
from mirage_mlir.effort import MOST_CANDIDATES, VERIFY_BUDGET, check_between
from mirage_mlir.equivalence import EquivalenceReport, Verdict, check_equivalence
from mirage_mlir.equivalence.comparison_report import Comparison, Noted, not_noted
from mirage_mlir.equivalence.parts import PartVerifier
from mirage_mlir.equivalence.random_tests import LANES, MOST_LANES
from mirage_mlir.passes.frontend.check import check_straight
from mirage_mlir.passes.frontend.inline import inline_pieces
from mirage_mlir.passes.frontend.kept import free_name, functions_to_search
from mirage_mlir.progress import Progress


@dataclass(frozen=True)
class Verified:
    """What verification says of the candidates for one function."""

    kept: Sequence[FuncOp]
    """The candidates that are taken, best first, under their final names."""
    ranks: Sequence[int]
    """The rank of each among all candidates."""
    reports: Sequence[EquivalenceReport]
    """The results of their comparisons."""


@dataclass(frozen=True)
class VerifyEquivalencePass(ModulePass):
    """
    Keep the functions that compute, as accurately, what they claim to; or compare two functions.

    Input:
        func.func private @f__program(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
          %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }
        func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
            attributes {kernel.implements = @f__program} {
          %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          %y = kernel.mul %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }

    Output:
        func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
          %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          %y = kernel.mul %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }

    The candidates for a program are compared with it one after the other, until `top-k` of them are
    accurate and proved or tested. The first of these gets the name of the first candidate. All
    other candidates and private programs are erased; calls of private functions are inlined. With
    `reference` and `candidate` two functions are compared, and nothing changes.

    A remark says how equality is known: proved, if the normal forms are equal, or why they could
    not be compared; tested modulo random primes, with error bound, theorem and seed; and the
    rounding error. A proof or a test is enough. `mirage-opt --verify-report=FILE` writes the same
    as JSON.

    Fails where no candidate is equal. Fails on two functions that differ, with a witness (the first
    element that differs, in the fields and in f64) and the first operator of @g whose value @f does
    not compute; on functions whose rounding errors are over the tolerance; and on functions of
    which equality cannot be decided, with the reason.
    """

    name = "verify-equivalence"

    reference: str | None = None
    """The function to compare with; if not given, the candidates of the module are verified."""

    candidate: str | None = None
    """The function that claims to compute it."""

    tests: int = LANES
    """The least number of random primes modulo which the functions are compared."""

    seed: int = 0
    """The seed of all random numbers; the same seed gives the same report."""

    budget: float = VERIFY_BUDGET
    """Seconds that random tests may take; above it normal forms have to prove equality."""

    top_k: int = 1
    """How many candidates to keep: the others follow as `@NAME__candidate_<i>`."""

    allow_unverified: bool = False
    """Whether the best candidate is kept where none is verified; it is marked
    `kernel.unverified`, and reports say NOT VERIFIED."""

    def __post_init__(self) -> None:
        if not 1 <= self.tests <= MOST_LANES:
            raise ValueError(f"tests is from 1 to {MOST_LANES}, not {self.tests}")
        if self.seed < 0:
            raise ValueError(f"seed is not negative, but {self.seed} is")
        if not self.budget >= 0:
            raise ValueError(f"budget is a number of seconds, not {self.budget}")
        if (self.reference is None) != (self.candidate is None):
            raise ValueError("reference and candidate are given together, or neither is")
        check_between("top-k", self.top_k, MOST_CANDIDATES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.verify(op)

    def verify(self, module: ModuleOp, noted: Noted = not_noted) -> Mapping[str, Verified]:
        """
        Verify `module`; every comparison is passed to `noted`, also those before a failure.

        Returns the candidates that are kept and their reports, by the name of the first.
        """
        if self.reference is not None and self.candidate is not None:
            self._compare(module, self.reference, self.candidate, noted)
            return {}
        programs = kept_programs(module)
        if not programs and (functions := functions_to_search(module)):
            fail(
                functions[0],
                "claims to compute no other function (kernel.implements), nor does any",
                note="superoptimize writes candidates; or say which are reference and candidate",
            )
        found: dict[str, Verified] = {}
        for name, candidates in programs.items():
            program = _function(module, name)
            first = candidates[0].sym_name.data
            found[first] = self._keep(module, program, candidates, noted)
        inline_pieces(module)
        return found

    # Candidates

    def _keep(
        self, module: ModuleOp, program: FuncOp, candidates: Sequence[FuncOp], noted: Noted
    ) -> Verified:
        """Keep the best candidates that are verified, and nothing else."""
        name = candidates[0].sym_name.data
        Progress.say(f"verifying @{name}")
        verifier = PartVerifier(program, self.tests, self.seed, self.budget)
        reports: list[EquivalenceReport] = []
        kept: list[int] = []
        for rank, function in enumerate(candidates):
            if len(kept) == self.top_k:
                break
            report = compared(verifier, function)
            reports.append(report)
            noted(Comparison(name, structure_of_candidate(function), report))
            if report.accepted(unverified=False):
                kept.append(rank)
            else:
                structure = structure_of_candidate(function)
                remark(function, f"{structure} was rejected, {report.verdict.value}: {report}")
        kept = kept or [self._unverified(candidates, reports)]
        taken = [candidates[rank] for rank in kept]
        remark(taken[0], reports[kept[0]].headline, detail=True)
        if _is_each_operator_alone(taken[0]):
            remark(taken[0], "no better graph was found: each operator is a kernel of its own")
        for function in candidates:
            if function not in taken:
                Rewriter.erase_op(function)
        remove_program(program)
        for rank, function in enumerate(taken):
            _rename(module, function, name, rank)
        return Verified(taken, kept, [reports[rank] for rank in kept])

    def _unverified(
        self, candidates: Sequence[FuncOp], reports: Sequence[EquivalenceReport]
    ) -> int:
        """The best candidate that may be right; an error where nobody asked for it."""
        for rank, report in enumerate(reports):
            if report.accepted(unverified=self.allow_unverified):
                reason = f"{report.verdict.value}: {report}"
                remark(candidates[rank], f"NOT VERIFIED, as allowed: {reason}")
                mark_unverified(candidates[rank], reason)
                return rank
        reasons = dict.fromkeys(f"{report.verdict.value}: {report}" for report in reports)
        doubtful = [report for report in reports if report.verdict is not Verdict.DIFFERENT]
        fail(
            candidates[0],
            f"has no kernels that are verified: {'; '.join(reasons)}",
            note="--allow-unverified returns the best one all the same" if doubtful else None,
        )

    # Two functions

    def _compare(
        self, module: ModuleOp, reference_name: str, candidate_name: str, noted: Noted
    ) -> None:
        reference = _function(module, reference_name)
        candidate = _function(module, candidate_name)
        if reference.function_type != candidate.function_type:
            fail(
                candidate,
                f"@{candidate_name} has type {candidate.function_type}, "
                f"@{reference_name} has type {reference.function_type}",
            )
        report = check_equivalence(reference, candidate, self.tests, self.seed, self.budget)
        noted(Comparison(reference_name, candidate_name, report))
        names = f"@{candidate_name} is"
        match report.verdict:
            case Verdict.EQUAL:
                remark(candidate, f"{names} @{reference_name}: {report}")
            case Verdict.DIFFERENT:
                fail(candidate, f"{names} not @{reference_name}: {report}")
            case Verdict.INACCURATE:
                fail(candidate, f"{names} @{reference_name} but inaccurate: {report}")
            case Verdict.UNDECIDED:
                may = f"@{candidate_name} may be @{reference_name} or not, not proved"
                fail(candidate, f"{may}: {report}")


def compared(verifier: PartVerifier, function: FuncOp) -> EquivalenceReport:
    """The report of comparing a candidate with the program of `verifier`."""
    about = candidate_of(function)
    return verifier.compare(function, [] if about is None else list(about.pairs))


def structure_of_candidate(function: FuncOp) -> str:
    """Grid and loop of each kernel of a candidate; the name of one that no search described."""
    about = candidate_of(function)
    return f"@{function.sym_name.data}" if about is None else about.structure.data


def remove_program(program: FuncOp) -> None:
    """Erase a program that was kept for comparison; a public one stays."""
    if program.sym_visibility is not None and program.sym_visibility.data == "private":
        Rewriter.erase_op(program)


def _is_each_operator_alone(function: FuncOp) -> bool:
    """Whether the search wrote `function` as one kernel for each of several operators."""
    about = candidate_of(function)
    kernels = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    return about is not None and about.alone.value.data != 0 and len(kernels) > 1


def _rename(module: ModuleOp, function: FuncOp, name: str, rank: int) -> None:
    """Name a candidate as the result of rank `rank`, and remove its marks."""
    about = candidate_of(function)
    unmark(function)
    if rank == 0:
        function.sym_name = StringAttr(name)
    else:
        seconds = 0.0 if about is None else about.seconds.value.data
        function.sym_name = StringAttr("")
        function.sym_name = StringAttr(free_name(module, f"{name}__candidate_{rank}"))
        mark_alternative(function, rank, seconds)


def _function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name, with a body."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name and not op.is_declaration:
            check_straight(op, "compared")
            return op
    fail(module, f"has no function @{name} with a body")
