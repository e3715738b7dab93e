"""What text cannot show of `mirage-opt`: exit codes, internal errors, what is imported when."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe

from mirage_mlir.diagnostics import fail, remark
from mirage_mlir.opt_main import BROKEN_PIPE, main

GOOD = "func.func @f() {\n  func.return\n}\n"
BAD = "func.func @f() -> i32 {\n  func.return\n}\n"


@dataclass(frozen=True)
class ProbePass(ModulePass):
    """Does to each function what its option says."""

    name = "probe"

    what: str = "nothing"
    weight: float = 1.0
    times: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.weight < 0:
            raise ValueError(f"weight {self.weight} is negative")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = next(each for each in op.walk() if isinstance(each, FuncOp))
        match self.what:
            case "remark":
                remark(function, "looks fine")
                remark(function, "3 things counted", detail=True)
            case "fail":
                fail(function, "is not wanted", note="want something else")
            case "crash":
                raise KeyError("oops")
            case "break":
                for each in list(op.walk()):
                    if isinstance(each, ReturnOp):
                        each.detach()
            case _:
                function.attributes["weight"] = StringAttr(f"{self.weight!r} {self.times!r}")
                function.attributes["seen"] = UnitAttr()


@pytest.fixture(autouse=True)
def _probe(monkeypatch: pytest.MonkeyPatch) -> None:
    universe = Universe(
        all_dialects=XDSL_UNIVERSE.all_dialects,
        all_passes={**XDSL_UNIVERSE.all_passes, "probe": lambda: ProbePass},
        all_targets=XDSL_UNIVERSE.all_targets,
    )
    monkeypatch.setattr(Universe, "get_multiverse", staticmethod(lambda: universe))


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.mlir"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.mlir"
    path.write_text(BAD)
    return str(path)


EXCERPT = [GOOD.partition("\n")[0], "^"]
"""What is printed below the first diagnostic about the function of `GOOD`."""


def one_line(text: str) -> str:
    (line,) = text.splitlines()
    return line


def test_success(good: str) -> None:
    assert main([good]) == 0


def test_bad_input(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([bad]) == 1
    message, line, caret = capsys.readouterr().err.splitlines()
    assert message.startswith(f"{bad}:2:3: error: 'func.return' op ")
    assert (line, caret) == ("  func.return", "  ^")


def test_missing_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-file.mlir"]) == 1
    assert one_line(capsys.readouterr().err) == (
        "mirage-opt: error: cannot open input file 'no-such-file.mlir': No such file or directory"
    )


def test_input_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.mlir"
    path.write_bytes(b"// fine\n// \xff\n")
    assert main([str(path)]) == 1
    assert one_line(capsys.readouterr().err) == f"{path}:2:4: error: not UTF-8 text"


def test_deep_nesting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.mlir"
    path.write_text('"test.op"() {a = ' + "[" * 20_000 + "]" * 20_000 + "} : () -> ()\n")
    assert main([str(path)]) == 1
    message, line, caret = capsys.readouterr().err.splitlines()
    # Where that is depends on how deep the calls of the parser are.
    assert re.fullmatch(rf"{path}:1:\d\d\d: error: nested too deep", message)
    assert (line[len(caret) - 1], len(line)) == ("[", 126)


@pytest.mark.parametrize("words", [["--nope"], ["-p", "nope"], ["-t", "nope"], ["-o"], ["a", "b"]])
def test_bad_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert one_line(capsys.readouterr().err).startswith("mirage-opt: error: ")


def test_option_that_the_pass_rejects(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=weight=-1"]) == 2
    assert one_line(capsys.readouterr().err) == (
        "mirage-opt: error: 'probe': weight -1.0 is negative"
    )


def test_integer_for_a_number(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=weight=10 times=3,4"]) == 0
    assert 'weight = "10.0 (3, 4)"' in capsys.readouterr().out


def test_internal_error(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=what=crash"]) == 3
    assert one_line(capsys.readouterr().err) == (
        "mirage-opt: internal error: KeyError: 'oops'; --debug shows where"
    )
    assert main([good, "--probe=what=crash", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_pass_that_breaks_the_program(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=what=break"]) == 3
    assert one_line(capsys.readouterr().err).startswith(
        f"mirage-opt: internal error: 'probe' made an invalid program: {good}:1:1: error: "
    )


def test_internal_error_is_no_diagnostic(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text("// expected-error @below {{oops}}\n" + GOOD)
    assert main([str(path), "--probe=what=crash", "--verify-diagnostics"]) == 3


def test_pass_failure_and_its_note(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=what=fail"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{good}:1:1: error: 'func.func' op is not wanted",
        *EXCERPT,
        f"{good}:1:1: note: want something else",
    ]


def test_remarks(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([good, "--probe=what=remark"]) == 0
    assert capsys.readouterr().err.splitlines() == [f"{good}:1:1: remark: looks fine", *EXCERPT]
    assert main([good, "--probe=what=remark", "-v"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{good}:1:1: remark: looks fine",
        *EXCERPT,
        f"{good}:1:1: remark: 3 things counted",
    ]


@pytest.mark.parametrize(
    ("what", "comments", "code"),
    [
        ("remark", ["remark @below {{fine}}"], 0),
        ("remark", [], 1),
        ("fail", ["error @below {{not wanted}}", "note @below {{something else}}"], 0),
        ("fail", ["error @below {{not wanted}}"], 1),
        ("nothing", ["remark @below {{fine}}"], 1),
    ],
)
def test_expected_diagnostics(what: str, comments: list[str], code: int, tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text("".join(f"// expected-{comment}\n" for comment in comments) + GOOD)
    assert main([str(path), f"--probe=what={what}", "--verify-diagnostics"]) == code


def test_output_file_keeps_its_link(good: str, tmp_path: Path) -> None:
    target, link = tmp_path / "target.mlir", tmp_path / "link.mlir"
    link.symlink_to(target)
    assert main([good, "-o", str(link)]) == 0
    assert link.is_symlink()
    assert "func.func @f" in target.read_text()


def test_input_file_may_be_the_output_file(good: str) -> None:
    assert main([good, "--probe", "-o", good]) == 0
    assert "seen" in Path(good).read_text()


def test_help_lists_passes_of_other_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["--help"])
    assert leaving.value.code == 0
    assert "passes of other packages:\n  --probe\n" in capsys.readouterr().out


def run_python(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_version_imports_no_compiler() -> None:
    result = run_python(
        "import sys; from mirage_mlir.opt_main import main; main(['--version'])\n"
        "assert not {'xdsl', 'numpy', 'z3', 'argparse'} & set(sys.modules), sys.modules"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("mirage-opt 0.")


def test_a_plain_run_imports_no_solver_and_no_bindings() -> None:
    result = run_python(
        "import io, sys; from mirage_mlir.opt_main import main; main(['/dev/null', '--cse'])\n"
        "assert not {'z3', 'numba_cuda_mlir', 'cuda', 'torch', 'cupy'} & set(sys.modules)"
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("words", ["", "--version"])
def test_closed_pipe_leaves_no_trace(words: str, good: str) -> None:
    """As with `| head`, only that here the reader is surely gone."""
    program = f"{Path(sys.executable).with_name('mirage-opt')} {good} {words}"
    # The shell that starts the program waits until the reader has left.
    script = f"(sleep 0.2; {program}; echo $? >&2) | true"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert result.stderr == f"{BROKEN_PIPE}\n"


@pytest.mark.parametrize("words", ["", "--version", "--nope"])
def test_closed_streams_leave_no_trace(words: str, good: str) -> None:
    program = f"{Path(sys.executable).with_name('mirage-opt')} {good} {words}"
    script = f"{program} >&- 2>&-"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == (2 if words == "--nope" else 0)


def test_ours_are_there_without_entry_points(capsys: pytest.CaptureFixture[str]) -> None:
    """As in a checkout that is not installed: the fixture's universe does not have them."""
    assert main(["/dev/null", "-t", "irdl"]) == 0
    assert "irdl.dialect @kernel" in capsys.readouterr().out


def test_checkout_without_install(good: str) -> None:
    script = Path(__file__).parents[3] / "tools" / "mirage-opt"
    command = [sys.executable, str(script), good, "--kernel-decompose"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "func.func @f" in result.stdout
