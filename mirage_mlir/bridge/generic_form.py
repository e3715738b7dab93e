"""
The generic form of an operation, as MLIR's parser takes it, with every location in place.

xDSL's printer writes the same in five times the time: it keeps track of lines and columns, and
writes an attribute anew wherever it occurs. In a kernel the same few types, flags and places occur
thousands of times.
"""

from collections.abc import Mapping, Sequence
from io import StringIO

from xdsl.dialects.builtin import FunctionType, UnitAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.printer import Printer

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects.interface import in_plain_form


def generic_form(op: Operation) -> str:
    """The text of `op` and of all that it holds."""
    form = _GenericForm()
    form.operation(op)
    return "".join(form.pieces)


class _GenericForm:
    """Names of values and blocks, each used once in the whole text, and texts of attributes."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.values: dict[SSAValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self.attributes: dict[Attribute, str] = {}
        # An operation's attributes live as long as it does, which is longer than this.
        self.by_identity: dict[int, str] = {}

    def operation(self, op: Operation) -> None:
        """Write an operation."""
        results = ", ".join([self.value(result) for result in op.results])
        operands = ", ".join([self.value(operand) for operand in op.operands])
        text = f'"{name_of(op)}"({operands})'
        if results:
            text = f"{results} = {text}"
        if op.successors:
            text += f"[{', '.join([self.block(block) for block in op.successors])}]"
        if op.properties:
            text += f" <{self.dictionary(op.properties)}>"
        self.pieces.append(text)
        for number, region in enumerate(op.regions):
            self.pieces.append(", " if number else " (")
            self.region(region)
        text = ")" if op.regions else ""
        attributes = op.attributes
        if isinstance(op, UnregisteredOp):
            # The name of what xDSL does not know is one of its attributes.
            attributes = {name: each for name, each in attributes.items() if name != "op_name__"}
        if attributes:
            text += f" {self.dictionary(attributes)}"
        operand_types = ", ".join([self.attribute(operand.type) for operand in op.operands])
        result_types = self.results([result.type for result in op.results])
        place = self.attribute(op.location)
        self.pieces.append(f"{text} : ({operand_types}) -> {result_types} {place}\n")

    def results(self, types: Sequence[Attribute]) -> str:
        """The types of the results of an operation."""
        if len(types) == 1 and not isinstance(types[0], FunctionType):
            return self.attribute(types[0])
        return f"({', '.join(map(self.attribute, types))})"

    def region(self, region: Region) -> None:
        """Write a region."""
        self.pieces.append("{\n")
        for number, block in enumerate(region.blocks):
            if number or block.args:
                arguments = [
                    f"{self.value(argument)}: {self.attribute(argument.type)} "
                    f"{self.attribute(argument.location)}"
                    for argument in block.args
                ]
                self.pieces.append(f"{self.block(block)}({', '.join(arguments)}):\n")
            for op in block.ops:
                self.operation(op)
        self.pieces.append("}")

    def value(self, value: SSAValue) -> str:
        """The name of a value."""
        if (name := self.values.get(value)) is None:
            name = self.values[value] = f"%{len(self.values)}"
        return name

    def block(self, block: Block) -> str:
        """The name of a block."""
        if (name := self.blocks.get(block)) is None:
            name = self.blocks[block] = f"^bb{len(self.blocks)}"
        return name

    def dictionary(self, entries: Mapping[str, Attribute]) -> str:
        """Properties or attributes."""
        texts = [
            f'"{name}"' if isinstance(value, UnitAttr) else f'"{name}" = {self.attribute(value)}'
            for name, value in entries.items()
        ]
        return f"{{{', '.join(texts)}}}"

    def attribute(self, attribute: Attribute) -> str:
        """The text of an attribute, a type or a location."""
        if (known := self.by_identity.get(id(attribute))) is not None:
            return known
        if (text := self.attributes.get(attribute)) is None:
            stream = StringIO()
            Printer(stream=stream).print_attribute(in_plain_form(attribute))
            text = self.attributes[attribute] = stream.getvalue()
        self.by_identity[id(attribute)] = text
        return text
