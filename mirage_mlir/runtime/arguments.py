"""What a kernel takes: pointers to tensors, and descriptions of tensors for bulk copies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.manifest import ArtifactError, Fields, shortened

MEMORY = ("input", "output", "scratch")
"""The kinds of arguments that are a pointer to tensors."""

COUNTERS = "counters"
"""The kind of those that are a pointer to counters, which are 0 between the calls on a stream."""

PACKED = "packed"
"""The kind of a pointer to the packed copy of an input."""

MAP = "map"
"""The kind of those that are a tensor map."""

SWIZZLES = (0, 32, 64, 128)
"""Bytes in which a bulk copy permutes what it writes to shared memory."""

MAX_RANK = 5
"""Dims of a tensor map at most, as `cuTensorMapEncodeTiled` says."""

_INDEX = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True)
class Argument:
    """
    One thing that a kernel takes.

    `kind` is "input", "output", "scratch", "packed", "counters" or "map"; `index` is which input or
    output, the offset in bytes into the scratch memory or the counters, or which of the target's
    packed inputs or tensor maps.
    """

    kind: str
    index: int

    @staticmethod
    def parse(text: str) -> "Argument":
        """Read `input:0`, `scratch:4096` or `map:1`; raises `ArtifactError` on anything else."""
        kind, _, number = text.partition(":")
        if kind not in (*MEMORY, PACKED, COUNTERS, MAP) or _INDEX.fullmatch(number) is None:
            raise ArtifactError(f"{shortened(text)} is not a kernel argument such as 'input:0'")
        return Argument(kind, int(number))

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"


@dataclass(frozen=True)
class TensorMapArgument:
    """
    A tensor as the unit for bulk copies sees it; a kernel takes it by value, 128 bytes.

    Dims are innermost first; `strides` are in bytes, without the innermost, whose elements are
    neighbours; `box` is what one copy moves, in elements; `swizzle` is in bytes, 0 for none.
    """

    tensor: Argument
    """The pointer that it starts from."""
    offset: int
    """Bytes from there."""
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    element_type: ElementType

    def __post_init__(self) -> None:
        rank = len(self.dims)
        if self.tensor.kind == MAP:
            raise ArtifactError(f"a tensor map is of a tensor, not of '{self.tensor}'")
        if not 1 <= rank <= MAX_RANK:
            raise ArtifactError(f"a tensor map has 1 to {MAX_RANK} dims, not {rank}")
        if len(self.strides) != rank - 1 or len(self.box) != rank:
            raise ArtifactError(
                f"a tensor map of {rank} dims has {rank - 1} strides and a box of {rank} sizes, "
                f"not {len(self.strides)} and {len(self.box)}"
            )
        if any(size < 1 for size in (*self.dims, *self.box)):
            raise ArtifactError(f"a tensor map has dims {self.dims} and a box {self.box}")
        if self.swizzle not in SWIZZLES:
            raise ArtifactError(f"a swizzle is one of {SWIZZLES} bytes, not {self.swizzle}")

    @property
    def end(self) -> int:
        """Bytes from the start of the tensor to the end of what a copy may read or write."""
        strides = (self.element_type.itemsize, *self.strides)
        last = sum((size - 1) * step for size, step in zip(self.dims, strides, strict=True))
        return self.offset + last + strides[0]

    def fields(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "tensor": str(self.tensor),
            "offset": self.offset,
            "dims": list(self.dims),
            "strides": list(self.strides),
            "box": list(self.box),
            "swizzle": self.swizzle,
            "element_type": self.element_type.value,
        }

    @staticmethod
    def read(fields: Fields) -> "TensorMapArgument":
        """What `fields` gave; raises `ArtifactError` on anything else."""
        return TensorMapArgument(
            tensor=Argument.parse(fields.text("tensor")),
            offset=fields.number("offset"),
            dims=fields.numbers("dims"),
            strides=fields.numbers("strides"),
            box=fields.numbers("box"),
            swizzle=fields.number("swizzle"),
            element_type=read_element_type(fields),
        )


def read_element_type(fields: Fields) -> ElementType:
    """The member `element_type`; raises `ArtifactError` where it is none."""
    spelling = fields.text("element_type")
    try:
        return ElementType(spelling)
    except ValueError as error:
        raise ArtifactError(f"element type {spelling!r} is unknown") from error


_COUNTED = {
    "input": "inputs",
    "output": "outputs",
    "scratch": "bytes of scratch",
    COUNTERS: "bytes of counters",
    PACKED: "packed inputs",
    MAP: "tensor maps",
}
"""What there are several of, by kind."""


def check_arguments(what: str, arguments: Sequence[Argument], sizes: Mapping[str, int]) -> None:
    """
    Check that all that a kernel takes is there.

    Args:
        what: names the kernel in errors.
        arguments: of the kernel.
        sizes: how many there are of each kind, or bytes of scratch memory; kinds left out may not
            be taken.
    """
    for argument in arguments:
        if argument.index >= sizes.get(argument.kind, 0):
            there = ", ".join(f"{count} {_COUNTED[kind]}" for kind, count in sizes.items())
            raise ArtifactError(f"{what} takes {argument}, and there are {there}")
