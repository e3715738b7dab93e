"""Tensors of a StableHLO program in the kernel dialect, and the operators that make them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, NoReturn, TypeAlias

from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerType, TensorType, f32, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mirage_mlir.diagnostics import (
    Severity,
    UnsupportedOperation,
    diagnostic_at,
    error_about,
    location_of,
)
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.float_formats import COMPILED, FORMATS
from mirage_mlir.hints import isa
from mirage_mlir.passes.gradients.steps import Steps
from mirage_mlir.shapes.shapes import Shape

MOST_EXACT = FORMATS["f32"].counts_to
"""Integers up to this have an f32 each."""


Table: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Tensor:
    """
    A tensor of the StableHLO program: one number, or a value of the kernel dialect.

    Or a table of indices, which are computed here: kernels have none. The value has the rank of
    `shape`; of its dimensions those of size 1 stand for all indices, as in numpy. Booleans are
    tensors of zeros and ones of any element type, integers are in f32.
    """

    shape: Shape
    element: Attribute
    """The element type in the StableHLO program."""
    value: SSAValue | None = None
    number: float | None = None
    """That all elements are; True and False of booleans."""
    bounds: tuple[int, int] = (0, 0)
    """Between which integers are, both included."""
    table: Table | None = None
    """All elements, where they are integers or booleans that are known; else perhaps None."""

    @property
    def is_boolean(self) -> bool:
        """Whether the elements are true or false."""
        return self.element == i1

    @property
    def is_integer(self) -> bool:
        """Whether the elements are integers, not booleans."""
        return isinstance(self.element, IntegerType) and not self.is_boolean

    def moved(self, shape: Shape, value: SSAValue | None) -> "Tensor":
        """Elements of this tensor in another shape, where there is no number."""
        return replace(self, shape=shape, value=value, table=None)


def given_as(kind: Attribute) -> TensorType[Attribute] | None:
    """
    The type of a function's argument for values of a type; None where kernels take none such.

    Booleans are zeros and ones in f32.
    """
    if not isa(kind, TensorType[Attribute]) or any(size <= 0 for size in kind.get_shape()):
        return None
    if kind.element_type == i1:
        return TensorType(f32, kind.get_shape())
    return kind if isinstance(kind.element_type, FloatType) else None


def type_of(value: SSAValue) -> TensorType[Attribute]:
    """The type of a tensor of the StableHLO program."""
    assert isa(value.type, TensorType[Attribute])
    return value.type


def constant(shape: Shape, element: Attribute, number: float) -> Tensor:
    """A tensor of one number, of any type."""
    made = Tensor(shape, element, number=number)
    return replace(made, bounds=(int(number), int(number))) if made.is_integer else made


def numbers_of(inputs: Sequence[Tensor]) -> list[float] | None:
    """The numbers that all inputs are."""
    numbers = [each.number for each in inputs if each.number is not None]
    return numbers if len(numbers) == len(inputs) else None


class KernelBuilder:
    """Appends kernel operators to a block, each in the place of the operation `op`."""

    def __init__(self, block: Block, op: Operation) -> None:
        self.steps = Steps(block)
        self.op = op

    def at(self, op: Operation) -> None:
        """What follows is for `op`."""
        self.op = self.steps.origin = op

    def fail(self, reason: str, note: str | None = None) -> NoReturn:
        """Say that the operation cannot be converted."""
        notes = [] if note is None else [diagnostic_at(location_of(self.op), Severity.NOTE, note)]
        raise UnsupportedOperation(error_about(self.op, reason), *notes)

    def add(self, op: Operation) -> SSAValue:
        """The result of one more operator."""
        return self.steps.add(op)

    def result(self, value: SSAValue, bounds: tuple[int, int] = (0, 0)) -> Tensor:
        """The result of the operation, whose value broadcasts to its shape."""
        kind = type_of(self.op.results[0])
        if max(map(abs, bounds)) > MOST_EXACT:
            self.fail(
                f"makes integers between {bounds[0]} and {bounds[1]}: they are computed in f32, "
                f"which is exact up to {MOST_EXACT}"
            )
        return Tensor(kind.get_shape(), kind.element_type, value, bounds=bounds)

    def number(self, number: float) -> Tensor:
        """The result of the operation, which is one number everywhere."""
        kind = type_of(self.op.results[0])
        return constant(kind.get_shape(), kind.element_type, number)

    def storage(self, tensor: Tensor) -> FloatType:
        """The element type that the tensor has in the kernel dialect."""
        if tensor.is_boolean and tensor.value is not None:
            return kernel.tensor_type(tensor.value).element_type
        if isinstance(tensor.element, IntegerType):
            return f32
        if not isinstance(tensor.element, FloatType):
            self.fail(f"has elements of type {tensor.element}; kernels compute with {COMPILED}")
        return tensor.element

    def value(self, tensor: Tensor, element: FloatType | None = None) -> SSAValue:
        """A kernel tensor that broadcasts to the shape, with elements of a type if it matters."""
        element = element or self.storage(tensor)
        if tensor.value is None:
            return self.filled(tensor, element, (1,) * len(tensor.shape))
        return self.steps.cast(tensor.value, element)

    def whole(self, tensor: Tensor, element: FloatType | None = None) -> SSAValue:
        """A kernel tensor of the shape."""
        if tensor.value is None:
            return self.filled(tensor, element or self.storage(tensor), tensor.shape)
        return self.steps.broadcast(self.value(tensor, element), tensor.shape)

    def filled(self, tensor: Tensor, element: FloatType, shape: Shape) -> SSAValue:
        """A tensor of one number."""
        assert tensor.number is not None
        if not isfinite(tensor.number) and tensor.number != -inf:
            self.fail(f"reads the constant {tensor.number}, which no kernel has")
        return self.add(kernel.ConstantOp(float(tensor.number), TensorType(element, shape)))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape; reshapes in between are left out."""
        while isinstance(value.owner, kernel.ReshapeOp):
            value = value.owner.input
        return self.steps.reshape(value, shape)


Rule: TypeAlias = Callable[[KernelBuilder, Operation, Sequence[Tensor]], Tensor]
"""What an operation is in the kernel dialect, of what its operands are."""
