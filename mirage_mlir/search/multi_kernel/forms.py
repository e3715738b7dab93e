"""
Finds other programs that compute the same, by reading a hypergraph as a program.

A graph of one kernel with a loop over an axis is a program whose sums over that axis are outermost.
A graph without a loop is a program with matmuls in another order, such as A (B x) for (A B) x.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from mirage_mlir.search.cost_model.instantiate import mesh_of
from mirage_mlir.search.cost_model.static_weights import static_weights
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.program.program import Axes, Kind, Node, Program
from mirage_mlir.search.program.program_cuts import SUMS
from mirage_mlir.search.program.shifts import find_shifts
from mirage_mlir.search.saturation.config import Configuration, one_kernel_configurations
from mirage_mlir.search.saturation.extract import Derivation, Extraction
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.found import Explored
from mirage_mlir.targets.target import Target

NOMINAL_TILE = 64
"""The extent of an iteration at which the forms of a program are weighed."""

FORMS = 2
"""Forms of a program, its sums over one axis outermost, that are split: they differ in what is
multiplied before and what after, which the model tells apart."""

CONFIGURATIONS = 2
"""Configurations tried for each axis: the simplest fails where a matmul has two axes of rows."""

FEWER = 0.8
"""How much less is multiplied in another form that is planned beside the program as written."""


def outermost(explored: Explored, axis: str, target: Target) -> Iterator[Program]:
    """Programs that compute the same and have no sum over `axis` inside another one."""
    algebra = explored.algebra
    tried = 0
    for configuration in one_kernel_configurations(algebra.program):
        if configuration.loop != (axis,):
            continue
        if tried == CONFIGURATIONS:
            return
        tried += 1
        graph = _hypergraph(explored, configuration)
        if (goals := _goals(algebra, graph)) is None:
            continue
        tiles = [min(NOMINAL_TILE, algebra.program.sizes[axis]) for axis in _cut(configuration)]
        for derivation in _lightest(algebra, configuration, graph, goals, target, tiles):
            yield _Writer(algebra, graph, derivation).program()
        return


def with_fewer_products(explored: Explored, target: Target) -> Program | None:
    """The program that computes the same with the fewest multiplications, if they are far fewer."""
    algebra = explored.algebra
    program = algebra.program
    if [node.kind for node in program.nodes].count(Kind.MATMUL) < 2:
        return None
    written = products(program)
    configuration = next(one_kernel_configurations(program), None)
    if configuration is None or configuration.loop or not program.is_whole:
        return None
    graph = _hypergraph(explored, configuration)
    if (goals := _goals(algebra, graph)) is None:
        return None
    tiles = [algebra.program.sizes[axis] for axis in _cut(configuration)]
    for best in _lightest(algebra, configuration, graph, goals, target, tiles)[:1]:
        form = _Writer(algebra, graph, best).program()
        if products(form) < FEWER * written:
            return form
    return None


def _hypergraph(explored: Explored, configuration: Configuration) -> Hypergraph:
    """The hypergraph of a configuration, which is built if there is none yet."""
    graph = explored.graphs.get(configuration)
    return Saturation(explored.algebra, configuration).run() if graph is None else graph


def products(program: Program) -> int:
    """The number of scalar multiplications, of matmuls and of elementwise operations."""
    return sum(
        prod(program.sizes[axis] for axis in (*node.present, *node.reduced))
        for node in program.nodes
        if node.kind in (Kind.MATMUL, Kind.MUL)
    )


def _cut(configuration: Configuration) -> tuple[str, ...]:
    return (*configuration.grid, *configuration.loop)


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
    tiles: Sequence[int],
) -> list[Derivation]:
    """The lightest derivations, with the axes that are cut at sizes `tiles`."""
    program = algebra.program
    nominal = [
        [1 if axis in configuration.single else tile]
        for axis, tile in zip(_cut(configuration), tiles, strict=True)
    ]
    mesh = mesh_of(program, configuration, nominal)
    weights = list(static_weights(Tiling(program, algebra, graph, target, mesh), graph))

    def weigh(value: int, edge: Edge) -> float:
        return weights[value][edge]

    return Extraction(graph, goals, weigh, FORMS).run()


class _Writer:
    """Writes a derivation as a program over whole axes."""

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
        """The program; its axes have the names of the searched one."""
        old = self.algebra.program
        inputs = [
            replace(tensor, node=self._append(old.nodes[tensor.node])) for tensor in old.inputs
        ]
        for value, edge in zip(self.derivation.values, self.derivation.edges, strict=True):
            if edge.kind is Kind.INPUT:
                self._numbers[value] = inputs[edge.source].node
            else:
                self._numbers[value] = self._write(value, edge)
                self._narrow(value)
        outputs = [
            replace(output, node=self._numbers[goal])
            for output, goal in zip(old.outputs, self.derivation.goals, strict=True)
        ]
        form = replace(
            old, nodes=tuple(self.nodes), inputs=tuple(inputs), outputs=tuple(outputs), shifts=()
        )
        return replace(form, shifts=find_shifts(form))

    def _append(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _narrow(self, value: int) -> None:
        """Notes which nodes the searched program narrows."""
        form, narrowing = self.graph.values[value].form, self.algebra.narrowing
        number, kept = self._numbers[value], narrowing.element_type
        if (own := narrowing.rounded.get(form)) is not None:
            self.nodes[number] = replace(self.nodes[number], element_type=own, rounded=True)
        elif narrowing.has(form):
            self.nodes[number] = replace(self.nodes[number], element_type=kept)
        elif narrowing.admits(form):
            self.nodes[number] = replace(self.nodes[number], floor=kept)

    def _write(self, value: int, edge: Edge) -> int:
        operands = tuple(self._numbers[operand] for operand in edge.operands)
        axes = self._axes(value, edge, operands)
        match edge.kind:
            case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
                # Tiles are whole here: what an iteration sums is the sum.
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
        """The axes of a value, in the order that its operands give them."""
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
