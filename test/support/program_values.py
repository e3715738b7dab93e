"""Programs over axes, computed with numpy: what the reader makes of views is checked with it."""

from collections.abc import Callable, Mapping, Sequence
from math import erf

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.search.program.program import Function, Kind, Node, Output, Program
from mirage_mlir.search.program.tensor_slices import ArgumentView

Array = NDArray[np.float64]

BINARY: Mapping[Kind, Callable[[Array, Array], Array]] = {
    Kind.ADD: np.add,
    Kind.SUB: np.subtract,
    Kind.MUL: np.multiply,
    Kind.DIV: np.divide,
    Kind.MAX: np.maximum,
}


def viewed(array: Array, view: ArgumentView) -> Array:
    """The part of an argument that a program reads."""
    for cut in view.cuts:
        end = cut.offset + (cut.size - 1) * cut.stride + 1
        index = [slice(None)] * len(cut.shape)
        index[cut.dim] = slice(cut.offset, end, cut.stride)
        array = array.reshape(cut.shape)[tuple(index)]
    return array


def apply(function: Function, x: Array) -> Array:
    """A function of each element."""
    functions: Mapping[str, Callable[[Array], Array]] = {
        "exp": np.exp,
        "sqrt": np.sqrt,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "silu": lambda x: x / (1 + np.exp(-x)),
        "tanh": np.tanh,
        "relu": lambda x: np.maximum(x, 0),
        "gelu": lambda x: x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2,
    }
    return functions[function.name](x)


class ProgramValues:
    """
    The values of a program's nodes.

    Each is an array with one dimension for each axis of the program, of size 1 for those that it
    lacks.
    """

    def __init__(self, program: Program, arguments: Sequence[Array]) -> None:
        self.program = program
        self.order = list(program.sizes)
        self.read = {one.node: (one, arguments[one.argument]) for one in program.inputs}
        self.values: list[Array] = []
        for number, node in enumerate(program.nodes):
            value = self._node(number, node)
            assert value.shape == tuple(
                program.sizes[a] if a in node.present else 1 for a in self.order
            )
            self.values.append(value)

    def _node(self, number: int, node: Node) -> Array:
        operands = [self.values[operand] for operand in node.operands]
        if node.kind is Kind.INPUT:
            tensor, array = self.read[number]
            return self._spread(array, tensor.axes)
        if node.kind is Kind.CONSTANT:
            return np.full([1] * len(self.order), float(node.value))
        if node.kind is Kind.VIEW:
            return operands[0]
        if node.function is not None:
            return apply(node.function, operands[0])
        if node.kind in BINARY:
            return BINARY[node.kind](operands[0], operands[1])
        whole = [self.program.sizes[a] if a in node.reduced else 1 for a in self.order]
        value = np.prod(np.broadcast_arrays(*operands, np.ones(whole)), axis=0)
        reduce = np.max if node.kind is Kind.REDUCE_MAX else np.sum
        places = tuple(self.order.index(axis) for axis in node.reduced)
        return np.asarray(reduce(value, axis=places, keepdims=True))

    def _spread(self, array: Array, axes: Sequence[str | None]) -> Array:
        present = [axis for axis in axes if axis is not None]
        array = array.reshape([self.program.sizes[axis] for axis in present])
        array = array.transpose([present.index(axis) for axis in self.order if axis in present])
        return array.reshape([self.program.sizes[a] if a in present else 1 for a in self.order])

    def output(self, output: Output) -> Array:
        """A result in the dimensions that it is returned with, those of size 1 left out."""
        wanted = [axis for axis in output.axes if axis is not None]
        own = [axis for axis in self.order if axis in wanted]
        shape = [self.program.sizes[a] if a in wanted else 1 for a in self.order]
        value = np.broadcast_to(self.values[output.node], shape)
        value = value.reshape([self.program.sizes[axis] for axis in own])
        return value.transpose([own.index(axis) for axis in wanted])


def computed(program: Program, arguments: Sequence[Array]) -> list[Array]:
    """The outputs of a program on the arguments that its inputs name."""
    values = ProgramValues(program, arguments)
    return [values.output(output) for output in program.outputs]
