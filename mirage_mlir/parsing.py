"""Reading MLIR text so that every operation and block argument knows where it was written."""

import re
import struct
from bisect import bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from math import prod
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    ComplexType,
    FileLineColLoc,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    RankedStructure,
    ShapedType,
    StringAttr,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Data,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AttributeInvT,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
)
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from mirage_mlir.diagnostics import plain
from mirage_mlir.suggestions import suggestion

CLOSED_DIALECTS = ("kernel", "threadblock", "thread")
"""Dialects of which no operation is unknown, whatever `--allow-unregistered-dialect` says."""

OPEN_DIALECTS = (
    *("stablehlo", "chlo", "linalg", "tensor", "math", "arith"),
    *("affine", "async", "bufferization", "cf", "complex", "gpu", "index", "llvm", "memref"),
    *("ml_program", "scf", "sdy", "shape", "sparse_tensor", "ub", "vector"),
)
"""
Dialects of which we know a part; the rest is read as unregistered.

It stays with the host, or is refused by a pass. Those of the first line are converted.
"""

SCALARS_ALONE = frozenset(
    f"arith.{name}"
    for name in (
        *("cmpf", "cmpi", "extsi", "extui", "fptosi", "fptoui", "index_cast", "index_castui"),
        *("select", "sitofp", "trunci", "uitofp"),
    )
)
"""Operations that xDSL has for scalars, and MLIR for tensors and vectors as well."""

UNKNOWN_STAYS = "; --allow-unregistered-dialect lets it stay as it is"

MOST_DIGITS = 1000
"""Of one number in the text: far above any type's width, and below what Python converts (4300)."""


MOST_ELEMENTS = 2**22
"""Of one `dense` attribute, which xDSL keeps one by one: more than tables in programs have."""


NO_ELEMENT_TYPE = "Expected shape type."
"""What xDSL says of `tensor<4xfp16>`."""

ELEMENT_TYPES = ("f16", "bf16", "f32")


class _Lexer(MLIRLexer):
    """xDSL's lexer, which fails at once on what it takes very long for, or takes for something."""

    # As in xDSL, but possessive: without the closing quote, there are exponentially many ways to
    # part the text among the two repetitions, and each of them is tried.
    _string = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        if self._string.match(self.input.content, start_pos) is None:
            raise ParseError(
                Span(start_pos, start_pos + 1, self.input),
                "string without an end on its line, or with an unknown escape sequence",
            )
        return super()._lex_string_literal(start_pos)

    def _form_token(self, kind: MLIRTokenKind, start_pos: Position) -> MLIRToken:
        token = super()._form_token(kind, start_pos)
        if kind == MLIRTokenKind.INTEGER_LIT and len(token.span) > MOST_DIGITS:
            raise ParseError(token.span, f"number of {len(token.span)} digits")
        # Letters and digits of other alphabets are such to Python only.
        if not token.text.isascii() and '"' not in token.text:
            raise ParseError(token.span, f"unexpected character in '{token.text}'")
        return token


