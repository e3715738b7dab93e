"""What importing the package, and loading a saved kernel, brings in."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runtime_fakes import artifact

import mirage_mlir as mi


def modules_after(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has imported after `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_import_brings_nothing() -> None:
    assert modules_after("import mirage_mlir").isdisjoint({"numpy", "xdsl", "z3"})


def test_a_search_of_a_part_imports_no_torch() -> None:
    """Each process that searches would take a core two seconds longer to start."""
    assert "torch" not in modules_after("import mirage_mlir.frameworks.backend.part_search")


def test_loading_needs_numpy_only(tmp_path: Path) -> None:
    """A machine that only runs kernels has no compiler."""
    artifact().save(tmp_path / "f.mirage")
    path = str(tmp_path / "f.mirage")
    imported = modules_after(f"import mirage_mlir as mi\nmi.load({path!r})")
    assert "numpy" in imported
    assert imported.isdisjoint({"xdsl", "z3", "numba_cuda_mlir", "torch", "cupy"})


@pytest.mark.parametrize("name", mi.__all__)
def test_all_names_exist(name: str) -> None:
    assert getattr(mi, name).__doc__ is not None
    assert name in dir(mi)


def test_unknown_name() -> None:
    package: Any = mi
    with pytest.raises(AttributeError, match="no attribute 'superoptimise'"):
        package.superoptimise()
