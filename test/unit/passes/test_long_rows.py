"""Rows that the blocks of a cluster share: what the search finds, lowered and run."""

import lowering_tiles as tiles
import pytest
from lowered_kernels import check
from xdsl.dialects import gpu, llvm

from mirage_mlir.dialects import nvvm_hopper, threadblock
from mirage_mlir.driver.source import alone, functions, parse_program
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.search.saturation import config

OPERATORS = {
    "softmax": "kernel.softmax %x {dim = 1 : i64}",
    "rms_norm": "kernel.rms_norm %x {eps = 1.0e-05 : f32}",
}

SHORT = 200
"""Elements of a row that counts as long here."""


def program(operator: str, rows: int, columns: int, kind: str) -> str:
    tensor = f"tensor<{rows}x{columns}x{kind}>"
    return f"""
    func.func @f(%x: {tensor}) -> {tensor} {{
      %o = {OPERATORS[operator]} : ({tensor}) -> {tensor}
      func.return %o : {tensor}
    }}
    """


@pytest.mark.parametrize(
    ("rows", "columns", "kind"), [(5, 515, "f16"), (4, 1024, "f32"), (7, 1001, "bf16")]
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_found(
    monkeypatch: pytest.MonkeyPatch, operator: str, rows: int, columns: int, kind: str
) -> None:
    monkeypatch.setattr(config, "LONGEST_ROW", SHORT)
    (function,) = functions(parse_program(program(operator, rows, columns, kind), "program"))
    checked = 0
    for candidate in candidates(function, "H200"):
        module = alone(candidate.function)
        sums = [op for op in module.walk() if isinstance(op, threadblock.AccumulateOp)]
        if any(op.across.get_values() for op in sums) and checked < 2:
            check(module)
            checked += 1
    assert checked == 2


@pytest.mark.parametrize(("columns", "blocks", "kind"), [(1031, 8, "f16"), (512, 2, "f32")])
def test_rows_in_clusters(columns: int, blocks: int, kind: str) -> None:
    """Each element is read once, before the blocks meet for the first time."""
    kernels = check(tiles.rows_in_clusters(3, columns, blocks, kind))
    assert sum(isinstance(op, nvvm_hopper.ClusterWaitOp) for op in kernels.walk()) == 3
    meets = False
    for op in kernels.walk():
        meets = meets or isinstance(op, nvvm_hopper.ClusterWaitOp)
        assert not (meets and reads_device_memory(op))


def reads_device_memory(op: object) -> bool:
    """Whether `op` loads from one of a kernel's tensors."""
    return isinstance(op, llvm.LoadOp) and str(op.ptr.type) == "!llvm.ptr<1>"


def test_the_layouts_of_misaligned_rows() -> None:
    """Neighbouring threads read neighbours: rows of 1,031 elements take one at a time."""
    kernels = check(tiles.rows_in_clusters(3, 1031, 2, "f16"))
    assert isinstance(kernels, gpu.ModuleOp)
    loads = [op for op in kernels.walk() if reads_device_memory(op)]
    # 520 elements by 128 threads.
    assert len(loads) == 5
