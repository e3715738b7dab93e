"""Running the kernels of a GPU module as its launch plan says."""

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import I32, DenseArrayBase
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper, nvvm_wgmma
from mirage_mlir.dialects.interface import INTERFACE, InterfaceAttr, interface_of
from mirage_mlir.dialects.launch import LAUNCH, WORKSPACE, launch_of, workspace_of
from mirage_mlir.dialects.nvvm_attributes import CLUSTER_SHARED
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.gpu_simulator import (
    arithmetic,
    atomics,
    barriers,
    control,
    mbarriers,
    memory,
    tensor_copies,
    warpgroups,
    warps,
)
from mirage_mlir.interpreters.gpu_simulator.clocks import WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import (
    Array,
    byte_count,
    decode,
    encode,
    is_known,
    rounded,
)
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import BlockIndex, Flow, Prepared, Rules
from mirage_mlir.interpreters.gpu_simulator.hand_off import Counters, HandedBuffer, HandOff
from mirage_mlir.interpreters.gpu_simulator.inline_assembly import effect_of
from mirage_mlir.interpreters.gpu_simulator.packed import packed_buffers
from mirage_mlir.interpreters.gpu_simulator.previous_grid import noalias_arguments
from mirage_mlir.interpreters.gpu_simulator.scheduler import run_flows
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory
from mirage_mlir.interpreters.gpu_simulator.tensor_copies import tensor_map_of
from mirage_mlir.interpreters.gpu_simulator.values import Pointer, TensorMapValue, Value

RULES: Rules = {
    **arithmetic.RULES,
    **atomics.RULES,
    **control.RULES,
    **mbarriers.RULES,
    **barriers.RULES,
    **memory.RULES,
    **tensor_copies.RULES,
    **warpgroups.RULES,
    **warps.RULES,
}

PARTING = (
    llvm.InlineAsmOp,
    nvvm.BarWarpSyncOp,
    nvvm_hopper.FenceProxyOp,
    nvvm_hopper.MBarrierInitOp,
    nvvm_wgmma.WgmmaCommitOp,
    nvvm_wgmma.WgmmaFenceOp,
    nvvm_wgmma.WgmmaMmaAsyncOp,
    nvvm_wgmma.WgmmaWaitOp,
)
"""
Operations of kernels for which it does not do to know when all threads of a block synchronized
last; named barriers are others.
"""

SHARED_SPACE = 3
"""The address space of shared memory (LLVM, NVPTX)."""

SWIZZLED_LINES = 8
"""After so many lines a swizzle repeats."""


def interface(op: Operation) -> InterfaceAttr:
    """The interface of a lowered module, whose tensors have element types that are simulated."""
    found = interface_of(op)
    if found is None:
        raise unsupported(op, f"has no '{INTERFACE}': lower-to-nvvm writes it")
    for kind in (*found.inputs, *found.outputs):
        if not is_known(kind.element_type):
            raise unsupported(op, f"has {kind} in '{INTERFACE}'")
    return found


def is_told_to_others(op: Operation) -> bool:
    """Whether barriers of other blocks count what `op` does."""
    if isinstance(op, nvvm_hopper.MBarrierArriveOp):
        return op.addr.type == CLUSTER_SHARED
    is_copy = isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp)
    return is_copy and op.multicast_mask is not None


