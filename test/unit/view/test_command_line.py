"""What `mirage-view` refuses before it searches or writes anything."""

import io
from pathlib import Path
from typing import Any

import pytest

import mirage_mlir as mi
from mirage_mlir.driver.options import Options
from mirage_mlir.view.files import seen_in_file
from mirage_mlir.view_main import main

PROGRAM = "func.func @f() { func.return }\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--svg", "-"], "take the name of a file"),
        (["--json", "-"], "take the name of a file"),
        (["--svg", ""], "take the name of a file"),
        (["--json", "f.mlir"], "it is the input"),
        (["--svg", "x", "--json", "./x"], "are both 'x'"),
    ],
)
def test_no_file_is_written_twice_or_over_the_input(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("f.mlir").write_text(PROGRAM)
    assert main(["f.mlir", *options]) == 2
    assert said in capsys.readouterr().err
    assert [each.name for each in Path().iterdir()] == ["f.mlir"]
    assert Path("f.mlir").read_text() == PROGRAM


WRONG = "func.func @f() {\n  kernel.sofmax\n  func.return\n}\n"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["f.mlir", "-"])
def test_errors_show_the_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("f.mlir").write_text(WRONG)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert main([name, "--svg", "f.svg"]) == 1
    place, line, caret = capsys.readouterr().err.splitlines()
    assert place.startswith(f"{'<stdin>' if name == '-' else name}:2:3: error: ")
    assert (line, caret) == ("  kernel.sofmax", "  ^")


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["f.mirage", "--svg", "f.svg"]) == 1
    said = "mirage-view: error: cannot open input file 'f.mirage': No such file or directory\n"
    assert capsys.readouterr().err == said


def test_an_artifact_has_no_other_function(tmp_path: Path) -> None:
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(8, 64))
    graph.mark_output(graph.relu(x))
    path = tmp_path / "f.mirage"
    graph.superoptimize().save(path)
    options = Options(chips=("sm_90a",))
    assert seen_in_file(path, options, search=False, only="f")
    with pytest.raises(ValueError, match="has no function 'g'; it has 'f'"):
        seen_in_file(path, options, search=False, only="g")


@pytest.mark.parametrize("one", ["f.mlir", Path("f.mlir"), mi.new_kernel_graph("f")])
def test_tune_takes_a_list(one: Any) -> None:
    with pytest.raises(TypeError, match="tune takes a list of programs, not one"):
        list(mi.tune(one))
