"""
Programs whose sums run in two kernels: parts of them in a first, what follows in a second.

The sums over one axis (split-K of a matmul, split-KV of attention) are brought outermost: a graph
of one kernel with a loop over the axis is that, read as a program again. The first kernel leaves
these sums open over its blocks, the second adds the parts up. Where the sums hold an exp that is
kept in range by a maximum, each part has a maximum of its own, which the first kernel stores too:
to the second kernel the parts are s_p * exp(m_p).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mirage_mlir.graph.target import Target
from mirage_mlir.search.config import Configuration, one_kernel_configurations
from mirage_mlir.search.cost import static_weights
from mirage_mlir.search.cuts import SUMS, Copier, Cut, Part, Source
from mirage_mlir.search.extract import Derivation, Extraction
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.instantiate import mesh_of
from mirage_mlir.search.program import Axes, Function, Kind, Node, Output, Program, Shift
from mirage_mlir.search.saturate import Saturation
from mirage_mlir.search.shifts import find_shifts
from mirage_mlir.search.tiling import Tiling
from mirage_mlir.search.values import Algebra

PARTS = "parts"
"""The axis of the parts of a sum, in a second kernel: no name of an axis of a program."""

NOMINAL_TILE = 64
"""The extent of a turn at which the forms of a program are weighed."""

FORMS = 2
"""Forms of a program, its sums over one axis outermost, that are split: they differ in what is
multiplied before and what after, which the model tells apart."""

CONFIGURATIONS = 2
"""Configurations tried for each axis: the simplest fails where a matmul has two axes of rows."""

EXP = Function("exp")


@dataclass(frozen=True)
class Split:
    """A program in two kernels: the first leaves sums over one axis open."""

    program: Program
    """The whole, with those sums outermost."""
    axis: str
    """In `program`."""
    first: Part
    sums: tuple[int, ...]
    """The nodes of `program` that the first kernel stores parts of, then the shifts' exps."""
    shifts: tuple[Shift, ...]
    degrees: Mapping[int, tuple[int, ...]]
    """For each of the sums the number of times that each shift's exp is a factor."""

    def cut(self, parts: int) -> Cut:
        """The two parts of the program where the first kernel has `parts` blocks along the axis."""
        program = self.program
        tensors = [(PARTS, *program.nodes[node].axes) for node in self.sums]
        maxima = [(PARTS, *without(program.nodes[s.node].axes, s.axes)) for s in self.shifts]

        def maximum(copier: Copier, number: int) -> int:
            source = Source(len(tensors) + number, kernel=0)
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
                value = copier.stored(Source(number, kernel=0), axes, "f32")
                for shift, degree in enumerate(self.degrees[self.sums[number]]):
                    if degree:
                        factor = maximum(copier, shift)
                        value = copier.append(Node(Kind.MUL, (value, factor), axes))
                kind = Kind.REDUCE_MAX if node.kind is Kind.REDUCE_MAX else Kind.REDUCE_SUM
                return copier.append(Node(kind, (value,), node.axes, reduced=(PARTS,)))

            return make

        stored: dict[Source, int] = {}
        replaced = {node: total(number) for number, node in enumerate(self.sums)}
        copier = Copier(program, replaced, {PARTS: parts})
        outputs = [replace(o, node=copier.copy(o.node)) for o in program.outputs]
        results = tuple(Source(number, kernel=1) for number in range(len(outputs)))
        return Cut(self.first, copier.finish(outputs), results)


def without(axes: Axes, dropped: Sequence[str]) -> Axes:
    """`axes` with a dimension of size 1 for each that is `dropped`."""
    return tuple(None if axis in dropped else axis for axis in axes)


def splits(program: Program, target: Target) -> Iterator[Split]:
    """The ways to split a program at the sums over one axis."""
    if program.open_sums:
        return
    stored = {axis for output in program.outputs for axis in output.axes}
    summed = {axis for node in program.nodes for axis in node.reduced}
    walked = [axis for axis in program.sizes if axis in summed and axis not in stored]
    if not walked:
        return
    algebra = Algebra.of(program)
    for axis in walked:
        known: set[object] = set()
        for form in outermost(algebra, axis, target):
            split = split_at(form, axis)
            if split is not None and split.first.program.key() not in known:
                known.add(split.first.program.key())
                yield split


def split_at(program: Program, axis: str) -> Split | None:
    """A program split at its sums over `axis`, none of which may need another."""
    nodes = program.nodes
    sums = [number for number, node in enumerate(nodes) if axis in node.reduced]
    shifts = tuple(shift for shift in program.shifts if axis in shift.axes and not shift.input)
    if any(shift.input and axis in shift.axes for shift in program.shifts):
        return None
    degrees = _degrees(program, shifts)
    if not sums or any(degrees[number] is None for number in sums):
        return None
    known = {number: degree for number in sums if (degree := degrees[number]) is not None}
    copier = Copier(program, {})
    outputs = [
        Output(copier.copy(number), nodes[number].axes, "f32", partial=(axis,)) for number in sums
    ]
    moved: list[Shift] = []
    for number, shift in enumerate(shifts):
        if not any(known[node][number] for node in sums):
            return None
        node = copier.copy(shift.node)
        axes = without(nodes[shift.node].axes, shift.axes)
        outputs.append(Output(node, axes, "f32", partial=(axis,), shift=number))
        moved.append(replace(shift, node=node))
    return Split(program, axis, copier.finish(outputs, moved), tuple(sums), shifts, known)


