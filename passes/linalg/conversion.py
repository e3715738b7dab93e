"""Operations one after the other, and what is known of their results."""

from collections.abc import Sequence
from math import inf, isnan

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.float_formats import COMPILED
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg import scalars, structured, tensors
from mirage_mlir.passes.linalg.builder import (
    Known,
    LinalgBuilder,
    read,
    shape_and_element,
    static_type,
)
from mirage_mlir.passes.stablehlo.tensors import Tensor, constant, given_as
from mirage_mlir.shapes.shapes import ShapeError

DIALECTS = ("linalg", "tensor")
"""Those whose operations are looked for."""

ELEMENTWISE = ("arith", "math")
"""Those that compute with scalars, too: looked for is what computes a tensor."""


def is_candidate(op: Operation) -> bool:
    """Whether `op` may become operators, as far as its name says."""
    name = name_of(op)
    known = name in scalars.RULES or name in tensors.RULES or name == "arith.constant"
    return known or name.startswith("linalg.") or _is_operator(op)


def _is_operator(op: Operation) -> bool:
    """Whether `op` is an operator of ours already, which stays as it is."""
    return op.name.startswith("kernel.") and not op.regions and len(op.results) == 1


class Conversion:
    """Kernel operators at the end of `block`."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.known: Known = {}
        self._emit: LinalgBuilder | None = None

    def know(self, value: SSAValue, argument: SSAValue) -> None:
        """`value` is computed elsewhere, and given as `argument`, booleans as numbers."""
        kind = value.type
        assert isa(kind, TensorType[Attribute])
        self.known[value] = Tensor(kind.get_shape(), kind.element_type, argument)

    def convert(self, op: Operation) -> None:
        """Append what `op` computes; raises `UnsupportedOperation` where kernels cannot."""
        emit = self.at(op)
        try:
            results = self.results_of(emit, op)
        except (ShapeError, OverflowError) as error:
            # What lies outside of a tensor, or has no number of its type.
            emit.fail(str(error))
        self.known.update(zip(op.results, results, strict=True))

    def at(self, op: Operation) -> LinalgBuilder:
        """What appends operators in the place of `op`."""
        if self._emit is None:
            self._emit = LinalgBuilder(self.block, op)
        self._emit.at(op)
        return self._emit

    def results_of(self, emit: LinalgBuilder, op: Operation) -> Sequence[Tensor | None]:
        """What `op` computes, of what is known."""
        name = name_of(op)
        if name.startswith("linalg."):
            return structured.convert(emit, op, self.known)
        if _is_operator(op):
            kind = static_type(emit, op.results[0].type)
            given = {value: emit.whole(read(emit, self.known, value)) for value in op.operands}
            return [Tensor(kind.get_shape(), kind.element_type, emit.add(op.clone(given)))]
        if name in tensors.RULES:
            return [tensors.RULES[name](emit, op, self.known)]
        if name == "arith.constant":
            shape, _ = shape_and_element(emit, op.results[0].type)
            return [scalars.number_of(emit, op, shape)]
        if name not in scalars.RULES:
            emit.fail("has no counterpart among the operators of the kernel dialect")
        inputs = [read(emit, self.known, value) for value in op.operands]
        shape, element = shape_and_element(emit, op.results[0].type)
        is_tensor = isa(op.results[0].type, TensorType[Attribute])
        if not is_tensor and all(each.number is None for each in inputs):
            emit.fail(f"computes a scalar of type {element}, outside of a tensor")
        inputs = [
            constant(shape, each.element, each.number) if each.number is not None else each
            for each in inputs
        ]
        return [scalars.RULES[name](emit, op, inputs)]

    def check_given(self, op: Operation, value: SSAValue, number: int) -> Tensor:
        """
        What a function gives back as its result `number`; fails where kernels cannot.

        Booleans are given as numbers, but for a single one, by which a host decides what to do.
        """
        emit = self.at(op)
        tensor = read(emit, self.known, value)
        is_given = isinstance(tensor.element, FloatType) or (tensor.is_boolean and tensor.shape)
        if not is_given or given_as(value.type) is None:
            emit.fail(f"gives {value.type} as result {number}; kernels give {COMPILED}")
        if tensor.number is not None and isnan(tensor.number):
            emit.fail(f"gives NaN as result {number}, which no kernel has as a constant")
        if tensor.number == inf:
            emit.fail(f"gives infinity as result {number}, which no kernel has as a constant")
        return tensor

    def finish(self, at: Operation, values: Sequence[SSAValue]) -> None:
        """Return `values`, booleans as numbers, for the operation `at`."""
        results: list[SSAValue] = []
        for number, value in enumerate(values):
            tensor = self.check_given(at, value, number)
            results.append(self.at(at).whole(tensor, f32 if tensor.is_boolean else None))
        end = ReturnOp(*results)
        end.location = at.location
        self.block.add_op(end)
        for op in reversed([*self.block.ops]):
            if op.results and not any(result.first_use for result in op.results):
                op.detach()
                op.erase()
