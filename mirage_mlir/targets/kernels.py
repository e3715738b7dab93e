"""What the targets for lowered kernels share."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp, StringAttr

from mirage_mlir.diagnostics import fail
from mirage_mlir.graph.target import DEFAULT_TARGET, target_named
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.verification import verify


@dataclass(frozen=True)
class KernelOptions:
    """
    The options of the targets `nvvm`, `ptx` and `cubin`.

    A module that still holds functions of uGraphs is lowered first, on a copy.
    """

    target: str | None = None
    """The GPU, or its chip; without it, the one that the kernels were lowered for, or H200."""

    function: str | None = None
    """The function whose kernels are meant, where the module holds several."""

    pack: bool = False
    """Let kernels read packed copies of constant inputs."""

    def __post_init__(self) -> None:
        if self.target is not None:
            target_named(self.target)  # raises ValueError, which the command line words

    def lowered(self, ctx: Context, module: ModuleOp) -> ModuleOp:
        """`module`, or a copy of it with every function of uGraphs lowered."""
        if not any(isinstance(op, func.FuncOp) for op in module.body.block.ops):
            return module
        copy = module.clone()
        for each in lowering_passes(self.target or DEFAULT_TARGET, pack=self.pack):
            each.apply(ctx, copy)
        verify(copy)
        return copy

    def kernels(self, ctx: Context, module: ModuleOp) -> gpu.ModuleOp:
        """The one `gpu.module` that is meant."""
        lowered = self.lowered(ctx, module)
        found = [op for op in lowered.body.block.ops if isinstance(op, gpu.ModuleOp)]
        names = [op.sym_name.data for op in found]
        if self.function is not None:
            found = [op for op, name in zip(found, names, strict=True) if name == self.function]
        if not found:
            wanted = "kernels" if self.function is None else f"kernels of '{self.function}'"
            fail(module, f"holds no {wanted}")
        if len(found) > 1:
            fail(
                module,
                f"holds the kernels of {len(found)} functions; one is written at a time",
                note=f"choose with {{function=NAME}} from {', '.join(names)}",
            )
        return found[0]

    def chip(self, kernels: gpu.ModuleOp) -> str:
        """The instruction set to compile `kernels` for."""
        lowered_for = kernels.attributes.get("mirage.target")
        if self.target is None and isinstance(lowered_for, StringAttr):
            return lowered_for.data
        return target_named(self.target or DEFAULT_TARGET).chip
