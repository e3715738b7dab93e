"""From the text of one program to the bytes of the result."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.targets.mlir import MLIRTarget
from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError
from xdsl.utils.target import Target

from mirage_mlir.bridge.linalg_text import place_of
from mirage_mlir.diagnostics import Diagnostic, InvalidOperation, PassFailure, Severity
from mirage_mlir.driver.source import read_program
from mirage_mlir.outputs.base import BinaryTarget, FilesTarget
from mirage_mlir.tool.command_line import CommandLine
from mirage_mlir.verification import verify


class Rejected(Exception):
    """The input was rejected, with these diagnostics."""

    def __init__(self, *diagnostics: Diagnostic):
        super().__init__("; ".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


class InternalError(Exception):
    """A fault of the compiler, not of its input."""


Apply = Callable[[ModulePass, Context, ModuleOp], None]
"""Applies a pass to a program."""


def apply_pass(each: ModulePass, context: Context, module: ModuleOp) -> None:
    """Apply a pass, and nothing else."""
    each.apply(context, module)


@contextmanager
def rejections(by: str, file: str) -> Generator[None]:
    """Turn what a pass or target raises for a bad program into `Rejected`."""
    try:
        yield
    except (InvalidOperation, PassFailure) as error:
        raise Rejected(*error.diagnostics) from error
    except DiagnosticException as error:
        # One of xDSL's own, which knows no place but the file.
        message = f"'{by}' failed: {error}"
        raise Rejected(Diagnostic(Severity.ERROR, message, file)) from error


@dataclass(frozen=True)
class Compilation:
    """The passes and the target that one command line asks for."""

    command: CommandLine
    context: Context
    passes: Sequence[ModulePass]
    target: Target

    def parse(self, text: str, name: str) -> ModuleOp:
        try:
            implicit = self.command.implicit_module
            module = read_program(self.context, text, name, implicit_module=implicit)
            verify(module)
        except ParseError as error:
            raise Rejected(*_parse_diagnostics(error, text)) from error
        except (InvalidOperation, PassFailure) as error:
            raise Rejected(*error.diagnostics) from error
        except RecursionError as error:
            raise Rejected(Diagnostic(Severity.ERROR, "nested too deep", name)) from error
        return module

    def run_passes(
        self, module: ModuleOp, name: str, apply: Apply, after_pass: Callable[[], None]
    ) -> None:
        for each in self.passes:
            try:
                with rejections(each.name, name):
                    apply(each, self.context, module)
                verify(module)
            except InvalidOperation as error:
                self._dump(each, module, " Failed")
                raise InternalError(f"'{each.name}' made an invalid program: {error}") from error
            except Rejected:
                self._dump(each, module, " Failed")
                raise
            self._dump(each, module, "")
            after_pass()

    def emit(self, module: ModuleOp, name: str) -> bytes:
        target = self.target
        if isinstance(target, MLIRTarget):
            target = replace(
                target,
                print_generic_format=target.print_generic_format or self.command.print_op_generic,
                print_debuginfo=target.print_debuginfo or self.command.print_debuginfo,
            )
        with rejections(target.name, name):
            if isinstance(target, FilesTarget):
                return b""  # the session writes them
            if isinstance(target, BinaryTarget):
                return target.encode(self.context, module)
            output = StringIO()
            target.emit(self.context, module, output)
        return (output.getvalue().rstrip("\n") + "\n").encode()

    def _dump(self, after: ModulePass, module: ModuleOp, outcome: str) -> None:
        if not self.command.print_ir_after_all:
            return
        title = f"IR Dump After {type(after).__name__}{outcome} ({after.name})"
        sys.stderr.write(f"// -----// {title} //----- //\n")
        Printer(
            stream=sys.stderr,
            print_generic_format=self.command.print_op_generic,
            print_debuginfo=self.command.print_debuginfo,
        ).print_op(module)
        sys.stderr.write("\n\n")


def _parse_diagnostics(error: ParseError, text: str) -> list[Diagnostic]:
    diagnostics = [Diagnostic(Severity.ERROR, error.msg, *place_of(error, text))]
    if isinstance(error, MultipleSpansParseError):
        for span, message in error.refs:
            text = message or error.ref_text or "see here"
            diagnostics.append(Diagnostic(Severity.NOTE, text, *span.get_location()))
    return diagnostics
