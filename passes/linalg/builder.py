"""Values of a linalg program in the kernel dialect, and the operators that make them."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    Float64Type,
    IndexType,
    TensorType,
    UnregisteredOp,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from mirage_mlir.diagnostics import Severity, UnsupportedOperation, diagnostic_at, error_about
from mirage_mlir.diagnostics import location_of as place_of
from mirage_mlir.dialects import chlo, kernel, stablehlo
from mirage_mlir.float_formats import COMPILED
from mirage_mlir.hints import isa
from mirage_mlir.passes.stablehlo import contractions, elementwise, rearrangements
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Tensor
from mirage_mlir.shapes.shapes import Shape

Known = dict[SSAValue, Tensor | None]
"""What is known of the values of a linalg program; None of what `tensor.empty` leaves unset."""

Label = int | None
"""A dimension of a loop nest; None of a dimension that none goes along."""

_RULES = {**elementwise.RULES, **rearrangements.RULES, **contractions.RULES}

_CLASSES = {
    op.name: op for dialect in (stablehlo.Stablehlo, chlo.Chlo) for op in dialect.operations
}


class LinalgBuilder(KernelBuilder):
    """
    Appends kernel operators, each in the place of an operation of linalg, arith, math or tensor.

    Elementwise operations are those of StableHLO under other names: one of these, which belongs to
    no program, says what the result is.
    """

    written: Operation
    """The operation that is converted."""

    def at(self, op: Operation) -> None:
        """What follows is for `op`."""
        self.written = op
        super().at(op)

    def fail(self, reason: str, note: str | None = None) -> NoReturn:
        """Say that the operation cannot be converted."""
        notes = [] if note is None else [diagnostic_at(place_of(self.written), Severity.NOTE, note)]
        raise UnsupportedOperation(error_about(self.written, reason), *notes)

    def typed(self, shape: Sequence[int], element: Attribute) -> None:
        """The results that follow have this type."""
        element = i64 if isinstance(element, IndexType) else element
        self.op = UnregisteredOp.with_name("result").create(
            properties={}, result_types=[TensorType(element, shape)]
        )

    def apply(
        self,
        name: str,
        inputs: Sequence[Tensor],
        element: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Tensor:
        """The result of an operation of StableHLO on tensors of one shape."""
        kind = _CLASSES[name]
        element = i64 if isinstance(element, IndexType) else element
        self.op = kind.create(
            properties=dict(properties or {}), result_types=[TensorType(element, inputs[0].shape)]
        )
        return _RULES[name](self, self.op, inputs)

    def rearranged(
        self, value: SSAValue, axes: Sequence[Label], wanted: Sequence[Label]
    ) -> SSAValue:
        """
        The dimensions of `value`, which go along `axes`, in another order.

        Those of size 1 come and go: of what `value` does not go along there is one element.
        """
        sizes = kernel.shape_of(value)
        held = {axis: size for axis, size in zip(axes, sizes, strict=True) if size != 1}
        assert held.keys() <= {*wanted}
        order = [axis for axis in wanted if axis in held]
        if [*held] != order:
            value = self.reshape(value, [*held.values()])
            before = [*held]
            value = self.transposed(value, [before.index(axis) for axis in order])
        return self.reshape(value, [held.get(axis, 1) for axis in wanted])

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Dimensions in another order; transposes in between are left out."""
        while isinstance(value.owner, kernel.TransposeOp):
            inner = value.owner.permutation.get_values()
            value, order = value.owner.input, [inner[dim] for dim in order]
        if [*order] == sorted(order):
            return value
        return self.add(kernel.TransposeOp(value, order))


def static_type(emit: LinalgBuilder, kind: Attribute) -> TensorType[Attribute]:
    """A type of tensors that kernels may have; fails at any other."""
    if not isa(kind, TensorType[Attribute]):
        emit.fail(f"works on {kind}; kernels work on tensors")
    if any(size < 0 for size in kind.get_shape()):
        emit.fail(f"works on {kind}, whose sizes are not all known")
    if 0 in kind.get_shape():
        emit.fail(f"works on {kind}, which has no elements")
    return kind


def shape_and_element(emit: LinalgBuilder, kind: Attribute) -> tuple[Shape, Attribute]:
    """Those of a tensor; of a scalar no dimensions."""
    if isa(kind, TensorType[Attribute]):
        static = static_type(emit, kind)
        return static.get_shape(), static.element_type
    return (), kind


def read(emit: LinalgBuilder, known: Mapping[SSAValue, Tensor | None], value: SSAValue) -> Tensor:
    """What is known of an operand; fails where it is not computed in kernels, or is not set."""
    if value not in known:
        if isa(value.type, TensorType[Float64Type]):
            emit.fail(f"reads {value.type}: elements of f64; kernels compute with {COMPILED}")
        what = "a tensor that" if isa(value.type, TensorType[Attribute]) else "a scalar that"
        emit.fail(f"reads {what} no kernel computes, of type {value.type}")
    found = known[value]
    if found is None:
        emit.fail("reads elements that tensor.empty leaves unset")
    return found


def statics(emit: LinalgBuilder, op: Operation, name: str) -> list[int]:
    """Offsets, sizes or strides of an operation; fails where they are no constants."""
    found = op.properties[name]
    assert isinstance(found, DenseArrayBase)
    values = [int(value) for value in found.iter_values()]
    if DYNAMIC_INDEX in values:
        emit.fail("has offsets or sizes that are no constants")
    return values
