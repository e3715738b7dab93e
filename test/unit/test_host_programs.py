"""Host programs run: loops, calls and buffers, around kernels that the interpreter carries out."""

from pathlib import Path

import numpy as np
import pytest
from c_programs import FakeCuda, fake_cuda
from host_program_cases import HOST_CASES
from host_programs import HostProgram, shared_library
from interpreted_launches import interpret_launches, superoptimized
from kernel_kinds import KINDS

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import text_of


@pytest.fixture(scope="module")
def fake() -> FakeCuda:
    return fake_cuda()


@pytest.mark.parametrize("name", HOST_CASES)
def test_values(name: str, tmp_path: Path, fake: FakeCuda) -> None:
    case = HOST_CASES[name]
    fake.reset()
    module = superoptimized(case.text, "sm_90a", *case.passes)
    interpret_launches(fake, module, "sm_90a")
    program = HostProgram(shared_library(text_of(module), "sm_90a"), tmp_path)
    case.check(program)
    assert fake.logged("launch")
    if name == "constants":
        assert all(map(fake.is_allocated, fake.launched()))


def test_constants_are_packed(tmp_path: Path, fake: FakeCuda) -> None:
    """Before the kernels that read the copy, into memory that is given back."""
    fake.reset()
    module = KINDS["packed"].module()
    made = compile_function(module, "f", "sm_90a", pack=True)
    program = HostProgram(shared_library(text_of(module), "sm_90a", pack=True), tmp_path)
    copies: list[int] = []

    def nothing(*given: int) -> None:
        pass

    def pack(source: int, copy: int) -> None:
        copies.append(copy)

    for launch in made.code.launches:
        fake.kernel(launch.kernel, len(launch.arguments), nothing)
    fake.kernel("pack_0", 2, pack)
    (packed,) = made.code.packed
    specs = (*made.inputs, *made.outputs)
    arrays = [program.array(np.zeros(spec.shape, np.float16)) for spec in specs]
    program.call("f", *arrays)
    (copy,) = copies
    launched = [line.split()[0] for line in fake.logged("launch")]
    assert launched == ["pack_0", *(launch.kernel for launch in made.code.launches)]
    assert f"{-(-packed.storage_bytes // 4) * 4} at {copy}" in fake.logged("allocate")
    assert any(line.split()[1] == str(copy) for line in fake.logged("encode"))
    assert f"{copy}" in fake.logged("free")
