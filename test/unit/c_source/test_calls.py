"""What calls of the C code refuse, share and give back."""

import ctypes
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from c_programs import (
    C99,
    CPLUSPLUS,
    STRICT,
    CLaunch,
    FakeCuda,
    c_program,
    compile_c,
    compile_fake_driver,
    compiled,
    write_c,
)
from runtime_fakes import (
    artifact,
    code,
    code_with_counters,
    code_with_maps,
    code_with_packed,
    spec,
    with_constant,
)

from mirage_mlir.c_source.source import STATUSES, c_files
from mirage_mlir.decisions.packing import Packing
from mirage_mlir.runtime.arguments import Argument
from mirage_mlir.runtime.artifact import Artifact, Launch
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput

ROOT = Path(__file__).parents[3]
UGRAPHS, EXAMPLE = ROOT / "test" / "ugraphs", ROOT / "examples" / "c" / "gated_mlp.c"

X, W, OUT, SCRATCH = (number << 24 for number in range(1, 5))

F16 = ElementType.F16

STATUS = {name: -number for number, name in enumerate(STATUSES, 1)}


@pytest.mark.parametrize(("wrong", "status"), [(0, 0), (1, 1), (8192, 1)])
def test_the_example_checks_itself(wrong: int, status: int, folder: Path) -> None:
    """With a driver that writes what the kernel should compute, but for one number."""
    place = Path(mkdtemp(dir=folder))
    inputs = (spec("x", 16, 256), spec("w", 256, 512), spec("v", 256, 512))
    arguments = tuple(map(Argument.parse, ("input:0", "input:1", "input:2", "output:0")))
    launch = Launch("kernel", (8, 1, 1), 128, 0, arguments)
    program = Artifact(
        name="gated_mlp",
        inputs=inputs,
        outputs=(spec("out", 16, 512),),
        targets=(replace(code(), launches=(launch,)),),
        program="",
    )
    source = write_c(program, place)
    options = ("-I", place, EXAMPLE, source, "-o", place / "check", "-pthread", "-ldl", "-lm")
    compile_c(*C99, *STRICT[:3], *options)
    values = np.linspace(-1, 1, 16 * 512).astype(np.float16)
    tensors = [bytes(each.storage_bytes) for each in inputs] + [values.tobytes()]
    sized = b"".join(len(each).to_bytes(8, "little") + each for each in tensors)
    (place / "values").write_bytes(sized)
    if wrong:
        values[wrong - 1] = np.nan if wrong == 1 else 0.9
    (place / "result").write_bytes(values.tobytes())
    compile_fake_driver(place)
    environment = {
        "LD_LIBRARY_PATH": str(place),
        "FAKE_CUDA_KERNELS": "kernel:4",
        "FAKE_CUDA_RESULT": f"4:{place / 'result'}",
    }
    command = [str(place / "check"), str(place / "values")]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (status, "")
    assert result.stdout == f"{status} of 8192 values are wrong\n"
    without = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    # On a machine with a GPU the real driver refuses what is no cubin.
    assert without.returncode == 2


@pytest.mark.parametrize("stream", [7, 2])
def test_no_two_streams_share_counters(stream: int, folder: Path, fake: FakeCuda) -> None:
    """Nor two graphs, nor two threads on the stream that each thread has of its own."""
    made = compiled(artifact(code_with_counters()), folder, fake)

    def place(of: int, capture: int = 0) -> int:
        fake.library.fake_capture(ctypes.c_ulong(capture))
        assert made.run((X, W, OUT), SCRATCH, of) == 0
        return CLaunch.of(fake.logged("launch")[-1]).arguments[1]

    here = place(stream)
    assert place(stream) == here
    assert place(stream + 100) != here
    assert place(stream, 1) == place(stream, 1) != here
    assert place(stream, 2) not in (here, place(stream, 1))
    with ThreadPoolExecutor(1) as other:
        assert (other.submit(place, stream).result() == here) is (stream == 7)
    assert made.release() == 0


