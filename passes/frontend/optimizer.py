"""Plans for a function: the kernels that a search finds for its pieces, or each operator alone."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf
from time import perf_counter
from typing import TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from mirage_mlir.diagnostics import collect_remarks, fail, remark
from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence import Verdict
from mirage_mlir.equivalence.kept_roundings import kept_roundings
from mirage_mlir.interpreters.operators import structure_of
from mirage_mlir.passes.frontend import direct
from mirage_mlir.passes.frontend.conditions import is_condition
from mirage_mlir.passes.frontend.direct_elementwise import elementwise
from mirage_mlir.passes.frontend.fitting import Lower, lowers_anything
from mirage_mlir.passes.frontend.from_ir import Piece, UnsupportedError, read_piece
from mirage_mlir.passes.frontend.good_enough import LITTLE, MUCH, is_far, is_near
from mirage_mlir.passes.frontend.joint_launches import (
    with_joint_launches,
    with_launches_of_parts,
    with_rivals,
)
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.piece_extraction import (
    PieceCut,
    Said,
    has_fixed_parts,
    partition,
    read_or_remark,
)
from mirage_mlir.passes.frontend.pieces import PieceSearch
from mirage_mlir.passes.frontend.plan import Plan, PlannedKernel, returned, stays, to_compute
from mirage_mlir.passes.frontend.proofs import PieceProofs
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.passes.frontend.whole import MAX_OPERATORS, InPiecesError, whole_piece
from mirage_mlir.passes.patterns.decompose import DECOMPOSITIONS
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target

MAX_CUT_OPERATORS = 28
"""Operators up to which plans of several kernels are searched for the function as a whole: the
number of cuts grows with its square. Larger ones are cut in pieces first. The gradient of a norm
has 25, and in pieces its rows are read several times."""


SLOWER = 1.3
"""Plans that take this many times as long as each operator alone may be faster on a GPU: of kernels
that were timed, the model was off by a sixth."""

MOST_PROVED = 8
"""Plans for a piece that are compared with it: where none is equal, its operators stay alone."""


AnyPlan = TypeVar("AnyPlan", Plan, PlannedKernel)


def _anything(plan: Plan) -> bool:
    """Plans are taken as they are."""
    return True


class AloneError(Exception):
    """An operator that no kernel was found for."""

    def __init__(self, op: Operation) -> None:
        super().__init__(f"no kernel computes {op.name} alone")
        self.op = op


@dataclass
class Optimizer:
    """Finds the plans for one function; `report` is filled on the way."""

    function: FuncOp
    target: Target
    limits: Limits
    report: SearchReport
    proofs: PieceProofs = field(default_factory=PieceProofs)
    cuts: Sequence[PieceCut] = ()
    """How the function was cut before; nothing where it was not, or has to be normalised first."""
    lower: Lower = lowers_anything
    """Tells of a kernel whether a block has room for it."""
    accurate: Callable[[Plan], bool] = _anything
    """Tells of a plan for the whole function whether it is as accurate as the program."""

    def __post_init__(self) -> None:
        self.pieces = PieceSearch(self.target, self.limits, self.report, self.lower)
        self.considered: list[Plan] = []
        """All plans for the function as a whole, the fastest first."""
        self.rounding: Collection[Operation] = ()
        """Operators whose rounding must stay, once the function is normalised."""
        self.copied: dict[SSAValue, SSAValue] = {}
        """Values of the function by copies that the plan of each operator alone is made of."""
        self._alone_by_value: dict[SSAValue, PlannedKernel] = {}

    def plans(self) -> Iterator[tuple[Plan, bool]]:
        """
        The plans, the fastest in the model first, and whether each operator is alone.

        Of one plan it is; those after it are for timing, for which the model may be wrong.
        """
        with self.report.phase("reading"):
            before = list(self.function.body.block.ops)
            normalise(self.function)
            if before != list(self.function.body.block.ops):
                self.cuts = ()
            self.rounding = kept_roundings(self.function)
        alone = with_rivals(self._alone_or_decomposed(), self.target, _needs_no_proof)
        self.report.modelled_alone = alone.seconds
        plans = self._found(alone.seconds)
        several = len(alone.kernels) > 1
        little = LITTLE * alone.seconds
        if plans and several and all(plan.seconds >= little for plan in plans):
            # Slices of a product, say, that are results: as products of slices they are too many.
            plans += self._in_pieces()
        plans.sort(key=lambda plan: plan.seconds)
        self.considered = sorted([*plans, alone], key=lambda plan: plan.seconds)
        # One kernel in any case: its other tilings are candidates to be timed.
        faster = [plan for plan in plans if plan.seconds < alone.seconds or not several]
        yield from ((plan, False) for plan in faster)
        if several and _are_too_careless(faster, self.accurate):
            yield from ((plan, False) for plan in self._carefully(alone.seconds))
        whole = bool(faster) and len(faster[0].kernels) == 1
        if has_fixed_parts(self.function) and not whole:
            # What is proved of each piece may not be provable of all together.
            mixed = self._in_pieces(mixed=True)
            yield from ((plan, False) for plan in mixed if plan.seconds < alone.seconds)
        yield alone, True
        slower = (plan for plan in plans if several and plan.seconds >= alone.seconds)
        yield from ((plan, False) for plan in slower if plan.seconds < SLOWER * alone.seconds)

    # One piece, or several

    @cached_property
    def _whole(self) -> Piece | None:
        """The function as one piece; None where it is too large or holds what no piece can."""
        try:
            with self.report.phase("reading"):
                piece = whole_piece(self.function, MAX_OPERATORS, self.rounding)
        except InPiecesError as error:
            remark(error.op, str(error))
            return None
        for op, reason in piece.notes:
            remark(op, reason, detail=True)
        return piece

    def _found(self, alone: float) -> list[Plan]:
        """
        The plans of the function as a whole, and, where that is not enough, of its pieces.

        `alone` is what each operator alone takes.
        """
        piece = None if self.cuts else self._whole
        if piece is None:
            return self._in_pieces()
        if not piece.results:
            return []
        if len(list(piece.program.operations())) > MAX_CUT_OPERATORS:
            if whole := self._near_least(piece, alone):
                return whole
            found = self._in_pieces()
            best = min((plan.seconds for plan in found), default=inf)
            # One kernel is bound from below before it is searched for.
            return found + self._planned_whole(piece, 1, min(alone, best))
        plans = self._planned_whole(piece, self.limits.max_kernels)
        # A search that left something out may have missed what two smaller ones find.
        best = min((plan.seconds for plan in plans), default=alone)
        slow = best > MUCH * alone or is_far(piece.program, self.target, best)
        missed = bool(self.report.cut) and slow
        return plans + self._in_pieces() if missed or not plans else plans

    def _near_least(self, piece: Piece, alone: float) -> list[Plan]:
        """The plans of one kernel, if the first takes not much longer than its bytes do."""
        if piece.program.multiplies:
            return []
        plans = self._planned_whole(piece, 1, alone)
        return plans if plans and is_near(piece.program, self.target, plans[0].seconds) else []

    def _planned_whole(
        self,
        piece: Piece,
        max_kernels: int,
        most: float = inf,
        *,
        careful: bool = False,
    ) -> list[Plan]:
        kernels = self.pieces.plans(piece, max_kernels, most, careful=careful)
        plans = [Plan(self.function, (planned,)) for planned in kernels]
        return [with_joint_launches(plan, self.target) for plan in plans]

    def _carefully(self, most: float) -> list[Plan]:
        """Plans that take less than `most`, without sums and quotients that the program has not."""
        piece = None if self.cuts else self._whole
        if piece is None or not piece.results:
            return []
        plans = self._planned_whole(piece, self.limits.max_kernels, most, careful=True)
        return [plan for plan in plans if plan.seconds < most]

    def _in_pieces(self, *, mixed: bool = False) -> list[Plan]:
        """
        The function cut in pieces, each of which is planned by itself.

        They are cut anew where what depends on no argument may be `mixed` with the rest.
        """
        # Half of what is left of the time is for the search of the pieces.
        half = replace(self.limits, deadline=(perf_counter() + self.limits.deadline) / 2)
        said: Said = set()
        known = () if mixed else self.cuts
        parts = known or self._partitioned(half, said, mixed=mixed)
        if known:
            # Who cut the program has said which parts cannot be read.
            with collect_remarks():
                pieces = [_piece(part, said, self.rounding) for part in parts]
        else:
            pieces = [_piece(part, said, self.rounding) for part in parts]
        self.pieces.search(filter(None, pieces), self.limits.max_kernels)
        found: dict[tuple[SSAValue, ...], PlannedKernel] = {}
        try:
            for part, piece in zip(parts, pieces, strict=True):
                best = None if piece is None else self._planned(piece)
                kernels = self._apart(part) if best is None else [best]
                found |= {planned.results: planned for planned in kernels}
        except AloneError as error:
            remark(error.op, f"no plan in pieces: {error}", detail=True)
            return []
        plan = with_rivals(Plan(self.function, tuple(found.values())), self.target, self._is_proved)
        by_results = {piece.results: piece for piece in filter(None, pieces)}

        def unlike(part: PlannedKernel, most: float) -> list[PlannedKernel]:
            piece = by_results.get(part.results)
            return [] if piece is None else self.pieces.unlike(piece, most)

        return [with_launches_of_parts(plan, self.target, unlike, self._is_proved)]

    def _partitioned(
        self, limits: Limits, said: Said, *, mixed: bool = False
    ) -> Sequence[PieceCut]:
        """The pieces that the function is best cut in; `limits` are those of looking for them."""
        with self.report.phase("partition"):
            parts = partition(
                self.function,
                self.target,
                self.pieces.seconds,
                expired=limits.expired,
                said=said,
                rounding=self.rounding,
                mixed=mixed,
            )
        if limits.expired():
            self.report.cut.append(f"ways to cut the program after half of {limits.reason}")
        return parts

    def _planned(self, piece: Piece) -> PlannedKernel | None:
        """The best that is proved for a piece; None where nothing is."""
        plans = self.pieces.plans(piece, self.limits.max_kernels)[:MOST_PROVED]
        if _are_too_careless(plans, self._is_proved):
            others = self.pieces.plans(piece, self.limits.max_kernels, careful=True)
            plans = others[:MOST_PROVED] + plans
        # Where the time was over before its search, there is what the cut is based on.
        for planned in chain(plans, self.pieces.rough(piece)):
            if self._is_proved(planned):
                return replace(planned, rivals=tuple(p for p in plans if p is not planned))
        return None

    def _apart(self, part: PieceCut) -> list[PlannedKernel]:
        """
        Each operator of a part alone.

        Raises:
            AloneError: that is impossible.
        """
        kernels: dict[SSAValue, PlannedKernel] = {}
        pending = list(part.results)
        while pending:
            value = pending.pop()
            if value in kernels or value.owner not in part.operators:
                continue
            kernels[value] = self._operator_alone(value)
            pending += to_compute(kernels[value].arguments)
        return list(kernels.values())

    def _is_proved(self, planned: PlannedKernel) -> bool:
        """Whether a plan for a piece can be written, and computes what it should."""
        try:
            with self.report.phase("verification"):
                proof = self.proofs.of(planned)
        except ArrangementError as error:
            self.report.refuse(f"{planned.structure} of a piece: {error}")
            return False
        if proof.verdict is Verdict.EQUAL:
            return True
        self.report.rejected += 1
        remark(self.function, f"{planned.structure} of a piece was rejected: {proof}", detail=True)
        return False

    # Each operator alone

    def _alone_or_decomposed(self) -> Plan:
        """Each operator alone; those for which that is impossible are taken apart first."""
        try:
            return self._alone(self.function)
        except AloneError:
            decomposed, self.copied = decompose(self.function)
        try:
            return self._alone(decomposed)
        except AloneError as error:
            fail(error.op, "has no kernel: its grid would need too many axes or its tiles too much")

    def _alone(self, function: FuncOp) -> Plan:
        kernels: dict[SSAValue, PlannedKernel] = {}
        pending = to_compute(returned(function))
        while pending:
            value = pending.pop()
            if value in kernels:
                continue
            kernels[value] = self._operator_alone(value)
            pending += to_compute(kernels[value].arguments)
        return Plan(function, tuple(kernels.values()))

    def _operator_alone(self, value: SSAValue) -> PlannedKernel:
        if value not in self._alone_by_value:
            self._alone_by_value[value] = self._planned_alone(value)
        return self._alone_by_value[value]

    def _planned_alone(self, value: SSAValue) -> PlannedKernel:
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, kernel.ConstantOp):
            return direct.constant(op, self.target)
        if isinstance(op, kernel.ConcatOp):
            return direct.concat(op, self.target)
        if is_condition(op):
            return elementwise(op, self.target)
        try:
            piece = read_piece([op], [value])
        except UnsupportedError as error:
            row = structure_of(op)
            unsearched = row is not None and not row.searched
            fail(op, str(error), note="kernel-decompose takes it apart" if unsearched else None)
        with self.report.phase("operators alone"):
            planned = self.pieces.operator(piece)
        if planned is None:
            raise AloneError(op)
        return planned


def _needs_no_proof(planned: PlannedKernel) -> bool:
    """Of one operator: the function that all of them make is compared with the program."""
    return True


def _are_too_careless(plans: Sequence[AnyPlan], accepts: Callable[[AnyPlan], bool]) -> bool:
    """Whether none of the first plans is accepted, and that may be for what only they do."""
    first = plans[:MOST_PROVED]
    suspect = bool(first) and all(plan.careless for plan in first)
    return suspect and not any(accepts(plan) for plan in first)


def _piece(part: PieceCut, said: Said, rounding: Collection[Operation]) -> Piece | None:
    """A part of a function as a piece to search; None where it is none."""
    owner = part.results[0].owner
    direct_ = isinstance(owner, kernel.ConstantOp | kernel.ConcatOp) or (
        isinstance(owner, Operation) and is_condition(owner)
    )
    if direct_ and _is_one_operator(part):
        return None
    return read_or_remark(part, said, rounding)


def _is_one_operator(part: PieceCut) -> bool:
    """Whether a part computes one operator, besides views and numbers."""
    made = [op for op in part.operators if not stays(op) and not isinstance(op, kernel.ConstantOp)]
    return len(made) == 1 or not made


def decompose(function: FuncOp) -> tuple[FuncOp, dict[SSAValue, SSAValue]]:
    """A copy of `function` with norms and softmax taken apart; what its values are copies of."""
    copied: dict[SSAValue, SSAValue] = {}
    copy = function.clone(copied)
    patterns = GreedyRewritePatternApplier([*DECOMPOSITIONS])
    PatternRewriteWalker(patterns).rewrite_region(copy.body)
    return copy, {new: old for old, new in copied.items()}
