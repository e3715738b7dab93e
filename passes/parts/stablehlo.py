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
from mirage_mlir.passes.stablehlo.functions import BARRIER, RULES
from mirage_mlir.passes.stablehlo.tensors import Tensor


class StablehloConversion(Conversion):
    """Kernel operators at the end of a block, for operations of StableHLO."""

    def results_of(self, emit: LinalgBuilder, op: Operation) -> Sequence[Tensor | None]:
        for value in (*op.operands, *op.results):
            static_type(emit, value.type)
        inputs = [read(emit, self.known, value) for value in op.operands]
        if (name := name_of(op)) == BARRIER:
            return inputs
        if name not in RULES:
            emit.fail("has no counterpart among the operators of the kernel dialect")
        return [tables.apply(RULES[name], emit, op, inputs)]


def _as_numbers(value: SSAValue, kind: TensorType[Attribute]) -> Sequence[Operation]:
    return [ConvertOp.create(operands=[value], result_types=[kind])]


def _is_candidate(op: Operation) -> bool:
    return name_of(op) in RULES or name_of(op) == BARRIER


STABLEHLO = Language(
    StablehloConversion,
    _is_candidate,
    ("stablehlo.constant", "stablehlo.iota"),
    _as_numbers,
)
