"""The `lower-to-nvvm` pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import func, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from mirage_mlir.constant_inputs import constant_inputs
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.candidate import require_verified
from mirage_mlir.dialects.interface import (
    InterfaceAttr,
    PackingAttr,
    TensorMapAttr,
    set_interface,
)
from mirage_mlir.dialects.launch import (
    WORKSPACE,
    KernelLaunch,
    set_launch,
    set_workspace,
    workspace_of,
)
from mirage_mlir.dialects.nvvm_attributes import TARGETS, NvvmTargetAttr
from mirage_mlir.names import symbol
from mirage_mlir.passes.analysis.launch_groups import launches_of
from mirage_mlir.passes.analysis.tensor_views import TensorView, dense_strides, view_of
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes
from mirage_mlir.passes.codegen.cta_rasterization import require_launchable
from mirage_mlir.passes.codegen.joint_launch import joint_kernel
from mirage_mlir.passes.codegen.kernel_function import (
    KernelFunction,
    roots_of,
    shared_memory_symbol,
)
from mirage_mlir.passes.codegen.mapped_tensors import MappedTensor
from mirage_mlir.passes.codegen.packing import described_packing
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.graph_pass import TargetPass
from mirage_mlir.targets.target import GPUS, SUPPORTED, Target

CLUSTERED = tuple(
    target.name for target in GPUS.values() if target.has_clusters and target.name in SUPPORTED
)
"""The GPUs with clusters."""


def output_views(function: func.FuncOp) -> list[TensorView]:
    """The memory of each result: a kernel's result of its own, whole, in any order of dims."""
    last = function.body.block.last_op
    assert isinstance(last, func.ReturnOp)
    views = [view_of(value) for value in last.arguments]
    for index, view in enumerate(views):
        whole = sorted(s for n, s in zip(view.shape, view.strides, strict=True) if n > 1)
        root_shape = kernel.shape_of(view.root)
        dense = prod(view.shape) == prod(root_shape) and whole == sorted(
            s for n, s in zip(*canonical(view), strict=True) if n > 1
        )
        if isinstance(view.root, BlockArgument) or view.offset or not dense:
            fail(last, f"result {index} is a view of other memory; a kernel must write it")
        if view.root in [earlier.root for earlier in views[:index]]:
            fail(last, f"result {index} is the same tensor as an earlier one")
    return views


def described_strides(view: TensorView) -> list[int]:
    """The strides of `view`, those of a dense tensor along dimensions of one element."""
    dense = dense_strides(view.shape)
    steps = zip(view.shape, view.strides, dense, strict=True)
    return [other if size == 1 else step for size, step, other in steps]


def canonical(view: TensorView) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of `view` in the order of its strides, and the strides if nothing is left out."""
    order = sorted(range(len(view.shape)), key=lambda dim: -view.strides[dim])
    shape = tuple(view.shape[dim] for dim in order if view.shape[dim] > 1)
    return shape, dense_strides(shape)


def referred_to(module: ModuleOp) -> set[str]:
    """The symbols that operations of `module` name."""
    return {
        attribute.root_reference.data
        for op in module.walk()
        for attribute in op.properties.values()
        if isinstance(attribute, SymbolRefAttr)
    }


def kernels_name(module: ModuleOp, name: str) -> str:
    """What the kernels of a function are called which keeps its name, for the host."""
    taken = {op.sym_name.data for op in module.walk() if isinstance(op, func.FuncOp | gpu.ModuleOp)}
    names = (f"{name}_kernels{number or ''}" for number in range(len(taken) + 1))
    return next(each for each in names if each not in taken)


class FunctionLowering:
    """One function of kernels as one GPU module."""

    def __init__(self, function: func.FuncOp, target: Target) -> None:
        self.function = function
        self.target = target
        self.outputs = output_views(function)
        self.graphs = [
            op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)
        ]
        self.packings: dict[PackingAttr, int] = {}

    def mapped_memory(self, tensor: MappedTensor, scratch: dict[SSAValue, int]) -> str:
        """What memory a tensor map is of, in the words of the launch plan."""
        name = self.argument(tensor.root, scratch)
        if tensor.packing is None:
            return name
        element = str(kernel.tensor_type(tensor.root).element_type)
        packing = described_packing(tensor.packing, name, element)
        return f"packed:{self.packings.setdefault(packing, len(self.packings))}"

    def argument(self, root: SSAValue, scratch: dict[SSAValue, int]) -> str:
        """What the pointer to `root` is, in the words of the launch plan."""
        roots = [view.root for view in self.outputs]
        if root in roots:
            return f"output:{roots.index(root)}"
        if isinstance(root, BlockArgument):
            return f"input:{root.index}"
        return f"scratch:{scratch[root]}"

    def run(self) -> gpu.ModuleOp:
        """Emit every kernel, in the order in which they are launched."""
        name = self.function.sym_name.data
        for graph in self.graphs:
            require_launchable(graph)
            if prod(cluster_sizes(graph)) > 1 and not self.target.has_clusters:
                fail(
                    graph,
                    f"sums across blocks, which {self.target.chip} has no clusters for",
                    note=f"those that have them: {', '.join(CLUSTERED)}",
                )
        block = Block([shared_memory_symbol()])
        maps: dict[tuple[MappedTensor, str], int] = {}
        for number, graphs in enumerate(launches_of(self.graphs)):
            kernel_name = f"{symbol(name)}_kernel_{number}"
            function, launch = joint_kernel(
                [self.emitted(graph, kernel_name, maps) for graph in graphs]
            )
            set_launch(function, launch)
            block.add_op(function)
        module = gpu.ModuleOp.build(
            properties={"sym_name": StringAttr(name)}, regions=[Region(block)]
        )
        module.location = self.function.location
        self.describe(module, [tensor.described(name) for tensor, name in maps])
        return module

    def emitted(
        self,
        graph: kernel.GraphDefinedOp,
        name: str,
        maps: dict[tuple[MappedTensor, str], int],
    ) -> tuple[llvm.FuncOp, KernelLaunch]:
        """Emit a kernel, whose tensor maps are put among `maps`."""
        scratch = self.scratch_offsets
        arguments = [self.argument(root, scratch) for root in roots_of(graph)]
        if graph.schedule.sums_in_workspace:
            arguments.append(f"scratch:{graph.memory.partial_sums_offset}")
            arguments.append(f"counters:{graph.memory.counters_offset}")
        function = KernelFunction(graph)
        for tensor in function.mapped:
            key = (tensor, self.mapped_memory(tensor, scratch))
            arguments.append(f"map:{maps.setdefault(key, len(maps))}")
        return function.run(name), function.launch(arguments)

    @cached_property
    def scratch_offsets(self) -> dict[SSAValue, int]:
        """Where each tensor between kernels lies."""
        offsets: dict[SSAValue, int] = {}
        for graph in self.graphs:
            places = graph.memory.results
            if not places:
                fail(graph, "has no place for its results; run plan-memory first")
            offsets.update(zip(graph.outputs, places, strict=True))
        return offsets

    def describe(self, module: gpu.ModuleOp, maps: Sequence[TensorMapAttr]) -> None:
        """Write the function's interface, its workspace and the target on the module."""
        workspace = workspace_of(self.function)
        if workspace is None:
            fail(self.function, f"has no '{WORKSPACE}'; run plan-memory first")
        set_workspace(module, workspace)
        arguments = self.function.body.block.args
        strides = [DenseArrayBase.from_list(i64, described_strides(v)) for v in self.outputs]
        last = self.function.body.block.last_op
        assert last is not None
        interface = InterfaceAttr(
            self.function.sym_name,
            ArrayAttr([kernel.tensor_type(argument) for argument in arguments]),
            DenseArrayBase.from_list(i64, constant_inputs(self.function)),
            ArrayAttr([kernel.tensor_type(value) for value in last.operands]),
            ArrayAttr(strides),
            ArrayAttr(maps),
            ArrayAttr([*self.packings]),
        )
        set_interface(module, interface)
        target = NvvmTargetAttr.of(self.target.chip, self.target.ptx_features)
        module.attributes[TARGETS] = ArrayAttr([target])


