"""How often Python looks for garbage."""

import gc
import subprocess
import sys

from mirage_mlir.garbage import SELDOM, seldom_collected


def test_a_host_keeps_its_own_threshold() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with seldom_collected():
        assert gc.get_threshold()[0] >= SELDOM
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == frozen


def test_the_end_of_a_process_of_ours_looks_for_none() -> None:
    code = (
        "import gc; from mirage_mlir.garbage import process_of_ours\n"
        "found = []\n"
        "gc.callbacks.append(lambda phase, info: found.append(len(gc.get_objects())))\n"
        "with process_of_ours():\n"
        "    held = [[] for _ in range(1000)]\n"
        "held.append(held)\n"
        "gc.collect()\n"
        "assert found and max(found) < 1000, found\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
