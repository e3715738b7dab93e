"""
From positions to axes: which dimensions of a program run together.

Dimensions that an elementwise operation aligns, that a matmul contracts, or that it carries
along are one axis (found by union). An axis that would occur twice in one tensor (X Xᵀ) is
split by computing one operand anew. Neighbouring axes that no operation tells apart are merged,
so that a program over many leading dimensions is searched as one over few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mirage_mlir.search.builder import ProgramBuilder, Step
from mirage_mlir.search.program import Axes, Input, Kind, Node, Output, Program, axis_names

Dims = tuple[int | None, ...]

MAX_STEPS = 160
"""Operations, constants and views of a program. Each residual connection around a square matrix
computes all before it for a second role: chains of them double in size with each link."""


class RolesError(Exception):
    """A program whose tensors play too many roles."""


@dataclass
class _Union:
    """Disjoint sets of dimensions."""

    parents: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])

    def new(self, size: int) -> int | None:
        """A dimension that runs with none yet; None when it has only one index."""
        if size == 1:
            return None
        self.parents.append(len(self.parents))
        self.sizes.append(size)
        return len(self.parents) - 1

    def find(self, dim: int) -> int:
        """The dimension that stands for the set of `dim`."""
        while self.parents[dim] != dim:
            dim = self.parents[dim]
        return dim

    def join(self, a: int | None, b: int | None) -> int | None:
        """Make both run together; a dimension of size 1 is broadcast."""
        if a is None or b is None:
            return b if a is None else a
        a, b = self.find(a), self.find(b)
        assert self.sizes[a] == self.sizes[b]
        # The older one stands for the set, so that names come in order of appearance.
        self.parents[max(a, b)] = min(a, b)
        return min(a, b)


@dataclass
class _Placement:
    """The dimensions of every step so far."""

    steps: Sequence[Step]
    union: _Union = field(default_factory=_Union)
    dims: list[Dims] = field(default_factory=list[Dims])
    reduced: list[Dims] = field(default_factory=list[Dims])
    leading: list[Dims] = field(default_factory=list[Dims])

    def place(self, index: int) -> None:
        """Find the dimensions of step `index`, all before it being placed."""
        step = self.steps[index]
        reduced: Dims = ()
        leading: Dims = ()
        operands = [self.dims[operand] for operand in step.operands]
        if step.kind is Kind.MATMUL:
            dims, reduced = self._matmul(*operands)
            leading = dims[:-2]
        elif step.kind in (Kind.REDUCE_SUM, Kind.REDUCE_MAX):
            (dims,) = operands
            reduced = tuple(dims[dim] for dim in step.reduced)
            dims = tuple(None if d in step.reduced else dim for d, dim in enumerate(dims))
        elif step.permutation:
            (dims,) = operands
            dims = tuple(None if dim < 0 else dims[dim] for dim in step.permutation)
        else:
            dims = self._broadcast(operands, len(step.shape))
            missing = zip(dims, step.shape, strict=True)
            dims = tuple(self.union.new(size) if dim is None else dim for dim, size in missing)
        self.dims.append(dims)
        self.reduced.append(reduced)
        self.leading.append(leading)

    def _broadcast(self, operands: Sequence[Dims], rank: int) -> Dims:
        dims: Dims = (None,) * rank
        for operand in operands:
            padded = (None,) * (rank - len(operand)) + operand
            dims = tuple(self.union.join(a, b) for a, b in zip(dims, padded, strict=True))
        return dims

    def _matmul(self, lhs: Dims, rhs: Dims) -> tuple[Dims, Dims]:
        contracted = self.union.join(lhs[-1], rhs[-2])
        rank = max(len(lhs), len(rhs)) - 2
        leading = self._broadcast((lhs[:-2], rhs[:-2]), rank)
        return (*leading, lhs[-2], rhs[-1]), (contracted,)

    def conflict(self) -> bool:
        """Whether some tensor has one axis twice."""
        find = self.union.find
        for dims, reduced in zip(self.dims, self.reduced, strict=True):
            present = [find(dim) for dim in (*dims, *reduced) if dim is not None]
            if len(set(present)) < len(present):
                return True
        return False


def _place(builder: ProgramBuilder) -> _Placement:
    """Place all steps, with as many operands computed anew as it takes."""
    while True:
        if len(builder.steps) > MAX_STEPS:
            raise RolesError(f"computes {len(builder.steps)} tensors, some for several roles")
        placement = _Placement(builder.steps)
        for index in range(len(builder.steps)):
            placement.place(index)
            if placement.conflict():
                builder.duplicate_operand(index)
                break
        else:
            return placement


def resolve(builder: ProgramBuilder) -> Program:
    """
    The program of what `builder` recorded, over axes.

    Raises:
        RolesError: it would be larger than any that is searched.
    """
    placement = _place(builder)
    find = placement.union.find
    names: dict[int, str] = {}
    sizes: dict[str, int] = {}
    fresh = axis_names()

    def named(dims: Dims) -> Axes:
        result: list[str | None] = []
        for dim in dims:
            if dim is None:
                result.append(None)
                continue
            if (root := find(dim)) not in names:
                names[root] = next(fresh)
                sizes[names[root]] = placement.union.sizes[root]
            result.append(names[root])
        return tuple(result)

    nodes: list[Node] = []
    for index, step in enumerate(builder.steps):
        axes = named(placement.dims[index])
        reduced = tuple(axis for axis in named(placement.reduced[index]) if axis is not None)
        nodes.append(
            Node(step.kind, step.operands, axes, step.name, step.function, step.value, reduced)
        )
    leading = [{axis for axis in named(dims) if axis} for dims in placement.leading]
    merger = _Merger(
        nodes,
        [
            Input(
                old.step,
                old.argument,
                nodes[old.step].axes,
                old.element_type,
                old.strides,
                old.constant,
            )
            for old in builder.inputs
        ],
        [Output(old.step, nodes[old.step].axes, old.element_type) for old in builder.outputs],
        sizes,
        leading,
    )
    merger.run()
    return merger.program(_matrix_type(builder.matrix_types))


def _matrix_type(types: Sequence[str]) -> str:
    """The type in which every matmul may round its operands: f32 when they differ."""
    return types[0] if len(set(types)) == 1 else "f32"


def _present(axes: Axes) -> list[str]:
    return [axis for axis in axes if axis is not None]


@dataclass
class _Merger:
    """Merges neighbouring axes until none can be."""

    nodes: list[Node]
    inputs: list[Input]
    outputs: list[Output]
    sizes: dict[str, int]
    leading: list[set[str]]
    """For each node the axes that a matmul there carries along."""

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
        for node, leading in zip(self.nodes, self.leading, strict=True):
            if (a in node.reduced) != (b in node.reduced):
                return False
            # (b, s) of lhs[b, s, k] @ rhs[k, n] are one row axis, (s, b) would be none.
            if b in leading and a not in leading:
                return False
        return True

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
        for leading in self.leading:
            if a in leading and b not in leading:
                leading.remove(a)
            leading.discard(b)
        self.sizes[a] *= self.sizes.pop(b)

    def program(self, matrix_type: str) -> Program:
        """The program over the axes that are left."""
        present = {axis for node in self.nodes for axis in (*node.present, *node.reduced)}
        batch = {axis for leading in self.leading for axis in leading}
        return Program(
            tuple(self.nodes),
            tuple(self.inputs),
            tuple(self.outputs),
            {axis: size for axis, size in self.sizes.items() if axis in present},
            frozenset(batch),
            matrix_type,
        )


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
