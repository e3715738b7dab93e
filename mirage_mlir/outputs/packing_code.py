"""
Kernels that pack constants, in upstream's dialects: one thread writes one element of a copy.

    gpu.module @f_packing [#nvvm.target<...>] {
      llvm.func @f_pack_0(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>)
    }

`Packing` says what is where. Elements keep their bits; what is past the end of the tensor is zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.runtime.packed import PackedInput

THREADS = 256
"""Of a block: a copy is made once, so that any number does that fills the machine."""

ALIGNMENT = 256
"""Bytes, of each copy in the memory that holds them all: tensor maps want 16."""


def packed_offsets(packed: Sequence[PackedInput]) -> tuple[list[int], int]:
    """Where each copy begins, in bytes, and where the last one ends."""
    offsets: list[int] = []
    end = 0
    for each in packed:
        offsets.append(-(-end // ALIGNMENT) * ALIGNMENT)
        end = offsets[-1] + each.storage_bytes
    return offsets, end


def blocks_of(packed: PackedInput) -> int:
    """The grid of the kernel that makes a copy."""
    return -(-packed.packing.elements // THREADS)


@dataclass
class _Numbers:
    """Operations on i64, with constants."""

    lines: list[str] = field(default_factory=list[str])
    _count: int = 0

    def add(self, text: str) -> str:
        """One more operation with one result; its name."""
        self._count += 1
        self.lines.append(f"%{self._count} = {text}")
        return f"%{self._count}"

    def constant(self, value: int) -> str:
        """A number."""
        return self.add(f"arith.constant {value} : i64")

    def apply(self, name: str, x: str, value: int) -> str:
        """An operation of arith with a constant."""
        return self.add(f"arith.{name} {x}, {self.constant(value)} : i64")

    def split(self, x: str, size: int) -> tuple[str, str]:
        """The remainder and the quotient of a division."""
        return self.apply("remui", x, size), self.apply("divui", x, size)

    def plus(self, x: str, y: str) -> str:
        """A sum."""
        return self.add(f"arith.addi {x}, {y} : i64")


def _positions(numbers: _Numbers, packing: Packing, place: str) -> list[str]:
    """Where the element `place` of a copy comes from, along each dim of the view."""
    positions = [""] * len(packing.shape)
    run = packing.run_dim
    positions[run], place = numbers.split(place, packing.panel)
    for dim in reversed(range(len(packing.shape))):
        if dim != run:
            positions[dim], place = numbers.split(place, packing.tile[dim])
    panel, place = numbers.split(place, packing.tile[run] // packing.panel)
    panel = numbers.apply("muli", panel, packing.panel)
    positions[run] = numbers.plus(positions[run], panel)
    for dim in reversed(packing.order):
        tile, place = numbers.split(place, packing.counts[dim])
        start = numbers.apply("muli", tile, packing.tile[dim])
        positions[dim] = numbers.plus(positions[dim], start)
    return positions


def pack_kernel(name: str, packed: PackedInput) -> str:
    """The function of a kernel that makes a copy."""
    packing, element = packed.packing, f"i{8 * packed.element_type.itemsize}"
    numbers = _Numbers()
    block, thread = (
        numbers.add(f"arith.extui {numbers.add(f'nvvm.read.ptx.sreg.{word}.x : i32')} : i32 to i64")
        for word in ("ctaid", "tid")
    )
    place = numbers.plus(numbers.apply("muli", block, THREADS), thread)
    is_element = numbers.apply("cmpi ult,", place, packing.elements)
    outer, numbers.lines = numbers.lines, []
    positions = _positions(numbers, packing, place)
    source = numbers.constant(packing.offset)
    is_inside = numbers.add("arith.constant true")
    for position, size, stride in zip(positions, packing.shape, packing.strides, strict=True):
        source = numbers.plus(source, numbers.apply("muli", position, stride))
        within = numbers.apply("cmpi ult,", position, size)
        is_inside = numbers.add(f"arith.andi {is_inside}, {within} : i1")
    before, inner = "\n    ".join(outer), "\n      ".join(numbers.lines)
    marks = "attributes {gpu.kernel, nvvm.kernel}"
    pointer = "(!llvm.ptr<1>, i64) -> !llvm.ptr<1>"
    return f"""llvm.func @{name}(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) {marks} {{
    {before}
    scf.if {is_element} {{
      {inner}
      %value = scf.if {is_inside} -> ({element}) {{
        %source = llvm.getelementptr %from[{source}] : {pointer}, {element}
        %read = llvm.load %source : !llvm.ptr<1> -> {element}
        scf.yield %read : {element}
      }} else {{
        %zero = arith.constant 0 : {element}
        scf.yield %zero : {element}
      }}
      %target = llvm.getelementptr %to[{place}] : {pointer}, {element}
      llvm.store %value, %target : {element}, !llvm.ptr<1>
    }}
    llvm.return
  }}"""


def packing_module(name: str, targets: str, packed: Sequence[PackedInput]) -> str:
    """The `gpu.module` `name` of the kernels `pack_0`, `pack_1` and so on, for `targets`."""
    kernels = [pack_kernel(f"pack_{number}", each) for number, each in enumerate(packed)]
    body = "\n  ".join(kernels)
    return f"gpu.module {name} {targets} {{\n  {body}\n}}"


def constants_of(packed: Sequence[PackedInput]) -> list[int]:
    """The inputs that are packed."""
    return sorted({each.tensor.index for each in packed})


def copy_addresses(packed: Sequence[PackedInput]) -> tuple[list[str], list[str]]:
    """The address of each copy in the memory `%packed`, and what computes them."""
    offsets, _ = packed_offsets(packed)
    names = [f"%copy_{number}" for number in range(len(packed))]
    gep = "llvm.getelementptr %packed"
    return names, [
        f"{name} = {gep}[{offset}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8"
        for name, offset in zip(names, offsets, strict=True)
    ]


def pack_function(name: str, module: str, packed: Sequence[PackedInput]) -> str:
    """The function on device addresses that fills the memory for copies, and waits for it."""
    arguments = [f"%in_{number}: !llvm.ptr<1>" for number in constants_of(packed)]
    copies, lines = copy_addresses(packed)
    lines += [
        "%one = arith.constant 1 : index",
        f"%threads = arith.constant {THREADS} : index",
        "%none = arith.constant 0 : i32",
        "%token = gpu.wait async",
    ]
    token = "%token"
    for number, (each, copy) in enumerate(zip(packed, copies, strict=True)):
        lines.append(f"%blocks_{number} = arith.constant {blocks_of(each)} : index")
        lines.append(
            f"%after_{number} = gpu.launch_func async [{token}] {module}::@pack_{number} "
            f"blocks in (%blocks_{number}, %one, %one) threads in (%threads, %one, %one) "
            f"dynamic_shared_memory_size %none "
            f"args(%in_{each.tensor.index} : !llvm.ptr<1>, {copy} : !llvm.ptr<1>)"
        )
        token = f"%after_{number}"
    lines.append(f"gpu.wait [{token}]")
    body = "\n  ".join(lines)
    given = ", ".join([*arguments, "%packed: !llvm.ptr<1>"])
    return f"llvm.func {name}({given}) {{\n  {body}\n  llvm.return\n}}"


def whole_function(
    name: str, pack: str, launcher: str, arguments: Sequence[str], packed: Sequence[PackedInput]
) -> str:
    """The function on device addresses that packs for itself, in each call."""
    words = -(-packed_offsets(packed)[1] // 4)
    kind = f"memref<{words}xi32>"
    constants = [f"%in_{number}" for number in constants_of(packed)]
    pointers = ", ".join(f"{each}: !llvm.ptr<1>" for each in arguments)
    lines = [
        "%token = gpu.wait async",
        f"%memory, %there = gpu.alloc async [%token] () : {kind}",
        "gpu.wait [%there]",
        f"%index = memref.extract_aligned_pointer_as_index %memory : {kind} -> index",
        "%number = arith.index_cast %index : index to i64",
        "%packed = llvm.inttoptr %number : i64 to !llvm.ptr<1>",
        _call(pack, [*constants, "%packed"]),
        _call(launcher, [*arguments, "%packed"]),
        "%ended = gpu.wait async",
        f"%gone = gpu.dealloc async [%ended] %memory : {kind}",
        "gpu.wait [%gone]",
    ]
    body = "\n  ".join(lines)
    return f"llvm.func {name}({pointers}) {{\n  {body}\n  llvm.return\n}}"


def _call(name: str, arguments: Sequence[str]) -> str:
    kinds = ", ".join(["!llvm.ptr<1>"] * len(arguments))
    return f"llvm.call {name}({', '.join(arguments)}) : ({kinds}) -> ()"
