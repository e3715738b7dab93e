"""The `verify-equivalence` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import fail, remark
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.equivalence.check import BUDGET
from mirage_mlir.equivalence.comparison_report import Comparison, Noted, not_noted
from mirage_mlir.equivalence.random_tests import LANES, MOST_LANES


@dataclass(frozen=True)
class VerifyEquivalencePass(ModulePass):
    """
    Check that a function computes what another one computes, and as accurately.

    Input (`reference=f candidate=g`):
        func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
          %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }
        func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
          %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          %y = kernel.mul %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
          func.return %y : tensor<4x8xf32>
        }

    Output: the same module, and a remark at @g with the arguments: proved, if the normal forms are
    equal, or why that is not known; tested, modulo random primes, with error bound, theorem and
    seed; the rounding error. One argument is enough. `mirage-opt --verify-report=FILE` writes the
    same as JSON.

    Fails on functions that differ (with the first element as witness, in the fields and in f64, and
    the first operator of @g whose value is no part of @f), that are equal but for rounding errors
    over the tolerance, or that cannot be decided (with the reason).
    """

    name = "verify-equivalence"

    reference: str
    """The function that says what is to be computed."""

    candidate: str
    """The function that claims to compute it."""

    tests: int = LANES
    """Modulo how many random primes the functions are compared, at least."""

    seed: int = 0
    """Of all random numbers; the same seed gives the same report."""

    budget: float = BUDGET
    """Seconds that random tests may take; above it normal forms have to prove equality."""

    def __post_init__(self) -> None:
        if not 1 <= self.tests <= MOST_LANES:
            raise ValueError(f"tests is from 1 to {MOST_LANES}, not {self.tests}")
        if self.seed < 0:
            raise ValueError(f"seed is not negative, but {self.seed} is")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.compare(op)

    def compare(self, op: ModuleOp, noted: Noted = not_noted) -> None:
        """Do what the pass does; the comparison goes to `noted` before a failure."""
        reference = _function(op, self.reference)
        candidate = _function(op, self.candidate)
        if reference.function_type != candidate.function_type:
            fail(
                candidate,
                f"@{self.candidate} has type {candidate.function_type}, "
                f"@{self.reference} has type {reference.function_type}",
            )
        report = check_equivalence(reference, candidate, self.tests, self.seed, self.budget)
        noted(Comparison(self.reference, self.candidate, report))
        match report.verdict:
            case Verdict.EQUAL:
                remark(candidate, f"@{self.candidate} is @{self.reference}: {report}")
            case Verdict.DIFFERENT:
                fail(candidate, f"@{self.candidate} is not @{self.reference}: {report}")
            case Verdict.INACCURATE:
                fail(candidate, f"@{self.candidate} is @{self.reference} but inaccurate: {report}")
            case Verdict.UNDECIDED:
                fail(
                    candidate,
                    f"@{self.candidate} may be @{self.reference} or not, not proved: {report}",
                )


def _function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name, with a body."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name and not op.is_declaration:
            return op
    fail(module, f"has no function @{name} with a body")
