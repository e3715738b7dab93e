"""The `superoptimize` pass."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.diagnostics import name_of, remark
from mirage_mlir.dialects.candidate import CandidateAttr, describe, program_of
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.effort import MAX_KERNELS, VERIFY_BUDGET, Effort
from mirage_mlir.equivalence.check import Verifier
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interruption import deferred
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.passes.frontend.correspondence import Correspondence
from mirage_mlir.passes.frontend.explained import explained
from mirage_mlir.passes.frontend.inline import Flat, called_pieces, flattened, pieces_of
from mirage_mlir.passes.frontend.kept import (
    free_name,
    functions_to_search,
    keep_program,
)
from mirage_mlir.passes.frontend.optimizer import Optimizer
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan
from mirage_mlir.passes.frontend.precision import AS_F32, ask_for, check_precision
from mirage_mlir.passes.frontend.proofs import PieceProofs
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.passes.parts.foreign import first_foreign_operations
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.plan_memory import PlanMemoryPass
from mirage_mlir.progress import Progress
from mirage_mlir.search.report import MOST_REFUSED, Searched, SearchReport, not_searched
from mirage_mlir.targets.target import DEFAULT_TARGET, require_known, target_named


@dataclass(frozen=True)
class Candidate:
    """A function of uGraphs and views that claims to compute what another one does."""

    function: FuncOp
    plan: Plan
    alone: bool
    """Whether each operator is a kernel of its own: the program as it was written."""
    report: SearchReport
    """What the search had done when it found this candidate, and what the candidate is."""
    parts: Sequence[Sequence[int]] = ()
    """Values that should be equal, by number: pairs of one of the program, one of the function."""

    def attribute(self) -> CandidateAttr:
        """The attribute that describes the candidate in the IR."""
        plan = self.plan
        return CandidateAttr.of(plan.structure, plan.seconds, alone=self.alone, parts=self.parts)


def candidates(
    function: FuncOp | Flat,
    target: str = DEFAULT_TARGET,
    effort: Effort | None = None,
    program: FuncOp | None = None,
) -> Iterator[Candidate]:
    """
    Functions that may replace `function`, fastest in the cost model first; it is not changed.

    Candidates behind the one with a kernel for each operator are slower in the model: they are
    there to be timed.

    Args:
        function: what is searched, as `kernel-decompose` leaves it.
        target: the GPU.
        effort: how much is searched.
        program: the function as it was written, whose values `Candidate.parts` names.

    Raises:
        ValueError: there is no such target, or no lowering for it.
        DiagnosticException: an operator has no kernel at all.
    """
    flat = function if isinstance(function, Flat) else Flat(function.clone())
    effort = effort or Effort()
    limits = effort.limits()
    row = target_named(target)
    row.require_lowering()
    report = SearchReport(flat.function.sym_name.data, target)
    Progress.say(f"searching for @{report.function}")
    proofs = PieceProofs(effort.verify_budget)
    place = flat.function.clone()
    lower = partial(_plan_memory, target)
    verifier = Verifier(program or place, budget=effort.verify_budget)
    accurate = partial(_is_accurate, verifier)
    optimizer = Optimizer(flat.function, row, limits, report, proofs, flat.cuts, lower, accurate)
    same: Correspondence | None = None
    texts: set[str] = set()
    for plan, alone in optimizer.plans():
        try:
            writer = FunctionWriter(plan)
            written = writer.write()
        except ArrangementError as error:
            report.refuse(f"{plan.structure}: {error}")
            remark(place, f"{plan.structure} was left out: {error}", detail=True)
            continue
        # Plans that were found in two ways: the same kernels would be verified and timed twice.
        if (text := str(written)) in texts and not alone:
            continue
        texts.add(text)
        same = same or Correspondence(program or place, flat.function, optimizer.copied)
        others = [each for each in optimizer.considered if each is not plan]
        found = report.of_candidate(plan.count, plan.seconds, plan.structure, alone=alone)
        found.explanation = explained(plan, writer.launched, others, optimizer.target)
        found.stopped = limits.reason if limits.expired() else ""
        yield Candidate(written, plan, alone, found, same.parts(plan, writer, written))


def _is_accurate(verifier: Verifier, plan: Plan) -> bool:
    """Whether a plan is as accurate as its program, where that can be measured."""
    try:
        losses = verifier.losses(FunctionWriter(plan).write())
    except (ArrangementError, NotInterpretable):
        return False
    return all(loss.acceptable for loss in losses or ())


def _plan_memory(target: str, module: ModuleOp) -> None:
    """Lower a module up to plan-memory, which fails where a block needs too much shared memory."""
    for each in lowering_passes(target, last=PlanMemoryPass.name):
        each.apply(Context(), module)


Found = Callable[[FuncOp], FuncOp | None]
"""Returns a known candidate for a function, such as a cached one, which is verified as well."""


def unknown(function: FuncOp) -> FuncOp | None:
    """No candidate is known: every function is searched."""


NOT_SEARCHED = (
    "its function is not searched; convert-linalg-to-kernel and convert-stablehlo-to-kernel "
    "convert functions, or parts of them"
)


@dataclass(frozen=True)
class SuperoptimizePass(ModulePass):
    """
    Write the fastest uGraphs that a search finds for functions of kernel operators, unverified.

    Input:
        %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (...) -> tensor<16x4096xf16>
        %o = kernel.matmul %y, %w : (...) -> tensor<16x6144xf16>

    Output:
        %o = kernel.graph_defined ins(%x, %w) grid [128] loop [32] {
          ...
        } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>

    The fastest candidate in the cost model takes the function's name; others follow as
    `@NAME__candidate_<i>`, among them one with a kernel for each operator. All claim to compute
    `@NAME__program` (`kernel.implements`): the copy that `kernel-decompose{keep-program=true}`
    kept, or else one of the function before this pass. `verify-equivalence` compares them, and the
    lowering refuses a function that has not been compared.

    Where no `verify-equivalence` follows, `superoptimize` on a command line of `mirage-opt` stands
    for the pipeline of the same name, in which this pass is the third.

    A function that calls pieces of itself, as partition-program leaves it, is searched piece by
    piece and written as one again.

    Fails on a target that there is not or that the module is not for, on operations other than
    those of the kernel dialect, and on an operator for which no kernel exists.
    """

    name = "superoptimize"

    target: str | None = None
    """The GPU to search for: H200, H100, A100, or an instruction set (sm_90a, sm_80); if not given
    the module's `kernel.target`, or else H200."""

    time_limit: float | None = None
    """Seconds of search after which the best so far is taken."""

    top_k: int = 1
    """How many candidates to look for, at least; more are written where the search has them."""

    max_kernels: int = MAX_KERNELS
    """How many kernels a plan may have, for a program that is searched as one piece."""

    jobs: int = 1
    """How many processes search; the result is the same for any number."""

    verify_budget: float = VERIFY_BUDGET
    """Seconds for random tests of one piece. Of a large program each piece is proved or tested
    before it is taken."""

    f32: str = AS_F32
    """How f32 matmuls are computed: 3xtf32, as precise as f32, or tf32, for all of them."""

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
        self.search(op)

    def settled(self, module: ModuleOp) -> "SuperoptimizePass":
        """This pass for one target, which is written on `module` unless it names one already."""
        target = settle_target(module, self.target, self.name)
        ask_for(self.f32, module)
        return replace(self, target=target.name)

    def search(
        self, module: ModuleOp, noted: Searched = not_searched, known: Found = unknown
    ) -> None:
        """
        Search each function of `module`, except those for which a candidate is `known`.

        The report of each candidate is passed to `noted`, in the order of the module.
        """
        settled = self.settled(module)
        for op in first_foreign_operations(module):
            remark(op, f"'{name_of(op)}' op is no operator of the kernel dialect: {NOT_SEARCHED}")
        with deferred():
            for function in functions_to_search(module):
                keep_program(module, function)
                pieces = called_pieces(function, pieces_of(module))
                if (found := known(function)) is not None:
                    _take_known(function, found)
                else:
                    settled._write(module, function, _program(module, function), noted)
                _erase_uncalled(module, pieces)

    def _write(self, module: ModuleOp, function: FuncOp, program: FuncOp, noted: Searched) -> None:
        """Put candidates in the place of a function that claims to compute `program`."""
        flat = flattened(function, pieces_of(module))
        check(flat.function)
        found = list(candidates(flat, self.target or DEFAULT_TARGET, self.effort(), program))
        for candidate in found:
            describe(candidate.function, candidate.attribute())
            noted(candidate.report)
        if stopped := found[0].report.stopped:
            remark(function, f"{stopped} ended the search: the best so far is taken")
        for line in found[0].report.lines(MOST_REFUSED):
            remark(function, line, detail=True)
        taken: list[str] = []
        for rank, candidate in enumerate(found[1:], start=1):
            name = free_name(module, f"{function.sym_name.data}__candidate_{rank}", taken)
            candidate.function.sym_name = StringAttr(name)
            taken.append(name)
        Rewriter.replace_op(function, [candidate.function for candidate in found])


def _program(module: ModuleOp, function: FuncOp) -> FuncOp:
    """What a function claims to compute."""
    name = program_of(function)
    functions = (op for op in module.walk() if isinstance(op, FuncOp))
    return next(op for op in functions if op.sym_name.data == name)


def _take_known(function: FuncOp, known: FuncOp) -> None:
    """Put a function that is known in the place of another one, which it claims to compute."""
    copy = known.clone()
    copy.attributes |= function.attributes
    Rewriter.replace_op(function, copy)


def _erase_uncalled(module: ModuleOp, names: Sequence[str]) -> None:
    """Take away those of the functions `names` that nobody calls."""
    called = {op.callee.string_value() for op in module.walk() if isinstance(op, CallOp)}
    for op in list(module.walk()):
        if isinstance(op, FuncOp) and op.sym_name.data in names:
            if op.sym_name.data not in called:
                Rewriter.erase_op(op)
