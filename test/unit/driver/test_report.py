"""The lines on what kernels need."""

from pathlib import Path

import pytest
from ugraph_programs import path_of

from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.report import kernel_lines
from mirage_mlir.driver.source import parse_program
from mirage_mlir.targets.target import target_named


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_what_kernels_need(chip: str) -> None:
    text = Path(path_of("softmax")).read_text()
    compiled = compile_function(parse_program(text, "softmax.mlir"), "ugraph", chip)
    (launch,) = compiled.code.launches
    (kernel,) = compiled.assembled.kernels
    assert kernel.name == launch.kernel
    (needs,) = compiled.resources
    assert needs.registers == kernel.registers == compiled.assembled.registers
    assert needs.shared_bytes == launch.shared_bytes + kernel.shared_bytes
    assert needs.resident == resident_blocks(
        target_named(chip), launch.threads, needs.registers, needs.shared_bytes
    )
    # With programmatic dependent launch it asks for so much that its blocks are spread evenly.
    spread = bool(target_named(chip).has_pdl)
    assert (needs.resident == 1) == spread
    first, second = kernel_lines(compiled)
    assert first.startswith(f"{chip}: 1 kernel, {needs.registers} registers, 0 bytes spilled, ")
    assert f"{launch.threads} threads, {needs.registers} registers, " in second
    assert second.endswith(f"KB of shared memory, {needs.resident} per multiprocessor")
