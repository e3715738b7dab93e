"""
The generic form of an operation, as MLIR's parser takes it, with every location in place.

xDSL's printer writes the same in five times the time: it keeps track of lines and columns, and
writes an attribute anew wherever it occurs. In a kernel the same few types, flags and places occur
thousands of times.
"""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from xdsl.dialects.builtin import FunctionType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.printer import Printer


def generic_form(op: Operation) -> str:
    """The text of `op` and of all that it holds."""
    return "".join(_GenericForm().operation(op))


class _GenericForm:
    """Names of values and blocks, each used once in the whole text, and texts of attributes."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self.attributes: dict[Attribute, str] = {}
        # An operation's attributes live as long as it does, which is longer than this.
        self.by_identity: dict[int, str] = {}

    def operation(self, op: Operation) -> Iterator[str]:
        """The pieces of the text of an operation."""
        if op.results:
            yield f"{', '.join([self.value(result) for result in op.results])} = "
        yield f'"{op.name}"({", ".join([self.value(operand) for operand in op.operands])})'
        if op.successors:
            yield f"[{', '.join([self.block(block) for block in op.successors])}]"
        if op.properties:
            yield f" <{self.dictionary(op.properties)}>"
        if op.regions:
            yield " ("
            for number, region in enumerate(op.regions):
                yield ", " if number else ""
                yield from self.region(region)
            yield ")"
        if op.attributes:
            yield f" {self.dictionary(op.attributes)}"
        operands = ", ".join([self.attribute(operand.type) for operand in op.operands])
        results = self.results([result.type for result in op.results])
        yield f" : ({operands}) -> {results} {self.attribute(op.location)}\n"

    def results(self, types: Sequence[Attribute]) -> str:
        """The types of the results of an operation."""
        if len(types) == 1 and not isinstance(types[0], FunctionType):
            return self.attribute(types[0])
        return f"({', '.join(map(self.attribute, types))})"

    def region(self, region: Region) -> Iterator[str]:
        """The pieces of the text of a region."""
        yield "{\n"
        for number, block in enumerate(region.blocks):
            if number or block.args:
                arguments = [
                    f"{self.value(argument)}: {self.attribute(argument.type)} "
                    f"{self.attribute(argument.location)}"
                    for argument in block.args
                ]
                yield f"{self.block(block)}({', '.join(arguments)}):\n"
            for op in block.ops:
                yield from self.operation(op)
        yield "}"

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
            Printer(stream=stream).print_attribute(attribute)
            text = self.attributes[attribute] = stream.getvalue()
        self.by_identity[id(attribute)] = text
        return text
