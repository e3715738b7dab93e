"""What holds for every test."""

import gc
import os

import pytest
from hypothesis import settings
from sampling import EVERYTHING

from mirage_mlir.worker import THREADS

# What one test compiled must not answer another; tests of the cache have folders of their own.
os.environ["MIRAGE_CACHE_DIR"] = "off"

# Each core has a process already: threads of numpy and torch would wait for one another, busily.
os.environ.update(dict.fromkeys(THREADS, "1"))

# Modules refer to themselves in circles, and searches make millions of small values: a worker
# would spend a sixth of its time on looking for garbage among what it keeps. A million of them
# takes some 200 MB.
gc.set_threshold(1_000_000, 20, 20)

# A time limit for each example would make tests fail on a busy machine.
# The same examples in every run, fewer than usual; campaigns in `benchmarks` draw new ones.
EXAMPLES = 100 if EVERYTHING else 12
settings.register_profile("mirage", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile("mirage")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays: nobody need look for garbage there."""
    gc.collect()
    gc.freeze()
