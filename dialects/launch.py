"""
How kernels are called: attributes of functions of kernels and of lowered modules.

    func.func @f(...) attributes {kernel.workspace = #kernel.workspace<scratch_bytes = 40960>}
    llvm.func @f_kernel_0(...) attributes {nvvm.kernel, kernel.launch = #kernel.launch<
        grid = [8, 1, 1], threads = 160, shared_bytes = 30792, arguments = ["input:0", "output:0"]>}

`plan-memory` writes the workspace, `lower-to-nvvm` the launches. It copies the workspace to the
`gpu.module`, and writes the function's interface beside it (see `interface`).
"""

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects.facts import Facts, FactsAttr, to_facts

LAUNCH, WORKSPACE = "kernel.launch", "kernel.workspace"
"""Names of the attributes."""

GRID_AXES = 3
"""Axes of the grid of a launch: x, y and z."""


@dataclass(frozen=True)
class Workspace(Facts):
    """Device memory that the kernels of a function share, besides its inputs and outputs."""

    scratch_bytes: int = 0
    """Bytes of tensors between kernels, and of partial sums."""
    counter_bytes: int = 0
    """Bytes of split-K counters, which are 0 before each call and after it."""

    def verify(self) -> None:
        if min(self.scratch_bytes, self.counter_bytes) < 0:
            raise VerifyException("has fewer than 0 bytes of scratch or counters")


@dataclass(frozen=True)
class KernelLaunch(Facts):
    """How one kernel is launched."""

    grid: tuple[int, ...] = ()
    """Blocks along x, y and z."""
    threads: int = 0
    """Threads of a block, with those of producer warps."""
    shared_bytes: int = 0
    """Shared memory that a block uses."""
    occupancy_limit_bytes: int = 0
    """Shared memory that a launch asks for at least, so that blocks are spread evenly."""
    starts_early: bool = False
    """It may start before the previous grid has ended (programmatic dependent launch)."""
    arguments: tuple[str, ...] = ()
    """The memory of each pointer, as `input:0` or `scratch:256`, then the tensor maps, `map:0`."""

    def verify(self) -> None:
        if len(self.grid) != GRID_AXES or min(self.grid) < 1:
            raise VerifyException(f"grid is {list(self.grid)}, not {GRID_AXES} counts of blocks")
        if self.threads < 1 or min(self.shared_bytes, self.occupancy_limit_bytes) < 0:
            raise VerifyException("has no threads, or fewer than 0 bytes of shared memory")


@irdl_attr_definition
class WorkspaceAttr(FactsAttr):
    """`#kernel.workspace<scratch_bytes = 40960, counter_bytes = 16>`."""

    name = WORKSPACE

    KIND = Workspace

    @property
    def workspace(self) -> Workspace:
        """The facts that the attribute carries."""
        return to_facts(Workspace, self.facts.data)


@irdl_attr_definition
class LaunchAttr(FactsAttr):
    """`#kernel.launch<grid = [8, 1, 1], threads = 160, arguments = ["input:0", "output:0"]>`."""

    name = LAUNCH

    KIND = KernelLaunch

    @property
    def launch(self) -> KernelLaunch:
        """The facts that the attribute carries."""
        return to_facts(KernelLaunch, self.facts.data)


def set_workspace(op: Operation, workspace: Workspace) -> None:
    """Write it on a function of kernels, or on their module."""
    op.attributes[WORKSPACE] = WorkspaceAttr.of(workspace)


def workspace_of(op: Operation) -> Workspace | None:
    """The workspace of a function or a module of kernels; None where no pass has written it."""
    found = op.attributes.get(WORKSPACE)
    return found.workspace if isinstance(found, WorkspaceAttr) else None


def set_launch(kernel: Operation, launch: KernelLaunch) -> None:
    """Write it on the function of a kernel."""
    kernel.attributes[LAUNCH] = LaunchAttr.of(launch)


def launch_of(kernel: Operation) -> KernelLaunch | None:
    """How a kernel is launched; None where `lower-to-nvvm` has not written it."""
    found = kernel.attributes.get(LAUNCH)
    return found.launch if isinstance(found, LaunchAttr) else None
