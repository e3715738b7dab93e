"""Many results of matmuls with swapped operands are transposed for wider stores."""

import pytest
from lowered_kernels import check
from lowering_cases import Linear, biased_linear
from xdsl.dialects import llvm
from xdsl.dialects.builtin import VectorType

from mirage_mlir.dialects.nvvm_device import is_transposed_matrix

CASES = {
    "many rows": (Linear(176, 128, 128, 88, 64, 128), 4),
    "rows and columns that end inside tiles": (Linear(170, 120, 200, 88, 64, 128), 4),
    "columns in pairs": (Linear(88, 64, 130, 88, 64, 128), 1),
    "bf16": (Linear(88, 128, 128, 88, 64, 128, "bf16"), 4),
    "few rows": (Linear(16, 128, 128, 16, 64, 128), 4),
    "fewer rows": (Linear(8, 128, 64, 8, 64, 64), 1),
}


@pytest.mark.parametrize("name", list(CASES))
def test_stores_of_lanes(name: str):
    case, width = CASES[name]
    kernels = check(biased_linear(case))
    assert any(is_transposed_matrix(op) for op in kernels.walk()) == (width == 4)
    stored = [op.value.type for op in kernels.walk() if isinstance(op, llvm.StoreOp)]
    widths = {kind.get_shape()[0] for kind in stored if isinstance(kind, VectorType)}
    assert widths == ({width} if width > 1 else set())
