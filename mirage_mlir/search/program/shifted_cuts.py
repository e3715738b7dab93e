"""
Cuts programs at a sum of exps, with the row maximum stored beside the sum.

For a softmax of rows that no block can hold, a first kernel walks each row and stores the maximum m
and the sum of exp(x - m); a second kernel divides exp(x - m) by the sum. Other row statistics that
need the whole row are stored by the first kernel, too: the gradient of attention needs the mean of
the gradient of its weights (FlashAttention-2, section 3.2.1).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.program import Axes, Function, Kind, Node, Output, Program, Shift
from mirage_mlir.search.program.program_cuts import Copier, ProgramCut, Source, Uses
from mirage_mlir.search.program.reading import Reading, without_maxima
from mirage_mlir.search.program.shifts import find_shifts

EXP = Function("exp")


def shifted_cuts(program: Program) -> Iterator[ProgramCut]:
    """
    The cuts at each sum of an exp with a shift of its own, with other row statistics and without.
    """
    if program.open_sums or any(output.shift is not None for output in program.outputs):
        return
    program = without_maxima_of(program)
    for shift in program.shifts:
        if shift.input or shift.joint is not None:
            continue
        for number, node in enumerate(program.nodes):
            if _is_sum_of_exp(program, node, shift):
                if others := _other_statistics(program, number, shift):
                    yield _cut_at(program, number, shift, others)
                yield _cut_at(program, number, shift)


def without_maxima_of(program: Program) -> Program:
    """The program with shifts: exp(S) in the place of exp(S - m), where the shift replaces m."""
    program = replace(program, shifts=find_shifts(program))
    reading = Reading(program, NormalForm())
    reading.run()
    nodes = list(program.nodes)
    shifts: list[Shift] = []
    for shift in program.shifts:
        node = nodes[shift.node]
        if not shift.input and node.kind is Kind.SUB:
            kept = node.operands[0]
            bare = without_maxima(reading.forms, reading.values[shift.node], shift.axes)
            if bare == reading.values[kept] and nodes[kept].axes == node.axes:
                nodes = [_reading(one, shift.node, kept) for one in nodes]
                shift = replace(shift, node=kept)
        shifts.append(shift)
    return replace(program, nodes=tuple(nodes), shifts=tuple(shifts))


def _reading(node: Node, old: int, new: int) -> Node:
    """exp of another node."""
    return replace(node, operands=(new,)) if node.operands == (old,) and node.function else node


def _is_sum_of_exp(program: Program, node: Node, shift: Shift) -> bool:
    """Whether a node is the sum along the axes of a shift of its exp, and of nothing else."""
    if node.kind is not Kind.REDUCE_SUM or not set(shift.axes) <= set(node.reduced):
        return False
    return _is_exp(program.nodes[node.operands[0]], shift)


def _is_exp(node: Node, shift: Shift) -> bool:
    return node.function == EXP and node.operands == (shift.node,)


def _other_statistics(program: Program, number: int, shift: Shift) -> list[int]:
    """What is made of the exps, is one number for each row, and is read where rows are longer."""
    uses = Uses(program)
    rows = set(program.nodes[number].present)

    def is_statistic(node: int) -> bool:
        return set(program.nodes[node].present) <= rows

    return [
        node
        for node in sorted(uses.needed)
        if node != number
        and is_statistic(node)
        and shift.node in uses.needs[node]
        and not all(is_statistic(reader) or reader == number for reader in uses.readers(node))
    ]


def _cut_at(program: Program, number: int, shift: Shift, others: Sequence[int] = ()) -> ProgramCut:
    node, argument = program.nodes[number], program.nodes[shift.node]
    largest: Axes = tuple(None if axis in shift.axes else axis for axis in argument.axes)
    first = Copier(program, {})
    total = Output(first.copy(number), node.axes, "f32")
    maximum = Output(first.copy(shift.node), largest, "f32", shift=0)
    more = [Output(first.copy(other), program.nodes[other].axes, "f32") for other in others]
    head = first.finish([total, maximum, *more], [replace(shift, node=maximum.node)])

    def stored(place: int, node: Node) -> Callable[[Copier], int]:
        return lambda copier: copier.stored(Source(place, kernel=0), node.axes, "f32", node)

    def relative(copier: Copier) -> int:
        below = copier.stored(Source(1, kernel=0), largest, "f32")
        operands = copier.copy(shift.node), below
        difference = copier.append(Node(Kind.SUB, operands, argument.axes))
        return copier.append(Node(Kind.FUNCTION, (difference,), argument.axes, function=EXP))

    exps = [n for n, one in enumerate(program.nodes) if _is_exp(one, shift)]
    stored_nodes = {number: stored(0, node)}
    stored_nodes |= {n: stored(place, program.nodes[n]) for place, n in enumerate(others, start=2)}
    second = Copier(program, {**dict.fromkeys(exps, relative), **stored_nodes})
    outputs = [replace(output, node=second.copy(output.node)) for output in program.outputs]
    results = tuple(Source(place, kernel=1) for place in range(len(outputs)))
    return ProgramCut(head, second.finish(outputs), results)
