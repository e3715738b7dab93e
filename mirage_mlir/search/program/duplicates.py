"""Removes duplicate operations from programs (common subexpression elimination)."""

from dataclasses import replace

from mirage_mlir.search.program.program import Kind, Node, Program, narrower


def without_duplicates(program: Program) -> Program:
    """
    The program without nodes that do the same with the same operands as another one.

    A gradient recomputes values of its function. Two equal softmaxes would each need a row maximum,
    and a cut at one of them would leave the other. Where the program narrows one of two equal
    values, graphs may narrow it. Inputs stay, each in its own role.
    """
    nodes: list[Node] = []
    numbers: dict[Node, int] = {}
    new: list[int] = []
    for node in program.nodes:
        node = replace(node, operands=tuple(new[operand] for operand in node.operands))
        # A number is one, whatever dimensions of size 1 it is written with.
        axes = () if node.kind is Kind.CONSTANT else node.axes
        key = replace(node, axes=axes, element_type="f32", floor="f32", rounded=False)
        if node.kind is Kind.INPUT or key not in numbers:
            numbers[key] = len(nodes)
            nodes.append(node)
        else:
            nodes[numbers[key]] = _narrowed(nodes[numbers[key]], node)
        new.append(numbers[key])
    inputs = tuple(replace(tensor, node=new[tensor.node]) for tensor in program.inputs)
    outputs = tuple(replace(output, node=new[output.node]) for output in program.outputs)
    return replace(program, nodes=tuple(nodes), inputs=inputs, outputs=outputs)


def _narrowed(node: Node, other: Node) -> Node:
    """A node that the program narrows where it narrows another one of the same value."""
    return replace(
        node,
        element_type=narrower(node.element_type, other.element_type),
        floor=narrower(node.floor, other.floor),
        rounded=node.rounded and other.rounded and node.element_type == other.element_type,
    )
