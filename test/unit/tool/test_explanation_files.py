"""Files of `--explain-json` and `--explain-html` are checked before anything is compiled."""

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
