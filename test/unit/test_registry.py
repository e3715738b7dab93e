"""Every row of the tables can be imported and has the name that it is listed under."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe

from mirage_mlir.dialects import DIALECTS, get_all_dialects, load_dialect
from mirage_mlir.outputs import TARGETS, get_all_targets, load_target
from mirage_mlir.passes import PASSES, get_all_passes, load_pass

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect(name: str) -> None:
    assert load_dialect(name).name == name
    assert get_all_dialects()[name]() is load_dialect(name)


@pytest.mark.parametrize("name", PASSES)
def test_pass(name: str) -> None:
    assert load_pass(name).name == name
    assert get_all_passes()[name]() is load_pass(name)


@pytest.mark.parametrize("name", PASSES)
def test_pass_is_named_after_its_file(name: str) -> None:
    assert load_pass(name).__module__ == f"mirage_mlir.passes.{name.replace('-', '_')}"


@pytest.mark.parametrize("name", TARGETS)
def test_target(name: str) -> None:
    assert load_target(name).name == name
    assert get_all_targets()[name]() is load_target(name)


def test_no_name_is_taken_upstream() -> None:
    assert not DIALECTS.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert not PASSES.keys() & XDSL_UNIVERSE.all_passes.keys()
    assert not TARGETS.keys() & XDSL_UNIVERSE.all_targets.keys()


def test_plain_xdsl_finds_ours() -> None:
    """Through the entry point of the installed package."""
    universe = Universe.get_multiverse()
    assert DIALECTS.keys() <= universe.all_dialects.keys()
    assert PASSES.keys() <= universe.all_passes.keys()
    assert TARGETS.keys() <= universe.all_targets.keys()


def test_xdsl_opt_runs_our_passes_on_our_dialects() -> None:
    program = Path(sys.executable).with_name("xdsl-opt")
    source = ROOT / "test" / "workloads" / "rmsnorm_linear.mlir"
    command = [str(program), str(source), "-p", "kernel-decompose"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "kernel.matmul" in result.stdout
    assert "kernel.rms_norm" not in result.stdout


@pytest.mark.parametrize("folder", ["dialects", "passes"])
def test_top_level_folders_are_no_packages(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`import dialects` from the repository root would define every operation a second time."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    with pytest.raises(ImportError, match=f"import mirage_mlir.{folder}"):
        importlib.import_module(folder)
