"""Programs that start at the same addresses each time."""

import subprocess
import sys

import pytest

from mirage_mlir.bridge.fixed_addresses import fixed_addresses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do that")


def places() -> set[str]:
    """Where three processes have their memory."""
    command = [sys.executable, "-c", "print(open('/proc/self/maps').read().split('-')[0], id([]))"]
    return {subprocess.run(command, capture_output=True, text=True).stdout for _ in range(3)}


def is_allowed() -> bool:
    """Whether a process may ask for it: some containers forbid that."""
    asked = "import ctypes, sys; sys.exit(ctypes.CDLL(None).personality(0x40000) < 0)"
    return subprocess.run([sys.executable, "-c", asked]).returncode == 0


def test_places_are_the_same_inside() -> None:
    """And as different after as before."""
    before = len(places())
    with fixed_addresses():
        inside = len(places())
    assert inside == 1 or not is_allowed()
    assert (len(places()) > 1) == (before > 1)


def test_it_ends_with_an_error() -> None:
    """What is raised inside leaves nothing behind."""
    before = len(places())
    with pytest.raises(ValueError, match="inside"), fixed_addresses():
        raise ValueError("inside")
    assert (len(places()) > 1) == (before > 1)
