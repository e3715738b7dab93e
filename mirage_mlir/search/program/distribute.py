"""
Moves slices and concats out of the inside of a program.

A slice moves towards the inputs, through every operation that has the axis, and becomes a view of
an argument. A concat moves towards the results: an elementwise operation on a concat becomes one
operation for each part, and a sum over it the sum of the parts' sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mirage_mlir.search.program.builder import InputTensor, Layout, ProgramBuilder, row_major
from mirage_mlir.search.program.placement import ViewError
from mirage_mlir.search.program.program import Axes, Kind
from mirage_mlir.search.program.roles import MAX_OPERATIONS, AxisWindow, Operation, RolesError
from mirage_mlir.search.program.tensor_slices import (
    ArgumentView,
    AxisSlice,
    Joined,
    JoinedPart,
    Made,
    Read,
    Result,
    Value,
)

COMBINING = {Kind.MATMUL: Kind.ADD, Kind.REDUCE_SUM: Kind.ADD, Kind.REDUCE_MAX: Kind.MAX}
"""How the results for parts are put together that are reduced over the axis of the parts."""


@dataclass
class Distribution:
    """Rewrites the operations of a program; `run` does all of it."""

    builder: ProgramBuilder
    sizes: dict[str, int]
    """Of every axis; new ones are added."""
    operations: list[Operation] = field(default_factory=list[Operation])
    reads: list[Read] = field(default_factory=list[Read])
    _step: int = 0
    """The step that is being rewritten."""
    _numbers: dict[object, int] = field(default_factory=dict[object, int])
    _reads: dict[int, Read] = field(default_factory=dict[int, Read])
    _cuts: dict[tuple[Value, AxisWindow, int], Value] = field(
        default_factory=dict[tuple[Value, AxisWindow, int], Value]
    )

    def run(self, operations: Sequence[Operation], outputs: Sequence[int]) -> list[Result]:
        """
        Rewrite `operations`; returns the operations that make those numbered `outputs`.

        Raises:
            ViewError: a slice goes across parts, or a result has parts of parts.
        """
        values: list[Value] = []
        for operation in operations:
            self._step = operation.step
            values.append(self._rewritten(operation, [values[o] for o in operation.operands]))
        results = [self._result(operations[output], values[output]) for output in outputs]
        return self._without_dead(results)

    def _result(self, operation: Operation, value: Value) -> Result:
        if not isinstance(value, Joined):
            return Result((Made(value, operation.axes),))
        self._step = operation.step
        place = operation.axes.index(value.axis)
        parts: list[Made] = []
        for part in value.parts:
            if isinstance(part.value, Joined):
                raise ViewError(self._step, "joins tensors along two dimensions of a result")
            axes = _substituted(operation.axes, value.axis, part.axes)
            parts.append(Made(part.value, axes, part.size, self._passed(part.value, axes)))
        if all(part.operation in self._reads for part in parts):
            raise ViewError(self._step, "joins tensors along a dimension of a result")
        inner = self._count([axis for axis in operation.axes[place + 1 :] if axis is not None])
        return Result(tuple(parts), inner)

    def _passed(self, number: int, axes: Axes) -> ArgumentView | None:
        """The argument that an operation is as it stands, dense in the order of `axes`."""
        if (read := self._reads.get(number)) is None:
            return None
        own = zip(self.operations[number].axes, read.strides, strict=True)
        steps = [(axis, stride) for axis, stride in own if axis is not None]
        present = [axis for axis in axes if axis is not None]
        dense = row_major([self.sizes[axis] for axis in present])
        return read.view if steps == list(zip(present, dense, strict=True)) else None

    def _without_dead(self, results: Sequence[Result]) -> list[Result]:
        """Remove operations that no result needs; returns the results with new numbers."""
        needed = {part.operation for result in results for part in result.parts}
        for number in reversed(range(len(self.operations))):
            if number in needed:
                needed |= set(self.operations[number].operands)
        kept = sorted(needed)
        place = {number: index for index, number in enumerate(kept)}
        self.operations = [
            replace(
                self.operations[number],
                operands=tuple(place[operand] for operand in self.operations[number].operands),
            )
            for number in kept
        ]
        self.reads = [
            replace(self._reads[number], operation=place[number])
            for number in kept
            if number in self._reads
        ]
        return [
            replace(
                result,
                parts=tuple(
                    replace(part, operation=place[part.operation]) for part in result.parts
                ),
            )
            for result in results
        ]

    # Operations on values

    def _rewritten(self, operation: Operation, operands: list[Value]) -> Value:
        if operation.kind is Kind.INPUT:
            return self._input(operation)
        if operation.kind is Layout.SLICE:
            value = operands[0]
            for window in operation.windows:
                value = self._cut(value, window, self._count(window.by))
            return value
        if operation.kind is Layout.CONCAT:
            return self._concat(operation, operands)
        if operation.kind is Layout.RESHAPE:
            return operands[0]
        return self._applied(operation, operands)

    def _input(self, operation: Operation) -> int:
        (tensor,) = (one for one in self.builder.inputs if one.step == operation.step)
        shape = self.builder.shape(tensor.step)
        strides: list[int] = []
        rest = list(operation.axes)
        for size, stride in zip(shape, tensor.strides, strict=True):
            inner = size
            while True:
                axis = rest.pop(0)
                inner //= 1 if axis is None else self.sizes[axis]
                strides.append(stride * inner)
                if inner == 1:
                    break
        number = self._read(operation, tensor, ArgumentView(tensor.argument), strides)
        # What a broadcast view repeats is one element along the axis.
        for axis, stride in zip(operation.axes, strides, strict=True):
            if axis is not None and not stride:
                number = self._cut_read(number, AxisWindow(axis, 0, 1, ()), 1)
        return number

    def _read(
        self,
        operation: Operation,
        tensor: InputTensor,
        view: ArgumentView,
        strides: Sequence[int],
    ) -> int:
        key = (view, operation.axes)
        if key not in self._numbers:
            self._numbers[key] = self._append(operation)
            number = self._numbers[key]
            self._reads[number] = Read(number, tensor, view, tuple(strides))
        return self._numbers[key]

    def _append(self, operation: Operation) -> int:
        if len(self.operations) >= MAX_OPERATIONS:
            raise RolesError("computes too many tensors, some of them part by part")
        self.operations.append(operation)
        return len(self.operations) - 1

    def _emit(self, operation: Operation) -> int:
        if operation not in self._numbers:
            self._numbers[operation] = self._append(operation)
        return self._numbers[operation]

    def _concat(self, operation: Operation, operands: Sequence[Value]) -> Value:
        if len(operands) == 1 or not operation.joined:
            (value,) = operands
            if not operation.joined:
                return value
            window = AxisWindow(operation.parts[0][0], 0, 1, (operation.joined,))
            return self._cut(value, window, self.sizes[operation.joined])
        parts: list[JoinedPart] = []
        start = 0
        for value, axes in zip(operands, operation.parts, strict=True):
            size = self._count(axes)
            parts.append(JoinedPart(value, start, size, axes))
            start += size
        return Joined(operation.joined, tuple(parts))

    def _applied(self, operation: Operation, operands: Sequence[Value]) -> Value:
        """An operation on values; one for each part where there are parts."""
        joined = [value for value in operands if isinstance(value, Joined)]
        if not joined:
            assert isinstance(operation.kind, Kind)
            numbers = tuple(value for value in operands if not isinstance(value, Joined))
            if operation.kind in (Kind.REDUCE_SUM, Kind.REDUCE_MAX) and not operation.reduced:
                return numbers[0]
            return self._emit(replace(operation, operands=numbers))
        axis = joined[0].axis
        along = [value for value in joined if value.axis == axis]
        whole = axis not in operation.reduced
        term = operation if whole else replace(operation, partial=True)
        parts = [
            JoinedPart(self._part(term, operands, axis, start, axes), start, size, axes)
            for start, size, axes in self._intervals(operation, axis, along)
        ]
        if whole:
            return Joined(axis, tuple(parts))
        total, *others = (part.value for part in parts)
        assert isinstance(operation.kind, Kind)
        combined = replace(term, kind=COMBINING[operation.kind], reduced=())
        for place, other in enumerate(others, start=1):
            last = place == len(others)
            step = replace(combined, partial=operation.partial) if last else combined
            total = self._applied(step, [total, other])
        return total

    def _part(
        self,
        operation: Operation,
        operands: Sequence[Value],
        axis: str,
        start: int,
        by: tuple[str, ...],
    ) -> Value:
        """The operation on the elements from `start` on along `axis`."""
        size = self._count(by)
        cut = [self._cut(value, AxisWindow(axis, start, 1, by), size) for value in operands]
        reduced = tuple(one for old in operation.reduced for one in (by if old == axis else (old,)))
        axes = _substituted(operation.axes, axis, by)
        return self._applied(replace(operation, axes=axes, reduced=reduced), cut)

    def _intervals(
        self, operation: Operation, axis: str, values: Sequence[Joined]
    ) -> list[tuple[int, int, tuple[str, ...]]]:
        """Start, size and axes of the parts in which an operation is done along `axis`."""
        limits = sorted({part.start for value in values for part in value.parts})
        limits.append(self.sizes[axis])
        taken = {*operation.present, *operation.reduced}
        found: list[tuple[int, int, tuple[str, ...]]] = []
        for start, end in pairwise(limits):
            size = end - start
            own = [
                part.axes
                for value in values
                for part in value.parts
                if (part.start, part.size) == (start, size)
            ]
            if own and not taken & set(own[0]):
                axes = own[0]
            else:
                axes = () if size == 1 else (self._new_axis(axis, size, taken),)
            found.append((start, size, axes))
        return found

    def _new_axis(self, like: str, size: int, taken: set[str]) -> str:
        """A name for `size` elements of the axis `like`: one of an operation may be used again."""
        number = 0
        while (name := f"{like}/{size}/{number}") in taken:
            number += 1
        self.sizes[name] = size
        return name

    def _count(self, axes: Sequence[str]) -> int:
        count = 1
        for axis in axes:
            count *= self.sizes[axis]
        return count

    # Cuts

    def _cut(self, value: Value, window: AxisWindow, size: int) -> Value:
        """`size` elements of `value` along an axis; `value` itself if it lacks the axis."""
        if window.by == (window.axis,):
            return value
        key = (value, window, size)
        if key not in self._cuts:
            if isinstance(value, Joined):
                self._cuts[key] = self._cut_joined(value, window, size)
            else:
                self._cuts[key] = self._cut_operation(value, window, size)
        return self._cuts[key]

    def _cut_operation(self, number: int, window: AxisWindow, size: int) -> Value:
        operation = self.operations[number]
        if window.axis not in operation.present:
            return number
        if number in self._reads:
            return self._cut_read(number, window, size)
        operands: list[Value] = list(operation.operands)
        # What is summed inside must not have the name of what is now outside.
        for axis in [axis for axis in operation.reduced if axis in window.by]:
            other = self._new_axis(axis, self.sizes[axis], {*operation.reduced, *window.by})
            whole = AxisWindow(axis, 0, 1, (other,))
            operands = [self._cut(value, whole, self.sizes[axis]) for value in operands]
            reduced = tuple(other if old == axis else old for old in operation.reduced)
            operation = replace(operation, reduced=reduced)
        operands = [self._cut(value, window, size) for value in operands]
        axes = _substituted(operation.axes, window.axis, window.by)
        return self._applied(replace(operation, axes=axes), operands)

    def _cut_read(self, number: int, window: AxisWindow, size: int) -> int:
        operation, read = self.operations[number], self._reads[number]
        dim = operation.axes.index(window.axis)
        shape = tuple(1 if axis is None else self.sizes[axis] for axis in operation.axes)
        view = read.view
        if size != shape[dim]:
            cut = AxisSlice(shape, dim, window.offset, size, window.stride)
            view = replace(view, cuts=(*view.cuts, cut))
        step = read.strides[dim] * window.stride
        inner = size
        strides: list[int] = []
        for axis in window.by:
            inner //= self.sizes[axis]
            strides.append(step * inner)
        axes: Axes = (*operation.axes[:dim], *(window.by or (None,)), *operation.axes[dim + 1 :])
        all_strides = (*read.strides[:dim], *(strides or (step,)), *read.strides[dim + 1 :])
        return self._read(replace(operation, axes=axes), read.tensor, view, all_strides)

    def _cut_joined(self, value: Joined, window: AxisWindow, size: int) -> Value:
        if window.axis != value.axis:
            return self._cut_parts(value, window, size)
        found: list[tuple[JoinedPart, int, int]] = []
        for part in value.parts:
            first = max(0, -(-(part.start - window.offset) // window.stride))
            end = min(size, -(-(part.start + part.size - window.offset) // window.stride))
            if first < end:
                found.append((part, first, end))
        if len(found) == 1:
            part = found[0][0]
            return self._cut_part(part, window.offset - part.start, window.stride, size, window.by)
        if len(window.by) != 1:
            raise ViewError(self._step, "takes apart what two tensors are joined to")
        parts: list[JoinedPart] = []
        for part, first, end in found:
            axes = part.axes
            if end - first != part.size:
                axes = () if end - first == 1 else (self._new_axis(value.axis, end - first, set()),)
            offset = window.offset + window.stride * first - part.start
            cut = self._cut_part(part, offset, window.stride, end - first, axes)
            parts.append(JoinedPart(cut, first, end - first, axes))
        return Joined(window.by[0], tuple(parts))

    def _cut_parts(self, value: Joined, window: AxisWindow, size: int) -> Joined:
        """Cut each of the values side by side along another axis than theirs."""
        parts: list[JoinedPart] = []
        for part in value.parts:
            # The axes of a part must not have the name of what is now outside it.
            axes = part.axes
            inside = part.value
            if set(axes) & set(window.by):
                axes = (self._new_axis(value.axis, part.size, {*part.axes, *window.by}),)
                inside = self._cut_part(part, 0, 1, part.size, axes)
            parts.append(JoinedPart(self._cut(inside, window, size), part.start, part.size, axes))
        return Joined(value.axis, tuple(parts))

    def _cut_part(
        self, part: JoinedPart, offset: int, stride: int, size: int, by: tuple[str, ...]
    ) -> Value:
        """`size` elements of a part, counted from its first one, along the axes `by`."""
        if by == part.axes:
            return part.value
        same = [self.sizes[axis] for axis in by] == [self.sizes[axis] for axis in part.axes]
        if same and not set(by) & set(part.axes):
            value = part.value
            for old, new in zip(part.axes, by, strict=True):
                value = self._cut(value, AxisWindow(old, 0, 1, (new,)), self.sizes[old])
            return value
        if len(part.axes) != 1:
            raise ViewError(self._step, "takes apart what is joined of parts that a reshape made")
        return self._cut(part.value, AxisWindow(part.axes[0], offset, stride, by), size)


def _substituted(axes: Axes, axis: str, by: tuple[str, ...]) -> Axes:
    result: list[str | None] = []
    for old in axes:
        if old == axis:
            result += by or (None,)
        else:
            result.append(old)
    return tuple(result)