@dataclass(frozen=True)
class LowerToNvvmPass(TargetPass):
    """
    Turn each function of kernels into a GPU module, one `llvm.func` for each launch.

    Declarations and functions without kernels stay as they are. Of a function that one of these
    calls a declaration stays, and its module is called `@f_kernels`: `-t nvvm{host=true}` defines
    it again, by code that launches the kernels.

    Input: functions of `kernel.graph_defined` and views, after `plan-memory`; kernels overlap where
    `overlap-launches` has written it.

    Output:
        gpu.module @f attributes {kernel.workspace = #kernel.workspace<...>,
                                  kernel.interface = #kernel.interface<"f", ...>} {
          llvm.mlir.global external @smem() ...
          llvm.func @f_kernel_0(...) attributes {nvvm.kernel, kernel.launch =
            #kernel.launch<grid = [8, 1, 1], threads = 160, shared_bytes = 30792,
                           arguments = ["input:0", "output:0", "map:0"]>}
        }

    The interface has all that a call needs besides: types, strides, tensor maps, packed constants.

    Lanes that share rows of sums exchange them for stores of 16 bytes (`lane_transpose`). The grid
    of `kernel.launch` numbers bands of blocks (`raster_width`).

    Fails on operators outside a kernel, on what else is beside kernels in one function, on results
    that no kernel writes, on clusters for a chip that has none, on grids with more blocks along an
    axis than a launch takes, on persistent blocks that no kernel can have, on a module for another
    target, and at a function that a search found and nobody verified (`kernel.implements`).
    """

    name = "lower-to-nvvm"

    def run(self, module: ModuleOp, target: Target) -> None:
        """Replace every function of kernels of the module."""
        require_verified(module)
        block = module.body.block
        found = [f for f in block.ops if isinstance(f, func.FuncOp) and is_compiled(f)]
        called = referred_to(module)
        for function in found:
            lowered = FunctionLowering(function, target).run()
            block.insert_op_before(lowered, function)
            if function.sym_name.data in called:
                self._keep_declared(module, function, lowered)
            function.detach()
            function.erase()
        module.attributes["gpu.container_module"] = UnitAttr()

    def _keep_declared(self, op: ModuleOp, function: func.FuncOp, lowered: gpu.ModuleOp) -> None:
        """Leave a declaration of a function that the host calls; its kernels get another name."""
        name = function.sym_name.data
        lowered.properties["sym_name"] = StringAttr(kernels_name(op, name))
        kind = function.function_type
        declared = func.FuncOp.external(name, [*kind.inputs], [*kind.outputs])
        declared.location = function.location
        op.body.block.insert_op_before(declared, function)
