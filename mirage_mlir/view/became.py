"""
Which kernels of a uGraph compute which operators of its program.

Known are equal values: arguments, results, and pairs that the search noted. Kernels that hand one
another anything else belong together, and compute what leads from known values to those that they
make. Of these kernels an operator may be in each that reads what the operator reads: mostly one,
several where what lies between two kernels is not known.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.parts import Pairs, numbered_values
from mirage_mlir.operators.structured import Effect, with_effect

VIEWS = frozenset(f"kernel.{name}" for name in with_effect(Effect.MOVES))
"""Operations that move elements and compute nothing."""


def became(
    written: func.FuncOp, ugraph: func.FuncOp, pairs: Pairs
) -> Iterator[tuple[Operation, int]]:
    """
    Operators of a program, in its order, each with the numbers of kernels that compute it.

    Args:
        written: the program.
        ugraph: its kernels, and what moves elements between them.
        pairs: numbers of equal values, as verification takes them.
    """
    uses = _Uses(ugraph, _known(written, ugraph, pairs))
    ends = set(uses.known.values())
    found: dict[Operation, set[int]] = {}
    for made, value in uses.known.items():
        group = uses.group_of(made)
        for op in _leading_to(value, ends) if group else ():
            found.setdefault(op, set()).update(_those_that_fit(op, group, ends))
    for op in written.body.block.ops:
        yield from ((op, number) for number in sorted(found.get(op, ())))


def _known(written: func.FuncOp, ugraph: func.FuncOp, pairs: Pairs) -> dict[SSAValue, SSAValue]:
    """Values of the uGraph, and what equals them in the program."""
    values, made = numbered_values(written), numbered_values(ugraph)
    known = {made[two]: values[one] for part in pairs for one, two in part}
    known |= zip(_results(ugraph), _results(written), strict=True)
    return known | dict(zip(ugraph.body.block.args, written.body.block.args, strict=True))


def _results(function: func.FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    return () if last is None else tuple(last.operands)


@dataclass(frozen=True)
class _Kernel:
    """What a kernel reads, as values of the program."""

    number: int
    direct: set[SSAValue]
    all: set[SSAValue]
    """Those of the kernels, too, whose results it reads that equal no known value."""


class _Uses:
    """The kernels of a uGraph, and which of them belong together."""

    def __init__(self, ugraph: func.FuncOp, known: dict[SSAValue, SSAValue]) -> None:
        self.known = known
        self._group: dict[Operation, list[Operation]] = {}
        self._kernels: dict[Operation, _Kernel] = {}
        for op in ugraph.body.block.ops:
            if isinstance(op, kernel.GraphDefinedOp):
                self._add(op)
        for made in known:
            self._join(self._made_by(made))

    def group_of(self, made: SSAValue) -> list[_Kernel]:
        """The kernels that compute a known value, together."""
        makers = self._made_by(made)
        return [self._kernels[each] for each in self._group[makers[0]]] if makers else []

    def _add(self, op: Operation) -> None:
        direct, others = self._sources(op.operands)
        through = [value for other in others for value in self._kernels[other].all]
        self._kernels[op] = _Kernel(len(self._kernels), direct, direct.union(through))
        self._group[op] = [op]
        self._join([*others, op])

    def _join(self, ops: Sequence[Operation]) -> None:
        for other in ops[1:]:
            one, two = self._group[ops[0]], self._group[other]
            if one is not two:
                one += two
                self._group |= dict.fromkeys(two, one)

    def _made_by(self, value: SSAValue) -> list[Operation]:
        """The kernels behind a known value, but for those behind others."""
        if isinstance(value.owner, kernel.GraphDefinedOp):
            return [value.owner]
        return self._sources(value.owner.operands)[1] if isinstance(value.owner, Operation) else []

    def _sources(self, values: Iterable[SSAValue]) -> tuple[set[SSAValue], list[Operation]]:
        """Values of the program that values of the uGraph come from, and kernels."""
        direct: set[SSAValue] = set()
        kernels: dict[Operation, None] = {}
        left = list(values)
        while left:
            value = left.pop()
            if value in self.known:
                direct.add(self.known[value])
            elif isinstance(value.owner, kernel.GraphDefinedOp):
                kernels.setdefault(value.owner)
            elif isinstance(value.owner, Operation):
                left += value.owner.operands
        return direct, list(kernels)


def _those_that_fit(op: Operation, group: Sequence[_Kernel], ends: set[SSAValue]) -> list[int]:
    """The kernels of a group that may compute an operator."""
    direct, needed = _direct(op, ends), _needed(op, ends)
    for fit in (
        [each for each in group if direct <= each.direct and needed <= each.all],
        [each for each in group if needed <= each.all],
        group,
    ):
        if fit:
            return [each.number for each in fit]
    return []


def _direct(op: Operation, ends: set[SSAValue]) -> set[SSAValue]:
    """Known values that an operator reads, also through views."""
    found: set[SSAValue] = set()
    left = list(op.operands)
    while left:
        value = left.pop()
        if value in ends:
            found.add(value)
        elif isinstance(value.owner, Operation) and value.owner.name in VIEWS:
            left += value.owner.operands
    return found


def _needed(op: Operation, ends: set[SSAValue]) -> set[SSAValue]:
    """Known values that an operator depends on."""
    behind = (each for value in op.operands for each in _leading_to(value, ends, start=False))
    return {value for each in (op, *behind) for value in each.operands if value in ends}


def _leading_to(
    value: SSAValue, ends: set[SSAValue], *, start: bool = True
) -> dict[Operation, None]:
    """The operators from known values to `value`; where it is known itself, that is the `start`."""
    found: dict[Operation, None] = {}
    left = [value] if start or value not in ends else []
    while left:
        owner = left.pop().owner
        if isinstance(owner, Operation) and owner not in found:
            found[owner] = None
            left += [operand for operand in owner.operands if operand not in ends]
    return found
