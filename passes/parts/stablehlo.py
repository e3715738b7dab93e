"""Operations of StableHLO, one after the other, for parts of a host's function."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects.stablehlo import ConvertOp
from mirage_mlir.passes.linalg.builder import LinalgBuilder, read, static_type
from mirage_mlir.passes.linalg.conversion import Conversion
from mirage_mlir.passes.parts.parts import Language
from mirage_mlir.passes.stablehlo import tables
from mirage_mlir.passes.stablehlo.functions import BARRIER, RULES, in_stablehlo
from mirage_mlir.passes.stablehlo.tensors import Tensor


class StablehloConversion(Conversion):
    """Kernel operators at the end of a block, for operations of StableHLO."""

    def results_of(self, emit: LinalgBuilder, op: Operation) -> Sequence[Tensor | None]:
        op = in_stablehlo(op)
        name = name_of(op)
        if name not in RULES and name != BARRIER:
            emit.fail("has no counterpart among the operators of the kernel dialect")
        for value in (*op.operands, *op.results):
            static_type(emit, value.type)
        inputs = [read(emit, self.known, value) for value in op.operands]
        return inputs if name == BARRIER else [tables.apply(RULES[name], emit, op, inputs)]


def _converted(value: SSAValue, kind: TensorType[Attribute]) -> Sequence[Operation]:
    return [ConvertOp.create(operands=[value], result_types=[kind])]


def _is_candidate(op: Operation) -> bool:
    name = name_of(in_stablehlo(op))
    return name in RULES or name == BARRIER


STABLEHLO = Language(
    StablehloConversion,
    _is_candidate,
    ("stablehlo.constant", "stablehlo.iota", "arith.constant"),
    as_numbers=_converted,
    as_booleans=_converted,
)
