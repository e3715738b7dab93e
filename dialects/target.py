"""
The GPU that a module is compiled for: `kernel.target`, an attribute of the module.

    builtin.module attributes {kernel.target = #kernel.target<"H200">} {
      ...
    }

The first pass that depends on the GPU writes it. Later passes read it, and fail if their option
names another GPU. `lower-to-nvvm` derives the `#nvvm.target` of the kernels from it; a module whose
kernels are for another instruction set is invalid.
"""

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from mirage_mlir.diagnostics import fail, invalid
from mirage_mlir.dialects.target_attribute import TARGET, TargetAttr
from mirage_mlir.hints import isa
from mirage_mlir.targets.target import DEFAULT_TARGET, Target, target_named

KERNELS = "gpu.module"
"""The operation that holds kernels, by name: its dialect is slow to load, and few have one."""


def verify_target(module: ModuleOp) -> None:
    """Raises `InvalidOperation` for an attribute of another kind, and kernels for another chip."""
    target = target_of(module)
    for op in module.body.ops:
        if op.name != KERNELS or target is None:
            continue
        if (chip := chip_of(op)) not in (None, target.chip):
            message = f"is for {chip}, but its module is compiled for {target.name} ({TARGET})"
            raise invalid(op, f"{message}, which is {target.chip}")


def target_of(module: ModuleOp) -> Target | None:
    """
    The GPU that the attribute of `module` names, if it has one.

    Raises `InvalidOperation` where the attribute is of another kind.
    """
    found = module.attributes.get(TARGET)
    if found is None:
        return None
    if not isinstance(found, TargetAttr):
        raise invalid(module, f'has a {TARGET} that is no #kernel.target<"{DEFAULT_TARGET}">')
    return target_named(found.gpu.data)


def chip_of(kernels: Operation) -> str | None:
    """The instruction set that `lower-to-nvvm` made kernels for; None where it did not say."""
    # Slow to load, and programs that are built or interpreted have no such kernels.
    from mirage_mlir.dialects.nvvm_attributes import TARGETS, NvvmTargetAttr

    targets = kernels.attributes.get(TARGETS)
    if not isa(targets, ArrayAttr[NvvmTargetAttr]) or len(targets) != 1:
        return None
    return targets.data[0].chip.data


def resolve_target(module: ModuleOp, asked: str | None, by: str) -> Target:
    """
    The GPU that `module` names, else the one that is `asked` for, else the default.

    Args:
        module: whose attribute counts.
        asked: a GPU, or an instruction set, which agrees with every GPU that has it.
        by: who asks, in messages.

    Raises:
        PassFailure: the module names another GPU than the one that is asked for, or there is no
            lowering for it.
    """
    known = target_of(module)
    try:
        (known or target_named(asked or DEFAULT_TARGET)).require_lowering()
    except ValueError as error:
        fail(module, str(error))
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
