"""A driver in host memory for the tests of this folder."""

from pathlib import Path

import pytest
from c_programs import FakeCuda, fake_cuda


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("c_source")


@pytest.fixture
def fake() -> FakeCuda:
    found = fake_cuda()
    found.reset()
    return found
