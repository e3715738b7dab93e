"""Rules of what blocks do together in device memory, and of conversions to tf32."""

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.interpreters.float_domain import round_to_tf32
from mirage_mlir.interpreters.lowered.flow import Flow, Rules


def run_conversion(state: Flow, op: Operation) -> None:
    """The nearest tf32, as the bits that a matrix unit takes."""
    assert isinstance(op, nvvm.ConvertFloatToTf32Op)
    nearest = round_to_tf32(state.array(op.src)).astype(np.float32)
    state.values[op.res] = nearest.view(np.int32)


RULES: Rules = {
    nvvm.ConvertFloatToTf32Op: run_conversion,
}
