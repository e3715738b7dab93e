"""What the axioms ask of trees of kernel operators, and how they put others in their place."""

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.kernel import shape_of

OperationT = TypeVar("OperationT", bound=Operation)


def made_by(value: SSAValue, kind: type[OperationT]) -> OperationT | None:
    """The operator of class `kind` that makes `value`, if one does."""
    return value.owner if isinstance(value.owner, kind) else None


def made_for_one(value: SSAValue, kind: type[OperationT]) -> OperationT | None:
    """The same, if `value` has one use only: what replaces that use takes no work twice."""
    return made_by(value, kind) if value.has_one_use() else None


def lacks(value: SSAValue, dims: Sequence[int], rank: int) -> bool:
    """Whether `value`, broadcast to `rank` dimensions, is the same all along `dims`."""
    shape = shape_of(value)
    missing = rank - len(shape)
    return all(dim < missing or shape[dim - missing] == 1 for dim in dims)


def own_dims(value: SSAValue, dims: Sequence[int], result: Sequence[int]) -> list[int] | None:
    """
    Dimensions of a result as those of `value`, which broadcasts to it.

    None if `value` lacks one, or has it with another size than `result`.
    """
    shape = shape_of(value)
    missing = len(result) - len(shape)
    if all(dim >= missing and shape[dim - missing] == result[dim] for dim in dims):
        return [dim - missing for dim in dims]
    return None


def same_element_type(*values: SSAValue) -> bool:
    """Whether all tensors have one element type."""
    return len({kernel.tensor_type(value).element_type for value in values}) == 1


class Replacement:
    """Operators in place of `op`, all at its place in the source."""

    def __init__(self, op: Operation, rewriter: PatternRewriter) -> None:
        self.op = op
        self.rewriter = rewriter
        self.steps: list[Operation] = []

    def add(self, step: kernel.TensorOp) -> SSAValue:
        """The result of one more operator."""
        step.location = self.op.location
        self.steps.append(step)
        return step.results[0]

    def finish(self, result: SSAValue, *taken: Operation) -> None:
        """Let `result` take the place of the operator; erase those of `taken` without a use."""
        assert result.type == self.op.results[0].type
        self.rewriter.replace(self.op, self.steps, [result])
        for operation in taken:
            if operation.parent is not None and not operation.results[0].first_use:
                self.rewriter.erase(operation)
