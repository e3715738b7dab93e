"""Reading MLIR text so that every operation and block argument knows where it was written."""

from bisect import bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttributeInvT,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind


class LocatingParser(Parser):
    """
    xDSL's parser, with MLIR's locations; xDSL's own come from explicit `loc(...)` only.

    An operation is where its name is, a block argument where its `%name` is. What a constructor
    or an attribute's verifier rejects while parsing becomes a parse error with a place.
    """

    def __init__(self, ctx: Context, text: str, name: str):
        self.file = StringAttr(name)
        self.line_starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
        self.first_use: dict[str, Span] = {}
        super().__init__(ctx, text, name)
        self.name_span: Span = self._current_token.span

    def location_of(self, span: Span) -> FileLineColLoc:
        """The place where `span` starts (`Span.get_location` counts lines from the top)."""
        line = bisect_right(self.line_starts, span.start)
        column = span.start - self.line_starts[line - 1] + 1
        return FileLineColLoc(self.file, IntAttr(line), IntAttr(column))

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        start = self._current_token
        if allow_implicit_module and start.kind == MLIRTokenKind.EOF:
            return ModuleOp([])  # as mlir-opt does with an empty file
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if error.msg.startswith("values used but not defined"):
                # Reported at the end of the file; the place to look at is the first use.
                name = next(iter(self.forward_ssa_references))
                self.raise_error(f"use of undeclared value %{name}", self.first_use[name])
            raise
        if module.location == UNKNOWN_LOC:
            module.location = self.location_of(start.span)
        return module

    def parse_operation(self) -> Operation:
        outer = self.name_span
        self.name_span = self._current_token.span
        try:
            op = super().parse_operation()
        except (VerifyException, ValueError, OverflowError) as error:
            self.raise_error(str(error), self.name_span)
        if op.location == UNKNOWN_LOC:
            op.location = self.location_of(self.name_span)
        self.name_span = outer
        return op

    @contextmanager
    def _rejections_at(self, start: Span) -> Generator[None]:
        """Put at `start` what is wrong with the whole type or attribute that begins there."""
        try:
            yield
        except VerifyException as error:
            self.raise_error(str(error), start)
        except ParseError as error:
            if error.msg.endswith("is not registered"):
                self.raise_error(error.msg, start)
            raise

    def parse_optional_type(self) -> TypeAttribute | None:
        with self._rejections_at(self._current_token.span):
            return super().parse_optional_type()

    def parse_optional_attribute(self) -> Attribute | None:
        with self._rejections_at(self._current_token.span):
            return super().parse_optional_attribute()

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self.name_span = self._current_token.span
        return results

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        op = super()._parse_generic_operation(op_type)
        # MLIR tools that know our dialects by IRDL say which of many optional values are there.
        for kind in (AttrSizedOperandSegments, AttrSizedResultSegments):
            if issubclass(op_type, IRDLOperation) and kind.attribute_name in op.attributes:
                options = op_type.get_irdl_definition().options
                if not any(isinstance(option, kind) for option in options):
                    del op.attributes[kind.attribute_name]
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:
            self.raise_error(error.msg, self.name_span)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if isinstance(value, BlockArgument) and value.location == UNKNOWN_LOC:
                value.location = self.location_of(span)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        self.first_use.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)
