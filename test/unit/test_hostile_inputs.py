"""A sample of the campaign in benchmarks/robustness: bad input is refused, with no trace."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest

CAMPAIGN = Path(__file__).parents[2] / "benchmarks" / "robustness" / "run.py"


def test_a_sample_of_the_campaign(tmp_path: Path) -> None:
    """Four inputs, each in a process of its own."""
    output = tmp_path / "summary.json"
    words = ["--count", "4", "--seed", "1", "--jobs", "2", "--output", str(output)]
    done = run([sys.executable, str(CAMPAIGN), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


HEAD = "func.func @f(%x: tensor<127xf32>, %s: tensor<f32>) -> tensor<127xf32> {"
TAIL = "func.return %y : tensor<127xf32>\n}"
TYPES = "(tensor<127xf32>, tensor<f32>) -> tensor<127xf32>"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{HEAD}\n%y = kernel.mul %x, %s : {TYPES}\n{TAIL}", 0),
        ("func.func @f() { func.return }", 0),
        ("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }", 0),
        ("%0 = llvm.mlir.constant(1 : i32) : i32\n%1 = llvm.alloca %0 x i32 {a} : (i32, x)", 1),
    ],
)
def test_odd_programs(text: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(text)
    words = [sys.executable, "-m", "mirage_mlir.opt_main", "--superoptimize", "f.mlir"]
    done = run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "internal error" not in done.stderr