class Device:
    """
    Device memory with a function's inputs, outputs and scratch.

    Every allocation has the exact size of its tensor, so that the first byte beyond it is noticed.
    """

    def __init__(self, module: gpu.ModuleOp, inputs: Sequence[Array], checker: Checker) -> None:
        self.module = module
        self.checker = checker
        self.interface = interface(module)
        input_types = self.interface.inputs
        if len(inputs) != len(input_types):
            raise ValueError(f"the kernels take {len(input_types)} inputs, got {len(inputs)}")
        self.buffers: dict[str, DeviceBuffer] = {}
        for number, (array, kind) in enumerate(zip(inputs, input_types, strict=True)):
            if array.shape != kind.get_shape():
                expected = kind.get_shape()
                raise ValueError(f"input {number} has shape {array.shape}, expected {expected}")
            elements = rounded(array.reshape(-1), kind.element_type)
            data = encode(elements, kind.element_type).reshape(-1)
            name = f"input:{number}"
            self.buffers[name] = DeviceBuffer(name, data, checker, is_input=True)
        self.inputs_are_given = False
        """Whether all grids that may write inputs have ended when the next kernel starts."""
        self.packed = packed_buffers(module, self.interface, self.buffers, checker)
        self.buffers |= self.packed
        for number, kind in enumerate(self.interface.outputs):
            size = kind.element_count() * byte_count(kind.element_type)
            name = f"output:{number}"
            self.buffers[name] = DeviceBuffer.blank(name, size, checker)
        workspace = workspace_of(module)
        if workspace is None:
            raise unsupported(module, f"has no '{WORKSPACE}': lower-to-nvvm writes it")
        self.hand_off = HandOff()
        self.buffers["scratch"] = HandedBuffer.scratch(
            workspace.scratch_bytes, self.hand_off, checker
        )
        if size := workspace.counter_bytes:
            self.buffers["counters"] = Counters.of_blocks(size, self.hand_off, checker)

    def argument(self, op: Operation, text: str, threads: int, *, noalias: bool) -> Value:
        """What a kernel gets for an argument: a pointer for each thread, or a tensor map."""
        space, _, number = text.partition(":")
        if space == "map" and number.isdigit():
            return self.tensor_map(op, int(number))
        buffer, start = self.address(op, text)
        return Pointer(buffer, np.full(threads, start, np.int64), noalias=noalias)

    def tensor_map(self, op: Operation, number: int) -> TensorMapValue:
        """A tensor map of the launch plan."""
        entries = self.interface.tensor_maps.data
        if number >= len(entries):
            raise unsupported(op, f"has the argument map:{number}, which the launch plan does not")
        entry = entries[number].tensor_map
        return tensor_map_of(op, entry, *self.address(op, entry.tensor))

    def address(self, op: Operation, text: str) -> tuple[DeviceBuffer, int]:
        """The memory that the launch plan calls `text`, and the byte where it starts."""
        space, _, number = text.partition(":")
        if space in ("scratch", "counters") and space in self.buffers and number.isdigit():
            return self.buffers[space], int(number)
        if text not in self.buffers:
            raise unsupported(op, f"has the argument '{text}', which the launch plan does not")
        return self.buffers[text], 0

    def available(self) -> list[DeviceBuffer]:
        """What is there before the previous grid has ended: constants, or all inputs."""
        constants = self.interface.constants.get_values()
        numbers = range(len(self.interface.inputs))
        early = numbers if self.inputs_are_given else constants
        return [*(self.buffers[f"input:{number}"] for number in early), *self.packed.values()]

    def start_launch(self) -> None:
        """A new kernel starts."""
        for buffer in self.buffers.values():
            buffer.start_launch()

    def outputs(self) -> list[Array]:
        """The function's results as arrays of their shapes."""
        results: list[Array] = []
        for number, kind in enumerate(self.interface.outputs):
            data = self.buffers[f"output:{number}"].data
            elements = decode(data.reshape(kind.element_count(), -1), kind.element_type)
            strides = self.interface.strides.data[number].get_values()
            steps = [s * elements.itemsize for s in strides]
            view = np.lib.stride_tricks.as_strided(elements, kind.get_shape(), steps)
            results.append(view.copy())
        return results

    def require_written(self, op: Operation) -> None:
        """Every element of every result must have been written, and counters be as they were."""
        if "counters" in self.buffers and self.buffers["counters"].data.any():
            message = "leaves counters that are not 0 for the next call"
            self.checker.report(FaultKind.RACE, op, message)
        for number in range(len(self.interface.outputs)):
            self.buffers[f"output:{number}"].require_written(op)


