"""From a `gpu.module` of lowered kernels to PTX, in process, through upstream MLIR and LLVM."""

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import StringAttr, f64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from mirage_mlir.bridge.bindings import BindingsError, MissingBindingsError, lower_to_isa
from mirage_mlir.bridge.generic_form import generic_form
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity, fail, name_of
from mirage_mlir.dialects.nvvm_attributes import NvvmTargetAttr
from mirage_mlir.dialects.nvvm_hopper import needed_feature
from mirage_mlir.names import is_symbol
from mirage_mlir.targets.target import DEFAULT_CHIPS, TARGETS, Target

CHIPS = {chip: TARGETS[chip] for chip in DEFAULT_CHIPS}
"""Instruction sets that kernels can be compiled for, and a GPU with each."""

LOWERED_DIALECTS = frozenset(("arith", "cf", "gpu", "llvm", "math", "nvvm", "scf", "vector"))
"""What a kernel may consist of."""

SELECTABLE = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "math": "absf ceil copysign exp2 floor fma roundeven rsqrt sqrt tanh trunc",
        "llvm.intr": "ceil copysign exp2 fabs floor fma maximum maxnum minimum minnum roundeven "
        "smax smin sqrt trunc umax umin",
    }.items()
    for name in names.split()
)
"""What the NVPTX back end selects of these two; on any other it ends the whole process."""

APPROXIMATIONS = frozenset(("math.exp2", "math.tanh", "llvm.intr.exp2"))
"""Those of them that PTX has for 16 and 32 bits only."""


def _is_approximate(op: Operation) -> bool:
    flags = op.properties.get("fastmath")
    return isinstance(flags, arith.FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in flags.data


def _check_selectable(op: Operation) -> None:
    """Reject what LLVM would not report but die of."""
    if name_of(op) not in SELECTABLE:
        fail(op, "has no PTX instruction", note="nvvm.ex2, nvvm.log2 and arithmetic express it")
    if op.name == "math.tanh" and not _is_approximate(op):
        fail(op, "has a PTX instruction only with fastmath<afn>")
    if name_of(op) in APPROXIMATIONS and op.results[0].type == f64:
        fail(op, "has no PTX instruction for f64")


def _check(op: Operation, target: Target) -> None:
    """Reject what MLIR would report without a place, and what LLVM would die of."""
    if name_of(op).partition(".")[0] not in LOWERED_DIALECTS:
        fail(op, "has not been lowered: no kernel may hold it")
    name = op.properties.get("sym_name")
    if isinstance(name, StringAttr) and op.name.startswith("llvm.") and not is_symbol(name.data):
        fail(op, f"has the name '{name.data}', which PTX cannot have")
    if name_of(op).startswith(("math.", "llvm.intr.")):
        _check_selectable(op)
    feature = needed_feature(op)
    if feature is not None and feature not in target.features:
        fail(op, f"needs {feature.value}, which {target.chip} does not have")


def to_ptx(kernels: gpu.ModuleOp, chip: str) -> str:
    """
    Compile the kernels (`llvm.func`s with `nvvm.kernel`) for `chip`; equal input gives equal text.

    Raises `PassFailure` at the operation that cannot be compiled.
    """
    if chip not in CHIPS:
        fail(kernels, f"cannot be compiled for '{chip}'; there are {', '.join(CHIPS)}")
    for op in kernels.walk():
        _check(op, CHIPS[chip])
    try:
        target = NvvmTargetAttr.of(chip, CHIPS[chip].ptx_features)
        return lower_to_isa(generic_form(kernels), str(target))
    except MissingBindingsError as error:
        fail(kernels, f"cannot be compiled: {error}")
    except BindingsError as error:
        message = f"cannot be compiled: {error}"
        if error.place is None:
            fail(kernels, message)
        raise PassFailure(Diagnostic(Severity.ERROR, message, *error.place)) from error
