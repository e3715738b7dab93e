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
from sampling import EVERYTHING

torch: Any = package("torch")

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="inductor needs a compiler for the host"
)

PROGRAM = Path(__file__).parents[2] / "support" / "kept_graph_program.py"


@pytest.fixture
def run(tmp_path: Path, shared_cache: Any) -> Any:
    """What a new process says, which has torch's folder in common with others of the test."""

    def one(*words: str) -> dict[str, Any]:
        folder = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "torch")}
        path = os.pathsep.join(each for each in sys.path if each)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(PROGRAM), *words],
            env={**os.environ, **folder, "PYTHONPATH": path},
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
    kernels = os.environ["MIRAGE_CACHE_DIR"]
    assert [taken for _, _, taken, _ in first["rows"]] == [True]
    # torch's operators, which were kept as well, take the place of kernels that fail.
    second = run("fails", f"elsewhere={tmp_path / 'empty'}", f"elsewhere={kernels}")
    assert (second["asked"], second["rows"]) == (0, first["rows"])
    assert max(*first["errors"], *second["errors"]) < 1e-5
    # Where our kernels are gone, what torch keeps is not taken.
    assert second["elsewhere"] == [True, False]


@pytest.mark.skipif(not EVERYTHING, reason="four processes that compile: make test-all")
def test_training_is_kept(run: Any) -> None:
    """Forward and backward."""
    first, second = run("train"), run("train")
    assert (first["asked"], second["asked"]) == (2, 0)
    assert second["rows"] == first["rows"]
    assert sum(taken for _, _, taken, _ in second["rows"]) >= 2
    assert len(second["errors"]) == 3
    assert max(second["errors"]) < 1e-4
