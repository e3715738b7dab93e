"""How often Python looks for garbage in a process of ours."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

SELDOM = 100_000
"""
How many more values than before there are when it does. A search makes millions that are in no
circle: at Python's own 700 it would spend an eighth of its time on looking for some.
"""


@contextmanager
def seldom_collected() -> Generator[None]:
    """Look for garbage seldom, or as seldom as it was."""
    before = gc.get_threshold()[0]
    gc.set_threshold(max(before, SELDOM))
    try:
        yield
    finally:
        gc.set_threshold(before)
