"""Functions of small uGraphs, built operation by operation; every line is a place of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.threadblock import TileType

ALL = -1
"""In a map: the axis cuts no dim; all its blocks, or iterations, get the whole."""

FLOATS: dict[str, FloatType] = {"f16": f16, "bf16": bf16, "f32": f32}


def size(shape: Iterable[int]) -> str:
    """`(16, 64)` as `16x64`."""
    return "x".join(map(str, shape))


def split(text: str) -> tuple[tuple[int, ...], FloatType]:
    """`16x64xf16` as its sizes and element type."""
    *sizes, element = text.split("x")
    return tuple(int(size) for size in sizes), FLOATS[element]


def tensor(text: str) -> TensorType[Attribute]:
    """The tensor type `16x64xf16`."""
    sizes, element = split(text)
    return TensorType(element, sizes)


def tile(text: str) -> TileType:
    """The tile type `16x64xf16`."""
    sizes, element = split(text)
    return TileType(sizes, element)


class Graph:
    """One `kernel.graph_defined` while it is built."""

    def __init__(self, program: Program, grid: Sequence[int], loop: Sequence[int]) -> None:
        self.program = program
        self.grid, self.loop = tuple(grid), tuple(loop)
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.inputs: list[SSAValue] = []
        self.result_types: list[Attribute] = []
        self.results: list[SSAValue] = []

    def add(self, op: Operation) -> SSAValue:
        """Append an operation; its only result."""
        op.location = self.program.next_place()
        return self.builder.insert(op).results[0]

    def argument(self, source: SSAValue) -> SSAValue:
        """The graph's name of a tensor from outside."""
        if source not in self.inputs:
            self.inputs.append(source)
            self.block.insert_arg(source.type, len(self.block.args))
        return self.block.args[self.inputs.index(source)]

    def load(
        self,
        source: SSAValue,
        sizes: Sequence[int],
        grid: Sequence[int],
        loop: Sequence[int] | None = None,
    ) -> SSAValue:
        """A tile of a tensor; a graph's loops cut nothing unless told so."""
        loop_map = [ALL] * len(self.loop) if loop is None else loop
        kind = tile(f"{size(sizes)}x{kernel.tensor_type(source).element_type}")
        return self.add(threadblock.LoadOp(self.argument(source), grid, loop_map, kind))

    def cast(self, value: SSAValue, element: str) -> SSAValue:
        """A tile in another element type."""
        kind = TileType(threadblock.shape_of(value), FLOATS[element])
        return self.add(threadblock.CastOp(value, kind))

    def constant(self, value: float, kind: str) -> SSAValue:
        """A tile of one number."""
        return self.add(threadblock.ConstantOp(value, tile(kind)))

    def store(
        self, value: SSAValue, result: str, grid: Sequence[int], loop: Sequence[int] = ()
    ) -> None:
        """Write a tile to the next result, a tensor of type `result`."""
        kind = tensor(result)
        element = kind.element_type
        if threadblock.tile_type(value).element_type != element:
            value = self.cast(value, str(element))
        op = threadblock.StoreOp(value, grid, loop)
        op.location = self.program.next_place()
        self.builder.insert(op)
        self.result_types.append(kind)


class Program:
    """A function `f` while it is built."""

    FILE = "graph.mlir"

    def __init__(self, *inputs: str) -> None:
        self.block = Block(arg_types=[tensor(kind) for kind in inputs])
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.line = 0

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        """The function's arguments."""
        return self.block.args

    def next_place(self) -> FileLineColLoc:
        """A line that no operation has."""
        self.line += 1
        return FileLineColLoc(StringAttr(self.FILE), IntAttr(self.line), IntAttr(1))

    def view(self, op: Operation) -> SSAValue:
        """Append a view of a tensor, or another operator of the kernel dialect."""
        op.location = self.next_place()
        return self.builder.insert(op).results[0]

    @contextmanager
    def graph(
        self, grid: Sequence[int], loop: Sequence[int] = (), *, cyclic: bool = False
    ) -> Generator[Graph]:
        """A kernel; its `results` are there when the `with` block ends."""
        graph = Graph(self, grid, loop)
        yield graph
        op = kernel.GraphDefinedOp(
            graph.inputs,
            graph.grid,
            graph.loop,
            graph.result_types,
            Region(graph.block),
            cyclic=cyclic,
        )
        op.location = self.next_place()
        self.builder.insert(op)
        graph.results = list(op.outputs)

    def finish(self, *results: SSAValue) -> ModuleOp:
        """The verified module of the function that returns `results`."""
        self.builder.insert(func.ReturnOp(*results))
        function = func.FuncOp(
            "f",
            ([argument.type for argument in self.inputs], [value.type for value in results]),
            Region(self.block),
        )
        module = ModuleOp([function])
        module.verify()
        return module
