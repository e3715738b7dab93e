"""The `superoptimize` pass."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from mirage_mlir.diagnostics import fail, remark
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.equivalence import EquivalenceReport, Verdict, check_equivalence
from mirage_mlir.equivalence.check import BUDGET
from mirage_mlir.equivalence.comparison_report import Comparison, Noted, not_noted
from mirage_mlir.interruption import deferred
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.passes.frontend.effort import MAX_KERNELS, Effort
from mirage_mlir.passes.frontend.explained import explained
from mirage_mlir.passes.frontend.inline import inline_pieces, is_partitioned
from mirage_mlir.passes.frontend.optimizer import Optimizer
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan
from mirage_mlir.passes.frontend.precision import AS_F32, ask_for, check_precision
from mirage_mlir.passes.frontend.proofs import PieceProofs
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.progress import Progress
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import DEFAULT_TARGET, require_known, target_named


@dataclass(frozen=True)
class Candidate:
    """A function of uGraphs and views that claims to compute what another one does."""

    function: FuncOp
    plan: Plan
    alone: bool
    """Whether it has each operator alone: the program as it was written."""
    report: SearchReport
    """What the search did until then, and this candidate."""
    proof: EquivalenceReport | None = None
    """What comparing it with the function came to; None where nobody did yet."""

    def compared(self, reference: FuncOp) -> EquivalenceReport:
        """Whether it computes what `reference` does."""
        if self.plan.comparison is None:
            return check_equivalence(reference, self.function)
        return self.plan.comparison(self.plan, reference, self.function)


def candidates(
    function: FuncOp, target: str = DEFAULT_TARGET, effort: Effort | None = None
) -> Iterator[Candidate]:
    """
    Functions that may replace `function`, which is left alone: the fastest in the model first.

    Those after the one with each operator alone are slower in the model, and for timing only.

    Raises:
        ValueError: there is no such target, or no lowering for it.
        DiagnosticException: an operator has no kernel at all.
    """
    effort = effort or Effort()
    limits = effort.limits()
    row = target_named(target)
    row.require_lowering()
    report = SearchReport(function.sym_name.data, target)
    Progress.say(f"searching for @{report.function}")
    proofs = PieceProofs(effort.verify_budget)
    optimizer = Optimizer(function.clone(), row, limits, report, proofs)
    for plan, alone in optimizer.plans():
        try:
            writer = FunctionWriter(plan)
            written = writer.write()
        except ArrangementError as error:
            report.refuse(f"{plan.structure}: {error}")
            remark(function, f"{plan.structure} was left out: {error}", detail=True)
            continue
        others = [each for each in optimizer.considered if each is not plan]
        found = report.of_candidate(plan.count, plan.seconds, plan.structure, alone=alone)
        found.explanation = explained(plan, writer.launched, others, optimizer.target)
        found.stopped = limits.reason if limits.expired() else ""
        yield Candidate(written, plan, alone, found)


def verified(
    function: FuncOp,
    target: str = DEFAULT_TARGET,
    effort: Effort | None = None,
    *,
    unverified: bool = False,
    noted: Noted = not_noted,
) -> Iterator[Candidate]:
    """
    The candidates that are proved or tested; with `unverified`, without any, one that is not.

    Every comparison that is made goes to `noted`, also those of candidates that are refused.

    Raises:
        ValueError: there is no such target.
        DiagnosticException: an operator has no kernel at all, or no candidate is verified.
    """
    refused: list[tuple[Candidate, EquivalenceReport]] = []
    some = False
    for found in candidates(function, target, effort):
        report = found.report
        with report.phase("verification"):
            proof = found.compared(function)
        candidate = replace(found, proof=proof)
        noted(Comparison(function.sym_name.data, candidate.plan.structure, proof))
        report.verification, report.rejected = proof.headline, len(refused)
        if proof.accepted(unverified=False):
            some = True
            yield candidate
            continue
        refused.append((candidate, proof))
        structure = candidate.plan.structure
        remark(function, f"{structure} was rejected, {proof.verdict.value}: {proof}")
    if not some:
        yield _unverified(function, refused, allowed=unverified)


def _unverified(
    function: FuncOp, refused: Sequence[tuple[Candidate, EquivalenceReport]], *, allowed: bool
) -> Candidate:
    """The best candidate that may be right; an error where nobody asked for it."""
    for candidate, proof in refused:
        if proof.accepted(unverified=allowed):
            remark(function, f"NOT VERIFIED, as allowed: {proof.verdict.value}: {proof}")
            return candidate
    reasons = dict.fromkeys(f"{proof.verdict.value}: {proof}" for _, proof in refused)
    doubtful = [proof for _, proof in refused if proof.verdict is not Verdict.DIFFERENT]
    fail(
        function,
        f"has no kernels that are verified: {'; '.join(reasons)}",
        note="--allow-unverified returns the best one all the same" if doubtful else None,
    )


@dataclass(frozen=True)
class SuperoptimizePass(ModulePass):
    """
    Replace functions of kernel operators by the fastest equivalent uGraphs that a search finds.

    Input:
        %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (...) -> tensor<16x4096xf16>
        %o = kernel.matmul %y, %w : (...) -> tensor<16x6144xf16>

    Output:
        %o = kernel.graph_defined ins(%x, %w) grid [128] loop [32] {
          ...
        } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>

    A function that calls pieces of itself, as partition-program leaves it, is written as one again.

    What is found is verified before it is taken: proved by normal forms or tested, and accurate.
    Where nothing better is found, the result has each operator as a graph of its own, and a remark
    says so.

    Fails on a target that there is not or that the module is not for, on operations other than
    those of the kernel dialect, on an operator for which no kernel exists, and where nothing that
    was found is verified.
    """

    name = "superoptimize"

    target: str | None = None
    """The GPU to search for: H200, H100, A100, or an instruction set (sm_90a, sm_80); if not given
    the module's `kernel.target`, or else H200."""

    time_limit: float | None = None
    """Seconds of search after which the best so far is taken."""

    top_k: int = 1
    """How many results to keep: the others follow as `@NAME__candidate_<i>`."""

    max_kernels: int = MAX_KERNELS
    """How many kernels a plan may have, for a program that is searched as one piece."""

    jobs: int = 1
    """How many processes search; the result is the same for any number."""

    f32: str = AS_F32
    """What products of f32 are: 3xtf32, as precise as f32, or tf32, as if each asked for it."""

    allow_unverified: bool = False
    """Whether the best graph is returned where none is verified; reports say NOT VERIFIED."""

    verify_budget: float = BUDGET
    """Seconds that random tests of a result may take; above it normal forms have to prove it."""

    def __post_init__(self) -> None:
        check_precision(self.f32)
        require_known(self.target)
        self.effort()

    def effort(self) -> Effort:
        """How much each search may do."""
        return Effort(self.time_limit, self.max_kernels, self.jobs, self.top_k, self.verify_budget)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Visit every function of the module that has operators.

        Ctrl-C ends the search: the best so far is taken.
        """
        search = self.settled(op)
        rewrite(op, lambda function: replacement(search.search(function)))

    def settled(self, module: ModuleOp) -> "SuperoptimizePass":
        """This pass with the target that `module`, which notes it, is compiled for from now on."""
        target = settle_target(module, self.target, self.name)
        ask_for(self.f32, module)
        return replace(self, target=target.name)

    def search(self, function: FuncOp, noted: Noted = not_noted) -> Sequence[Candidate]:
        """
        What is found for a function, the best first; every comparison goes to `noted`.

        Raises:
            DiagnosticException: an operator has no kernel at all, or no candidate is verified.
        """
        target, effort = self.target or DEFAULT_TARGET, self.effort()
        found = verified(function, target, effort, unverified=self.allow_unverified, noted=noted)
        kept = list(islice(found, self.top_k))
        best = kept[0]
        if best.report.stopped:
            remark(function, f"{best.report.stopped} ended the search: the best so far is taken")
        if best.alone and len(best.plan.kernels) > 1:
            remark(function, "no better graph was found: each operator is a kernel of its own")
        for line in best.report.lines():
            remark(function, line, detail=True)
        return kept


def rewrite(module: ModuleOp, found: Callable[[FuncOp], Sequence[FuncOp]]) -> None:
    """Put what is `found` for it in the place of each function of `module` that has operators."""
    with deferred():
        for function in [f for f in module.walk() if isinstance(f, FuncOp)]:
            if has_work(function) and not is_partitioned(function):
                check(function)
                Rewriter.replace_op(function, found(function))
        inline_pieces(module)


def replacement(found: Sequence[Candidate]) -> list[FuncOp]:
    """
    Functions to put in the place of the one that candidates, the best first, were found for.

    Those of further candidates have their rank, and their modelled time in seconds.
    """
    functions = [candidate.function.clone() for candidate in found]
    for rank, (function, candidate) in enumerate(zip(functions, found, strict=True)):
        if rank > 0:
            function.sym_name = StringAttr(f"{function.sym_name.data}__candidate_{rank}")
            function.attributes["mirage.rank"] = IntegerAttr(rank, i64)
            function.attributes["mirage.cost"] = FloatAttr(candidate.plan.seconds, f64)
    return functions


def has_work(function: FuncOp) -> bool:
    """Whether `function` has operators, or returns an argument, which takes a copy."""
    if any(is_operator(op) for op in function.walk()):
        return True
    return any(
        isinstance(last := block.last_op, ReturnOp)
        and any(isinstance(value, BlockArgument) for value in last.operands)
        and all(isa(value.type, TensorType[FloatType]) for value in last.operands)
        for block in function.body.blocks
    )


def is_operator(op: Operation) -> bool:
    """Whether `op` is of the kernel dialect and not yet a graph."""
    return op.name.startswith("kernel.") and not isinstance(op, kernel.GraphDefinedOp)
