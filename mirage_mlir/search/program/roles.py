"""
Operations over axes out of operations over positions, from the results on.

A tensor is computed once for each of its roles: X Xᵀ needs X over (i, j) and over (k, j). A role
gives each dimension an axis; dimensions that run together get the same one, but for a tensor that
has two of them, which gets copies. What is summed takes the first copy that its operand does not
have otherwise, so that a chain of residual connections around square matrices needs two roles of
each tensor and not twice as many with every link.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mirage_mlir.search.program.builder import Layout, Step
from mirage_mlir.search.program.placement import Dims, Placement
from mirage_mlir.search.program.program import Axes, Kind

MAX_OPERATIONS = 240
"""
Operations, constants and views of a program, those of all roles counted: a layer of a large
language model has some 150.
"""


class RolesError(Exception):
    """A program whose tensors play too many roles."""


@dataclass(frozen=True)
class AxisWindow:
    """
    Elements `offset + i * stride` along `axis`.

    `by` are the axes of i, the outermost first; none where there is one element only.
    """

    axis: str
    offset: int
    stride: int
    by: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """One operation of a program over axes; operands are indices of earlier ones."""

    step: int
    """The step that it is a role of."""
    kind: Kind | Layout
    operands: tuple[int, ...]
    axes: Axes
    """Of each factor of each dimension, None for a dimension of size 1."""
    reduced: tuple[str, ...] = ()
    windows: tuple[AxisWindow, ...] = ()
    """Of a slice."""
    joined: str = ""
    """Of a concat: the axis along which the operands lie one after the other, if there is one."""
    parts: tuple[tuple[str, ...], ...] = ()
    """Of a concat: the axes of each operand that lie along it."""
    partial: bool = False
    """Whether it is one of several terms of the step's result, not the result or a part of it."""

    @property
    def present(self) -> tuple[str, ...]:
        """The axes of the result, in order."""
        return tuple(axis for axis in self.axes if axis is not None)


_Axis = tuple[int, int]
"""A class of factors and the number of a copy of it."""

_Role = tuple[tuple[_Axis, ...], ...]
"""The axes of each dimension."""


