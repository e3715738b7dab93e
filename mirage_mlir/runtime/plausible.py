"""What an artifact may say of tensors, kernels and launches: nothing that no compile writes."""

import re
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from mirage_mlir.names import is_symbol
from mirage_mlir.runtime.arguments import MAP
from mirage_mlir.runtime.manifest import ArtifactError
from mirage_mlir.shapes.shapes import MAX_ELEMENTS, ShapeError, check_static
from mirage_mlir.targets.target import TARGETS

if TYPE_CHECKING:
    from mirage_mlir.runtime.artifact import Launch, TargetCode, TensorSpec

MOST_BLOCKS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
"""Blocks along x, y and z of a grid (CUDA programming guide, table of compute capabilities)."""

MOST_THREADS = 1024
"""Threads of a block (the same table)."""

MOST_PARAMETER_BYTES = 32764
"""Of a kernel (the same table, since CUDA 12.1)."""

POINTER_BYTES, MAP_BYTES = 8, 128

MOST_SHARED_BYTES = max(target.shared_memory_per_block for target in TARGETS.values())

MOST_DEVICE_BYTES = 2**40
"""Of scratch memory and of counters: more than any GPU has."""

_TARGET = re.compile(r"sm_[0-9]{2,3}a?")


def check_tensor(what: str, spec: "TensorSpec") -> None:
    """The elements of a tensor are there, each once, without gaps."""
    try:
        check_static(spec.shape, what)
    except ShapeError as error:
        raise ArtifactError(str(error)) from error
    if len(spec.strides) != len(spec.shape):
        raise ArtifactError(f"{what} has {len(spec.shape)} dims and {len(spec.strides)} strides")
    places = zip(spec.shape, spec.strides, strict=True)
    dense = 1
    for size, stride in sorted(((n, s) for n, s in places if n > 1), key=lambda place: place[1]):
        if stride != dense:
            raise ArtifactError(f"{what} has strides {spec.strides} for shape {spec.shape}")
        dense *= size


def check_target(code: "TargetCode") -> None:
    """The launches are such as a device of the target takes."""
    if _TARGET.fullmatch(code.target) is None:
        raise ArtifactError(f"{code.target!r} is no name of an instruction set")
    for name, size in (("scratch", code.scratch_bytes), ("counters", code.counter_bytes)):
        if size > MOST_DEVICE_BYTES:
            raise ArtifactError(f"{size} bytes of {name} for {code.target} are more than there are")
    row = TARGETS.get(code.target)
    shared = MOST_SHARED_BYTES if row is None else row.shared_memory_per_block
    for launch in code.launches:
        _check_launch(f"kernel {launch.kernel!r} for {code.target}", launch, shared)


def _check_launch(what: str, launch: "Launch", shared: int) -> None:
    if not is_symbol(launch.kernel):
        raise ArtifactError(f"{what} has a name that no kernel has")
    grid = zip(launch.grid, MOST_BLOCKS, strict=True)
    if not all(1 <= blocks <= most for blocks, most in grid):
        raise ArtifactError(f"{what} has a grid of {launch.grid}, which no device launches")
    if not 1 <= launch.threads <= MOST_THREADS:
        raise ArtifactError(f"{what} has {launch.threads} threads, not 1 to {MOST_THREADS}")
    if launch.shared_bytes > shared:
        bytes_ = launch.shared_bytes
        raise ArtifactError(f"{what} has {bytes_} bytes of shared memory, more than {shared}")
    sizes = (MAP_BYTES if each.kind == MAP else POINTER_BYTES for each in launch.arguments)
    if (total := sum(sizes)) > MOST_PARAMETER_BYTES:
        raise ArtifactError(f"{what} takes {total} bytes, more than {MOST_PARAMETER_BYTES}")


_SIGNATURE = re.compile(r'func\.func (?:\w+ )?@(?:"(?:[^"\\]|\\.)*+"|[\w$.]++)\(.*')
_TENSOR = re.compile(r"tensor<((?:[0-9]+x)*)(\w+)>")


def check_signature(program: str, tensors: Sequence["TensorSpec"]) -> None:
    """The tensors are those that the program takes and returns, in this order."""
    signature = _SIGNATURE.search(program)
    if signature is None:
        raise ArtifactError("its program has no function")
    found = [f"{shape}{element}" for shape, element in _TENSOR.findall(signature.group())]
    given = [str(spec) for spec in tensors]
    if found != given:
        for number, (ours, theirs) in enumerate(zip(found, given, strict=False)):
            if ours != theirs:
                raise ArtifactError(
                    f"tensor {number} of its program is {ours}, and that of its kernels {theirs}"
                )
        raise ArtifactError(
            f"its program has {len(found)} tensors, and its kernels have {len(given)}"
        )


def check_extents(what: str, sizes: Sequence[int], steps: Sequence[int]) -> None:
    """Sizes of a view, each from 1 up, and its steps, are such as some tensor has."""
    if any(size < 1 for size in sizes):
        raise ArtifactError(f"{what} has sizes {tuple(sizes)}")
    if prod(sizes) > MAX_ELEMENTS or any(step > MOST_DEVICE_BYTES for step in steps):
        raise ArtifactError(f"{what} has sizes {tuple(sizes)} and strides {tuple(steps)}")
