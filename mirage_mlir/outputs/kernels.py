"""What the targets for lowered kernels share."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects.interface import function_name
from mirage_mlir.dialects.target import chip_of, resolve_target
from mirage_mlir.outputs.lowered import lowered_modules
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.targets.target import DEFAULT_TARGET, require_known, target_named
from mirage_mlir.verification import verify


@dataclass(frozen=True)
class KernelOptions:
    """
    The options of the targets `nvvm`, `ptx` and `cubin`.

    A module that still holds functions of uGraphs is lowered first, on a copy.
    """

    target: str | None = None
    """The GPU, or its chip; without it, the module's `kernel.target` or what kernels were lowered
    for, or else H200."""

    function: str | None = None
    """The function whose kernels are meant, where the module holds several."""

    pack: bool = False
    """Let kernels read packed copies of constant inputs."""

    def __post_init__(self) -> None:
        require_known(self.target)  # raises ValueError, which the command line words

    def lowered(self, ctx: Context, module: ModuleOp) -> ModuleOp:
        """`module`, or a copy of it with every function of uGraphs lowered."""
        target = resolve_target(module, self.target, "the output")
        if not any(isinstance(op, func.FuncOp) for op in module.body.block.ops):
            return module
        copy = module.clone()
        for each in lowering_passes(target.name, pack=self.pack):
            each.apply(ctx, copy)
        verify(copy)
        return copy

    def kernels(self, ctx: Context, module: ModuleOp) -> gpu.ModuleOp:
        """The one `gpu.module` that is meant."""
        lowered = self.lowered(ctx, module)
        modules = [op for op in lowered.body.block.ops if isinstance(op, gpu.ModuleOp)]
        found = lowered_modules(lowered) or modules
        names = [function_name(op) for op in found]
        if self.function is not None:
            found = [op for op, name in zip(found, names, strict=True) if name == self.function]
        if not found:
            wanted = "kernels" if self.function is None else f"kernels of '{self.function}'"
            fail(module, f"holds no {wanted}")
        if len(found) > 1:
            fail(
                module,
                f"holds the kernels of {len(found)} functions; one is written at a time",
                note=f"choose with the option function=NAME from {', '.join(names)}",
            )
        return found[0]

    def chip(self, kernels: gpu.ModuleOp) -> str:
        """
        The instruction set to compile `kernels` for.

        Raises:
            PassFailure: they were lowered for another one than that which is asked for.
        """
        asked = None if self.target is None else target_named(self.target).chip
        known = chip_of(kernels)
        if asked is not None and known not in (None, asked):
            fail(kernels, f"was lowered for {known}, but the output is asked for {self.target}")
        return asked or known or target_named(DEFAULT_TARGET).chip