def test_threads_call_at_once(folder: Path, fake: FakeCuda) -> None:
    made = compiled(artifact(code_with_maps(scratch=768)), folder, fake)

    def call(number: int) -> int:
        return made.run((X + 1024 * number, W, OUT), SCRATCH, 100 + number)

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(call, range(200))] == [0] * 200
    launches = list(map(CLaunch.of, fake.logged("launch")))
    firsts = [each for each in launches if each.kernel == "f_kernel_0"]
    assert sorted(each.stream for each in firsts) == list(range(100, 300))
    assert all(each.arguments[0] == X + 1024 * (each.stream - 100) for each in firsts)
    assert len(fake.logged("load")) == 1
    assert made.release() == 0


def test_contexts_have_code_of_their_own(folder: Path, fake: FakeCuda) -> None:
    made = compiled(artifact(code()), folder, fake)
    for context in (1, 2, 1):
        fake.library.fake_context(ctypes.c_ulong(context))
        assert made.load() == made.load() == made.run((X, W, OUT)) == 0
    assert [line.split()[-1] for line in fake.logged("load")] == ["1", "2"]
    assert made.release() == made.release() == 0
    assert len(fake.logged("unload")) == 1
    assert made.run((X, W, OUT)) == 0
    assert len(fake.logged("load")) == 3
    for context in (1, 2):
        fake.library.fake_context(ctypes.c_ulong(context))
        assert made.release() == 0
    assert len(fake.logged("unload")) == 3


def test_what_a_call_refuses(folder: Path, fake: FakeCuda) -> None:
    made = compiled(artifact(code(scratch=768)), folder, fake)
    good = (X, W, OUT)
    refused = {
        "NULL_TENSOR": ((X, 0, OUT), SCRATCH),
        "NULL_SCRATCH": (good, 0),
        "MISALIGNED": ((X, W + 8, OUT), SCRATCH),
        "OVERLAP": ((X, W, X + 16), SCRATCH),
    }
    for name, (tensors, scratch) in refused.items():
        assert made.run(tensors, scratch) == STATUS[name], name
        assert made.error(STATUS[name]) not in ("", "unknown status")
    assert made.run(good, SCRATCH + 8) == STATUS["MISALIGNED"]
    assert made.run(good, W) == STATUS["OVERLAP"]
    # Inputs may be the same tensor.
    assert made.run((X, X, OUT), SCRATCH) == 0
    assert len({made.error(status) for status in (0, *STATUS.values())}) == len(STATUS) + 1
    assert made.error(-999) == "unknown status"
    assert made.release() == 0


def test_devices_without_code(folder: Path, fake: FakeCuda) -> None:
    made = c_program(artifact(code(shared=200 * 1024), code("sm_80")), folder)
    for capability, limit, name in (
        ((7, 5), 227 * 1024, "NO_CODE"),
        ((10, 0), 227 * 1024, "NO_CODE"),
        ((9, 1), 227 * 1024, "NO_CODE"),
        ((9, 0), 100 * 1024, "NO_SHARED_MEMORY"),
    ):
        fake.reset(*capability, limit)
        assert made.run((X, W, OUT)) == STATUS[name]
    fake.reset(8, 9)
    made.announce(fake)
    assert made.run((X, W, OUT)) == 0
    assert made.release() == 0
    fake.library.fake_context(ctypes.c_ulong(0))
    assert made.run((X, W, OUT)) == made.load() == made.release() == STATUS["NO_CONTEXT"]


MAIN = """#include <stdio.h>
#include "f.h"
int main(void) {
  const int status = mirage_load_f();
  puts(mirage_error_f(status));
  return -status;
}
"""


