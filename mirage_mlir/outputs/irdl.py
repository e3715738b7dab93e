"""
The dialects for MLIR tools that were not built with them, and programs as those read them.

    mirage-opt -t irdl /dev/null -o dialects.mlir
    mirage-opt -t irdl-generic program.mlir | mlir-opt --irdl-file=dialects.mlir
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import IRDLOperation
from xdsl.printer import Printer
from xdsl.utils.target import Target

from mirage_mlir.dialects import load_dialect
from mirage_mlir.irdl_export import export_dialects, segment_sizes

EXPORTED = ("kernel", "threadblock", "thread")
"""The dialects that are ours; nvvm is upstream's."""


class IrdlPrinter(Printer):
    """Generic form, with our attributes as IRDL defines them: `#d.a<parameter, ...>`."""

    def print_attribute(self, attribute: Attribute) -> None:
        dialect = attribute.name.partition(".")[0]
        if dialect not in EXPORTED or not isinstance(attribute, ParametrizedAttribute):
            super().print_attribute(attribute)
            return
        self.print_string(("!" if isinstance(attribute, TypeAttribute) else "#") + attribute.name)
        self.print_paramattr_parameters(attribute.parameters)


@dataclass(frozen=True)
class IrdlGenericTarget(Target):
    """
    The program as `mlir-opt --irdl-file` and MLIR's Python bindings read it.

    Properties are printed as attributes: MLIR's run-time dialects have no properties. For the
    attributes that are added see `irdl_export.segment_sizes`; our parser drops them.
    """

    name = "irdl-generic"

    locations: bool = False
    """Whether each operation says where it comes from."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        module = module.clone()
        for op in module.walk():
            if isinstance(op, IRDLOperation) and op.dialect_name() in EXPORTED:
                op.attributes.update(segment_sizes(op))
        printer = IrdlPrinter(
            stream=output,
            print_generic_format=True,
            print_properties_as_attributes=True,
            print_debuginfo=self.locations,
        )
        printer.print_op(module)
        printer.print_metadata([Builtin])
        output.write("\n")


@dataclass(frozen=True)
class IrdlTarget(Target):
    """The dialects themselves, as one module; the input is ignored."""

    name = "irdl"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        definitions = ModuleOp([*export_dialects([load_dialect(name) for name in EXPORTED])])
        definitions.verify()
        Printer(stream=output).print_op(definitions)
        output.write("\n")
