"""MLIR's bindings without the package around them, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "targets" / "ptx.mlir"

USED = """
from mirage_mlir.bridge.bindings import in_upstream, own_process
{before}
assert "arith.constant" in in_upstream("%0 = arith.constant 1 : i32")
import sys
holder = sys.modules["numba_cuda_mlir"]
assert hasattr(holder, "__version__") is {whole}, vars(holder)
"""


def run(before: str, *, whole: bool) -> None:
    run_python(USED.format(before=before, whole=whole))


def run_python(code: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_a_process_of_ours_leaves_the_package_out() -> None:
    run("own_process()", whole=False)


def test_others_get_the_whole_package() -> None:
    run("", whole=True)


def test_what_was_imported_before_is_used() -> None:
    run("import numba_cuda_mlir; own_process()", whole=True)


def test_the_tool_leaves_the_package_out() -> None:
    """Its `main` without arguments, as the script that is installed calls it."""
    code = (
        "import sys; from mirage_mlir.opt_main import main\n"
        f"sys.argv[1:] = [{str(PROGRAM)!r}, '-t', 'ptx']\n"
        "assert main() == 0\n"
        "assert 'numba_cuda_mlir._mlir.ir' in sys.modules\n"
        "assert 'numba_cuda_mlir.numba_cuda' not in sys.modules\n"
    )
    run_python(code)
