"""A CUDA driver and a torch that live in host memory, for tests on machines without a GPU."""

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Artifact, Launch, TargetCode, TensorSpec, row_major
from mirage_mlir.runtime.cuda_driver import MAP_BYTES, CudaError, Function, Module
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput


def spec(name: str, *shape: int, element_type: ElementType = ElementType.F16) -> TensorSpec:
    """A dense tensor."""
    return TensorSpec(name, shape, element_type, row_major(shape))


def code(target: str = "sm_90a", scratch: int = 0, shared: int = 1024) -> TargetCode:
    """Two kernels with the second reading what the first left in scratch memory."""
    arguments = ["input:0", "input:1", f"scratch:{max(scratch - 256, 0)}" if scratch else "input:1"]
    return TargetCode(
        target=target,
        cubin=b"\x7fELF" + target.encode(),
        launches=(
            Launch("f_kernel_0", (8, 1, 1), 128, shared, tuple(map(Argument.parse, arguments))),
            Launch("f_kernel_1", (2, 3, 1), 64, 0, (Argument("output", 0), Argument("input", 0))),
        ),
        scratch_bytes=scratch,
        ugraph="// the uGraph\n",
        resources={"registers": 64, "spill_bytes": 0},
    )


def map_of(tensor: str, offset: int = 0) -> TensorMapArgument:
    """A map of the first 4x8 elements of f16 of a tensor, in boxes of 2x8."""
    return TensorMapArgument(
        Argument.parse(tensor), offset, (8, 4), (16,), (8, 2), 0, ElementType.F16
    )


def code_with_maps(target: str = "sm_90a", scratch: int = 0) -> TargetCode:
    """The same kernels with tensor maps of both inputs, and of the scratch memory if any."""
    plain = code(target, scratch)
    first, second = plain.launches
    maps = [map_of("input:0"), map_of("input:1", 64)]
    if scratch:
        maps.append(map_of(f"scratch:{scratch - 256}", 128))
    second_map = f"map:{len(maps) - 1}"
    return replace(
        plain,
        launches=(
            replace(first, arguments=tuple(map(Argument.parse, ("map:0", "input:1", "map:1")))),
            replace(second, arguments=tuple(map(Argument.parse, ("output:0", second_map)))),
        ),
        tensor_maps=tuple(maps),
    )


PACKING = Packing(0, (8, 16), (16, 1), (4, 8), (2, 2), (1, 0), 1, 8)
"""Of the second input: tiles of 4x8, those of one column of tiles after another."""


def code_with_packed(target: str = "sm_90a") -> TargetCode:
    """The same kernels, which read the second input packed, through a tensor map."""
    plain = code(target)
    first, second = plain.launches
    tensor = Argument("packed", 0)
    packed_map = TensorMapArgument(tensor, 0, (8, 16), (16,), (8, 4), 0, ElementType.F16)
    arguments = tuple(map(Argument.parse, ("input:0", "packed:0", "map:0")))
    return replace(
        plain,
        launches=(replace(first, arguments=arguments), second),
        tensor_maps=(packed_map,),
        packed=(PackedInput(Argument("input", 1), ElementType.F16, PACKING),),
    )


PROGRAM = """builtin.module {
  func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x16xf16> {kernel.constant}) -> tensor<4x16xf16> {
  }
}
"""


def artifact(*targets: TargetCode) -> Artifact:
    """A program of two inputs and one output."""
    return Artifact(
        name="f",
        inputs=(spec("x", 4, 8), spec("w", 8, 16)),
        outputs=(spec("out0", 4, 16),),
        targets=targets or (code(), code("sm_80")),
        program=PROGRAM,
        report="searched\n",
        verification={"trials": 3, "bound": 1e-9},
        producer="test",
    )


def code_with_counters(target: str = "sm_90a") -> TargetCode:
    """The second kernel counts blocks, behind 16 bytes of counters of others."""
    plain = code(target, scratch=768)
    first, second = plain.launches
    arguments = (second.arguments[0], Argument("counters", 16))
    return replace(plain, launches=(first, replace(second, arguments=arguments)), counter_bytes=32)


