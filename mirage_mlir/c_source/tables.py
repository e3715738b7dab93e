"""Initialisers of the structures in `launch.c`."""

from collections.abc import Iterable, Sequence

from mirage_mlir.runtime.arguments import MAX_RANK, Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Launch, TargetCode
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput

MOST_DIMS = 16
"""Of a packed tensor; as in `launch.c`."""

MAP_TYPES = {ElementType.F16: 6, ElementType.F32: 7, ElementType.BF16: 9}
"""CUtensorMapDataType."""

MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
"""CUtensorMapSwizzle, by bytes."""

BYTES_OF_LINE = 24


def braces(values: Iterable[object]) -> str:
    """`{1, 2}`."""
    return f"{{{', '.join(map(str, values))}}}"


def numbers(values: Sequence[int], length: int) -> str:
    """An array of 64-bit numbers, filled up with zeros."""
    return braces(f"{value}u" for value in (*values, *[0] * (length - len(values))))


def argument(of: Argument) -> str:
    """A `mirage_argument`."""
    return braces([f"MIRAGE_{of.kind.upper()}", f"{of.index}u"])


def tensor_map(of: TensorMapArgument) -> str:
    """A `mirage_tensor_map`; that of one dim has a stride, which nobody uses."""
    fields = [
        argument(of.tensor),
        f"{of.offset}u",
        MAP_TYPES[of.element_type],
        f"{len(of.dims)}u",
        numbers(of.dims, MAX_RANK),
        numbers(of.strides or (16,), MAX_RANK),
        numbers(of.box, MAX_RANK),
        MAP_SWIZZLES[of.swizzle],
    ]
    return braces(fields)


def packing(of: PackedInput) -> str:
    """
    A `mirage_packing`.

    Raises:
        ValueError: it has more dims than there is room for.
    """
    how = of.packing
    if len(how.shape) > MOST_DIMS:
        raise ValueError(f"a packed input has {len(how.shape)} dims; C has {MOST_DIMS} at most")
    scalars = [of.tensor.index, of.element_type.itemsize, len(how.shape), how.run_dim]
    scalars += [how.offset, how.panel, of.source_bytes, how.elements]
    arrays = (how.shape, how.strides, how.tile, how.counts, how.order)
    return braces(
        [*(f"{each}u" for each in scalars), *(numbers(each, MOST_DIMS) for each in arrays)]
    )


def launch(of: Launch, arguments: str) -> str:
    """A `mirage_launch`, whose arguments are the array of that name."""
    sizes = [f"{of.threads}u", f"{of.shared_bytes}u", int(of.follows), f"{len(of.arguments)}u"]
    return braces([f'"{of.kernel}"', numbers(of.grid, 3), *sizes, arguments])


def array(kind: str, name: str, entries: Sequence[str]) -> list[str]:
    """The lines of an array; none of an empty one, which C does not have."""
    if not entries:
        return []
    return [f"static const {kind} {name}[] = {{", *(f"  {entry}," for entry in entries), "};"]


def data(name: str, content: bytes) -> list[str]:
    """The lines of an array of bytes, aligned as the driver may want machine code."""
    rows = [content[at : at + BYTES_OF_LINE] for at in range(0, len(content), BYTES_OF_LINE)]
    head = f"static const unsigned char {name}[] __attribute__((aligned(64))) = {{"
    return [head, *("".join(f"{byte}," for byte in row) for row in rows), "};"]


def code(number: int, of: TargetCode) -> tuple[list[str], str]:
    """The arrays of one target, and its `mirage_code`."""
    place = f"mirage_target_{number}"
    digits = of.target.removeprefix("sm_").removesuffix("a")
    lines = data(f"{place}_cubin", of.cubin)
    launches: list[str] = []
    for position, each in enumerate(of.launches):
        name = f"{place}_arguments_{position}"
        lines += array("mirage_argument", name, [argument(one) for one in each.arguments])
        launches.append(launch(each, name if each.arguments else "NULL"))
    lines += array("mirage_launch", f"{place}_launches", launches)
    lines += array("mirage_tensor_map", f"{place}_maps", [tensor_map(m) for m in of.tensor_maps])
    lines += array("mirage_packing", f"{place}_packed", [packing(each) for each in of.packed])
    counted = {"launches": of.launches, "maps": of.tensor_maps, "packed": of.packed}
    entry = [
        *(digits[:-1], digits[-1], int(of.target.endswith("a")), f"{place}_cubin"),
        *(f"{len(each)}u" for each in counted.values()),
        *(f"{place}_{name}" if each else "NULL" for name, each in counted.items()),
        *(f"{of.scratch_bytes}u", f"{of.counter_bytes}u"),
    ]
    return lines, braces(entry)


def most_arguments(codes: Sequence[TargetCode]) -> int:
    """Of one launch, pointers and maps together; at least 1, as the length of an array."""
    counts = (len(each.arguments) for of in codes for each in of.launches)
    return max((*counts, 1))
