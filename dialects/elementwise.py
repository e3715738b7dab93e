"""Parameters, checks and classes of operations, made from the table of elementwise operators."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import FloatAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import UnaryBase
from mirage_mlir.dialects.common import f32_attr, f32_parameter, string_parameter
from mirage_mlir.operators.elementwise import (
    Choice,
    Number,
    Parameter,
    Parameters,
    Row,
    Unary,
    Value,
)
from mirage_mlir.operators.table import ROWS

Op = TypeVar("Op", bound=UnaryBase)


def row_of(op: Operation) -> Row | None:
    """The row of an operation of the kernel or the threadblock dialect, if it is elementwise."""
    dialect, _, name = op.name.partition(".")
    return ROWS.get(name) if dialect in ("kernel", "threadblock") else None


def parameters_of(op: Operation, row: Row) -> Parameters:
    """The attributes of an operation that are parameters of its operator."""
    return Parameters({each.name: _value(op.properties[each.name]) for each in row.parameters})


def _value(attribute: Attribute) -> Value:
    if isinstance(attribute, StringAttr):
        return attribute.data
    assert isinstance(attribute, FloatAttr)
    return attribute.value.data


class RowBase(UnaryBase, ABC):
    """An elementwise function of one value that its row defines completely."""

    def __init__(
        self, input: SSAValue, *values: Value, result_type: Attribute | None = None
    ) -> None:
        """`values` are the parameters, in the order of the row; those left out have defaults."""
        parameters = ROWS[self.name.partition(".")[2]].parameters
        properties = {
            parameter.name: _attribute(parameter, value)
            for parameter, value in zip(parameters, values, strict=False)
        }
        super().__init__(input, result_type, properties)

    def verify_(self) -> None:
        super().verify_()
        row = ROWS[self.name.partition(".")[2]]
        values = parameters_of(self, row).values
        for parameter in row.parameters:
            if (wrong := parameter.wrong(values[parameter.name])) is not None:
                raise invalid(self, wrong)


def _attribute(parameter: Parameter, value: Value) -> Attribute:
    if isinstance(parameter, Choice):
        assert isinstance(value, str)
        return StringAttr(value)
    assert not isinstance(value, str)
    return f32_attr(value)


def _property(parameter: Parameter) -> object:
    """The definition of the property for a parameter."""
    match parameter:
        case Number(name=name):
            return prop_def(f32_parameter(name))
        case Choice(name=name, words=words):
            constraint = string_parameter(name, words[1])
            return prop_def(constraint, default_value=StringAttr(words[0]))


def classes_of_rows(
    dialect: str, base: type[Op], written: Sequence[type[Operation]]
) -> dict[str, type[Op]]:
    """
    Classes for the unary operators of the table that have no class statement, by mnemonic.

    A class is written out where other code names it as a type, to match it or to build it.
    """
    names = {op.name.partition(".")[2] for op in written}
    return {
        row.name: _class_of(row, dialect, base)
        for row in ROWS.values()
        if isinstance(row, Unary) and row.name not in names
    }


def _class_of(row: Unary, dialect: str, base: type[Op]) -> type[Op]:
    title = "".join(part.capitalize() for part in row.name.split("_"))
    members: Mapping[str, object] = {
        "__doc__": row.documentation,
        "__module__": base.__module__,
        "name": f"{dialect}.{row.name}",
        **{parameter.name: _property(parameter) for parameter in row.parameters},
    }
    made = type(f"{title}Op", (RowBase, base), dict(members))
    assert issubclass(made, base)
    return irdl_op_definition(made)