def _degrees(program: Program, shifts: Sequence[Shift]) -> list[tuple[int, ...] | None]:
    """
    For each node how often each shift's exp is a factor of it; None where it is no factor.

    Sums may have it as a factor once at most, for parts of them are scaled by it.
    """
    nothing = tuple(0 for _ in shifts)
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
            result = tuple(int(shift.node == node.operands[0]) for shift in shifts)
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


# Programs with the sums over one axis outermost


def outermost(algebra: Algebra, axis: str, target: Target) -> Iterator[Program]:
    """Programs that compute the same, no sum over `axis` inside another."""
    tried = 0
    for configuration in one_kernel_configurations(algebra.program):
        if configuration.loop != (axis,):
            continue
        if tried == CONFIGURATIONS:
            return
        tried += 1
        graph = Saturation(algebra, configuration).run()
        if (goals := _goals(algebra, graph)) is None:
            continue
        for derivation in _lightest(algebra, configuration, graph, goals, target):
            form = _Writer(algebra, graph, derivation).program()
            yield replace(form, shifts=find_shifts(form))
        return


def _goals(algebra: Algebra, graph: Hypergraph) -> list[int] | None:
    goals: list[int] = []
    for form in algebra.outputs:
        if form is None:
            return None
        after = graph.find(Value(form, Stage.POST))
        goal = graph.find(Value(form, Stage.INVARIANT)) if after is None else after
        if goal is None:
            return None
        goals.append(goal)
    return goals


def _lightest(
    algebra: Algebra,
    configuration: Configuration,
    graph: Hypergraph,
    goals: Sequence[int],
    target: Target,
) -> list[Derivation]:
    program = algebra.program
    nominal = [
        [1 if axis in configuration.single else min(NOMINAL_TILE, program.sizes[axis])]
        for axis in (*configuration.grid, *configuration.loop)
    ]
    mesh = mesh_of(program, configuration, nominal)
    weights = list(static_weights(Tiling(program, algebra, graph, target, mesh), graph))

    def weigh(value: int, edge: Edge) -> float:
        return weights[value][edge]

    return Extraction(graph, goals, weigh, FORMS).run()


class _Writer:
    """Reads a derivation with a loop as a program over whole axes."""

    def __init__(self, algebra: Algebra, graph: Hypergraph, derivation: Derivation) -> None:
        self.algebra = algebra
        self.graph = graph
        self.derivation = derivation
        self.nodes: list[Node] = []
        self._numbers: dict[int, int] = {}
        stored = (axis for output in algebra.program.outputs for axis in output.axes)
        axes = [axis for axis in stored if axis is not None]
        self._order = list(dict.fromkeys((*axes, *algebra.program.sizes)))

    def program(self) -> Program:
        """The program; axes have the names that they have in the one that was searched."""
        old = self.algebra.program
        inputs = [
            replace(tensor, node=self._append(old.nodes[tensor.node])) for tensor in old.inputs
        ]
        for value, edge in zip(self.derivation.values, self.derivation.edges, strict=True):
            if edge.kind is Kind.INPUT:
                self._numbers[value] = inputs[edge.source].node
            else:
                self._numbers[value] = self._write(value, edge)
        outputs = [
            replace(output, node=self._numbers[goal])
            for output, goal in zip(old.outputs, self.derivation.goals, strict=True)
        ]
        return replace(
            old, nodes=tuple(self.nodes), inputs=tuple(inputs), outputs=tuple(outputs), shifts=()
        )

    def _append(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _write(self, value: int, edge: Edge) -> int:
        operands = tuple(self._numbers[operand] for operand in edge.operands)
        axes = self._axes(value, edge, operands)
        match edge.kind:
            case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
                # Tiles are whole here: what a turn sums is the sum.
                return operands[0]
            case Kind.CONSTANT:
                number = self.algebra.constants[edge.source][1]
                return self._append(Node(Kind.CONSTANT, value=number))
            case Kind.INVERSE:
                one = self._append(Node(Kind.CONSTANT, value=Fraction(1)))
                return self._append(Node(Kind.DIV, (one, *operands), axes))
            case Kind.FUNCTION:
                function = self.algebra.function_named(edge.name)
                return self._append(Node(edge.kind, operands, axes, function=function))
            case _:
                reduced = () if edge.axis is None else (edge.axis,)
                return self._append(Node(edge.kind, operands, axes, reduced=reduced))

    def _axes(self, value: int, edge: Edge, operands: Sequence[int]) -> Axes:
        """The axes of a value at places that follow from its operands."""
        present = self.algebra.tile_axes(self.graph.values[value].form)
        given = [self.nodes[operand].axes for operand in operands]
        if edge.kind in SUMS and edge.kind is not Kind.MATMUL:
            return tuple(axis if axis in present else None for axis in given[0])
        for axes in sorted(given, key=len, reverse=True):
            if set(present) <= set(axes) and edge.kind is not Kind.MATMUL:
                return tuple(axis if axis in present else None for axis in axes)
        ordered = sorted(present, key=self._order.index)
        # A matrix of one column keeps the place of its rows.
        return (
            (*ordered, None) if len(ordered) == 1 and edge.kind is Kind.MATMUL else tuple(ordered)
        )