class Kernel:
    """One kernel of a module, with what its launch needs."""

    def __init__(self, function: llvm.FuncOp, device: Device, checker: Checker) -> None:
        self.function = function
        self.name = function.sym_name.data
        self.checker = checker
        self.hand_off = device.hand_off
        launch = launch_of(function)
        if launch is None:
            raise unsupported(function, f"has no '{LAUNCH}': lower-to-nvvm writes it")
        self.threads = launch.threads
        if self.threads % WARP_THREADS:
            raise unsupported(function, f"has {self.threads} threads, no whole warps")
        self.shared_bytes = launch.shared_bytes
        self.grid = launch.grid
        found = function.attributes.get("nvvm.cluster_dim")
        self.cluster = (1, 1, 1)
        if isa(found, DenseArrayBase[I32]):
            self.cluster = found.get_values()
        if any(n % step for n, step in zip(self.grid, self.cluster, strict=True)):
            raise unsupported(function, f"has {self.grid} blocks in clusters of {self.cluster}")
        size = self.threads * prod(self.cluster)
        arguments = launch.arguments
        if len(arguments) != len(function.body.block.args):
            raise unsupported(function, f"has a launch plan of {len(arguments)} arguments")
        self.arguments = [
            device.argument(function, argument, size, noalias=noalias)
            for argument, noalias in zip(arguments, noalias_arguments(function), strict=True)
        ]
        self.require_aligned(device.module)
        self.parts = any(
            (isinstance(op, PARTING) and effect_of(op) is None)
            or (isinstance(op, nvvm.BarrierOp) and op.operands)
            for op in function.walk()
        )
        self.joint = any(is_told_to_others(op) for op in function.walk())
        self.prepared = Prepared()
        self.available = device.available() if launch.starts_early else None
        self.is_overtaken = False
        """Whether the next kernel may start before the grid previous to this one has ended."""

    def require_aligned(self, module: gpu.ModuleOp) -> None:
        """Shared memory starts where the swizzles of tensor copies do."""
        maps = [each for each in self.arguments if isinstance(each, TensorMapValue)]
        widest = SWIZZLED_LINES * max((tensor.swizzle for tensor in maps), default=0)
        for op in module.body.block.ops:
            if isinstance(op, llvm.GlobalOp) and op.addr_space.value.data == SHARED_SPACE:
                start = 1 if op.alignment is None else op.alignment.value.data
                if widest and start % widest:
                    message = f"starts at a multiple of {start} bytes, where swizzles take {widest}"
                    self.checker.report(FaultKind.MISALIGNED, op, message)

    def clusters(self, order: int | None) -> list[list[BlockIndex]]:
        """The blocks of each cluster, in the order of their ranks, where x is fastest."""
        clusters = list(self._clusters())
        if order is not None:
            np.random.default_rng(order).shuffle(clusters)
        return clusters

    def _clusters(self) -> Iterator[list[BlockIndex]]:
        starts = (range(0, n, step) for n, step in zip(self.grid, self.cluster, strict=True))
        for corner in product(*starts):
            steps = product(*map(range, reversed(self.cluster)))
            yield [(corner[0] + x, corner[1] + y, corner[2] + z) for z, y, x in steps]

    def run_cluster(self, blocks: Sequence[BlockIndex]) -> None:
        """Run the blocks of a cluster; their shared memory starts as nobody knows what."""
        self.checker.place = f"block {blocks[0]} of {self.name}"
        size, count = self.shared_bytes, len(blocks)
        shared = SharedMemory(
            size, self.threads, count, self.checker, detailed=self.parts, joint=self.joint
        )
        state = Flow(
            blocks,
            shared,
            RULES,
            available=self.available,
            hand_off=self.hand_off,
            prepared=self.prepared,
        )
        body = self.function.body.block
        state.values.update(zip(body.args, self.arguments, strict=True))
        state.enter(body, state.active)
        run_flows(state.flows)
        self.is_overtaken |= state.previous.is_overtaken
        self.checker.place = ""


def random_inputs(module: gpu.ModuleOp, seed: int = 0) -> list[Array]:
    """Normal numbers in the shapes of a module's inputs."""
    random = np.random.default_rng(seed)
    shapes = [kind.get_shape() for kind in interface(module).inputs]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def run_kernels(
    module: gpu.ModuleOp,
    inputs: Sequence[Array],
    *,
    blocks: Collection[BlockIndex] | None = None,
    checker: Checker | None = None,
    order: int | None = None,
) -> list[Array]:
    """
    What the kernels of a function write.

    Args:
        module: what `lower-to-nvvm` made of the function.
        inputs: one array per input, of its shape; elements are rounded to the input's type.
        blocks: those to run of each kernel, with the rest of their clusters, all by default;
            what others write is NaN then.
        checker: where faults go; by default the first one is raised.
        order: of the blocks of each kernel, by a number that stands for it; else as their indices.

    Returns:
        One array per result: f16 or f32, and f32 for bf16, which numpy has not.

    Raises:
        KernelFault: a kernel does something wrong, or something that is not known here.
        ValueError: the number of inputs or a shape is wrong.
    """
    checker = checker or Checker()
    with np.errstate(all="ignore"):
        device = Device(module, inputs, checker)
        for function in module.body.block.ops:
            if isinstance(function, llvm.FuncOp):
                kernel = Kernel(function, device, checker)
                device.start_launch()
                for cluster in kernel.clusters(order):
                    if blocks is None or any(block in blocks for block in cluster):
                        kernel.run_cluster(cluster)
                # Where this one had waited, or started late, what came before has ended.
                device.inputs_are_given |= not kernel.is_overtaken
        if blocks is None:
            device.require_written(module)
        return device.outputs()
