"""From a function of uGraphs to machine code for one GPU."""

import gc
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import NamedTuple

from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.bridge.ptxas import Cubin, PtxasError, assemble
from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.fusion import check_fusion
from mirage_mlir.driver.launch_plan import (
    counter_bytes_of,
    inputs_of,
    launches_of,
    outputs_of,
    packed_of,
    scratch_bytes_of,
    tensor_maps_of,
)
from mirage_mlir.driver.more_blocks import assembled_for_more_blocks
from mirage_mlir.driver.source import alone, compiler_context, function_named, text_of
from mirage_mlir.passes.analysis import launch_groups
from mirage_mlir.passes.analysis.resources import KernelResources, resources_of_kernel
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.passes.fuse_horizontally import FuseHorizontallyPass
from mirage_mlir.passes.fuse_thread_graphs import FuseThreadGraphsPass
from mirage_mlir.passes.lower_to_nvvm import LowerToNvvmPass
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.sink_reductions import SinkReductionsPass
from mirage_mlir.runtime.artifact import TargetCode, TensorSpec
from mirage_mlir.targets.target import target_named


@dataclass
class Seconds:
    """How long each phase took, in the order in which they began."""

    phases: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Add the time of this `with` block to the phase `name`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.add(name, perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        """Add time that was measured elsewhere."""
        self.phases[name] = self.phases.get(name, 0.0) + seconds


@dataclass(frozen=True)
class LaunchResources:
    """What one launch needs of a multiprocessor."""

    registers: int
    """Of a thread."""
    spill_bytes: int
    shared_bytes: int
    """Of a block, static and dynamic."""
    resident: int
    """Blocks on a multiprocessor at a time."""


class LaunchPlace(NamedTuple):
    """Where a kernel is launched."""

    launch: int
    """The number of the launch, from 0."""
    place: int
    """The kernel's place in it, from 1: blocks start in this order."""


@dataclass(frozen=True)
class CompiledFunction:
    """Machine code of one function for one chip, and what a caller must know to launch it."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    code: TargetCode
    ptx: str
    assembled: Cubin
    scheduled: tuple[KernelResources, ...]
    """What each kernel was scheduled to need, in the order of the function's graphs."""
    launched_by: tuple[LaunchPlace, ...]
    """Where each kernel is launched, in that order."""
    seconds: Mapping[str, float]
    """Seconds of "lower", "PTX" and "ptxas"."""
    persistent: bool = False
    """Whether blocks of some kernel compute one tile of the grid after another."""

    @property
    def resources(self) -> tuple[LaunchResources, ...]:
        """What each launch needs, in the order of the launches."""
        kernels = {kernel.name: kernel for kernel in self.assembled.kernels}
        target = target_named(self.code.target)
        found: list[LaunchResources] = []
        for launch in self.code.launches:
            kernel = kernels[launch.kernel]
            shared_bytes = launch.shared_bytes + kernel.shared_bytes
            resident = resident_blocks(target, launch.threads, kernel.registers, shared_bytes)
            found.append(
                LaunchResources(kernel.registers, kernel.spill_bytes, shared_bytes, int(resident))
            )
        return tuple(found)


def compile_function(
    module: ModuleOp, name: str, target: str, *, pack: bool = False
) -> CompiledFunction:
    """
    Lower the function `name` of `module`, which is left as it is, and assemble its kernels.

    The function holds `kernel.graph_defined` and views; `target` is a GPU or a chip; with `pack`
    the kernels read packed copies of constant inputs where they can. Where ptxas spills registers
    of persistent kernels, or lets their matmuls wait for each other, and else does not, each tile
    gets a block of its own.

    Raises:
        ValueError: there is no such function or target.
        DiagnosticException: the function cannot be lowered, or ptxas rejects it; the message says
            where and why.
    """
    compiled = _compiled(module, name, target, pack=pack, persistent=True)
    if compiled.persistent and compiled.assembled.is_slowed:
        other = _compiled(module, name, target, pack=pack, persistent=False)
        return compiled if other.assembled.is_slowed else other
    return compiled


def _compiled(
    module: ModuleOp, name: str, target: str, *, pack: bool, persistent: bool
) -> CompiledFunction:
    chip = target_named(target).chip
    seconds = Seconds()
    scheduled: tuple[KernelResources, ...] = ()
    launched_by: tuple[LaunchPlace, ...] = ()
    function = function_named(module, name)
    check(function)
    lowered = unfused = alone(function)
    graphs: list[kernel.GraphDefinedOp] = []
    with _collector_paused():
        with seconds.phase("lower"):
            for each in lowering_passes(target, pack=pack, persistent=persistent):
                if isinstance(each, FuseHorizontallyPass):
                    graphs = _graphs_of(lowered)
                if isinstance(each, LowerToNvvmPass):
                    persistent = any(graph.schedule.persistent_blocks for graph in graphs)
                    scheduled = tuple(map(resources_of_kernel, graphs))
                    launched_by = _places_of(graphs, lowered)
                if isinstance(each, SinkReductionsPass):
                    unfused = lowered.clone()
                each.apply(compiler_context(), lowered)
                if isinstance(each, FuseThreadGraphsPass):
                    check_fusion(function_named(unfused, name), function_named(lowered, name))
        kernels = next(op for op in lowered.body.block.ops if isinstance(op, gpu.ModuleOp))
        # MLIR verifies what it is given here: doing so before would take as long as all passes.
        with seconds.phase("PTX"):
            ptx = to_ptx(kernels, chip)
    launches = launches_of(kernels)
    with seconds.phase("ptxas"):
        ptx, cubin = assembled_for_more_blocks(
            kernels, ptx, launches, chip, partial(_assemble, function, chip)
        )
    return CompiledFunction(
        name=name,
        inputs=inputs_of(function, kernels),
        outputs=outputs_of(kernels),
        code=TargetCode(
            target=chip,
            cubin=cubin.data,
            launches=launches,
            scratch_bytes=scratch_bytes_of(kernels),
            ugraph=text_of(alone(function)),
            resources={
                "registers": cubin.registers,
                "spill_bytes": cubin.spill_bytes,
                "stack_bytes": cubin.stack_bytes,
            },
            tensor_maps=tensor_maps_of(kernels),
            packed=packed_of(kernels),
            counter_bytes=counter_bytes_of(kernels),
        ),
        ptx=ptx,
        assembled=cubin,
        scheduled=scheduled,
        launched_by=launched_by,
        seconds=seconds.phases,
        persistent=persistent,
    )


def _graphs_of(module: ModuleOp) -> list[kernel.GraphDefinedOp]:
    return [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]


def _places_of(
    graphs: Sequence[kernel.GraphDefinedOp], module: ModuleOp
) -> tuple[LaunchPlace, ...]:
    """Where each of `graphs` is launched, which are those of `module` in any order."""
    launches = launch_groups.launches_of(_graphs_of(module))
    places = {
        graph: LaunchPlace(number, place)
        for number, launch in enumerate(launches)
        for place, graph in enumerate(launch, start=1)
    }
    return tuple(places[graph] for graph in graphs)


@contextmanager
def _collector_paused() -> Generator[None]:
    """
    Look for no garbage meanwhile.

    Next to nothing of what a lowering makes is given up before its end; the collector would walk
    through all that the process holds several times to learn that.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _assemble(function: func.FuncOp, chip: str, ptx: str) -> Cubin:
    try:
        return assemble(ptx, chip)
    except PtxasError as error:
        fail(function, str(error))
