"""The programs of `test/workloads`: they parse, and taking them apart keeps what they compute."""

from pathlib import Path

import pytest
from sampling import sampled

from mirage_mlir.driver.source import alone, compiler_context, functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.passes.kernel_decompose import KernelDecomposePass
from mirage_mlir.verification import verify

FILES = sorted((Path(__file__).parents[1] / "workloads").glob("*.mlir"))

WHOLE_LAYERS = {"llama3_decoder_layer"}
"""What is too large to be verified as a whole: its parts are other files."""

COMPOSED = {
    "kernel.rms_norm",
    "kernel.layer_norm",
    "kernel.softmax",
    "kernel.silu",
    "kernel.reduce_mean",
}


@pytest.mark.parametrize("path", sampled(FILES, 6), ids=lambda path: path.stem)
def test_decomposed(path: Path) -> None:
    """Nothing but elementary operators is left, and they compute the same."""
    text = path.read_text()
    assert text.startswith("// "), "the first line says what the program is"
    (function,) = functions(parse_program(text, path.name))
    assert function.sym_name.data == path.stem
    module = alone(function)
    KernelDecomposePass().apply(compiler_context(), module)
    verify(module)
    assert not COMPOSED & {op.name for op in module.walk()}
    if path.stem in WHOLE_LAYERS:
        return
    report = check_equivalence(function, functions(module)[0])
    assert report.verdict is Verdict.EQUAL, str(report)


def test_there_are_files() -> None:
    assert {"rmsnorm_linear", "lora", "gated_mlp", "ntrans", "gqa"} <= {path.stem for path in FILES}
