"""Host programs run: loops, calls and buffers, around kernels that the interpreter carries out."""

from pathlib import Path

import pytest
from c_programs import FakeCuda, fake_cuda
from host_program_cases import HOST_CASES
from host_programs import HostProgram, shared_library
from interpreted_launches import interpret_launches, superoptimized


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> FakeCuda:
    return fake_cuda(tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("name", HOST_CASES)
def test_values(name: str, tmp_path: Path, fake: FakeCuda) -> None:
    case = HOST_CASES[name]
    fake.reset()
    module = superoptimized(case.text, "sm_90a", *case.passes)
    interpret_launches(fake, module, "sm_90a")
    program = HostProgram(shared_library(str(module), "sm_90a"), tmp_path)
    case.check(program)
    assert fake.logged("launch")