class LocatingParser(Parser):
    """
    xDSL's parser, with MLIR's locations; xDSL's own come from explicit `loc(...)` only.

    An operation is where its name is, a block argument where its `%name` is. What a constructor
    or an attribute's verifier rejects while parsing becomes a parse error with a place.
    """

    _Element = Parser._TensorLiteralElement

    class _TensorLiteralElement(_Element):
        """A number of a `dense` attribute; hexadecimal ones are the bits of floats, as in MLIR."""

        def to_type(
            self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
        ) -> int | float | tuple[int, int] | tuple[float, float]:
            if isinstance(type, AnyFloat) and self.span.text.startswith("0x"):
                bits = self.to_int(parser)
                return type.unpack(bits.to_bytes(type.size, "little"), 1)[0]
            return super().to_type(parser, type)

    def __init__(self, ctx: Context, text: str, name: str, *, written: bool = True):
        """`written`: somebody wrote the text, whose lines are places; else only `loc(...)` are."""
        self.written = written
        self.file = StringAttr(name)
        self.line_starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
        self.first_use: dict[str, Span] = {}
        self.resource_names: dict[tuple[str, str], str] = {}
        self.unknown_allowed = ctx.allow_unregistered
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self.name_span: Span[str] = Span(0, 0, Input("", name))
        """The name of the operation that is being read; empty between operations."""

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
            if error.msg.strip() == "in block definition":
                self.raise_error("expected an operation, or '}' at the end of a region")
            raise
        except RecursionError:
            self.raise_error("nested too deep")
        if self.written and module.location == UNKNOWN_LOC:
            module.location = self.location_of(start.span)
        return module

    def parse_operation(self) -> Operation:
        outer = self.name_span
        self.name_span = self._current_token.span
        try:
            op = super().parse_operation()
        except VerifyException as error:
            self._refuse(plain(str(error)))
        except UnicodeDecodeError:
            self.raise_error("string that is not UTF-8 text", self.name_span)
        except struct.error:
            # xDSL packs the integers of an array as they are read.
            self._refuse("has an integer that its type cannot hold")
        except (ValueError, OverflowError) as error:
            self.raise_error(str(error), self.name_span)
        except (AssertionError, IndexError):
            # xDSL's parsers of upstream operations take the types after a colon as they should be.
            self._refuse("is malformed")
        if self.written and op.location == UNKNOWN_LOC:
            op.location = self.location_of(self.name_span)
        self.name_span = outer
        return op

    def _refuse(self, what: str) -> NoReturn:
        """Say what is wrong with the operation that is being read."""
        name = self.name_span.text.strip('"')
        self.raise_error(f"'{name}' op {what}", self.name_span)

    def _parse_location(self) -> LocationAttr:
        """What xDSL does not read: metadata of fused locations, and ranges, which become starts."""
        if self.parse_optional_keyword("fused"):
            metadata: Attribute = NoneAttr()
            if self.parse_optional_punctuation("<"):
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
            places = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(tuple(places), metadata)
        location = super()._parse_location()
        if isinstance(location, FileLineColLoc) and self._current_token.text == "to":
            self.parse_keyword("to")
            self.parse_optional_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return location

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        """A name of bytes, which is another one where a program before this one had it."""
        key = self.parse_identifier(" for resource handle")
        if (dialect_name, key) not in self.resource_names:
            self.resource_names[dialect_name, key] = interface.declare_resource(key)
        return self.resource_names[dialect_name, key]

    def _parse_external_resources(self) -> None:
        """Notes of tools, as how to reproduce a crash, which say nothing of the program."""
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_notes)

    def _parse_notes(self) -> None:
        self.parse_identifier()
        self.parse_punctuation(":")
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_note)

    def _parse_note(self) -> None:
        self.parse_identifier()
        self.parse_punctuation(":")
        self.parse_attribute()

    @contextmanager
    def _rejections_at(self, start: Span) -> Generator[None]:
        """Put at `start` what is wrong with the whole type or attribute that begins there."""
        try:
            yield
        except VerifyException as error:
            # xDSL's own lines before the last say which parameter it is, in terms of the code.
            name = self.name_span.text.strip('"')
            operation = f"'{name}' op " if name else ""
            reason = plain(str(error).strip().splitlines()[-1])
            self.raise_error(operation + reason.strip(), start)
        except (OverflowError, struct.error):
            self.raise_error("number out of the range of its type", start)
        except ParseError as error:
            if error.msg.endswith("is not registered"):
                self.raise_error(error.msg, start)
            if error.msg == NO_ELEMENT_TYPE:
                word = error.span.text
                hint = suggestion(word, ELEMENT_TYPES)
                self.raise_error(f"'{word}' is no type of elements{hint}", error.span.start)
            raise

    def _parse_dense_literal_type(
        self,
    ) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        kind = super()._parse_dense_literal_type()
        if (elements := prod(kind.get_shape())) > MOST_ELEMENTS:
            self.raise_error(f"dense attribute of {elements} elements, more than {MOST_ELEMENTS}")
        return kind

    def parse_optional_type(self) -> TypeAttribute | None:
        with self._rejections_at(self._current_token.span):
            return super().parse_optional_type()

    def parse_optional_attribute(self) -> Attribute | None:
        with self._rejections_at(self._current_token.span):
            return super().parse_optional_attribute()

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: Position | None
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        """Of an open dialect what is unknown is kept, also on operations of others."""
        unknown_allowed = self.ctx.allow_unregistered
        self.ctx.allow_unregistered |= _is_of_open_dialect(attr_name)
        try:
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        finally:
            self.ctx.allow_unregistered = unknown_allowed

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self.name_span = self._current_token.span
        return results

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        unknown_allowed = self.ctx.allow_unregistered
        self.ctx.allow_unregistered |= _is_of_open_dialect(self.name_span.text.strip('"'))
        try:
            op = super()._parse_generic_operation(op_type)
        finally:
            self.ctx.allow_unregistered = unknown_allowed
        # MLIR tools that know our dialects by IRDL say which of many optional values are there.
        for kind in (AttrSizedOperandSegments, AttrSizedResultSegments):
            if issubclass(op_type, IRDLOperation) and kind.attribute_name in op.attributes:
                options = op_type.get_irdl_definition().options
                if not any(isinstance(option, kind) for option in options):
                    del op.attributes[kind.attribute_name]
        if _is_of_open_dialect(op.name) and isinstance(op, IRDLOperation):
            # MLIR may have made properties since of what xDSL takes for attributes of any name.
            known = op.get_irdl_definition().properties
            others = [name for name in op.properties if name not in known]
            op.attributes |= {name: op.properties.pop(name) for name in others}
        return _as_unknown(op) if op.name in SCALARS_ALONE and _has_shapes(op) else op

    def parse_region_list(self) -> list[Region]:
        """Regions; what an open dialect may hold that is unknown is not what its regions may."""
        allowed, self.ctx.allow_unregistered = self.ctx.allow_unregistered, self.unknown_allowed
        try:
            return super().parse_region_list()
        finally:
            self.ctx.allow_unregistered = allowed

    def _get_op_by_name(self, name: str) -> type[Operation]:
        found = self._named_op(name)
        is_generic = self.name_span.text.startswith('"')
        if not is_generic and vars(Operation)["parse"].__func__ is found.parse.__func__:
            self.raise_error(
                f"'{name}' is read here in MLIR's generic form alone, \"{name}\"(...) : ..., which "
                "tools print with --mlir-print-op-generic",
                self.name_span,
            )
        return found

    def _named_op(self, name: str) -> type[Operation]:
        if _is_of_open_dialect(name) and self.ctx.get_optional_op(name) is None:
            return UnregisteredOp.with_name(name)
        try:
            op_type = super()._get_op_by_name(name)
        except ParseError as error:
            self.raise_error(f"{error.msg}{self._meant(name) or UNKNOWN_STAYS}", self.name_span)
        if issubclass(op_type, UnregisteredOp) and name.startswith(
            tuple(f"{dialect}." for dialect in CLOSED_DIALECTS)
        ):
            self.raise_error(f"Operation {name} does not exist{self._meant(name)}", self.name_span)
        return op_type

    def _meant(self, name: str) -> str:
        """The operation that was perhaps meant by `name`, in its dialect or one called alike."""
        known = sorted(self.ctx.registered_dialect_names)
        dialect, short = name.split(".", 1) if "." in name else ("kernel", name)
        dialects = [dialect] if dialect in known else get_close_matches(dialect, known)
        names = [op.name for each in dialects for op in self.ctx.get_dialect(each).operations]
        # The dialect's name would make all of its operations look alike.
        full = {each.partition(".")[2]: each for each in names}
        close = get_close_matches(short, full, n=1)
        return f"; did you mean '{full[close[0]]}'?" if close else ""

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if self.written and isinstance(value, BlockArgument) and value.location == UNKNOWN_LOC:
                value.location = self.location_of(span)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        self.first_use.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)


def _has_shapes(op: Operation) -> bool:
    return any(isinstance(value.type, ShapedType) for value in (*op.operands, *op.results))


def _as_unknown(op: Operation) -> Operation:
    """The same operation as one that nobody verifies, in the place of `op`."""
    made = UnregisteredOp.with_name(op.name).create(
        operands=op.operands,
        result_types=op.result_types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
    )
    op.erase()
    return made


def _is_of_open_dialect(name: str) -> bool:
    return name.partition(".")[0] in OPEN_DIALECTS
