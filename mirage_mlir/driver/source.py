"""Programs as text and as modules: reading, printing, taking one function out."""

from functools import cache
from io import StringIO

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from mirage_mlir.bridge.linalg_text import in_generic_form, place_of, upstream_form
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity
from mirage_mlir.dialects import get_all_dialects
from mirage_mlir.parsing import LocatingParser
from mirage_mlir.verification import verify


@cache
def compiler_context() -> Context:
    """A context that knows all dialects, ours and xDSL's, and loads them on first use."""
    context = Context()
    for name, dialect in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(name, dialect)
    return context


def read_program(
    context: Context, text: str, name: str, *, implicit_module: bool = True
) -> ModuleOp:
    """
    The module that `text` is, not verified. What xDSL does not read, upstream's bindings may.

    Raises:
        ParseError: neither reads it; `place_of` says where.
        PassFailure: it has StableHLO or linalg and is no valid module.
    """
    generic = in_generic_form(text, name)
    try:
        return LocatingParser(context, generic, name).parse_module(implicit_module)
    except ParseError:
        if generic != text or (other := upstream_form(text, name)) is None:
            raise
    return LocatingParser(context, other, name).parse_module(implicit_module)


def parse_program(text: str, name: str) -> ModuleOp:
    """
    The module that `text` is, verified; `name` is what diagnostics call the file.

    Raises:
        DiagnosticException: the text is not a valid program; the message says where and why.
    """
    try:
        module = read_program(compiler_context(), text, name)
    except ParseError as error:
        place = place_of(error, text)
        raise PassFailure(Diagnostic(Severity.ERROR, error.msg, *place)) from error
    verify(module)
    return module


def functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions of `module` that have a body."""
    return [
        op for op in module.body.block.ops if isinstance(op, func.FuncOp) and not op.is_declaration
    ]


def function_named(module: ModuleOp, name: str) -> func.FuncOp:
    """The function `name`; raises `ValueError` where there is none."""
    found = functions(module)
    for function in found:
        if function.sym_name.data == name:
            return function
    known = ", ".join(f"'{function.sym_name.data}'" for function in found) or "none"
    raise ValueError(f"the program has no function '{name}'; it has {known}")


def alone(function: func.FuncOp, name: str | None = None) -> ModuleOp:
    """A module with a copy of `function` only, called `name` where given."""
    copy = function.clone()
    if name is not None:
        copy.sym_name = StringAttr(name)
    return ModuleOp([copy])


def text_of(module: ModuleOp) -> str:
    """`module` as mirage-opt prints it."""
    stream = StringIO()
    printer = Printer(stream=stream)
    printer.print_op(module)
    printer.print_metadata([Builtin])
    return stream.getvalue().rstrip("\n") + "\n"
