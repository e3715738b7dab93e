# pyright: basic
"""Graphs that torch keeps on disk: a second process compiles nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="inductor needs a compiler for the host"
)

PROGRAM = """
import json, sys
import torch
from compiled_models import normed_linear
from mirage_mlir.frameworks.backend import operators
from mirage_mlir.frameworks.backend.entry import Backend

train, fails = (name in sys.argv for name in ("train", "fails"))
if fails:
    def fail(self, tensors):
        raise MemoryError("no room")
    operators.PartOperator._by_kernels = fail
asked, rewrite = [], Backend._rewrite
def note(self, *rest):
    asked.append(1)
    return rewrite(self, *rest)
Backend._rewrite = note
torch.manual_seed(0)
model, x = normed_linear(), torch.randn(4, 32)
backend = Backend({"target": "A100"})
call = torch.compile(model, backend=backend)
with torch.set_grad_enabled(train):
    found, wanted = call(x), model(x)
    pairs = [(found, wanted)]
    if train:
        pairs += zip(*(torch.autograd.grad(y.square().sum(), [*model.parameters()])
                       for y in (found, wanted)))
    error = max(float(torch.dist(*pair) / pair[1].norm()) for pair in pairs)
rows = [[part.operators, part.count, part.taken, part.why] for part in backend.explanation.parts]
print(json.dumps({"asked": len(asked), "rows": rows, "error": error}))
"""


@pytest.fixture
def run(tmp_path: Path, shared_cache: Any) -> Any:
    """What a new process says, which has torch's folder in common with others of the test."""

    def one(*words: str, **variables: str) -> dict[str, Any]:
        folder = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "torch")}
        path = os.pathsep.join(each for each in sys.path if each)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM, *words],
            env={**os.environ, **folder, "PYTHONPATH": path, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return one


def test_a_second_process_compiles_nothing(run: Any, tmp_path: Path) -> None:
    first = run()
    assert first["asked"] == 1
    assert [taken for _, _, taken, _ in first["rows"]] == [True]
    # torch's operators, which were kept as well, take the place of kernels that fail.
    second = run("fails")
    assert (second["asked"], second["rows"]) == (0, first["rows"])
    assert max(first["error"], second["error"]) < 1e-5
    # Where our kernels are gone, what torch keeps is not taken.
    assert run(MIRAGE_CACHE_DIR=str(tmp_path / "empty"))["asked"] == 1


def test_training_is_kept(run: Any) -> None:
    """Forward and backward."""
    first, second = run("train"), run("train")
    assert (first["asked"], second["asked"]) == (2, 0)
    assert second["rows"] == first["rows"]
    assert sum(taken for _, _, taken, _ in second["rows"]) >= 2
    assert second["error"] < 1e-4
