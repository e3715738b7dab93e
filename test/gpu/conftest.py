"""
Tests that run kernels: skipped, with the reason, where there is no GPU that we compile for.

A test marked `prepared(function, *names)` gets the result of `function`, called with the test's
parameters of these names and the keyword `here`, the chip to compile for, as the fixture
`prepared`. All are computed at once, one process per core, while the first tests run; the
processes of one run of pytest-xdist share the work.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from gpu_runs import chip_here
from optional_packages import package
from prepared_once import Key, Sharing

from mirage_mlir.runtime.cuda_driver import CudaError, cuda_driver

HERE = Path(__file__).parent

RESULT = pytest.StashKey[Future[Any]]()

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where no kernel can run."""
    items = [item for item in items if HERE in item.path.parents]
    for item in items:
        # What torch, cupy and jax warn of is not ours to mend.
        item.add_marker(pytest.mark.filterwarnings("default"))
        if (reason := why_not()) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def preparing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Have other processes compute what marked tests need, the longest first."""
    marked = [item for item in request.session.items if item.get_closest_marker(MARK)]
    calls = dict.fromkeys(prepared_by(item) for item in sorted(marked, key=is_late))
    # BLAS threads of several processes would only disturb one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sharing = Sharing.of_pytest(tmp_path_factory)
    # Spawned, not forked: CUDA does not survive a fork.
    pool = ProcessPoolExecutor(sharing.processes(), get_context("spawn"))
    started = {
        key: pool.submit(sharing.once, *key, here=chip_here()) for key in sharing.turn(calls)
    }
    for item in marked:
        item.stash[RESULT] = started[prepared_by(item)]
    yield
    # Nobody waits for the rest.
    pool.shutdown(wait=False, cancel_futures=True)


def is_late(item: pytest.Item) -> bool:
    """Whether what a test needs may wait for what takes longest."""
    mark = item.get_closest_marker(MARK)
    return mark is None or not mark.kwargs.get("first", False)


def prepared_by(item: pytest.Item) -> Key:
    """The function of a test's mark, and its arguments."""
    mark = item.get_closest_marker(MARK)
    assert mark is not None
    assert isinstance(item, pytest.Function)
    function, *names = mark.args
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return function, *(given[name] for name in names)


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
