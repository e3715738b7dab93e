"""compute-sanitizer finds nothing in kernels as they are, and faults that they are given."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import sanitize
from gpu_runs import chip_here
from kernel_kinds import KINDS, compiled, portable

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.runtime.artifact import Artifact

CLEAN = ("rmsnorm_linear", "attention_across", "attention_two_kernels_ragged")


@pytest.fixture(autouse=True)
def needs_the_sanitizer() -> None:
    """Skip where there is none."""
    try:
        sanitize.sanitizer()
    except SystemExit as error:
        pytest.skip(str(error))


def saved(artifact: Artifact, path: Path) -> Path:
    """The file of an artifact."""
    artifact.save(path)
    return path


@pytest.mark.parametrize("tool", sanitize.TOOLS)
def test_kernels_as_they_are(tool: str, tmp_path: Path) -> None:
    here = chip_here()
    paths = [saved(compiled(name, here, here), tmp_path / f"{name}.mirage") for name in CLEAN]
    clean, text = sanitize.run_tool(tool, paths)
    assert clean, text


def test_tensors_that_are_too_short(tmp_path: Path) -> None:
    """Their last row is missing, in the program, too: only the machine code knows of it."""
    artifact = compiled("softmax", chip_here(), chip_here())
    (spec,) = artifact.outputs
    rows, columns = spec.shape
    program = artifact.program.replace(f"{rows}x{columns}x", f"{rows - 1}x{columns}x")
    inputs, outputs = (
        tuple(replace(each, shape=(rows - 1, columns)) for each in tensors)
        for tensors in (artifact.inputs, artifact.outputs)
    )
    short = replace(artifact, program=program, inputs=inputs, outputs=outputs)
    path = saved(short, tmp_path / "short.mirage")
    clean, text = sanitize.run_tool("memcheck", [path])
    assert not clean
    assert "Invalid __global__" in text


def test_threads_that_do_not_meet(tmp_path: Path) -> None:
    """Without barriers threads read what others are still writing."""
    name = "rmsnorm_linear_primes"
    artifact = compiled(name, chip_here(), chip_here())
    made = compile_function(KINDS[name].module(), "f", "sm_80")
    unmet = re.sub(r"\n\s*bar(rier)?\.sync[^;]*;", "", made.ptx)
    assert unmet != made.ptx
    code = portable(replace(made, ptx=unmet))
    path = saved(replace(artifact, targets=(code,)), tmp_path / "unmet.mirage")
    clean, text = sanitize.run_tool("racecheck", [path])
    assert not clean
    assert "hazard" in text
