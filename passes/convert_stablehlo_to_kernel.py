"""The `convert-stablehlo-to-kernel` pass."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.diagnostics import PassFailure, remark
from mirage_mlir.passes.infinite_masks import make_masks_infinite
from mirage_mlir.passes.parts.foreign import tell_foreign
from mirage_mlir.passes.parts.inlining import inline_calls
from mirage_mlir.passes.parts.parts import convert
from mirage_mlir.passes.parts.stablehlo import STABLEHLO
from mirage_mlir.passes.stablehlo.functions import called, convert_function, uses_stablehlo


@dataclass(frozen=True)
class ConvertStablehloToKernelPass(ModulePass):
    """
    Turn functions of StableHLO, as JAX prints them, into functions of kernel operators.

    Input:
        func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
          %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
            : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
          func.return %y : tensor<4x6xf32>
        }

    Output:
        func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
          %y = kernel.matmul %x, %w : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
          func.return %y : tensor<4x6xf32>
        }

    Calls are inlined, and private functions that nobody calls any more are erased. Constants are
    folded; broadcasts become implicit where the operator that uses them broadcasts itself. Booleans
    become tensors of zeros and ones, as arguments in f32; integers become numbers in f32, and are
    refused where they might not be exact. `erfc` becomes a formula in f32, with its roundoff as
    absolute error; a large finite number in a mask becomes minus infinity, as in `infinite-masks`.
    Functions without StableHLO operations stay as they are; where all are such, a remark names an
    operation of theirs.

    Fails at the first operation that the kernel dialect does not express, and says why. With
    `parts` that is a remark: runs of operations that can be converted become functions
    `@NAME_part_0` and so on, which `@NAME` calls; the rest stays, as do the types of arguments.
    Calls of private functions that can be converted are inlined there, too.
    """

    name = "convert-stablehlo-to-kernel"

    parts: bool = False
    """Convert parts of functions that cannot be converted as a whole."""

    if_any: bool = False
    """Say nothing of a module in which there is nothing to convert."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            each
            for each in op.body.block.ops
            if isinstance(each, FuncOp) and not each.is_declaration
        ]
        wanted = _foreign(functions)
        if not wanted and not self.if_any:
            tell_foreign(op, "StableHLO")
        own = {each.sym_name.data for each in functions if each not in wanted}
        before = {*called(op)}
        unused = [each for each in wanted if _is_private(each) and each.sym_name.data in before]
        hosts = self._convert_whole(op, [each for each in wanted if each not in unused])
        if self.parts:
            inlined = [each for each in unused if _converts(op, each)]
            for host in (*hosts, *(each for each in unused if each not in inlined)):
                inline_calls(op, host, inlined.__contains__)
        left = _without_uncalled(op, unused)
        names = {each.sym_name.data for each in op.walk() if isinstance(each, FuncOp)}
        for function in (*(left if self.parts else ()), *hosts):
            convert(function, STABLEHLO, names)
        for function in [each for each in op.walk() if isinstance(each, FuncOp)]:
            if function.sym_name.data not in own:
                make_masks_infinite(function)

    def _convert_whole(self, module: ModuleOp, functions: Sequence[FuncOp]) -> list[FuncOp]:
        """Convert what can be converted whole; the rest, where parts are wanted."""
        bodies: list[tuple[FuncOp, Region]] = []
        hosts: list[FuncOp] = []
        for each in functions:
            try:
                body = convert_function(module, each)
            except PassFailure:
                if not self.parts:
                    raise
                hosts.append(each)
                continue
            if self.parts and body.block.arg_types != each.body.block.arg_types:
                hosts.append(each)
            else:
                bodies.append((each, body))
        for function, body in bodies:
            _replace_body(function, body)
        return hosts


def _foreign(functions: Sequence[FuncOp]) -> list[FuncOp]:
    """Those that hold StableHLO operations, or call such a function."""
    foreign = {each.sym_name.data for each in functions if uses_stablehlo(each)}
    while more := {
        each.sym_name.data
        for each in functions
        if each.sym_name.data not in foreign and not foreign.isdisjoint(called(each))
    }:
        foreign |= more
    return [each for each in functions if each.sym_name.data in foreign]


def _without_uncalled(module: ModuleOp, functions: Sequence[FuncOp]) -> list[FuncOp]:
    """Erase those of `functions` that nobody calls any more; the others."""
    left = [*functions]
    while gone := [each for each in left if each.sym_name.data not in {*called(module)}]:
        for function in gone:
            left.remove(function)
            Rewriter.erase_op(function)
    return left


def _converts(module: ModuleOp, function: FuncOp) -> bool:
    try:
        convert_function(module, function)
    except PassFailure:
        return False
    return True


def _replace_body(function: FuncOp, body: Region) -> None:
    """Give `function` another body, and tell which of its arguments have other types."""
    for old, new in zip(function.body.block.args, body.block.args, strict=True):
        if old.type != new.type:
            remark(
                function, f"takes {new.type} as argument {old.index}: zeros and ones of {old.type}"
            )
    function.detach_region(function.body)
    function.add_region(body)
    function.update_function_type()


def _is_private(function: FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"
