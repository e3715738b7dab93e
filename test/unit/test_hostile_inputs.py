"""A sample of the campaign in benchmarks/robustness: bad input is refused, with no trace."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest

from mirage_mlir.opt_main import main as mirage_opt

CAMPAIGN = Path(__file__).parents[2] / "benchmarks" / "robustness" / "run.py"


def test_a_sample_of_the_campaign(tmp_path: Path) -> None:
    """One input of each kind, each in a process of its own."""
    output = tmp_path / "summary.json"
    words = ["--count", "4", "--seed", "5", "--jobs", "2", "--output", str(output)]
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
def test_odd_programs(
    text: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.mlir").write_text(text)
    found = mirage_opt(["--superoptimize", str(tmp_path / "f.mlir")])
    said = capsys.readouterr().err
    assert found == code, said
    assert "internal error" not in said
