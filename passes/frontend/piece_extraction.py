"""Functions of kernel operators as pieces that one kernel, or a few, may compute."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import remark
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.equivalence.dependences import operators_before
from mirage_mlir.passes.analysis.index_formulas import is_formula
from mirage_mlir.passes.frontend import direct
from mirage_mlir.passes.frontend.conditions import is_condition
from mirage_mlir.passes.frontend.from_ir import (
    Piece,
    UnsupportedError,
    is_number,
    read_piece,
)
from mirage_mlir.passes.frontend.pieces import join_seconds
from mirage_mlir.passes.frontend.plan import returned, varying
from mirage_mlir.passes.frontend.strided_views import bytes_of, is_strided_view, takes_no_kernel
from mirage_mlir.search.cost_model.bounds import (
    least_in_one_kernel,
    least_reading,
    least_start,
)
from mirage_mlir.search.multi_kernel.partition import Partitioner, never
from mirage_mlir.search.multi_kernel.partition_state import Operator, OperatorGroup, needed
from mirage_mlir.search.program.roles import RolesError
from mirage_mlir.targets.target import Target

MAX_OPERATORS = 24
"""Elementary operators (a norm has six) of a piece: a norm with a gated MLP has eleven, normalised
attention twenty."""


MOST_ELEMENTWISE = 60
"""The same of a piece with at most `FEW_OTHERS` operators that are not elementwise. A chain of 120
takes 7 s in pieces of so many, and over a minute as one."""

FEW_OTHERS = 2
"""A product before a chain, and a sum behind it; nothing was tried with more."""

Said = set[tuple[Operation, str]]
"""Remarks that were made: parts that overlap cannot be read for the same reason."""


@dataclass(frozen=True)
class PieceCut:
    """Operators to be searched together, and the values that they make."""

    operators: tuple[Operation, ...]
    """In the order of the function; views and numbers among them where they are needed."""
    results: tuple[SSAValue, ...]


@dataclass
class NumberedFunction:
    """
    A function seen as numbered operators, and what parts of them cost.

    `seconds_of` gives the modelled time of a piece, or infinity where that is above a number; for
    each set of operators it is asked once, and again with greater numbers.
    """

    function: FuncOp
    target: Target
    seconds_of: Callable[[Piece, float], float]
    max_operators: int = MAX_OPERATORS
    announce: Callable[[Sequence[Piece]], None] | None = None
    """Told of pieces that `seconds_of` is going to be asked for."""
    said: Said = field(default_factory=Said)
    """Remarks on parts that are no pieces."""
    rounding: Collection[Operation] = ()
    """Operators whose rounding must stay."""
    mixed: bool = False
    """Whether a part may have operators that depend on no argument besides others."""
    operations: list[Operation] = field(default_factory=list[Operation])
    operators: list[Operator] = field(default_factory=list[Operator])
    _numbers: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _known: dict[OperatorGroup, float] = field(default_factory=dict[OperatorGroup, float])
    _above: dict[OperatorGroup, float] = field(default_factory=dict[OperatorGroup, float])
    """Seconds that parts take at least whose time is not known."""
    _pieces: dict[OperatorGroup, Piece | None] = field(
        default_factory=dict[OperatorGroup, Piece | None]
    )
    _varying: set[Operation] = field(default_factory=set[Operation])
    """
    The operations that depend on an argument. Parts have no others besides: of the many small
    tensors that masks of indices are made of and the rest, causal attention became eleven kernels.
    """

    def __post_init__(self) -> None:
        self._varying = varying(self.function.body.block)
        needed = operators_before(returned(self.function))
        kept = set(_made(returned(self.function)))
        for op in needed:
            if isinstance(op, kernel.GraphDefinedOp):
                kept |= set(_made(op.operands))
        for op in self.function.body.block.ops:
            if op not in needed or takes_no_kernel(op) or (_is_free(op) and op not in kept):
                continue
            operands = [self._numbers[o] for o in _made(op.operands) if o in self._numbers]
            fixed = isinstance(op, kernel.GraphDefinedOp | kernel.ConstantOp)
            self._numbers[op] = len(self.operators)
            self.operations.append(op)
            heavy, places = _is_heavy(op), _elementwise(op)
            self.operators.append(Operator(tuple(operands), op in kept, fixed, heavy, places))

    # What parts cost

    def seconds(self, part: OperatorGroup, most: float = inf) -> float:
        """The modelled time of one kernel for `part`; infinity if none takes `most` or less."""
        if part in self._known:
            return self._known[part]
        if self._above.get(part, 0.0) >= most:
            return inf
        seconds = self._search(part, most)
        if seconds == inf and most < inf:
            self._above[part] = most
        else:
            self._known[part] = seconds
            self._pieces.pop(part, None)
        return seconds

    def _search(self, part: OperatorGroup, most: float) -> float:
        if self.is_graph(part):
            return 0.0
        first = self.operations[part.operators[0]]
        fixed = isinstance(first, kernel.ConstantOp | kernel.ConcatOp)
        if len(part.operators) == 1 and (fixed or is_condition(first)):
            # These have a kernel that is not searched for.
            return direct.seconds(self.target, [*first.operands, *first.results])
        piece = self._read(part)
        return inf if piece is None else self.seconds_of(piece, most)

    def _read(self, part: OperatorGroup) -> Piece | None:
        """The piece that a part is; None where it is none to search for."""
        if part not in self._pieces:
            self._pieces[part] = self._newly_read(part)
        return self._pieces[part]

    def _newly_read(self, part: OperatorGroup) -> Piece | None:
        kinds = {self.operations[number] in self._varying for number in part.operators}
        if len(kinds) > 1 and not self.mixed:
            return None
        piece = read_or_remark(self.cut(part), self.said, self.rounding)
        if piece is None:
            return None
        count = sum(1 for _ in piece.program.operations())
        most = self.max_operators
        others = sum(1 for number in part.operators if self.operators[number].elementwise is None)
        if others <= FEW_OTHERS and most >= MAX_OPERATORS:
            most = max(most, MOST_ELEMENTWISE)
        return piece if count <= most or len(part.operators) == 1 else None

    def bound(self, part: OperatorGroup) -> float:
        """What one kernel takes at least, or what a part of it takes that was searched already."""
        if part in self._known or len(part.operators) == 1:
            return self.seconds(part)
        piece = self._read(part)
        if piece is None:
            return inf
        bound = max(least_in_one_kernel(piece.program, self.target), self._above.get(part, 0.0))
        if join_seconds(piece, self.target) == inf:
            return inf
        # With more results, a kernel takes no less.
        for results in combinations(part.results, len(part.results) - 1):
            if results:
                fewer = needed(self.operators, part, results)
                known = self._known.get(fewer, self._above.get(fewer, 0.0))
                bound = max(bound, known)
        return bound

    def least(self, part: OperatorGroup) -> float:
        """A launch, and all bytes once."""
        if self.operators[part.operators[0]].fixed:
            return 0.0
        inside = {self.operations[number] for number in part.operators}
        read: dict[SSAValue, int] = {}
        for op in inside:
            for operand in op.operands:
                root, size = self._root(operand)
                if is_formula(root):
                    continue
                if not (isinstance(root.owner, Operation) and _stays_inside(root.owner, inside)):
                    read[root] = max(size, read.get(root, 0))
        stored = (self._root(value)[1] for value in self._results(part))
        moved = sum(read.values()) + sum(stored)
        return least_start(self.target) + least_reading(self.target, moved)

    def prepare(self, parts: Sequence[OperatorGroup]) -> None:
        """Read the pieces and announce them."""
        if self.announce is None:
            return
        wanted = [part for part in parts if not self.operators[part.operators[0]].fixed]
        self.announce([piece for part in wanted if (piece := self._read(part)) is not None])

    def _root(self, value: SSAValue) -> tuple[SSAValue, int]:
        """The tensor behind a view, and how many bytes of it the view has at most."""
        size = bytes_of(value)
        while isinstance(value.owner, Operation) and is_strided_view(value.owner):
            value = value.owner.operands[0]
            size = min(size, bytes_of(value))
        return value, size

    # Parts as operations

    def is_graph(self, part: OperatorGroup) -> bool:
        """Whether a part is a graph that the function has already."""
        return isinstance(self.operations[part.operators[0]], kernel.GraphDefinedOp)

    def cut(self, part: OperatorGroup) -> PieceCut:
        """The operations of a part, with the views and numbers between them."""
        inside = {self.operations[number]: None for number in part.operators}
        for op in list(inside):
            pending = list(op.operands)
            while pending:
                between = pending.pop().owner
                if not isinstance(between, Operation) or between in inside:
                    continue
                if _is_free(between) or self._is_view_inside(between, inside):
                    inside[between] = None
                    pending += between.operands
        return PieceCut(tuple(_in_order(inside)), self._results(part))

    def _is_view_inside(self, op: Operation, inside: Iterable[Operation]) -> bool:
        """Whether `op` is a view of what is computed inside."""
        if not is_strided_view(op):
            return False
        root = self._root(op.results[0])[0].owner
        return isinstance(root, Operation) and _stays_inside(root, inside)

    def _results(self, part: OperatorGroup) -> tuple[SSAValue, ...]:
        return tuple(v for number in part.results for v in self.operations[number].results)


def has_fixed_parts(function: FuncOp) -> bool:
    """Whether a function computes something of no argument, besides numbers."""
    depends = varying(function.body.block)
    made = (op for op in function.body.block.ops if op.results and op not in depends)
    return any(not (_is_free(op) or takes_no_kernel(op)) for op in made)


def _is_heavy(op: Operation) -> bool:
    return isinstance(op, kernel.MatmulOp)


def _elementwise(op: Operation) -> tuple[int, ...] | None:
    """The shape of what an elementwise operator computes; None for others."""
    return None if row_of(op) is None else tuple(kernel.shape_of(op.results[0]))


def _stays_inside(op: Operation, inside: Iterable[Operation]) -> bool:
    return op in inside or _is_free(op)


def _is_free(op: Operation) -> bool:
    """Whether `op` is a number, which every piece has for itself."""
    if not isinstance(op, kernel.ConstantOp):
        return False
    # Of an infinite one those have what compares or selects it.
    return is_number(op) or all(is_condition(use.operation) for use in op.result.uses)


def _made(values: Iterable[SSAValue]) -> list[Operation]:
    """The operations other than views that `values` come from, each once, in order."""
    found: dict[Operation, None] = {}
    for value in values:
        while isinstance(value.owner, Operation) and is_strided_view(value.owner):
            value = value.owner.operands[0]
        if isinstance(value.owner, Operation) and not takes_no_kernel(value.owner):
            found[value.owner] = None
    return list(found)


def _in_order(operations: Iterable[Operation]) -> list[Operation]:
    """`operations`, each after those whose results it reads."""
    wanted = set(operations)
    ordered: dict[Operation, None] = {}

    def visit(op: Operation) -> None:
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner in wanted and owner not in ordered:
                visit(owner)
        ordered.setdefault(op)

    for op in operations:
        visit(op)
    return list(ordered)


def read_or_remark(cut: PieceCut, said: Said, rounding: Collection[Operation]) -> Piece | None:
    """A part of a function as a piece; None where it is none, with a remark not yet `said`."""
    piece: Piece | None = None
    try:
        piece = read_piece(cut.operators, cut.results, rounding)
        notes = piece.notes
    except UnsupportedError as error:
        notes = ((error.op, f"is not fused with some of its neighbours: {error}"),)
    except RolesError as error:
        reason = f"is not fused with all before it: the piece {error}"
        notes = ((_made(cut.results)[0], reason),)
    for note in notes:
        if note not in said:
            said.add(note)
            remark(*note, detail=True)
    return piece


def partition(
    function: FuncOp,
    target: Target,
    seconds: Callable[[Piece, float], float],
    max_operators: int = MAX_OPERATORS,
    expired: Callable[[], bool] = never,
    announce: Callable[[Sequence[Piece]], None] | None = None,
    said: Said | None = None,
    *,
    rounding: Collection[Operation] = (),
    mixed: bool = False,
) -> list[PieceCut]:
    """
    The pieces of `function`, which is normalised, each after those whose results it reads.

    Together they compute what the function returns, but for views and graphs that it has already.

    Args:
        function: straight-line code of kernel operators.
        target: the GPU; its rates bound what a change may gain.
        seconds: the modelled time of a piece, infinity where no kernel computes it; it may be that
            also where the time is above the number given.
        max_operators: elementary operators of a piece; a single operator may have more.
        expired: whether to stop with the best so far.
        announce: told of the pieces that are asked for first, many at once.
        said: remarks that were made before, and those that are made here.
        rounding: operators whose rounding must stay; see `read_piece`.
        mixed: whether what depends on no argument may be in a piece with the rest.
    """
    said = set() if said is None else said
    pieces = NumberedFunction(
        function, target, seconds, max_operators, announce, said, rounding, mixed
    )
    parts = Partitioner(pieces.operators, pieces, expired).run()
    return [pieces.cut(part) for part in parts if not pieces.is_graph(part)]
