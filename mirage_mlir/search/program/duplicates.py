"""Programs that compute each value once."""

from dataclasses import replace

from mirage_mlir.search.program.program import Kind, Node, Program


def without_duplicates(program: Program) -> Program:
    """
    The program in which no two nodes do the same with the same operands.

    A gradient computes again what its function computes. Two such softmaxes would each want a
    maximum, and cuts at one of them would leave the other. Inputs stay, each in its own role.
    """
    nodes: list[Node] = []
    numbers: dict[Node, int] = {}
    new: list[int] = []
    for node in program.nodes:
        node = replace(node, operands=tuple(new[operand] for operand in node.operands))
        if node.kind is Kind.INPUT or node not in numbers:
            numbers[node] = len(nodes)
            nodes.append(node)
        new.append(numbers[node])
    inputs = tuple(replace(tensor, node=new[tensor.node]) for tensor in program.inputs)
    outputs = tuple(replace(output, node=new[output.node]) for output in program.outputs)
    return replace(program, nodes=tuple(nodes), inputs=inputs, outputs=outputs)