@dataclass
class Roles:
    """Finds the operations for the roles that results need; `run` does all of it."""

    steps: Sequence[Step]
    placement: Placement
    operations: list[Operation] = field(default_factory=list[Operation])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """Of every axis."""
    _known: dict[tuple[int, _Role], int] = field(default_factory=dict[tuple[int, _Role], int])

    def run(self, outputs: Sequence[int]) -> list[int]:
        """
        The numbers of the operations that make the steps `outputs`.

        Raises:
            RolesError: there are too many.
        """
        if len(self.steps) > MAX_OPERATIONS:
            raise RolesError(f"computes {len(self.steps)} tensors")
        numbers = [self._operation(step, self._fresh(self._dims(step), ())) for step in outputs]
        order = sorted(
            range(len(self.operations)), key=lambda number: (self.operations[number].step, number)
        )
        place = {number: index for index, number in enumerate(order)}
        self.operations = [_renumbered(self.operations[number], place) for number in order]
        return [place[number] for number in numbers]

    def _dims(self, step: int) -> Dims:
        return self.placement.of(step)

    def _fresh(self, dims: Dims, taken: Sequence[_Axis]) -> _Role:
        """For each factor the first copy that is not taken, by `taken` or by one before it."""
        used = set(taken)
        role: list[tuple[_Axis, ...]] = []
        for factors in dims:
            axes: list[_Axis] = []
            for factor in factors:
                copy = 0
                while (factor, copy) in used:
                    copy += 1
                used.add((factor, copy))
                axes.append((factor, copy))
            role.append(tuple(axes))
        return tuple(role)

    def _operation(self, step: int, role: _Role) -> int:
        if (step, role) not in self._known:
            made = self._make(step, role)
            if len(self.operations) >= MAX_OPERATIONS:
                raise RolesError("computes too many tensors, some for several roles")
            self.operations.append(made)
            self._known[step, role] = len(self.operations) - 1
        return self._known[step, role]

    def _make(self, number: int, role: _Role) -> Operation:
        step = self.steps[number]
        axes = self._axes(role)
        match step.kind:
            case Kind.MATMUL:
                roles, summed = self._of_matmul(step, role)
            case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
                roles, summed = self._of_reduction(step, role)
            case Layout.RESHAPE:
                roles, summed = [self._of_reshape(step, role)], ()
            case Layout.SLICE:
                return self._slice(number, role)
            case Layout.CONCAT:
                return self._concat(number, role)
            case Kind.VIEW if step.permutation is not None:
                roles, summed = [self._of_permutation(step, role)], ()
            case _:
                roles, summed = [self._aligned(operand, role) for operand in step.operands], ()
        pairs = zip(step.operands, roles, strict=True)
        operands = tuple(self._operation(operand, wanted) for operand, wanted in pairs)
        return Operation(number, step.kind, operands, axes, self._names(summed))

    # Roles of operands

    def _aligned(self, operand: int, role: _Role) -> _Role:
        """Broadcast as numpy does: last dimensions first, those of size 1 have no axes."""
        dims = self._dims(operand)
        last = role[len(role) - len(dims) :]
        return tuple(axes if own else () for own, axes in zip(dims, last, strict=True))

    def _of_matmul(self, step: Step, role: _Role) -> tuple[list[_Role], tuple[_Axis, ...]]:
        (*_, contracted) = self._dims(step.operands[0])
        (summed,) = self._fresh((contracted,), _flat(role))
        lhs = self._aligned_leading(step.operands[0], role)
        rhs = self._aligned_leading(step.operands[1], role)
        return [(*lhs, role[-2], summed), (*rhs, summed, role[-1])], summed

    def _aligned_leading(self, operand: int, role: _Role) -> _Role:
        dims = self._dims(operand)[:-2]
        leading = role[:-2]
        last = leading[len(leading) - len(dims) :]
        return tuple(axes if own else () for own, axes in zip(dims, last, strict=True))

    def _of_reduction(self, step: Step, role: _Role) -> tuple[list[_Role], tuple[_Axis, ...]]:
        dims = self._dims(step.operands[0])
        summed = self._fresh(tuple(dims[d] for d in step.reduced), _flat(role))
        wanted = list(role)
        for d, axes in zip(step.reduced, summed, strict=True):
            wanted[d] = axes
        return [tuple(wanted)], _flat(summed)

    def _of_permutation(self, step: Step, role: _Role) -> _Role:
        assert step.permutation is not None
        wanted: list[tuple[_Axis, ...]] = [() for _ in self._dims(step.operands[0])]
        for axes, dim in zip(role, step.permutation, strict=True):
            if dim >= 0:
                wanted[dim] = axes
        return tuple(wanted)

    def _of_reshape(self, step: Step, role: _Role) -> _Role:
        rest = list(_flat(role))
        wanted: list[tuple[_Axis, ...]] = []
        for factors in self._dims(step.operands[0]):
            wanted.append(tuple(rest[: len(factors)]))
            del rest[: len(factors)]
        return tuple(wanted)

    # Slices and concats

    def _slice(self, number: int, role: _Role) -> Operation:
        (source,) = self.steps[number].operands
        dims = self._dims(source)
        wanted = list(role)
        windows: list[AxisWindow] = []
        taken = [*_flat(role)]
        for d, cuts in self.placement.windows(number).items():
            # The inner factors that are whole are those of the result.
            count = sum(len(cut.by) for cut in cuts)
            by = {cut.factor: cut for cut in cuts}
            fresh = self._fresh((dims[d],), taken)[0]
            taken += fresh
            whole = list(role[d][count:])
            own = list(role[d][:count])
            axes: list[_Axis] = []
            for place, axis in enumerate(fresh):
                if (cut := by.get(place)) is None:
                    axes.append(whole.pop(0))
                    continue
                outer, own = own[: len(cut.by)], own[len(cut.by) :]
                axes.append(axis)
                named = self._names(tuple(outer))
                windows.append(AxisWindow(self._name(axis), cut.offset, cut.stride, named))
            wanted[d] = tuple(axes)
        operand = self._operation(source, tuple(wanted))
        return Operation(number, Layout.SLICE, (operand,), self._axes(role), windows=tuple(windows))

    def _concat(self, number: int, role: _Role) -> Operation:
        step = self.steps[number]
        along = role[step.dim]
        operands: list[int] = []
        parts: list[tuple[str, ...]] = []
        for operand, factors in zip(step.operands, self.placement.joined(number), strict=True):
            (axes,) = self._fresh((factors,), _flat(role))
            parts.append(self._names(axes))
            wanted = (*role[: step.dim], (*axes, *along[1:]), *role[step.dim + 1 :])
            operands.append(self._operation(operand, wanted))
        return Operation(
            number,
            Layout.CONCAT,
            tuple(operands),
            self._axes(role),
            joined=self._name(along[0]) if along else "",
            parts=tuple(parts),
        )

    # Names

    def _name(self, axis: _Axis) -> str:
        factor, copy = axis
        name = str(factor) + "'" * copy
        self.sizes[name] = self.placement.sets.sizes[factor]
        return name

    def _names(self, axes: Sequence[_Axis]) -> tuple[str, ...]:
        return tuple(self._name(axis) for axis in axes)

    def _axes(self, role: _Role) -> Axes:
        result: list[str | None] = []
        for axes in role:
            result += self._names(axes) if axes else [None]
        return tuple(result)


def _flat(role: _Role) -> tuple[_Axis, ...]:
    return tuple(axis for axes in role for axis in axes)


def _renumbered(operation: Operation, place: dict[int, int]) -> Operation:
    return replace(operation, operands=tuple(place[operand] for operand in operation.operands))
