"""
Inputs that never change between calls, such as weights: arguments with `kernel.constant`.

    func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x32xf16> {kernel.constant}) -> ...

A kernel may read them before the previous grid has ended, and from packed copies.
"""

from xdsl.dialects.builtin import DictionaryAttr, UnitAttr
from xdsl.dialects.func import FuncOp

CONSTANT_INPUT = "kernel.constant"
"""Name of the attribute."""


def constant_mark() -> DictionaryAttr:
    """The attributes of an argument that never changes."""
    return DictionaryAttr({CONSTANT_INPUT: UnitAttr()})


def is_constant_input(function: FuncOp, number: int) -> bool:
    """Whether an argument of `function` never changes."""
    known = function.arg_attrs
    return known is not None and CONSTANT_INPUT in known.data[number].data


def constant_inputs(function: FuncOp) -> list[int]:
    """The numbers of the arguments of `function` that never change."""
    return [number for number in range(len(function.args)) if is_constant_input(function, number)]
