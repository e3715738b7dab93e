"""What the C code asks of CUDA's driver is what the Python runtime asks of it."""

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import (
    CPLUSPLUS,
    CLaunch,
    FakeCuda,
    c_program,
    compiled,
)
from runtime_fakes import (
    FakeDriver,
    artifact,
    code,
    code_with_counters,
    code_with_maps,
    code_with_packed,
    following,
    spec,
    with_constant,
)

from mirage_mlir.c_source.source import STATUSES
from mirage_mlir.decisions.packing import Packing
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import parse_program
from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.cuda_driver import CudaDriver
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.launch import LoadedCode, choose_target
from mirage_mlir.runtime.packed import PackedInput

ROOT = Path(__file__).parents[3]
UGRAPHS, EXAMPLE = ROOT / "test" / "ugraphs", ROOT / "examples" / "c" / "gated_mlp.c"

X, W, OUT, SCRATCH = (number << 24 for number in range(1, 5))

F16 = ElementType.F16

STATUS = {name: -number for number, name in enumerate(STATUSES, 1)}


def in_python(
    program: Artifact, calls: Sequence[tuple[int, ...]]
) -> tuple[FakeDriver, list[CLaunch]]:
    """The launches of the Python runtime for calls with inputs, outputs, scratch and stream."""
    driver, count = FakeDriver(), len(program.inputs)
    chosen = choose_target(program, (9, 0))
    driver.counts = {launch.kernel: len(launch.arguments) for launch in chosen.launches}
    constants = [i for i, each in enumerate(program.inputs) if each.constant]
    loaded = LoadedCode(chosen, driver, 0, constants)
    early: list[bool] = []
    for *tensors, scratch, stream in calls:
        before = len(driver.launches), len(driver.early)
        loaded.launch(tensors[:count], tensors[count:], scratch, stream)
        # The kernels of a call have names of their own.
        started = driver.early[before[1] :]
        early += [each.kernel in started for each in driver.launches[before[0] :]]
    return driver, [
        CLaunch(
            each.kernel,
            each.grid,
            each.threads,
            each.shared_bytes,
            each.stream,
            is_early,
            tuple(each.arguments),
        )
        for each, is_early in zip(driver.launches, early, strict=True)
    ]


def relative(launches: Sequence[CLaunch], places: Sequence[int], sizes: int) -> list[CLaunch]:
    """Launches whose pointers to memory that was allocated say which, not where."""

    def label(address: int) -> int:
        for number, start in enumerate(places):
            if start <= address < start + sizes:
                return -(number + 1) * 0x1000 + address - start
        return address

    return [replace(each, arguments=tuple(map(label, each.arguments))) for each in launches]


CALLS = [
    (X, W, OUT, SCRATCH, 7),
    (X, W, OUT, SCRATCH, 7),
    (X + 64, W, OUT, SCRATCH, 8),
    (X, W + 256, OUT + 16, SCRATCH, 7),
    (X, W, OUT, SCRATCH, 7),
]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(artifact(), id="two targets"),
        pytest.param(artifact(code(scratch=768)), id="scratch"),
        pytest.param(artifact(following(code())), id="early"),
        pytest.param(with_constant(artifact(following(code()))), id="early with a constant"),
        pytest.param(artifact(code_with_maps(scratch=768)), id="maps"),
        pytest.param(artifact(code_with_counters()), id="counters"),
    ],
)
def test_launches_are_those_of_python(program: Artifact, folder: Path, fake: FakeCuda) -> None:
    made = compiled(program, folder, fake)
    assert made.scratch_bytes() == max(each.scratch_bytes for each in program.targets)
    for x, w, out, scratch, stream in CALLS:
        assert made.run((x, w, out), scratch, stream) == 0
    driver, expected = in_python(program, CALLS)
    found = list(map(CLaunch.of, fake.logged("launch")))
    allocated = [int(line.split()[-1]) for line in fake.logged("allocate")]
    counters = [1 << 20 | number << 8 for number in range(1, len(driver.counters) + 1)]
    assert [int(line.split()[0]) for line in fake.logged("allocate")] == driver.counters
    assert relative(found, allocated, 32) == relative(expected, counters, 32)
    assert len(fake.logged("load")) == 1
    chosen = choose_target(program, (9, 0))
    assert {*fake.logged("allow")} == {f"{e.kernel} {e.shared_bytes}" for e in chosen.launches}
    assert all(ctypes.string_at(place, 32) == bytes(32) for place in allocated)
    assert made.release() == 0


@pytest.mark.parametrize("name", ["attention_split_kv", "attention_across"])
def test_kernels_of_the_compiler(name: str, folder: Path, fake: FakeCuda) -> None:
    """Several launches with maps and scratch memory; clusters, which the code itself asks for."""
    path = UGRAPHS / f"{name}.mlir"
    function = compile_function(parse_program(path.read_text(), name), "ugraph", "sm_90a")
    program = Artifact(
        name=name,
        inputs=function.inputs,
        outputs=function.outputs,
        targets=(function.code,),
        program=path.read_text(),
    )
    made = compiled(program, folder, fake)
    tensors = [number << 32 for number in range(1, len(program.inputs) + len(program.outputs) + 1)]
    scratch = 1 << 40 if made.scratch_bytes() else 0
    calls = [(*tensors, scratch, stream) for stream in (7, 8)]
    assert [made.run(call[:-2], *call[-2:]) for call in calls] == [0, 0]
    driver, expected = in_python(program, calls)
    assert list(map(CLaunch.of, fake.logged("launch"))) == expected
    assert len(fake.logged("encode")) == len(driver.encoded) == len(function.code.tensor_maps) > 0
    head = int.from_bytes(function.code.cubin[:8], "little")
    assert fake.logged("load") == [f"{head:016x} in 1"]
    assert made.release() == 0


