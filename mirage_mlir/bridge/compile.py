"""From a `gpu.module` of lowered kernels to PTX, in process, through upstream MLIR and LLVM."""

from io import StringIO

from xdsl.dialects import arith, gpu
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation
from xdsl.printer import Printer

from mirage_mlir.bridge.bindings import BindingsError, MissingBindingsError, lower_to_isa
from mirage_mlir.diagnostics import fail

FEATURES = {"sm_80": "+ptx80", "sm_90a": "+ptx86"}
"""
Chip to the PTX version that is written: the oldest that has what we emit (8.6 for bulk copies to
the block's own shared memory), so that a driver that cannot load the cubin may still take the text.
"""

SELECTABLE_MATH = frozenset(
    f"math.{name}"
    for name in ("absf", "ceil", "copysign", "exp2", "floor", "fma", "rsqrt", "sqrt", "tanh")
)
"""What the NVPTX back end selects of the math dialect; on any other it ends the whole process."""

NEEDS_APPROXIMATION = frozenset(("math.exp2", "math.tanh"))
"""Those that it selects only with the fast-math flag `afn`."""


def _check_selectable(op: Operation) -> None:
    """Reject what LLVM would not report but die of."""
    if not op.name.startswith("math."):
        return
    if op.name not in SELECTABLE_MATH:
        fail(op, "has no PTX instruction", note="nvvm.ex2, nvvm.log2 and arithmetic express it")
    if op.name in NEEDS_APPROXIMATION:
        flags = op.properties.get("fastmath")
        if not (
            isinstance(flags, arith.FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in flags.data
        ):
            fail(op, "has a PTX instruction only with fastmath<afn>")


def to_ptx(kernels: gpu.ModuleOp, chip: str) -> str:
    """
    Compile the kernels (`llvm.func`s with `nvvm.kernel`) for `chip`; equal input gives equal text.

    Raises `DiagnosticException` at the operation that cannot be compiled.
    """
    if chip not in FEATURES:
        fail(kernels, f"cannot be compiled for '{chip}'; known are {', '.join(FEATURES)}")
    for op in kernels.walk():
        _check_selectable(op)
    text = StringIO()
    printer = Printer(stream=text, print_generic_format=True, print_debuginfo=True)
    printer.print_op(kernels)
    try:
        return lower_to_isa(text.getvalue(), chip, FEATURES[chip])
    except MissingBindingsError as error:
        fail(kernels, f"cannot be compiled: {error}")
    except BindingsError as error:
        first, *others = error.diagnostics
        notes = [f"{other.location}: {other.message}" for other in others]
        fail(
            kernels,
            f"cannot be compiled: {first.location}: {first.message}",
            note="\n".join(notes) or None,
        )
