"""How often Python looks for garbage in a process of ours."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

SELDOM = 300_000
"""
How many more values than before there are when it does. A search makes millions that are in no
circle: at Python's own 700 it would spend an eighth of its time on looking for some. At this number
a small search is over before the first time, and a large one takes two hundredths more memory than
at a third of it.
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


@contextmanager
def process_of_ours() -> Generator[None]:
    """
    Look for garbage seldom, and no more afterwards: the process is about to end.

    Python would look through all that the process holds twice, to free what ends with it anyway.
    """
    with seldom_collected():
        try:
            yield
        finally:
            gc.freeze()
