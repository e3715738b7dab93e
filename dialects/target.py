"""
The GPU that a module is compiled for: `kernel.target`, an attribute of the module.

    builtin.module attributes {kernel.target = #kernel.target<"H200">} {
      ...
    }

The first pass whose result depends on the GPU writes it; those behind it read it, and fail where
they are asked for another one. `lower-to-nvvm` derives `#nvvm.target` of the kernels from it.
"""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.diagnostics import fail, invalid
from mirage_mlir.graph.target import DEFAULT_TARGET, GPUS, Target, target_named

TARGET = "kernel.target"
"""Name of the attribute of a module."""


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """`#kernel.target<"H200">`: a GPU; an instruction set would not tell an H100 from an H200."""

    name = "kernel.target"

    gpu: StringAttr

    def verify(self) -> None:
        if self.gpu.data not in GPUS:
            known = ", ".join(GPUS)
            raise VerifyException(f"unknown GPU '{self.gpu.data}' as target: it is one of {known}")


def verify_target(module: ModuleOp) -> None:
    """Raises `InvalidOperation` where the attribute of `module` is of another kind."""
    found = module.attributes.get(TARGET)
    if found is not None and not isinstance(found, TargetAttr):
        raise invalid(module, f'has a {TARGET} that is no #kernel.target<"{DEFAULT_TARGET}">')


def target_of(module: ModuleOp) -> Target | None:
    """The GPU that the attribute of `module` names, if it has one."""
    verify_target(module)
    found = module.attributes.get(TARGET)
    return target_named(found.gpu.data) if isinstance(found, TargetAttr) else None


def resolve_target(module: ModuleOp, asked: str | None, by: str) -> Target:
    """
    The GPU that `module` names, else the one that is `asked` for, else the default.

    Args:
        module: whose attribute counts.
        asked: a GPU, or an instruction set, which agrees with every GPU that has it.
        by: who asks, in messages.

    Raises:
        PassFailure: the module names another GPU than the one that is asked for.
    """
    known = target_of(module)
    if known is None:
        return target_named(asked or DEFAULT_TARGET)
    if asked not in (None, known.name, known.chip):
        message = f"is compiled for {known.name} ({TARGET}), but {by} is asked for {asked}"
        fail(module, message, note="leave out that option, or start without the attribute")
    return known


def settle_target(module: ModuleOp, asked: str | None, by: str) -> Target:
    """`resolve_target`, which the attribute of `module` names from now on."""
    target = resolve_target(module, asked, by)
    module.attributes[TARGET] = TargetAttr(StringAttr(target.name))
    return target
