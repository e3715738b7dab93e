"""Upstream MLIR reads what the `nvvm` dialect prints, and prints what it reads."""

from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.llvm import LLVM
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.printer import Printer

from mirage_mlir.bridge.bindings import bindings_module
from mirage_mlir.dialects.nvvm import Nvvm

PROGRAMS = Path(__file__).parents[2] / "dialects" / "nvvm"

FILES = ("ops.mlir", "device.mlir", "hopper.mlir", "wgmma.mlir")


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, LLVM, Test, Nvvm):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def read_and_print(text: str) -> str:
    """`text` in generic form, as MLIR prints it after reading and verifying it."""
    ir = bindings_module("ir")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        return ir.Module.parse(text).operation.get_asm(print_generic_op_form=True)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("file", FILES)
def test_upstream_reads_every_operation(file: str, generic: bool):
    module = parse((PROGRAMS / file).read_text())
    text = StringIO()
    Printer(stream=text, print_generic_format=generic).print_op(module)
    again = parse(read_and_print(text.getvalue()))
    assert again.is_structurally_equivalent(module)


def test_the_programs_hold_every_operation():
    modules = [parse((PROGRAMS / file).read_text()) for file in FILES]
    seen = {op.name for module in modules for op in module.walk()}
    assert seen >= {op.name for op in Nvvm.operations}
