"""
Splits programs at their sums: a first kernel stores partial sums, a second one adds them up.

The sums over one axis (split-K of a matmul, split-KV of attention) are brought outermost. The first
kernel leaves these sums open over its blocks. Where an exp within the sums has a row maximum, each
partial sum has one of its own, which the first kernel stores, too: the second kernel reads s_p *
exp(m_p).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mirage_mlir.search.multi_kernel.forms import outermost
from mirage_mlir.search.program.program import Axes, Function, Kind, Node, Output, Program, Shift
from mirage_mlir.search.program.program_cuts import Copier, ProgramCut, ProgramPart, Source
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.found import Explored
from mirage_mlir.targets.target import Target

PARTS = "parts"
"""The axis of the parts of a sum, in a second kernel: no name of an axis of a program."""

EXP = Function("exp")


@dataclass(frozen=True)
class Split:
    """A program split in two kernels: the first one leaves sums over one axis open."""

    program: Program
    """The whole, with those sums outermost."""
    axis: str
    """In `program`."""
    first: ProgramPart
    sums: tuple[int, ...]
    """The nodes of `program` that the first kernel stores parts of."""
    shifts: tuple[Shift, ...]
    """Of `program`: one for each maximum that it stores after them."""
    degrees: Mapping[int, tuple[int, ...]]
    """For each of the sums how often the exp of each of `shifts` is a factor: 0 or 1."""
    whole: tuple[int, ...] = ()
    """The outputs that the first kernel stores as they are, before its sums."""

    def cut(self, parts: int) -> ProgramCut:
        """The two parts of the program, if the first kernel has `parts` blocks along the axis."""
        program, ahead = self.program, len(self.whole)
        tensors = [(PARTS, *program.nodes[node].axes) for node in self.sums]
        maxima = [(PARTS, *without(program.nodes[s.node].axes, s.axes)) for s in self.shifts]

        def maximum(copier: Copier, number: int) -> int:
            source = Source(ahead + len(tensors) + number, kernel=0)
            axes = maxima[number]
            if (known := stored.get(source)) is not None:
                return known
            stored[source] = copier.stored(source, axes, "f32")
            exp = Node(Kind.FUNCTION, (stored[source],), axes, function=EXP)
            stored[source] = copier.append(exp)
            return stored[source]

        def total(number: int) -> Callable[[Copier], int]:
            node = program.nodes[self.sums[number]]

            def make(copier: Copier) -> int:
                axes: Axes = tensors[number]
                value = copier.stored(Source(ahead + number, kernel=0), axes, "f32")
                for shift, degree in enumerate(self.degrees[self.sums[number]]):
                    if degree:
                        factor = maximum(copier, shift)
                        value = copier.append(Node(Kind.MUL, (value, factor), axes))
                kind = Kind.REDUCE_MAX if node.kind is Kind.REDUCE_MAX else Kind.REDUCE_SUM
                whole = copier.append(Node(kind, (value,), node.axes, reduced=(PARTS,)))
                copier.narrow(whole, node)
                return whole

            return make

        stored: dict[Source, int] = {}
        replaced = {node: total(number) for number, node in enumerate(self.sums)}
        copier = Copier(program, replaced, {PARTS: parts})
        later = [n for n in range(len(program.outputs)) if n not in self.whole]
        outputs = [program.outputs[number] for number in later]
        results = tuple(
            Source(later.index(number), kernel=1)
            if number in later
            else Source(self.whole.index(number), kernel=0)
            for number in range(len(program.outputs))
        )
        tail = copier.finish([replace(o, node=copier.copy(o.node)) for o in outputs])
        return ProgramCut(self.first, tail, results)


def without(axes: Axes, dropped: Sequence[str]) -> Axes:
    """`axes` with a dimension of size 1 in the place of each `dropped` one."""
    return tuple(None if axis in dropped else axis for axis in axes)


def splits(program: Program, target: Target, explored: Explored | None = None) -> Iterator[Split]:
    """
    The ways to split a program at the sums over one axis.

    Args:
        program: what is computed.
        target: the GPU, by whose rates forms of the program are weighed.
        explored: the hypergraphs of the program, if there are any.
    """
    if program.open_sums:
        return
    stored = {axis for output in program.outputs for axis in output.axes}
    summed = {axis for node in program.nodes for axis in node.reduced}
    walked = [axis for axis in program.sizes if axis in summed]
    if not walked:
        return
    explored = explored or Explored(Algebra.of(program))
    for axis in walked:
        known: set[object] = set()
        # No kernel walks what it stores along, so that of such programs no other forms are known.
        forms = [program] if axis in stored else outermost(explored, axis, target)
        for form in forms:
            split = split_at(form, axis)
            if split is not None and split.first.program.key() not in known:
                known.add(split.first.program.key())
                yield split


def split_at(program: Program, axis: str) -> Split | None:
    """The program split at its sums over `axis`; none of them may need another."""
    nodes = program.nodes
    sums = [number for number, node in enumerate(nodes) if axis in node.reduced]
    if not sums or any(shift.input and axis in shift.axes for shift in program.shifts):
        return None
    if (whole := _stored_along(program, axis, sums)) is None:
        return None
    opened = [shift for shift in program.shifts if axis in shift.axes]
    groups = list(dict.fromkeys(shift.group for shift in opened))
    degrees = _degrees(program, [[s for s in opened if s.group == group] for group in groups])
    known = {number: degree for number in sums if (degree := degrees[number]) is not None}
    if len(known) < len(sums):
        return None
    if not all(any(known[node][place] for node in sums) for place in range(len(groups))):
        return None
    copier = Copier(program, {})
    outputs = [
        replace(o, node=copier.copy(o.node)) for o in map(program.outputs.__getitem__, whole)
    ]
    outputs += [
        Output(copier.copy(number), nodes[number].axes, "f32", partial=(axis,)) for number in sums
    ]
    moved = [replace(shift, node=copier.copy(shift.node)) for shift in opened]
    firsts = [next(n for n, s in enumerate(opened) if s.group == group) for group in groups]
    for first in firsts:
        # Shifts by one value have one maximum; any of them stands for it.
        axes = without(nodes[opened[first].node].axes, opened[first].axes)
        outputs.append(Output(moved[first].node, axes, "f32", partial=(axis,), shift=first))
    if (inner := _inner_shifts(program, axis, sums, copier)) is None:
        return None
    first_part = copier.finish(outputs, [*moved, *inner])
    maxima = tuple(opened[first] for first in firsts)
    return Split(program, axis, first_part, tuple(sums), maxima, known, whole)


def _stored_along(program: Program, axis: str, sums: Sequence[int]) -> tuple[int, ...] | None:
    """
    The outputs along the axis of `sums`, which the kernel of these sums stores.

    None where one of them needs a sum, or where no other output is left.
    """
    depends = [number in sums for number in range(len(program.nodes))]
    for number, node in enumerate(program.nodes):
        depends[number] |= any(depends[operand] for operand in node.operands)
    outputs = program.outputs
    found = tuple(number for number, output in enumerate(outputs) if axis in output.axes)
    if len(found) == len(outputs) or any(depends[outputs[number].node] for number in found):
        return None
    return found


def _inner_shifts(
    program: Program, axis: str, sums: Sequence[int], copier: Copier
) -> list[Shift] | None:
    """The shifts that change nothing in the sums; None if another shift does."""
    shifted = {
        node.operands[0]
        for number, node in enumerate(program.nodes)
        if node.function == EXP and copier.copied(number) is not None
    }
    others = [shift for shift in program.shifts if axis not in shift.axes]
    inside = [shift for shift in others if shift.node in shifted]
    degrees = _degrees(program, [[shift] for shift in inside])
    if any(degrees[number] != tuple(0 for _ in inside) for number in sums):
        return None
    return [replace(shift, node=copier.copy(shift.node)) for shift in inside]


def _degrees(program: Program, groups: Sequence[Sequence[Shift]]) -> list[tuple[int, ...] | None]:
    """
    For each node the power of each group's exp that is a factor of it; None where it is no factor.

    The power in a sum is at most one, since partial sums are scaled by it.
    """
    nothing = tuple(0 for _ in groups)
    degrees: list[tuple[int, ...] | None] = []
    for node in program.nodes:
        operands = [degrees[operand] for operand in node.operands]
        known = [degree for degree in operands if degree is not None]
        result: tuple[int, ...] | None = None
        if len(known) < len(operands):
            pass
        elif not operands:
            result = nothing
        elif node.function == EXP and known[0] == nothing:
            argument = node.operands[0]
            result = tuple(int(any(s.node == argument for s in group)) for group in groups)
        elif node.kind in (Kind.MUL, Kind.MATMUL):
            result = tuple(a + b for a, b in zip(*known, strict=True))
        elif node.kind is Kind.DIV:
            result = tuple(a - b for a, b in zip(*known, strict=True))
        elif node.kind in (Kind.ADD, Kind.SUB, Kind.VIEW, Kind.REDUCE_SUM):
            result = known[0] if len(set(known)) == 1 else None
        elif all(degree == nothing for degree in known):
            result = nothing
        degrees.append(result)
    return [
        degree
        if degree is not None and all(power in (0, 1) for power in degree)
        else None
        if node.reduced
        else degree
        for node, degree in zip(program.nodes, degrees, strict=True)
    ]
