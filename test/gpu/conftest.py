"""
Tests that run kernels: skipped, with the reason, where there is no GPU that we compile for.

A test marked `prepared(function, *names)` gets the result of `function`, called with the test's
parameters of these names and the keyword `here`, the chip to compile for, as the fixture
`prepared`. All are computed at once, one process per core, while the first tests run.
"""

import os
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from gpu_runs import chip_here
from optional_packages import package

from mirage_mlir.runtime.cuda_driver import CudaError, cuda_driver

HERE = Path(__file__).parent

RESULT = pytest.StashKey[Future[Any]]()

POOL = pytest.StashKey[ProcessPoolExecutor]()

MARK = "prepared"


@cache
def why_not() -> str | None:
    """Why kernels cannot run here, None where they can."""
    try:
        driver = cuda_driver()
        major, minor = driver.capability(0)
    except CudaError as error:
        return str(error)
    if (major, minor) != (9, 0) and major != 8:
        return f"the GPU has compute capability {major}.{minor}"
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Announce the mark."""
    config.addinivalue_line("markers", f"{MARK}(function, *names, first=False): see test/gpu")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where no kernel can run; else start what they need."""
    items = [item for item in items if HERE in item.path.parents]
    for item in items:
        # What torch, cupy and jax warn of is not ours to mend.
        item.add_marker(pytest.mark.filterwarnings("default"))
        if (reason := why_not()) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
    if why_not() is None and not config.getoption("collectonly"):
        start_preparing(config, items)


def start_preparing(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have other processes compute what marked tests need, the longest first."""
    marked = [(item, mark) for item in items if (mark := item.get_closest_marker(MARK))]
    if not marked:
        return
    # BLAS threads of several processes would only disturb one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Spawned, not forked: CUDA does not survive a fork.
    pool = config.stash[POOL] = ProcessPoolExecutor(os.cpu_count(), get_context("spawn"))
    started: dict[tuple[object, ...], Future[Any]] = {}
    for item, mark in sorted(marked, key=lambda pair: not pair[1].kwargs.get("first", False)):
        function, *names = mark.args
        assert isinstance(item, pytest.Function)
        given = item.callspec.params if hasattr(item, "callspec") else {}
        key = function, *(given[name] for name in names)
        if key not in started:
            started[key] = pool.submit(*key, here=chip_here())
        item.stash[RESULT] = started[key]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what nobody waits for."""
    if (pool := config.stash.get(POOL, None)) is not None:
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def prepared(request: Any) -> Any:
    """What the function of the test's mark returned."""
    return request.node.stash[RESULT].result()


@pytest.fixture(scope="session")
def torch() -> Any:
    """torch."""
    return package("torch")


@pytest.fixture(scope="session")
def cupy() -> Any:
    """cupy."""
    return package("cupy")
