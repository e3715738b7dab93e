"""
Code of a host that launches kernels, in upstream's dialects: func, gpu, memref, arith and llvm.

    llvm.func @f_on_device(%in_0: !llvm.ptr<1>, %out_0: !llvm.ptr<1>) {
      ... gpu.launch_func async [%t] @f_kernels::@f_kernel_0 blocks in ... args(...)
    }
    func.func @f(%in_0: memref<16x64xf16>, %out_0: memref<16x32xf16>) {
      ... llvm.call @f_on_device(...)
    }

These are two, since upstream's passes that give back buffers want to know what each operation of a
`func.func` does to memory, which those that launch do not say. Buffers are on the device. What a
call needs besides is allocated on a stream of its own, for whose end the function waits. Launches
wait for the previous grid: upstream's run-time library has no programmatic dependent launch, and
the waits of kernels that could start early do nothing then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import DenseArrayBase

from mirage_mlir.c_source.tables import MAP_SWIZZLES, MAP_TYPES
from mirage_mlir.diagnostics import fail
from mirage_mlir.outputs.packing_code import copy_addresses
from mirage_mlir.runtime.arguments import COUNTERS, MAP, Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Launch, TensorSpec, row_major
from mirage_mlir.runtime.packed import PackedInput

ENCODE = "mgpuTensorMapEncodeTiled"
"""Of upstream's run-time library: `cuTensorMapEncodeTiled`, without a status."""

DECLARATION = (
    f"llvm.func @{ENCODE}(!llvm.ptr, i32, i32, !llvm.ptr<1>, !llvm.ptr, !llvm.ptr, !llvm.ptr, "
    "!llvm.ptr, i32, i32, i32, i32)"
)

ALIGNMENT = 16
"""Bytes, of tensors: what kernels copy at once."""

MAP_BYTES = "!llvm.array<128 x i8>"
DEVICE = "!llvm.ptr<1>"


@dataclass(frozen=True)
class Kernels:
    """A `gpu.module`, and what a caller must know of it."""

    module: gpu.ModuleOp
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    launches: Sequence[Launch]
    maps: Sequence[TensorMapArgument]
    scratch_bytes: int
    counter_bytes: int
    packed: Sequence[PackedInput] = ()