def test_drivers_that_are_too_old(folder: Path) -> None:
    place = Path(mkdtemp(dir=folder))
    source = write_c(artifact(code()), place)
    (place / "main.c").write_text(MAIN)
    (place / "old.c").write_text("int cuInit(unsigned int flags) { return flags != 0; }\n")
    compile_c("cc", "-shared", "-fPIC", place / "old.c", "-o", place / "libcuda.so.1")
    made = place / "main"
    compile_c(*C99, *STRICT, place / "main.c", source, "-o", made, "-pthread", "-ldl")
    environment = {"LD_LIBRARY_PATH": str(place)}
    result = subprocess.run([made], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == -STATUS["OLD_DRIVER"]
    assert result.stdout == "the CUDA driver is older than 13.0\n"


CALLED = (
    *("cuCtxGetCurrent", "cuCtxGetId", "cuCtxGetDevice", "cuDeviceGetAttribute"),
    *("cuThreadExchangeStreamCaptureMode", "cuModuleLoadData", "cuModuleGetFunction"),
    *("cuFuncSetAttribute", "cuFuncLoad", "cuStreamGetCaptureInfo_v3", "cuMemAlloc_v2"),
    *("cuStreamCreate", "cuMemsetD8Async", "cuStreamSynchronize", "cuTensorMapEncodeTiled"),
    *("cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2", "cuCtxSynchronize", "cuLaunchKernelEx"),
)


def test_errors_of_the_driver_come_back(folder: Path, fake: FakeCuda) -> None:
    """Each call that can fail, and that the next call then succeeds, with nothing lost."""
    packed = code_with_packed()
    first, second = packed.launches
    second = replace(second, arguments=(second.arguments[0], Argument("counters", 16)))
    everything = replace(packed, launches=(first, second), counter_bytes=32)
    made = compiled(with_constant(artifact(everything)), folder, fake)
    memory = np.zeros(8 * 16 + 8, dtype=np.uint16)
    place = memory[-memory.ctypes.data % 16 // 2 :].ctypes.data
    for name in CALLED:
        fake.reset()
        made.announce(fake)
        fake.fail(name, 719)
        assert made.run((X, place, OUT)) == 719, name
        assert made.error(719) == "unspecified launch failure"
        assert made.run((X, place, OUT)) == 0, name
        assert made.release() == 0
        assert len(fake.logged("allocate")) == len(fake.logged("free")), name
        assert len(fake.logged("load")) == len(fake.logged("unload")), name
    assert made.error(1) == "the CUDA driver reports an error"


ODD_NAMES = ["int", "f.a", "f_a", "größe", "2x", "a$b", "x" * 200, "*/ */ // ??/"]


def odd(name: str) -> Artifact:
    """Its tensors, too, are called as they may not be in C."""
    program = artifact(code())
    inputs = tuple(
        replace(each, name=text) for each, text in zip(program.inputs, (name, "int"), strict=True)
    )
    return replace(program, name=name, inputs=inputs, producer=name)


def test_programs_of_any_name_are_linked_together(folder: Path) -> None:
    place = folder / "odd names"
    place.mkdir()
    sources = [write_c(odd(name), place) for name in ODD_NAMES]
    headers = "".join(f'#include "{each.with_suffix(".h").name}"\n' for each in sources)
    (place / "all.c").write_text(f"{headers}{headers}int main(void) {{ return MIRAGE_OK; }}\n")
    together = (*sources, place / "all.c")
    compile_c(*CPLUSPLUS, *STRICT, "-fsyntax-only", *together)
    compile_c(*C99, *STRICT, *together, "-o", place / "all", "-pthread", "-ldl")
    compile_c(place / "all")


def test_equal_artifacts_give_equal_files() -> None:
    program = artifact(code_with_maps(scratch=768), code("sm_80"))
    assert c_files(program) == c_files(Artifact.from_bytes(program.to_bytes()))


def test_header_says_what_was_not_verified() -> None:
    program = artifact(code())
    assert "NOT VERIFIED" not in c_files(program)["f.h"]
    unverified = replace(program, verification={"sm_90a": {"status": "NOT VERIFIED"}})
    assert "NOT VERIFIED for sm_90a." in c_files(unverified)["f.h"]


def test_packings_of_many_dims_are_refused() -> None:
    ones = (1,) * 17
    packing = Packing(0, ones, ones, ones, ones, tuple(range(17)), 0, 1)
    packed = PackedInput(Argument("input", 1), ElementType.F16, packing)
    launch = Launch("f_kernel_0", (1, 1, 1), 32, 0, (Argument("packed", 0),))
    many = replace(code(), launches=(launch,), packed=(packed,))
    with pytest.raises(ValueError, match="a packed input has 17 dims; C has 16 at most"):
        c_files(artifact(many))
