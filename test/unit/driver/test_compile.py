"""uGraphs by hand become machine code for both chips, without spilled registers."""

from pathlib import Path

import pytest
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import parse_program

UGRAPHS = sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))

NOT_LOWERED = ("attention_across", "attention_split_kv", "rmsnorm_linear_split_k")
"""uGraphs with sums across blocks or rescaling, which the lowering does not take yet."""

LIMITS = {"sm_90a": 227 * 1024, "sm_80": 163 * 1024}
"""Bytes of shared memory that a block may have."""


@pytest.mark.parametrize("path", UGRAPHS, ids=lambda path: path.stem)
def test_ugraphs(path: Path) -> None:
    module = parse_program(path.read_text(), path.name)
    if path.stem in NOT_LOWERED:
        with pytest.raises(DiagnosticException, match=rf"{path.name}:\d+:\d+: error: .* yet"):
            compile_function(module, "ugraph", "sm_80")
        return
    for chip, limit in LIMITS.items():
        compiled = compile_function(module, "ugraph", chip)
        assert compiled.assembled.spill_bytes == 0
        assert f".target {chip}" in compiled.ptx
        for launch in compiled.code.launches:
            assert f".entry {launch.kernel}(" in compiled.ptx
            assert launch.shared_bytes <= limit
            assert launch.threads % 32 == 0


def test_the_module_is_left_as_it_was() -> None:
    path = next(path for path in UGRAPHS if path.stem == "lora")
    module = parse_program(path.read_text(), path.name)
    before = str(module)
    compile_function(module, "ugraph", "A100")
    assert str(module) == before


def test_compiling_twice_gives_the_same_bytes() -> None:
    path = next(path for path in UGRAPHS if path.stem == "rmsnorm_linear")
    first, second = (
        compile_function(parse_program(path.read_text(), path.name), "ugraph", "sm_90a")
        for _ in range(2)
    )
    assert first.ptx == second.ptx
    assert first.code.cubin == second.code.cubin


def test_a_function_that_is_not_there() -> None:
    module = parse_program("func.func private @f()", "f.mlir")
    with pytest.raises(ValueError, match="no function 'f'; it has none"):
        compile_function(module, "f", "sm_80")
