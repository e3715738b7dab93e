"""The `partition-program` pass."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir import interruption
from mirage_mlir.constant_inputs import constant_mark, is_constant_input
from mirage_mlir.diagnostics import remark
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.equivalence.kept_roundings import kept_roundings
from mirage_mlir.equivalence.printed import printed
from mirage_mlir.interruption import deferred
from mirage_mlir.passes.analysis.index_formulas import is_formula, with_operands
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.passes.frontend.inline import called_pieces, pieces_of
from mirage_mlir.passes.frontend.kept import functions_to_search
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.piece_extraction import MAX_OPERATORS, PieceCut, partition
from mirage_mlir.passes.frontend.pieces import PieceSearch
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, PlannedKernel
from mirage_mlir.passes.frontend.strided_views import is_strided_view
from mirage_mlir.passes.frontend.to_ir import Kernel
from mirage_mlir.passes.frontend.whole import InPiecesError, whole_piece
from mirage_mlir.progress import Progress
from mirage_mlir.search.report import Searched, SearchReport, not_searched
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target, require_known


@dataclass(frozen=True)
class PartitionProgramPass(ModulePass):
    """
    Cut functions of kernel operators into pieces, each a private function that they call.

    Input:
        func.func @f(%x: ..., %w: ..., %v: ...) -> tensor<16x4096xf16> {
          %y = kernel.matmul %x, %w : (...) -> tensor<16x4096xf16>
          %z = kernel.relu %y : (...) -> tensor<16x4096xf16>
          %o = kernel.matmul %z, %v : (...) -> tensor<16x4096xf16>
          func.return %o : tensor<16x4096xf16>
        }

    Output:
        func.func @f(%x: ..., %w: ..., %v: ...) -> tensor<16x4096xf16> {
          %z = func.call @f__piece_0(%x, %w) : (...) -> tensor<16x4096xf16>
          %o = func.call @f__piece_1(%z, %v) : (...) -> tensor<16x4096xf16>
          func.return %o : tensor<16x4096xf16>
        }

    The cuts are those of the least total time in the cost model, if each piece is one kernel. An
    operator may be in several pieces, which then recompute it. Equal pieces are one function. A
    function that is one piece is left as it is, and so is one that calls pieces already, or that
    others claim to compute (`kernel.implements`).

    Fails on a target that there is not or that the module is not for, and on operations other than
    those of the kernel dialect.
    """

    name = "partition-program"

    target: str | None = None
    """The GPU to cut for: H200, H100, A100, or an instruction set (sm_90a, sm_80); if not given the
    module's `kernel.target`, or else H200."""

    max_operators: int = MAX_OPERATORS
    """Elementary operators of a piece (a norm has six); a single operator may have more. Of those
    that are nearly all elementwise a piece has up to 60, unless fewer than 24 are asked for."""

    whole_up_to: int = 0
    """Functions of up to so many elementary operators, which one kernel may compute, stay whole:
    `superoptimize` searches them as one piece, and cuts them into kernels itself."""

    time_limit: float | None = None
    """Seconds of search for the whole program; this pass takes the best cut after half of them."""

    def __post_init__(self) -> None:
        require_known(self.target)
        if self.max_operators < 1:
            raise ValueError(f"max-operators is at least 1, not {self.max_operators}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every function of the module that has operators."""
        self.cut(op)

    def cut(self, module: ModuleOp, noted: Searched = not_searched) -> None:
        """Cut the functions of `module`, and pass the report of each search to `noted`."""
        target = settle_target(module, self.target, self.name)
        with deferred():
            for function in functions_to_search(module):
                if not called_pieces(function, pieces_of(module)):
                    self._cut(module, function, target, noted)

    def _cut(self, module: ModuleOp, function: FuncOp, target: Target, noted: Searched) -> None:
        check(function)
        normal = function.clone()
        normalise(normal)
        rounding = kept_roundings(normal)
        reason = self._why_cut(normal, rounding)
        if reason is None:
            return
        report = SearchReport(function.sym_name.data, target.name)
        limits = self._limits()
        Progress.say(f"cutting @{report.function} into pieces")
        search = PieceSearch(target, limits, report)
        with report.phase("partition"):
            cuts = partition(
                normal,
                target,
                search.seconds,
                self.max_operators,
                expired=limits.expired,
                rounding=rounding,
            )
        if limits.expired():
            report.cut.append(f"ways to cut the program after half of {limits.reason}")
        noted(report)
        if len(cuts) > 1:
            if self.whole_up_to:
                remark(reason.op, str(reason))
            _Outliner(module, function, normal).outline(cuts)

    def _why_cut(self, normal: FuncOp, rounding: Collection[Operation]) -> InPiecesError | None:
        """Why a function is cut; None where it is small enough to be left whole."""
        try:
            whole_piece(normal, self.whole_up_to, rounding)
        except InPiecesError as error:
            return error
        return None

    def _limits(self) -> Limits:
        if self.time_limit is None:
            return Limits(cancelled=interruption.requested)
        # The other half is for the search of the pieces.
        return Limits(perf_counter() + self.time_limit / 2, cancelled=interruption.requested)


@dataclass
class _Outliner:
    """Replaces `function` by `normal`, which computes the same, with calls of its pieces."""

    module: ModuleOp
    function: FuncOp
    normal: FuncOp
    names: dict[str, str] = field(default_factory=dict[str, str])
    """The name of each piece by its text."""

    def outline(self, cuts: Sequence[PieceCut]) -> None:
        """Write the pieces behind the function."""
        pieces: list[FuncOp] = []
        calls = [self._planned(cut, pieces) for cut in cuts]
        written = FunctionWriter(Plan(self.normal, tuple(calls))).write()
        Rewriter.insert_op(pieces, InsertPoint.after(self.function))
        Rewriter.replace_op(self.function, written)

    def _planned(self, cut: PieceCut, pieces: list[FuncOp]) -> PlannedKernel:
        """The call of a piece in the form of a kernel; a new piece is appended to `pieces`."""
        arguments, operations = _with_views(cut)
        piece = self._piece(cut, arguments, operations)
        text = printed(ModuleOp([piece.clone()]))
        if text not in self.names:
            piece.sym_name = StringAttr(self._free_name())
            self.names[text] = piece.sym_name.data
            pieces.append(piece)
        name, types = self.names[text], [result.type for result in cut.results]

        def write(values: Sequence[SSAValue]) -> Kernel:
            call = CallOp(name, list(values), types)
            return Kernel((call,), tuple(call.results))

        return PlannedKernel(arguments, cut.results, write, 0.0)

    def _piece(
        self, cut: PieceCut, arguments: Sequence[SSAValue], operations: Sequence[Operation]
    ) -> FuncOp:
        block = Block(arg_types=[value.type for value in arguments])
        values: dict[SSAValue, SSAValue] = dict(zip(arguments, block.args, strict=True))
        for old, new in values.items():
            new.name_hint = old.name_hint
        block.add_ops([op.clone(values) for op in operations])
        results = [values[result] for result in cut.results]
        block.add_op(ReturnOp(*results))
        types = ([value.type for value in arguments], [value.type for value in results])
        piece = FuncOp("piece", types, Region(block), visibility="private")
        constant = [self._never_changes(value) for value in arguments]
        if any(constant):
            marks = [constant_mark() if never else DictionaryAttr({}) for never in constant]
            piece.arg_attrs = ArrayAttr(marks)
        piece.location = cut.operators[-1].location
        return piece

    def _never_changes(self, value: SSAValue) -> bool:
        return isinstance(value, BlockArgument) and is_constant_input(self.normal, value.index)

    def _free_name(self) -> str:
        taken = {f.sym_name.data for f in self.module.walk() if isinstance(f, FuncOp)}
        taken |= set(self.names.values())
        names = (f"{self.function.sym_name.data}__piece_{number}" for number in count())
        return next(name for name in names if name not in taken)


def _with_views(cut: PieceCut) -> tuple[tuple[SSAValue, ...], list[Operation]]:
    """The tensors that a piece reads, and its operations with the views of these tensors."""
    inside = dict.fromkeys(cut.operators)
    read: dict[SSAValue, None] = {}
    views: dict[Operation, None] = {}

    def visit(value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, Operation) and owner in inside:
            return
        if isinstance(owner, Operation) and is_strided_view(owner):
            visit(owner.operands[0])
            views[owner] = None
        elif isinstance(owner, Operation) and is_formula(value):
            for op in with_operands(owner):
                views[op] = None
        else:
            read[value] = None

    for op in cut.operators:
        for operand in op.operands:
            visit(operand)
    return tuple(read), [*views, *cut.operators]
