"""
Programs cut in two: some of their values are stored by a first part and read by a second.

Each part is a program of its own. Axes and inputs get new names in order of appearance, so that
equal parts of a program are equal, and are searched once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

from mirage_mlir.search.program.axes import Merger
from mirage_mlir.search.program.narrowing import may_keep
from mirage_mlir.search.program.program import (
    Axes,
    Input,
    Kind,
    Node,
    Output,
    Program,
    Shift,
    axis_names,
)

SUMS = (Kind.MATMUL, Kind.REDUCE_SUM, Kind.REDUCE_MAX)
PASSIVE = (Kind.INPUT, Kind.CONSTANT, Kind.VIEW)

MOST_GROUPED = 6
"""Outputs up to which any of them may be grouped: 31 ways. A concat of n parts has n outputs, and
2^(n - 1) ways: with 16 the search took 40 s."""


@dataclass(frozen=True)
class Source:
    """Where a tensor comes from: argument `number`, or result `number` of an earlier kernel."""

    number: int
    kernel: int | None = None


@dataclass(frozen=True)
class ProgramPart:
    """A part of a program, and what each of its arguments is: results of kernel 0 are stored."""

    program: Program
    arguments: tuple[Source, ...]


@dataclass(frozen=True)
class ProgramCut:
    """A program in two parts, and which of them (0 or 1) makes each of its outputs."""

    first: ProgramPart
    second: ProgramPart
    results: tuple[Source, ...]


def row_major(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense tensor, in elements."""
    return tuple(prod(sizes[dim + 1 :]) for dim in range(len(sizes)))


