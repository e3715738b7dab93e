"""
From positions to axes: which dimensions of a program run together.

Dimensions are placed (`placement`), tensors get axes for each of their roles (`roles`), slices and
concats leave the inside (`distribute`). Neighbouring axes that no operation tells apart are merged,
so that a program over many leading dimensions is searched as one over few.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from mirage_mlir.float_formats import FORMATS
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.distribute import Distribution
from mirage_mlir.search.program.duplicates import without_duplicates
from mirage_mlir.search.program.placement import Placement, ViewError
from mirage_mlir.search.program.program import (
    Axes,
    Input,
    Kind,
    Memory,
    Node,
    Output,
    Program,
    axis_names,
)
from mirage_mlir.search.program.roles import Operation, Roles, RolesError
from mirage_mlir.search.program.shared_sums import with_shared_sums
from mirage_mlir.search.program.tensor_slices import ArgumentView

__all__ = [
    "JoinedResult",
    "Resolved",
    "ResultPart",
    "RolesError",
    "ViewError",
    "resolve",
    "resolve_views",
]


@dataclass(frozen=True)
class ResultPart:
    """
    `size` indices of a result: those of output `number` of the program, or of an argument that is
    `passed` on.
    """

    number: int
    size: int
    passed: bool = False


@dataclass(frozen=True)
class JoinedResult:
    """
    What a result is made of: parts side by side, or one.

    A part is dense, `inner` elements behind each of its indices.
    """

    parts: tuple[ResultPart, ...]
    inner: int = 1


@dataclass(frozen=True)
class Resolved:
    """
    A program over axes.

    `arguments` are what its inputs read: the arguments that were recorded, then views of them;
    `results` what the recorded results are made of.
    """

    program: Program
    arguments: tuple[ArgumentView, ...]
    results: tuple[JoinedResult, ...]
    notes: tuple[tuple[int, str], ...] = ()
    """What is not as good as it might be: the recorded step, and why."""


def resolve(builder: ProgramBuilder) -> Program:
    """The program of `resolve_views`, without its views."""
    return resolve_views(builder).program


def resolve_views(builder: ProgramBuilder) -> Resolved:
    """
    The program of what `builder` recorded, over axes.

    Raises:
        RolesError: it would be larger than any that is searched.
        ViewError: it has a view that names of axes cannot express.
    """
    placement = Placement(builder.steps)
    placement.run()
    roles = Roles(builder.steps, placement)
    wanted = roles.run([output.step for output in builder.outputs])
    distribution = Distribution(builder, roles.sizes)
    results = distribution.run(roles.operations, wanted)
    names = _Names(distribution.sizes)
    nodes = _nodes(builder, distribution.operations, names)
    arguments = [ArgumentView(tensor.argument) for tensor in builder.inputs]
    inputs = _inputs(distribution, nodes, arguments)
    elements = {tensor.argument: tensor.element_type for tensor in builder.inputs}
    types = {view: elements[view.argument] for view in arguments}
    outputs: list[Output] = []
    joined: list[JoinedResult] = []
    for result, old in zip(results, builder.outputs, strict=True):
        parts: list[ResultPart] = []
        wanted = old.element_type
        for part in result.parts:
            if len(result.parts) > 1 and part.view is not None and types[part.view] == wanted:
                parts.append(ResultPart(arguments.index(part.view), part.size, passed=True))
                continue
            parts.append(ResultPart(len(outputs), part.size))
            outputs.append(Output(part.operation, names.of(part.axes), wanted, exact=old.exact))
        joined.append(JoinedResult(tuple(parts), result.inner))
    merger = Merger(nodes, _parts_noted(inputs, names.sizes), outputs, names.sizes)
    merger.run()
    merged = merger.program(_matrix_type(builder.matrix_types))
    program = without_duplicates(with_shared_sums(merged))
    notes = tuple(placement.unshared.items())
    return Resolved(program, tuple(arguments), tuple(joined), notes)


class _Names:
    """Short names of axes, in order of appearance."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._all_sizes = sizes
        self._names: dict[str, str] = {}
        self._fresh = axis_names()
        self.sizes: dict[str, int] = {}

    def of(self, axes: Iterable[str | None]) -> Axes:
        """The names of `axes`."""
        return tuple(None if axis is None else self._name(axis) for axis in axes)

    def _name(self, axis: str) -> str:
        if axis not in self._names:
            self._names[axis] = next(self._fresh)
            self.sizes[self._names[axis]] = self._all_sizes[axis]
        return self._names[axis]


def _nodes(builder: ProgramBuilder, operations: Sequence[Operation], names: _Names) -> list[Node]:
    """The operations as nodes; a node has no axes along which its value does not change."""
    nodes: list[Node] = []
    used: dict[str, int] = {}
    for operation in operations:
        assert isinstance(operation.kind, Kind)
        step = builder.steps[operation.step]
        name = step.name
        if name:
            used[name] = used.get(name, 0) + 1
            name += "'" * (used[name] - 1)
        axes = names.of(operation.axes)
        if operation.kind is not Kind.INPUT:
            real = {axis for operand in operation.operands for axis in nodes[operand].present}
            axes = tuple(axis if axis in real else None for axis in axes)
        reduced = tuple(axis for axis in names.of(operation.reduced) if axis is not None)
        element = builder.element_types.get(operation.step, "f32")
        rounded = element != "f32" and operation.step not in builder.read_wide
        nodes.append(
            Node(
                operation.kind,
                operation.operands,
                axes,
                name,
                step.function,
                step.value,
                reduced,
                "f32" if operation.partial else element,
                rounded=rounded and not operation.partial,
            )
        )
    return nodes


