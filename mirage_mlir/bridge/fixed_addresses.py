"""
Programs whose results depend on where their memory lies.

ptxas 13 orders some things by address: of the same PTX it makes one of two cubins, which differ in
a few instructions. Linux starts a program at addresses that are the same each time where the
personality of the thread that starts it says so (personality(2), as `setarch -R` does).
"""

import ctypes
import sys
from collections.abc import Generator
from contextlib import contextmanager

ADDR_NO_RANDOMIZE = 0x0040000
"""In <sys/personality.h>."""

QUERY = 0xFFFFFFFF
"""What asks for the present personality, and changes nothing."""


@contextmanager
def fixed_addresses() -> Generator[None]:
    """
    Programs that this thread starts meanwhile get the same addresses each time.

    Where the system cannot do that, or a container forbids it, they start as ever.
    """
    if sys.platform != "linux":
        yield
        return
    personality = ctypes.CDLL(None).personality
    personality.argtypes, personality.restype = [ctypes.c_ulong], ctypes.c_int
    before = personality(QUERY)
    changed = before >= 0 and personality(before | ADDR_NO_RANDOMIZE) >= 0
    try:
        yield
    finally:
        if changed:
            personality(before)
