"""Tests that run kernels: skipped, with the reason, where there is no GPU that we compile for."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from optional_packages import package

from mirage_mlir.runtime.cuda_driver import CudaError, cuda_driver

HERE = Path(__file__).parent


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where no kernel can run."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        # What torch, cupy and jax warn of is not ours to mend.
        item.add_marker(pytest.mark.filterwarnings("default"))
        if (reason := why_not()) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def torch() -> Any:
    """torch."""
    return package("torch")


@pytest.fixture(scope="session")
def cupy() -> Any:
    """cupy."""
    return package("cupy")