def following(plain: TargetCode) -> TargetCode:
    """The same kernels, which may start before the previous grid has ended."""
    early = tuple(replace(launch, follows=True) for launch in plain.launches)
    return replace(plain, launches=early)


def with_constant(program: Artifact) -> Artifact:
    x, w = program.inputs
    return replace(program, inputs=(x, replace(w, constant=True)))


@dataclass
class Launched:
    """One launch that the fake driver was asked for."""

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    stream: int
    device: int
    arguments: list[int]


@dataclass
class FakeDriver:
    """Records launches, and reads their arguments as the hardware would."""

    capabilities: Sequence[tuple[int, int]] = ((9, 0), (9, 0))
    limit: int = 227 * 1024
    current: int | None = 0
    broken: bool = False
    launches: list[Launched] = field(default_factory=list[Launched])
    early: list[str] = field(default_factory=list[str])
    """The kernels that may start before the previous grids have ended."""
    encoded: list[tuple[TensorMapArgument, int]] = field(
        default_factory=list[tuple[TensorMapArgument, int]]
    )
    """The tensor maps, and the addresses of their tensors."""
    memory: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """What lies at the addresses of tensors."""
    allocated: list[int] = field(default_factory=list[int])
    freed: list[int] = field(default_factory=list[int])
    synchronized: int = 0
    """How often somebody waited for the device."""
    captures: dict[int, int] = field(default_factory=dict[int, int])
    """The graphs that are being captured, by stream."""
    counters: list[int] = field(default_factory=list[int])
    """The sizes of the memory for counters."""
    loads: list[tuple[int | None, bytes]] = field(default_factory=list[tuple[int | None, bytes]])
    counts: dict[str, int] = field(
        default_factory=lambda: {"f_kernel_0": 3, "f_kernel_1": 2},
    )

    def capability(self, device: int) -> tuple[int, int]:
        """Of the table."""
        return self.capabilities[device]

    def shared_memory_limit(self, device: int) -> int:
        """The same on every device."""
        return self.limit

    def current_device(self) -> int | None:
        """What the innermost `use_device` set."""
        return self.current

    @contextmanager
    def use_device(self, device: int) -> Generator[None]:
        """Switch, and switch back."""
        before, self.current = self.current, device
        try:
            yield
        finally:
            self.current = before

    def load(self, cubin: bytes) -> Module:
        """Note the load."""
        self.loads.append((self.current, cubin))
        return Module(cubin)

    def function(self, module: Module, name: str, shared_bytes: int) -> Function:
        """A function is its name."""
        return Function(name)

    def allocate(self, size: int) -> int:
        """One address after the other."""
        assert self.current is not None
        assert size > 0
        self.allocated.append(0x10000 * (len(self.allocated) + 1))
        return self.allocated[-1]

    def free(self, address: int) -> None:
        """What was allocated, once."""
        assert self.current is not None
        assert address in self.allocated
        assert address not in self.freed
        self.freed.append(address)

    def upload(self, address: int, data: bytes) -> None:
        """Keep it."""
        assert address in self.allocated
        self.memory[address] = data

    def download(self, address: int, size: int) -> bytes:
        """What a test put there, or was uploaded."""
        assert not any(self.captures.values())
        return self.memory[address][:size]

    def synchronize(self) -> None:
        """Count."""
        assert not any(self.captures.values())
        self.synchronized += 1

    def encode(self, tensor_map: TensorMapArgument, address: int) -> bytes:
        """The first of its bytes say where it starts, so that a launch reads that."""
        self.encoded.append((tensor_map, address))
        return (address + tensor_map.offset).to_bytes(8, "little").ljust(MAP_BYTES, b"m")

    def capture(self, stream: int) -> int:
        """What a test says."""
        return self.captures.get(stream, 0)

    def zeroed(self, size: int) -> int:
        """Somewhere else each time."""
        self.counters.append(size)
        return 1 << 20 | len(self.counters) << 8

    def launch(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Read the arguments through their addresses, and note the launch."""
        if self.broken:
            raise CudaError("launching a kernel failed: CUDA_ERROR_LAUNCH_FAILED")
        name = str(function)
        addresses = (ctypes.c_void_p * self.counts[name]).from_address(parameters)
        values = [ctypes.c_uint64.from_address(address or 0).value for address in addresses]
        assert self.current is not None
        self.launches.append(
            Launched(name, grid, threads, shared_bytes, stream, self.current, values)
        )

    def launch_early(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Note the launch, and that it does not wait."""
        self.early.append(str(function))
        self.launch(function, grid, threads, shared_bytes, stream, parameters)


class FakeTensor:
    """What the runtime asks a torch tensor for."""

    def __init__(
        self,
        shape: Sequence[int] = (),
        dtype: str = "torch.float16",
        device: str = "cuda:0",
        *,
        strides: Sequence[int] | None = None,
        address: int = 4096,
        negative: bool = False,
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.device = device
        self.is_cuda = device.startswith("cuda")
        self.is_cpu = device == "cpu"
        self.requires_grad = False
        self.negative = negative
        self.copied: FakeTensor | None = None
        self._version = 0
        self._strides = row_major(shape) if strides is None else tuple(strides)
        self._address = address

    def change(self) -> None:
        """As if an operator had written to it."""
        self._version += 1

    def is_neg(self) -> bool:
        """Whether the elements are still to be negated."""
        return self.negative

    def copy_(self, source: "FakeTensor") -> None:
        """Note what was copied."""
        assert source.shape == self.shape
        self.copied = source

    def is_inference(self) -> bool:
        """Whether inference mode made it."""
        return False

    def stride(self) -> tuple[int, ...]:
        """In elements."""
        return self._strides

    def is_contiguous(self) -> bool:
        """As torch says it, but for dimensions of size 1."""
        return self._strides == row_major(self.shape)

    def data_ptr(self) -> int:
        """The address."""
        return self._address

    def __dlpack_device__(self) -> tuple[int, int]:
        """As DLPack numbers kinds of devices."""
        return (2, self.get_device()) if self.is_cuda else (1, 0)

    def get_device(self) -> int:
        """The ordinal."""
        return int(self.device.partition(":")[2])


class FakeTorch(ModuleType):
    """A module that passes for torch; dtypes print as torch's do."""

    Tensor = FakeTensor

    def __init__(self) -> None:
        super().__init__("torch")
        self.float16 = "torch.float16"
        self.bfloat16 = "torch.bfloat16"
        self.float32 = "torch.float32"
        self.uint8 = "torch.uint8"
        self._C = SimpleNamespace(_cuda_getCurrentRawStream=self._stream)
        self.allocated: list[FakeTensor] = []
        self.grad_enabled = True

    def is_grad_enabled(self) -> bool:
        """Whether gradients are recorded."""
        return self.grad_enabled

    def device(self, kind: str, index: int) -> str:
        """As torch prints it."""
        return f"{kind}:{index}"

    def _stream(self, device: int) -> int:
        return 70 + device

    def _allocate(self, tensor: FakeTensor) -> FakeTensor:
        self.allocated.append(tensor)
        return tensor

    def empty_strided(
        self, shape: Sequence[int], strides: Sequence[int], *, dtype: str, device: str
    ) -> FakeTensor:
        """A tensor at an address of its own."""
        address = 0x100000 * (len(self.allocated) + 1)
        return self._allocate(FakeTensor(shape, dtype, device, strides=strides, address=address))

    def empty(self, size: int, *, dtype: str, device: str) -> FakeTensor:
        """A vector."""
        return self.empty_strided((size,), (1,), dtype=dtype, device=device)

    def from_dlpack(self, tensor: "Foreign") -> FakeTensor:
        """The tensor inside."""
        return tensor.inside


class Foreign:
    """A tensor of another library, which speaks DLPack and the array API."""

    def __init__(self, inside: FakeTensor) -> None:
        self.inside = inside

    def __dlpack__(self) -> object:
        return None

    def __dlpack_device__(self) -> tuple[int, int]:
        """On CUDA."""
        return 2, 0

    def __array_namespace__(self) -> SimpleNamespace:
        return SimpleNamespace(from_dlpack=Foreign)
