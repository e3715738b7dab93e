"""
What a call of kernels needs to know: attributes of functions of kernels and of lowered modules.

    func.func @f(...) attributes {kernel.workspace = #kernel.workspace<scratch_bytes = 40960>}
    llvm.func @f_kernel_0(...) attributes {nvvm.kernel, kernel.launch = #kernel.launch<
        grid = [8, 1, 1], threads = 160, shared_bytes = 30792, arguments = ["input:0", "output:0"]>}

`plan-memory` writes the first, `lower-to-nvvm` the second, and the first on the `gpu.module`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import gpu
from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects.facts import Facts, parse_facts, print_facts, to_dictionary, to_facts

LAUNCH, WORKSPACE = "kernel.launch", "kernel.workspace"
"""Names of the attributes."""

FUNCTION = "mirage.function"
"""Of a module of kernels: the function that a host calls, where that has another name."""

GRID_AXES = 3
"""Of a launch: x, y and z."""


@dataclass(frozen=True)
class Workspace(Facts):
    """Device memory that the kernels of a function share, besides its inputs and outputs."""

    scratch_bytes: int = 0
    """Of tensors from kernel to kernel, and of partial sums."""
    counter_bytes: int = 0
    """Of counters of blocks, which are 0 before each call and after it."""

    def verify(self) -> None:
        if min(self.scratch_bytes, self.counter_bytes) < 0:
            raise VerifyException("has fewer than 0 bytes of scratch or counters")


@dataclass(frozen=True)
class KernelLaunch(Facts):
    """How one kernel is launched."""

    grid: tuple[int, ...] = ()
    """Blocks along x, y and z."""
    threads: int = 0
    """Of a block, with those of producer warps."""
    shared_bytes: int = 0
    """Shared memory that a block uses."""
    occupancy_limit_bytes: int = 0
    """Shared memory that a launch asks for at least, so that blocks are spread evenly."""
    starts_early: bool = False
    """It may start before the previous grid has ended (programmatic dependent launch)."""
    arguments: tuple[str, ...] = ()
    """What each pointer is of, as `input:0` or `scratch:256`, then each tensor map, `map:0`."""

    def verify(self) -> None:
        if len(self.grid) != GRID_AXES or min(self.grid) < 1:
            raise VerifyException(f"grid is {list(self.grid)}, not {GRID_AXES} counts of blocks")
        if self.threads < 1 or min(self.shared_bytes, self.occupancy_limit_bytes) < 0:
            raise VerifyException("has no threads, or fewer than 0 bytes of shared memory")


@irdl_attr_definition
class WorkspaceAttr(ParametrizedAttribute):
    """`#kernel.workspace<scratch_bytes = 40960, counter_bytes = 16>`."""

    name = WORKSPACE

    facts: DictionaryAttr

    KIND: ClassVar = Workspace

    @property
    def workspace(self) -> Workspace:
        """The facts that the attribute carries."""
        return to_facts(Workspace, self.facts.data)

    def verify(self) -> None:
        self.workspace.verify()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return parse_facts(parser, cls.KIND)

    def print_parameters(self, printer: Printer) -> None:
        print_facts(printer, self.workspace)


@irdl_attr_definition
class LaunchAttr(ParametrizedAttribute):
    """`#kernel.launch<grid = [8, 1, 1], threads = 160, arguments = ["input:0", "output:0"]>`."""

    name = LAUNCH

    facts: DictionaryAttr

    KIND: ClassVar = KernelLaunch

    @property
    def launch(self) -> KernelLaunch:
        """The facts that the attribute carries."""
        return to_facts(KernelLaunch, self.facts.data)

    def verify(self) -> None:
        self.launch.verify()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return parse_facts(parser, cls.KIND)

    def print_parameters(self, printer: Printer) -> None:
        print_facts(printer, self.launch)


def set_workspace(op: Operation, workspace: Workspace) -> None:
    """Write it on a function of kernels, or on their module."""
    op.attributes[WORKSPACE] = WorkspaceAttr(to_dictionary(workspace))


def workspace_of(op: Operation) -> Workspace | None:
    """That of a function of kernels, or of their module; None where no pass has written it."""
    found = op.attributes.get(WORKSPACE)
    return found.workspace if isinstance(found, WorkspaceAttr) else None


def set_launch(kernel: Operation, launch: KernelLaunch) -> None:
    """Write it on the function of a kernel."""
    kernel.attributes[LAUNCH] = LaunchAttr(to_dictionary(launch))


def launch_of(kernel: Operation) -> KernelLaunch | None:
    """How a kernel is launched; None where `lower-to-nvvm` has not written it."""
    found = kernel.attributes.get(LAUNCH)
    return found.launch if isinstance(found, LaunchAttr) else None


def in_plain_form(attribute: Attribute) -> Attribute:
    """`attribute` as tools know it that do not know our dialects: a dictionary of facts."""
    return attribute.facts if isinstance(attribute, LaunchAttr | WorkspaceAttr) else attribute


def function_name(kernels: gpu.ModuleOp) -> str:
    """The function that kernels compute: that of their module, unless it has another one's."""
    name = kernels.attributes.get(FUNCTION, kernels.sym_name)
    assert isinstance(name, StringAttr)
    return name.data


def set_function_name(kernels: gpu.ModuleOp, name: str) -> None:
    """Note which function kernels compute whose module has another name."""
    kernels.attributes[FUNCTION] = StringAttr(name)