def all_maps() -> list[TensorMapArgument]:
    """Maps of every element type, rank and swizzle."""
    w = Argument("input", 1)
    return [
        TensorMapArgument(w, 0, (8,), (), (8,), 0, F16),
        TensorMapArgument(w, 16, (8, 4), (16,), (8, 2), 32, ElementType.BF16),
        TensorMapArgument(w, 0, (4, 2, 2), (16, 32), (4, 1, 2), 64, ElementType.F32),
        TensorMapArgument(w, 0, (4, 1, 2, 2, 1), (16, 16, 32, 64), (4, 1, 1, 1, 1), 128, F16),
    ]


def test_tensor_maps_are_those_of_python(folder: Path, fake: FakeCuda) -> None:
    maps = all_maps()
    plain = code()
    arguments = tuple(Argument("map", number) for number in range(len(maps)))
    launches = (replace(plain.launches[0], arguments=arguments), plain.launches[1])
    program = artifact(replace(plain, launches=launches, tensor_maps=tuple(maps)))
    made = compiled(program, folder, fake)
    for w in (W, W, W + 256):
        assert made.run((X, w, OUT)) == 0
    # Encoded once for each address.
    encoded = fake.logged("encode")
    assert len(encoded) == 2 * len(maps)
    driver = object.__new__(CudaDriver)
    driver.bindings = import_module("cuda.bindings.driver")
    for line, each in zip(encoded[: len(maps)], maps, strict=True):
        given: list[Any] = driver.map_arguments(each, W + each.offset)
        kind, _, _, dims, strides, box, steps, *modes = given
        # Of one dim the driver reads no stride.
        strides = strides[: len(each.dims) - 1]
        box = [f"{int(a)}/{int(b)}" for a, b in zip(box, steps, strict=True)]
        numbers = [int(kind), W + each.offset, *(int(size) for size in dims)]
        rows = ([int(stride) for stride in strides], [int(mode) for mode in modes])
        texts = [" ".join(map(str, row)) for row in (numbers, rows[0], box, rows[1])]
        assert " ".join(line.split()) == " ".join(" | ".join(texts).split())
    assert made.release() == 0


PACKINGS = [
    Packing(0, (8, 16), (16, 1), (4, 8), (2, 2), (1, 0), 1, 8),
    Packing(0, (8, 16), (16, 1), (4, 8), (2, 2), (0, 1), 1, 4),
    # Tiles that reach past the end, a transposed view, a run that is not the last dim.
    Packing(2, (5, 7), (16, 1), (4, 4), (2, 2), (1, 0), 1, 2),
    Packing(0, (16, 8), (1, 16), (8, 4), (2, 2), (0, 1), 0, 4),
    Packing(1, (2, 3, 2), (48, 16, 2), (1, 2, 2), (2, 2, 1), (2, 0, 1), 1, 1),
]


@pytest.mark.parametrize("element_type", [ElementType.F16, ElementType.F32])
def test_packed_copies_are_those_of_python(
    element_type: ElementType, folder: Path, fake: FakeCuda
) -> None:
    plain = code()
    packed = tuple(PackedInput(Argument("input", 1), element_type, each) for each in PACKINGS)
    arguments = tuple(Argument("packed", number) for number in range(len(PACKINGS)))
    launches = (replace(plain.launches[0], arguments=arguments), plain.launches[1])
    w = replace(spec("w", 8, 16, element_type=element_type), constant=True)
    program = replace(
        artifact(),
        inputs=(spec("x", 4, 8), w),
        targets=(replace(plain, launches=launches, packed=packed),),
    )
    made = compiled(program, folder, fake)
    memory = np.arange(1, 8 * 16 + 8, dtype=f"u{element_type.itemsize}")
    start = -memory.ctypes.data % 16 // memory.itemsize
    place = memory[start:].ctypes.data
    fake.library.fake_capture(ctypes.c_ulong(5))
    assert made.run((X, place, OUT)) == STATUS["CAPTURED"]
    fake.library.fake_capture(ctypes.c_ulong(0))
    assert made.run((X, place, OUT)) == made.run((X, place, OUT)) == 0
    first, _, again, _ = map(CLaunch.of, fake.logged("launch"))
    assert first.arguments == again.arguments
    for each, copy in zip(packed, first.arguments, strict=True):
        expected = each.pack(memory[start:].tobytes())
        assert ctypes.string_at(copy, len(expected)) == expected
    assert made.release() == 0
    assert len(fake.logged("free")) == len(PACKINGS)


def test_packed_inputs_are_read_through_maps(folder: Path, fake: FakeCuda) -> None:
    memory = np.arange(8 * 16 + 8, dtype=np.uint16)
    place = memory[-memory.ctypes.data % 16 // 2 :].ctypes.data
    program = with_constant(artifact(code_with_packed()))
    made = compiled(program, folder, fake)
    assert made.run((X, place, OUT)) == 0
    (line,) = fake.logged("allocate")
    copy = int(line.split()[-1])
    launch = CLaunch.of(fake.logged("launch")[0])
    assert launch.arguments == (X, copy, copy)
    assert made.release() == 0


def test_cplusplus_launches_the_same(folder: Path, fake: FakeCuda) -> None:
    made = c_program(artifact(code_with_maps(scratch=768)), folder, CPLUSPLUS)
    made.announce(fake)
    assert made.run((X, W, OUT), SCRATCH, 7) == 0
    _, expected = in_python(made.artifact, CALLS[:1])
    assert list(map(CLaunch.of, fake.logged("launch"))) == expected
    assert made.release() == 0
