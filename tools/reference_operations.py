"""Reference pages of the dialects, written from their definitions and the tests of their syntax."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ArrayOfConstraint
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    MessageConstraint,
    OperandDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VarConstraint,
    VarOperandDef,
    VarResultDef,
)
from xdsl.irdl.constraints import AttrSetConstraint
from xdsl.parser import Parser
from xdsl.printer import Printer

from mirage_mlir.dialects import DIALECTS, get_all_dialects, load_dialect
from mirage_mlir.dialects.bases import InferredShapeOp, UnaryBase
from mirage_mlir.dialects.facts import FactsAttr
from mirage_mlir.dialects.rearrangement_bases import TransposeBase
from mirage_mlir.tool.reference import field_docstrings

ROOT = Path(__file__).parents[1]

MOST_EXAMPLES = 3
"""More examples of one operation would only repeat its attributes with other values."""

COLLECTIONS = {"tensor": "tensor", "threadblock.tile": "tile", "array": "array"}
"""Attributes and types that are named before what they hold."""

NAMES = {"builtin.int": "integer", "builtin.float_data": "number", "integer_type": "integer type"}
"""What xDSL's names stand for."""

STORAGE = ("integer", "number")
"""How a number is stored: its type says enough."""

SHARED_BASES = (InferredShapeOp.__module__, TransposeBase.__module__)
"""Modules of what operators of several dialects derive from."""

OptionalDef = OptOperandDef | OptResultDef | OptPropertyDef
ManyDef = VarOperandDef | VarResultDef


def summary(subject: type) -> str:
    """The first line of a docstring of its own; empty where it has none."""
    return inspect.cleandoc(subject.__dict__.get("__doc__") or "").partition("\n")[0]


def as_markdown(docstring: str, code_language: str = "mlir") -> str:
    """A docstring as Markdown: what is indented in it is code."""
    lines = inspect.cleandoc(docstring).splitlines()
    result: list[str] = []
    code: list[str] = []
    for line in [*lines, "end"]:
        if line.startswith("    ") or (code and not line):
            code.append(line)
            continue
        if code:
            body = inspect.cleandoc("\n".join(["", *code])).rstrip()
            result += ["", f"```{code_language}", body, "```", ""]
            code = []
        result.append(line)
    return re.sub("\n{3,}", "\n\n", "\n".join(result[:-1])).strip()


# Constraints


def _parameters(constraint: ParamAttrConstraint[ParametrizedAttribute]) -> str:
    """The constraint of an attribute's parameters, said as one says it of tensors and numbers."""
    told = [describe(each) for each in constraint.param_constrs if not isinstance(each, AnyAttr)]
    words = " ".join(each for each in told if each not in STORAGE)
    kind = COLLECTIONS.get(constraint.base_attr.name)
    return words if kind is None else f"{kind} of {words}"


def _without_parts(constraint: AttrConstraint) -> str:
    """What a constraint that has no constraints as its parts allows."""
    match constraint:
        case AnyAttr():
            return "anything"
        case EqAttrConstraint(attr=attribute):
            return str(attribute)
        case BaseAttr(attr=attribute):
            return {**COLLECTIONS, **NAMES}.get(attribute.name, attribute.name)
        case AttrSetConstraint(values=values):
            return " or ".join(sorted(map(str, values)))
        case _:
            return str(constraint)


def describe(constraint: AttrConstraint) -> str:
    """What `constraint` allows, in a few words."""
    match constraint:
        case MessageConstraint(constr=inner):
            return describe(inner)
        case VarConstraint(name=name):
            return name
        case ArrayOfConstraint(elem_range_constraint=inner):
            return f"array of {_describe_range(inner)}"
        case AllOf(attr_constrs=all_of):
            return describe(all_of[-1])
        case AnyOf(attr_constrs=choices):
            return " or ".join(map(describe, choices))
        case ParamAttrConstraint():
            return _parameters(constraint)
        case _:
            return _without_parts(constraint)


def _describe_range(constraint: RangeConstraint) -> str:
    if isinstance(constraint, RangeLengthConstraint):
        return _describe_range(constraint.constraint)
    assert isinstance(constraint, RangeOf), constraint
    return describe(constraint.constr)


def _values(defined: Iterable[tuple[str, OperandDef | ResultDef]]) -> str:
    """Operands or results: name and type each."""
    told: list[str] = []
    for name, each in defined:
        number = ""
        if isinstance(each, OptionalDef):
            number = "optional "
        elif isinstance(each, ManyDef):
            number = "any number of: "
        told.append(f"`{name}` ({number}{_describe_range(each.constr)})")
    return ", ".join(told)


def type_variables(operation: type[IRDLOperation]) -> Iterator[str]:
    """What each variable in the constraints of `operation` stands for."""
    definition = operation.get_irdl_definition()
    seen: dict[str, str] = {}
    for _, each in [*definition.operands, *definition.results]:
        for name, inner in _variables(each.constr):
            seen.setdefault(name, inner)
    for name, inner in seen.items():
        yield f"`{name}`: {inner}, the same everywhere."


