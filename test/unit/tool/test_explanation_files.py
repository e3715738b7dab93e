"""Files of `--explain-json` and `--explain-html` are checked before anything is compiled."""

import json
from pathlib import Path

import pytest

from mirage_mlir.opt_main import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--explain-html=-"], "--explain-html takes the name of a file, not '-'"),
        (["--explain-json=."], "--explain-json=.: it is a folder"),
        (["--explain-html=x", "--explain-json=./x"], "--explain-json is written there"),
        (["--explain-html=x", "-o", "x"], "-o is written there"),
    ],
)
def test_no_two_results_go_to_one_file(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.mlir").write_text("func.func @f() { func.return }\n")
    assert main([*options, "f.mlir"]) == 2
    assert said in capsys.readouterr().err
    assert [each.name for each in Path().iterdir()] == ["f.mlir"]


def test_functions_of_one_name_are_all_explained(tmp_path: Path) -> None:
    chunks = [
        f"func.func @f(%x: {x}) -> {x} {{\n"
        f"  %y = kernel.relu %x : ({x}) -> {x}\n"
        f"  func.return %y : {x}\n}}\n"
        for x in ("tensor<8x64xf16>", "tensor<8x32xf16>")
    ]
    source, page, fields = (tmp_path / name for name in ("f.mlir", "f.html", "f.json"))
    source.write_text("// -----\n".join(chunks))
    options = ["--split-input-file", "--superoptimize", "-o", str(tmp_path / "out.mlir")]
    assert main([*options, f"--explain-html={page}", f"--explain-json={fields}", str(source)]) == 0
    assert list(json.loads(fields.read_text())) == ["f", "f (2)"]
    assert page.read_text().count("<h2>@f for sm_90a</h2>") == 2