class Copier:
    """
    Copies what some nodes of a program need to a new program.

    Where a node is in `replaced`, its function makes the new node instead.
    """

    def __init__(
        self,
        program: Program,
        replaced: Mapping[int, Callable[["Copier"], int]],
        new_sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.program = program
        self.sizes = {**(new_sizes or {}), **program.sizes}
        self.nodes: list[Node] = []
        self._replaced = replaced
        self._inputs: list[Input] = []
        self._arguments: dict[Source, int] = {}
        self._copies: dict[int, int] = {}
        self._read = {tensor.node: tensor for tensor in program.inputs}

    def append(self, node: Node) -> int:
        """Add a node, its operands being new ones; its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def input(self, source: Source, tensor: Input) -> int:
        """Add an input; of `tensor` node and argument do not count."""
        argument = self._arguments.setdefault(source, len(self._arguments))
        roles = sum(1 for other in self._inputs if other.argument == argument)
        node = self.append(Node(Kind.INPUT, (), tensor.axes, f"x{argument}" + "'" * roles))
        self._inputs.append(replace(tensor, node=node, argument=argument))
        return node

    def stored(
        self, source: Source, axes: Axes, element_type: str, node: Node | None = None
    ) -> int:
        """
        Add an input that an earlier kernel stores.

        Where it is the value of a `node`, the program narrows it, or not, as it does that.
        """
        sizes = [1 if axis is None else self.sizes[axis] for axis in axes]
        tensor = Input(0, 0, axes, element_type, row_major(sizes))
        number = self.input(source, tensor)
        if node is not None:
            self.narrow(number, node)
        return number

    def narrow(self, number: int, like: Node) -> None:
        """Note that a node has the value of one of the program, which may narrow it."""
        self.nodes[number] = replace(
            self.nodes[number],
            element_type=like.element_type,
            floor=like.floor,
            rounded=like.rounded,
        )

    def copy(self, old: int) -> int:
        """The new number of a node."""
        if old not in self._copies:
            node = self.program.nodes[old]
            if (make := self._replaced.get(old)) is not None:
                self._copies[old] = make(self)
            elif node.kind is Kind.INPUT:
                tensor = self._read[old]
                self._copies[old] = self.input(Source(tensor.argument), tensor)
                self.narrow(self._copies[old], node)
            else:
                operands = tuple(self.copy(operand) for operand in node.operands)
                self._copies[old] = self.append(replace(node, operands=operands))
        return self._copies[old]

    def copied(self, old: int) -> int | None:
        """The new number of a node, if it was copied."""
        return self._copies.get(old)

    def finish(self, outputs: Sequence[Output], shifts: Sequence[Shift] = ()) -> ProgramPart:
        """The new program; `outputs` and `shifts` have new nodes and old names of axes."""
        present = {axis for node in self.nodes for axis in (*node.present, *node.reduced)}
        # A result may be stretched along an axis that no value has.
        present |= {axis for output in outputs for axis in output.axes if axis is not None}
        sizes = {axis: size for axis, size in self.sizes.items() if axis in present}
        merger = Merger(list(self.nodes), list(self._inputs), list(outputs), sizes)
        if not any(output.partial for output in outputs):
            merger.run()
        has_matmul = any(node.kind is Kind.MATMUL for node in self.nodes)
        program = merger.program(self.program.matrix_type if has_matmul else "f32")
        # Axes that run together were merged.
        kept = (tuple(axis for axis in shift.axes if axis in program.sizes) for shift in shifts)
        shifts = [replace(shift, axes=axes) for shift, axes in zip(shifts, kept, strict=True)]
        program = replace(program, shifts=tuple(shifts))
        return ProgramPart(renamed(program), tuple(self._arguments))


def renamed(program: Program) -> Program:
    """The program with names of axes in order of their appearance."""
    fresh = axis_names()
    names = {axis: next(fresh) for axis in program.sizes}

    def over(axes: Iterable[str | None]) -> Axes:
        return tuple(None if axis is None else names[axis] for axis in axes)

    def named(axes: Iterable[str]) -> tuple[str, ...]:
        return tuple(names[axis] for axis in axes)

    return replace(
        program,
        nodes=tuple(replace(n, axes=over(n.axes), reduced=named(n.reduced)) for n in program.nodes),
        inputs=tuple(replace(tensor, axes=over(tensor.axes)) for tensor in program.inputs),
        outputs=tuple(
            replace(o, axes=over(o.axes), partial=named(o.partial)) for o in program.outputs
        ),
        sizes={names[axis]: size for axis, size in program.sizes.items()},
        batch=frozenset(named(program.batch)),
        shifts=tuple(replace(shift, axes=named(shift.axes)) for shift in program.shifts),
    )


class Uses:
    """What the cuts of one program need to know about its nodes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        nodes = program.nodes
        self.users: list[list[int]] = [[] for _ in nodes]
        needs: list[frozenset[int]] = []
        for index, node in enumerate(nodes):
            below = frozenset(node.operands).union(*(needs[operand] for operand in node.operands))
            needs.append(below)
            for operand in dict.fromkeys(node.operands):
                self.users[operand].append(index)
        self.needs = needs
        """For each node all others that it is computed from."""
        outputs = [output.node for output in program.outputs]
        self.needed = frozenset(outputs).union(*(needs[node] for node in outputs))
        """The nodes that some output is computed from, and the outputs."""

    def heavy(self, node: int) -> bool:
        """Whether a node, or any that it needs, is a product or a sum."""
        nodes = self.program.nodes
        return any(nodes[other].kind in SUMS for other in (node, *self.needs[node]))

    def readers(self, node: int) -> Iterator[int]:
        """The operations that read a node, as it is or through a view."""
        for user in self.users[node]:
            if user not in self.needed:
                continue
            if self.program.nodes[user].kind is Kind.VIEW:
                yield from self.readers(user)
            else:
                yield user

    def element_type(self, node: int) -> str:
        """
        In what a value is stored.

        f32, or where only tensor cores read it what they take; or what the program has it in.
        """
        kinds = {self.program.nodes[user].kind for user in self.readers(node)}
        wanted, own = self.program.operand_type, self.program.nodes[node]
        if own.rounded and (Kind.MATMUL not in kinds or own.element_type == wanted):
            return own.element_type
        return wanted if kinds == {Kind.MATMUL} and may_keep(own.element_type, wanted) else "f32"

    def stored_axes(self, node: int) -> Axes:
        """In which order the axes of a value are stored: as what reads it sees them."""
        axes = self.program.nodes[node].axes
        while len(users := [user for user in self.users[node] if user in self.needed]) == 1:
            view = self.program.nodes[users[0]]
            if view.kind is not Kind.VIEW or set(view.present) != set(axes) - {None}:
                break
            node, axes = users[0], view.axes
        return axes

    def candidates(self) -> list[int]:
        """
        The nodes worth storing: results of products and sums, and what those read.

        Of a chain of elementwise operations only the ends; what comes from inputs without any
        product or sum is as well computed anew, unless a tensor core wants it in its own type.
        """
        nodes = self.program.nodes
        found: list[int] = []
        for index, node in enumerate(nodes):
            if node.kind in PASSIVE or index not in self.needed:
                continue
            readers = {nodes[user].kind for user in self.readers(index)}
            end = node.kind in SUMS or not readers.isdisjoint(SUMS)
            if end and (self.heavy(index) or Kind.MATMUL in readers):
                found.append(index)
        return found


def output_part(program: Program, numbers: Sequence[int]) -> ProgramPart:
    """The part of a program that makes the outputs `numbers`, from arguments alone."""
    copier = Copier(program, {})
    outputs = [program.outputs[number] for number in numbers]
    return copier.finish([replace(o, node=copier.copy(o.node)) for o in outputs])


def cut_at(uses: Uses, stored: Sequence[int]) -> ProgramCut | None:
    """
    The program with the nodes `stored` computed first; outputs among them are made there.

    None where nothing is left for one of the parts, or one does without the other.
    """
    program = uses.program
    tensors: list[Output] = []
    for node in stored:
        # A result that repeats the value along another axis is more than what the rest reads.
        own = {*program.nodes[node].axes, None}
        given = [o for o in program.outputs if o.node == node and own.issuperset(o.axes)]
        made = Output(node, uses.stored_axes(node), uses.element_type(node))
        tensors.append(given[0] if given else made)
    first = Copier(program, {})
    head = first.finish([replace(tensor, node=first.copy(tensor.node)) for tensor in tensors])

    def reader(number: int, tensor: Output) -> Callable[[Copier], int]:
        node = program.nodes[tensor.node]
        return lambda copier: copier.stored(
            Source(number, kernel=0), tensor.axes, tensor.element_type, node
        )

    replaced = {tensor.node: reader(number, tensor) for number, tensor in enumerate(tensors)}
    second = Copier(program, replaced)
    results: list[Source] = []
    later: list[Output] = []
    for output in program.outputs:
        if output in tensors:
            results.append(Source(tensors.index(output), kernel=0))
        else:
            results.append(Source(len(later), kernel=1))
            later.append(replace(output, node=second.copy(output.node)))
    if not later:
        return None
    tail = second.finish(later)
    read = {source.number for source in tail.arguments if source.kernel is not None}
    made = {source.number for source in results if source.kernel == 0}
    unused = set(range(len(stored))) - read - made
    return None if unused or not read else ProgramCut(head, tail, tuple(results))


def output_cuts(program: Program) -> Iterator[ProgramCut]:
    """
    The outputs in two groups that do not read each other, the first with the first output.

    Of many outputs, those up to one and those behind it.
    """
    numbers = range(len(program.outputs))
    for others in _groups(len(numbers)):
        own = [number for number in numbers if number not in others]
        results = tuple(
            Source(others.index(number), kernel=1)
            if number in others
            else Source(own.index(number), kernel=0)
            for number in numbers
        )
        yield ProgramCut(output_part(program, own), output_part(program, others), results)


def _groups(outputs: int) -> Iterator[tuple[int, ...]]:
    numbers = range(outputs)
    if outputs > MOST_GROUPED:
        yield from (tuple(numbers[first:]) for first in numbers[1:])
        return
    for count in numbers[1:]:
        yield from combinations(numbers[1:], count)


def cuts(program: Program) -> Iterator[ProgramCut]:
    """
    Ways to cut a program in two: at one value, at two that one kernel may compute, by outputs.
    """
    uses = Uses(program)
    outputs = [output.node for output in program.outputs]
    candidates = list(dict.fromkeys((*uses.candidates(), *_stored_outputs(uses, outputs))))
    for count in (1, 2):
        for stored in combinations(sorted(candidates), count):
            if (cut := cut_at(uses, stored)) is not None:
                yield cut
    if len(outputs) > 1:
        yield from output_cuts(program)


def _stored_outputs(uses: Uses, outputs: Sequence[int]) -> list[int]:
    """The outputs that others are computed from: they are in memory anyway."""
    nodes = uses.program.nodes
    return [
        node
        for node in dict.fromkeys(outputs)
        if nodes[node].kind not in PASSIVE and any(node in uses.needs[other] for other in outputs)
    ]