def _inputs(
    distribution: Distribution, nodes: Sequence[Node], arguments: list[ArgumentView]
) -> list[Input]:
    """What is read, in the order of the arguments; views of arguments become further ones."""
    inputs: list[Input] = []
    for read in sorted(distribution.reads, key=lambda read: bool(read.view.cuts)):
        if read.view not in arguments:
            arguments.append(read.view)
        tensor = read.tensor
        inputs.append(
            Input(
                read.operation,
                arguments.index(read.view),
                nodes[read.operation].axes,
                tensor.element_type,
                read.strides,
                tensor.constant,
                tensor.indices,
                tensor.memory,
            )
        )
    return inputs


def _parts_noted(inputs: Sequence[Input], sizes: Mapping[str, int]) -> list[Input]:
    """The inputs, without the memory of those that are all of a tensor, and the only ones."""
    arguments: dict[Memory, set[int]] = {}
    for tensor in inputs:
        if tensor.memory is not None:
            arguments.setdefault(tensor.memory, set()).add(tensor.argument)
    numbers: dict[Memory, int] = {}
    found: list[Input] = []
    for tensor in inputs:
        memory = tensor.memory
        if memory is not None:
            elements = prod(1 if axis is None else sizes[axis] for axis in tensor.axes)
            part = elements * FORMATS[tensor.element_type].bytes < memory.bytes
            shared = len(arguments[memory]) > 1
            number = numbers.setdefault(memory, len(numbers))
            memory = replace(memory, number=number) if part or shared else None
        found.append(replace(tensor, memory=memory))
    return found


def _matrix_type(types: Sequence[str]) -> str:
    """
    The type in which every matmul may round its operands: f32 when they differ.

    tf32 has the numbers of f16 and bf16.
    """
    if len(set(types)) == 1:
        return types[0]
    return "tf32" if "tf32" in types and "f32" not in types else "f32"


def _present(axes: Axes) -> list[str]:
    return [axis for axis in axes if axis is not None]


@dataclass
class Merger:
    """Merges neighbouring axes until none can be."""

    nodes: list[Node]
    inputs: list[Input]
    outputs: list[Output]
    sizes: dict[str, int]

    def run(self) -> None:
        """Merge all that can be merged."""
        merged = False
        while (pair := self._next()) is not None:
            self._merge(*pair)
            merged = True
        if merged:
            self.inputs = [_without_leading_units(old) for old in self.inputs]

    def _next(self) -> tuple[str, str] | None:
        edges = [tensor.axes for tensor in (*self.inputs, *self.outputs)]
        for axes in edges:
            present = _present(axes)
            for a, b in pairwise(present):
                if self._can_merge(a, b):
                    return a, b
        return None

    def _can_merge(self, a: str, b: str) -> bool:
        for tensor in (*self.inputs, *self.outputs):
            present = _present(tensor.axes)
            if (a in present) != (b in present):
                return False
            if a in present and present.index(a) + 1 != present.index(b):
                return False
        for tensor in self.inputs:
            strides = dict(tensor.by_stride())
            if a in strides and strides[a] != strides[b] * self.sizes[b]:
                return False
        return all((a in node.reduced) == (b in node.reduced) for node in self.nodes)

    def _merge(self, a: str, b: str) -> None:
        """Let the axis `a` stand for the pair (a, b)."""

        def over(axes: Axes) -> Axes:
            if b not in axes:
                return axes
            return tuple(a if axis == b else axis for axis in axes if axis != a)

        for index, node in enumerate(self.nodes):
            axes = over(node.axes)
            reduced = tuple(axis for axis in node.reduced if axis != b)
            self.nodes[index] = replace(node, axes=axes, reduced=reduced)
        self.inputs = [_merged_input(old, a, b) for old in self.inputs]
        self.outputs = [replace(old, axes=over(old.axes)) for old in self.outputs]
        self.sizes[a] *= self.sizes.pop(b)

    def program(self, matrix_type: str) -> Program:
        """The program over the axes that are left."""
        present = {axis for node in self.nodes for axis in (*node.present, *node.reduced)}
        present |= {axis for output in self.outputs for axis in output.axes if axis is not None}
        return Program(
            tuple(self.nodes),
            tuple(self.inputs),
            tuple(self.outputs),
            {axis: size for axis, size in self.sizes.items() if axis in present},
            frozenset(self._carried()),
            matrix_type,
        )

    def _carried(self) -> Iterator[str]:
        """
        The axes of which a matmul of tiles takes one index.

        Those that both operands have and over which it does not sum; and where it sums over
        several, all but the last: the loop adds up what it makes of them.
        """
        for node in self.nodes:
            if node.kind is Kind.MATMUL:
                left, right = (self.nodes[operand].present for operand in node.operands)
                yield from (axis for axis in left if axis in right and axis not in node.reduced)
                yield from node.reduced[:-1]


def _merged_input(tensor: Input, a: str, b: str) -> Input:
    if a not in tensor.axes:
        return tensor
    kept = [dim for dim, axis in enumerate(tensor.axes) if axis != a]
    axes = tuple(a if tensor.axes[dim] == b else tensor.axes[dim] for dim in kept)
    return replace(tensor, axes=axes, strides=tuple(tensor.strides[dim] for dim in kept))


def _without_leading_units(tensor: Input) -> Input:
    axes = tensor.axes
    first = next((dim for dim, axis in enumerate(axes) if axis is not None), len(axes) - 1)
    return replace(tensor, axes=axes[first:], strides=tensor.strides[first:])