def _variables(constraint: object) -> Iterator[tuple[str, str]]:
    match constraint:
        case VarConstraint(name=name, constraint=inner):
            yield name, describe(inner)
        case ParamAttrConstraint(param_constrs=parameters):
            for each in parameters:
                yield from _variables(each)
        case RangeLengthConstraint(constraint=inner) | RangeOf(constr=inner):
            yield from _variables(inner)
        case _:
            pass


# Examples


def parsing_context() -> Context:
    """A context that knows all dialects of xDSL and ours."""
    context = Context(allow_unregistered=True)
    for name, dialect in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(name, dialect)
    return context


def tested_programs(dialect: str) -> Iterator[Operation]:
    """The valid programs among the tests of `dialect`; lit runs each through `mirage-opt`."""
    folder = ROOT / "test" / "dialects" / dialect
    # `ops.mlir` has each operation by itself.
    paths = sorted(folder.glob("*.mlir"), key=lambda path: (path.stem != "ops", path.name))
    for path in paths:
        if "invalid" in path.stem:
            continue
        for text in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
            yield Parser(parsing_context(), text, path.name).parse_module()


def examples(dialect: str) -> dict[str, list[str]]:
    """The examples of each operation, which differ in attributes or in the number of operands."""
    found: dict[str, dict[tuple[object, ...], str]] = {}
    for program in tested_programs(dialect):
        for op in program.walk():
            shape = (*sorted(op.properties), len(op.operands), len(op.results))
            kinds = found.setdefault(op.name, {})
            if shape not in kinds and len(kinds) < MOST_EXAMPLES:
                kinds[shape] = _printed(op)
    return {name: list(kinds.values()) for name, kinds in found.items()}


def _printed(op: Operation) -> str:
    text = StringIO()
    Printer(text).print_op(op)
    return text.getvalue().strip()


# Pages


def documentation(operation: type[IRDLOperation]) -> list[str]:
    """The docstring of `operation`, and that of the nearest base that all dialects share."""
    told = [as_markdown(operation.__dict__.get("__doc__") or "")]
    for base in operation.__mro__:
        if base.__module__ not in SHARED_BASES or base in (InferredShapeOp, UnaryBase):
            continue
        text = as_markdown(base.__dict__.get("__doc__") or "")
        return told if told[0].startswith(text.rstrip(".")) else [*told, text]
    return told


def _attribute_rows(operation: type[IRDLOperation]) -> Iterator[str]:
    for name, each in operation.get_irdl_definition().properties.items():
        if name == "operandSegmentSizes":
            continue  # Not written: xDSL counts operands.
        constraint = each.constr
        kind = describe(constraint)
        default = "required" if each.default_value is None else f"`{each.default_value}`"
        if isinstance(each, OptPropertyDef):
            default = "absent"
        written = f"`{constraint.message}`" if isinstance(constraint, MessageConstraint) else ""
        yield f"| `{name}` | {kind} | {default} | {written} |"


def operation_section(operation: type[IRDLOperation], shown: list[str]) -> str:
    """One operation: meaning, example, operands, results, attributes."""
    definition = operation.get_irdl_definition()
    lines = [f"### `{operation.name}`", "", "\n\n".join(documentation(operation)), ""]
    lines += ["```mlir", *shown, "```", ""]
    if definition.operands:
        lines += [f"* Operands: {_values(definition.operands)}."]
    if definition.results:
        lines += [f"* Results: {_values(definition.results)}."]
    lines += [f"* {told}" for told in type_variables(operation)]
    if rows := list(_attribute_rows(operation)):
        header = ["| attribute | type | default | as one writes it |", "| --- | --- | --- | --- |"]
        lines += ["", *header, *rows]
    return "\n".join([*lines, ""])


def attribute_section(attribute: type[Attribute]) -> str:
    """A type or an attribute of a dialect: meaning and parameters."""
    lines = [f"### `{attribute.name}`", "", as_markdown(attribute.__doc__ or "")]
    if issubclass(attribute, ParametrizedAttribute):
        parameters = attribute.get_irdl_definition().parameters
        named = [f"`{name}` ({describe(each.constr)})" for name, each in parameters]
        if named:
            lines += ["", f"* Parameters: {', '.join(named)}."]
    if issubclass(attribute, FactsAttr):
        meanings = field_docstrings(attribute.KIND).items()
        lines += ["", *(f"* `{name}`: {' '.join(text.split())}" for name, text in meanings)]
    return "\n".join([*lines, ""])


def dialect_page(name: str) -> str:
    """The page of one dialect."""
    dialect: Dialect = load_dialect(name)
    module = import_module(DIALECTS[name].partition(":")[0])
    shown = examples(name)
    sections = [f"# The `{name}` dialect", as_markdown(module.__doc__ or ""), "## Operations"]
    for operation in sorted(dialect.operations, key=lambda op: op.name):
        assert issubclass(operation, IRDLOperation)
        sections.append(operation_section(operation, shown.get(operation.name, [])))
    if attributes := sorted(dialect.attributes, key=lambda each: each.name):
        sections += ["## Types and attributes", *map(attribute_section, attributes)]
    return "\n\n".join(sections)