def quoted(name: str) -> str:
    """A symbol of that name."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'@"{escaped}"'


def buffer_type(spec: TensorSpec) -> str:
    """The memref that a tensor lies in."""
    sizes = "".join(f"{size}x" for size in spec.shape)
    if spec.strides == row_major(spec.shape):
        return f"memref<{sizes}{spec.element_type.value}>"
    steps = ", ".join(map(str, spec.strides))
    return f"memref<{sizes}{spec.element_type.value}, strided<[{steps}]>>"


def tensor_type(spec: TensorSpec) -> str:
    """The tensor that a function of the program takes or gives."""
    return f"tensor<{''.join(f'{size}x' for size in spec.shape)}{spec.element_type.value}>"


def argument_names(kernels: Kernels) -> list[str]:
    """What the arguments of the functions are called: inputs, then outputs."""
    inputs = [f"%in_{number}" for number in range(len(kernels.inputs))]
    return inputs + [f"%out_{number}" for number in range(len(kernels.outputs))]


def address_of(buffer: str, kind: str) -> tuple[str, list[str]]:
    """The address of a buffer in device memory, and what computes it."""
    extract = "memref.extract_aligned_pointer_as_index"
    return f"{buffer}_address", [
        f"{buffer}_index = {extract} {buffer} : {kind} -> index",
        f"{buffer}_number = arith.index_cast {buffer}_index : index to i64",
        f"{buffer}_address = llvm.inttoptr {buffer}_number : i64 to {DEVICE}",
    ]


@dataclass
class Launcher:
    """Writes the function on device addresses that launches the kernels of one module."""

    kernels: Kernels
    lines: list[str] = field(default_factory=list[str])
    _count: int = 0

    def add(self, text: str) -> str:
        """One more operation with one result; its name."""
        self._count += 1
        self.lines.append(f"%{self._count} = {text}")
        return f"%{self._count}"

    def number(self, value: int, kind: str) -> str:
        """A constant."""
        return self.add(f"arith.constant {value} : {kind}")

    def function(self, name: str, module: str) -> str:
        """The function `name`, whose kernels are in the `gpu.module` called `module`."""
        kernels = self.kernels
        names = argument_names(kernels)
        inputs = len(kernels.inputs)
        addresses = {
            f"input:{at}" if at < inputs else f"output:{at - inputs}": argument
            for at, argument in enumerate(names)
        }
        if kernels.packed:
            copies, lines = copy_addresses(kernels.packed)
            self.lines += lines
            addresses |= {f"packed:{number}": copy for number, copy in enumerate(copies)}
            names.append("%packed")
        token = self.add("gpu.wait async")
        token, scratch = self._workspace("scratch", kernels.scratch_bytes, token, addresses)
        token, counters = self._workspace(COUNTERS, kernels.counter_bytes, token, addresses)
        self.wait_for(token)
        maps = [self._map(each, addresses) for each in kernels.maps]
        token = self.add("gpu.wait async")
        for launch, kernel in zip(kernels.launches, functions_of(kernels.module), strict=True):
            token = self._launch(launch, kernel, module, token, addresses, maps)
        for memory in (scratch, counters):
            if memory:
                token = self.add(f"gpu.dealloc async [{token}] {memory}")
        self.wait_for(token)
        arguments = ", ".join(f"{argument}: {DEVICE}" for argument in names)
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"llvm.func {name}({arguments}) {{\n{body}\n  llvm.return\n}}"

    def wait_for(self, token: str) -> None:
        """Wait until all before has ended."""
        self.lines.append(f"gpu.wait [{token}]")

    def _address(self, buffer: str, kind: str) -> str:
        address, lines = address_of(buffer, kind)
        self.lines += lines
        return address

    def _workspace(
        self, what: str, size: int, token: str, addresses: dict[str, str]
    ) -> tuple[str, str]:
        """Memory of our own, set to zero where it is for counters, and what it is known as."""
        if not size:
            return token, ""
        words = -(-size // 4)
        kind = f"memref<{words}xi32>"
        self._count += 1
        memory, after = f"%memory_{self._count}", f"%token_{self._count}"
        self.lines.append(f"{memory}, {after} = gpu.alloc async [{token}] () : {kind}")
        if what == COUNTERS:
            zero = self.number(0, "i32")
            after = self.add(f"gpu.memset async [{after}] {memory}, {zero} : {kind}, i32")
        addresses[what] = self._address(memory, kind)
        return after, f"{memory} : {kind}"

    def _pointer(self, argument: Argument, addresses: dict[str, str]) -> str:
        if argument.kind in addresses:
            start = addresses[argument.kind]
            if not argument.index:
                return start
            return self.add(
                f"llvm.getelementptr {start}[{argument.index}] : ({DEVICE}) -> {DEVICE}, i8"
            )
        return addresses[str(argument)]

    def _numbers(self, values: Sequence[int], kind: str) -> str:
        """Numbers in memory of the host."""
        array = f"!llvm.array<{max(len(values), 1)} x {kind}>"
        one = self.number(1, "i64")
        place = self.add(f"llvm.alloca {one} x {array} : (i64) -> !llvm.ptr")
        for at, value in enumerate(values):
            number = self.number(value, kind)
            to = self.add(f"llvm.getelementptr {place}[{at}] : (!llvm.ptr) -> !llvm.ptr, {kind}")
            self.lines.append(f"llvm.store {number}, {to} : {kind}, !llvm.ptr")
        return place

    def _map(self, each: TensorMapArgument, addresses: dict[str, str]) -> str:
        """A tensor map by value."""
        one = self.number(1, "i64")
        place = self.add(
            f"llvm.alloca {one} x {MAP_BYTES} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr"
        )
        start = self._pointer(each.tensor, addresses)
        if each.offset:
            start = self.add(
                f"llvm.getelementptr {start}[{each.offset}] : ({DEVICE}) -> {DEVICE}, i8"
            )
        given = [
            place,
            self.number(MAP_TYPES[each.element_type], "i32"),
            self.number(len(each.dims), "i32"),
            start,
            self._numbers(each.dims, "i64"),
            self._numbers(each.strides, "i64"),
            self._numbers(each.box, "i32"),
            self._numbers([1] * len(each.dims), "i32"),
            self.number(0, "i32"),
            self.number(MAP_SWIZZLES[each.swizzle], "i32"),
            self.number(0, "i32"),
            self.number(0, "i32"),
        ]
        kinds = DECLARATION.partition("(")[2]
        self.lines.append(f"llvm.call @{ENCODE}({', '.join(given)}) : ({kinds} -> ()")
        return self.add(f"llvm.load {place} : !llvm.ptr -> {MAP_BYTES}")

    def _launch(
        self,
        launch: Launch,
        kernel: llvm.FuncOp,
        module: str,
        token: str,
        addresses: dict[str, str],
        maps: Sequence[str],
    ) -> str:
        blocks = [self.number(size, "index") for size in launch.grid]
        threads = [self.number(size, "index") for size in (launch.threads, 1, 1)]
        shared = self.number(launch.shared_bytes, "i32")
        given: list[str] = []
        for argument in launch.arguments:
            is_map = argument.kind == MAP
            value = maps[argument.index] if is_map else self._pointer(argument, addresses)
            given.append(f"{value} : {MAP_BYTES if is_map else DEVICE}")
        clusters = ""
        if cluster := cluster_of(kernel):
            sizes = ", ".join(self.number(size, "index") for size in cluster)
            clusters = f"clusters in ({sizes}) "
        return self.add(
            f"gpu.launch_func async [{token}] {quoted(module)}::@{launch.kernel} {clusters}"
            f"blocks in ({', '.join(blocks)}) threads in ({', '.join(threads)}) "
            f"dynamic_shared_memory_size {shared} args({', '.join(given)})"
        )


def functions_of(module: gpu.ModuleOp) -> list[llvm.FuncOp]:
    """The kernels of a module, in the order in which they are launched."""
    return [op for op in module.body.block.ops if isinstance(op, llvm.FuncOp)]


def cluster_of(kernel: llvm.FuncOp) -> tuple[int, ...]:
    """Blocks of a cluster along x, y and z; none where there are no clusters."""
    found = kernel.attributes.get("nvvm.cluster_dim")
    if found is None:
        return ()
    assert isinstance(found, DenseArrayBase)
    return tuple(int(size) for size in found.iter_values())


def buffers_of(kernels: Kernels) -> dict[str, str]:
    """The arguments of functions on buffers, and their types."""
    specs = (*kernels.inputs, *kernels.outputs)
    return dict(zip(argument_names(kernels), map(buffer_type, specs), strict=True))


def on_buffers(name: str, launcher: str, buffers: Mapping[str, str]) -> str:
    """The function `name` on buffers, that calls one on their addresses."""
    lines: list[str] = []
    addresses: list[str] = []
    for buffer, kind in buffers.items():
        address, computed = address_of(buffer, kind)
        addresses.append(address)
        lines += computed
    kinds = ", ".join([DEVICE] * len(addresses))
    lines.append(f"llvm.call {launcher}({', '.join(addresses)}) : ({kinds}) -> ()")
    arguments = ", ".join(f"{buffer}: {kind}" for buffer, kind in buffers.items())
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func {name}({arguments}) {{\n{body}\n  func.return\n}}"


def wrapper(kernels: Kernels, name: str, launcher: str) -> str:
    """The function `name` on tensors, as the host calls it."""
    inputs = [f"%in_{number}: {tensor_type(spec)}" for number, spec in enumerate(kernels.inputs)]
    lines: list[str] = []
    given: list[tuple[str, str]] = []
    for number, spec in enumerate(kernels.inputs):
        kind = buffer_type(spec)
        # Without `read_only`, a copy of each input would be made before each call.
        lines.append(
            f"%b{number} = bufferization.to_buffer %in_{number} read_only : "
            f"{tensor_type(spec)} to {kind}"
        )
        given.append((f"%b{number}", kind))
    for number, spec in enumerate(kernels.outputs):
        if not spec.dense:
            fail(kernels.module, f"gives its host result {number} with dims in another order")
        kind = buffer_type(spec)
        lines.append(f"%o{number} = memref.alloc() {{alignment = {ALIGNMENT} : i64}} : {kind}")
        given.append((f"%o{number}", buffer_type(spec)))
    names, kinds = zip(*given, strict=True)
    lines.append(f"func.call {quoted(launcher)}({', '.join(names)}) : ({', '.join(kinds)}) -> ()")
    results: list[str] = []
    for number, spec in enumerate(kernels.outputs):
        kind = f"{buffer_type(spec)} to {tensor_type(spec)}"
        lines.append(f"%r{number} = bufferization.to_tensor %o{number} restrict writable : {kind}")
        results.append(f"%r{number}")
    types = ", ".join(tensor_type(spec) for spec in kernels.outputs)
    body = "\n".join(f"  {line}" for line in lines)
    end = f"  func.return {', '.join(results)} : {types}"
    return f"func.func {quoted(name)}({', '.join(inputs)}) -> ({types}) {{\n{body}\n{end}\n}}"
