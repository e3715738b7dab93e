"""From functions to scenes: graphs of kernels, blocks and threads as nested layers."""

from collections.abc import Sequence
from io import StringIO
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.printer import Printer

from mirage_mlir.constant_inputs import is_constant_input
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.view.scene import Path, Scene, SceneEdge, SceneKind, SceneNode

LONGEST = 160
"""Characters of an attribute: constants may have thousands."""

HIDDEN = frozenset({"operandSegmentSizes", "resultSegmentSizes"})
MAPS = ("grid_map", "loop_map")


def type_text(kind: Attribute) -> str:
    """`16x256xf16` for tensors and tiles, the type itself for what is no array."""
    if isinstance(kind, TensorType | threadblock.TileType):
        shaped = cast("TensorType[Attribute] | threadblock.TileType", kind)
        return "x".join([*map(str, shaped.get_shape()), str(shaped.element_type)])
    return str(kind)


def map_text(numbers: Sequence[int]) -> str:
    """A map of dimensions as the IR spells it: `[_, 1]`."""
    return f"[{', '.join('_' if number < 0 else str(number) for number in numbers)}]"


def attribute_text(attribute: Attribute) -> str:
    """An attribute as the IR prints it, without the types of numbers, cut if it is long."""
    if isinstance(attribute, StringAttr):
        return attribute.data
    stream = StringIO()
    Printer(stream=stream).print_attribute(attribute)
    text = stream.getvalue()
    if isinstance(attribute, DenseArrayBase):
        text = map_text([int(number) for number in attribute.get_values()])
    elif isinstance(attribute, FloatAttr | IntegerAttr):
        text = f"{attribute.value.data:.6g}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


class FunctionScene:
    """
    Puts one function into a scene.

    Args:
        scene: where to.
        layer: in which layer, `("program",)` say.
    """

    def __init__(self, scene: Scene, layer: Path) -> None:
        self.scene = scene
        self.layer = layer
        self.makers: dict[SSAValue, tuple[str, int]] = {}
        """The node that makes a value, and which of its results it is."""
        self.types: dict[SSAValue, str] = {}
        """What an argument of a graph is outside of it: a thread has an element, a block a tile."""
        self.of_operation: dict[Operation, str] = {}
        self.kernels: list[str] = []
        """The node of each kernel, in their order."""
        self._kernel_names: Sequence[str] = ()

    def add(self, function: func.FuncOp, kernel_names: Sequence[str] = ()) -> None:
        """Add a function, whose kernels have these names."""
        self._kernel_names = kernel_names
        self.scene.layers[self.layer] = {"function": f"@{function.sym_name.data}"}
        for number, value in enumerate(function.body.block.args):
            constant = is_constant_input(function, number)
            self._tensor(value, f"%{value.name_hint or f'arg{number}'}", constant=constant)
        self._block(function.body.block, self.layer)

    def _id(self) -> str:
        return f"{'/'.join(self.layer)}#{len(self.scene.nodes)}"

    def _tensor(self, value: SSAValue, label: str, *, constant: bool) -> None:
        about = {"constant": "never changes between calls"} if constant else {}
        node = SceneNode(
            self._id(), label, self.layer, SceneKind.TENSOR, about, outputs=(type_text(value.type),)
        )
        self.scene.nodes.append(node)
        self.makers[value] = node.id, 0

    def _block(self, block: Block, layer: Path) -> None:
        for op in block.ops:
            if isinstance(op, kernel.GraphDefinedOp):
                self._kernel(op, layer)
            elif isinstance(op, thread.GraphOp):
                self._graph(op, (*layer, f"thread graph {self._number(layer, 'thread graph')}"))
            else:
                self._operation(op, layer)

    def _number(self, layer: Path, stem: str) -> int:
        depth = len(layer)
        inner = {path[depth] for path in self.scene.layers if path[:depth] == layer != path}
        return sum(name.startswith(stem) for name in inner)

    def _kernel(self, op: kernel.GraphDefinedOp, layer: Path) -> None:
        number = len(self.kernels)
        names = self._kernel_names
        name = names[number] if number < len(names) else f"kernel {number}"
        inner = (*layer, name)
        about = {"grid": "x".join(map(str, op.grid_sizes)) or "1"}
        about["loop"] = "x".join(map(str, op.loop_sizes)) or "none"
        if op.is_cyclic:
            about["loop"] += " cyclic"
        if op.cluster_sizes:
            about["cluster"] = "x".join(map(str, op.cluster_sizes))
        if op.schedule_attr is not None:
            about["schedule"] = attribute_text(op.schedule_attr)
        self.scene.layers[inner] = about
        label = f"grid {about['grid']}, loop {about['loop']}"
        head = SceneNode(self._id(), label, inner, SceneKind.KERNEL, about)
        self.scene.nodes.append(head)
        self.kernels.append(head.id)
        self.of_operation[op] = head.id
        self._graph(op, inner)

    def _graph(self, op: kernel.GraphDefinedOp | thread.GraphOp, inner: Path) -> None:
        """A graph's arguments are its operands, and its stores make its results."""
        self.scene.layers.setdefault(inner, {})
        for argument, operand in zip(op.body.block.args, op.operands, strict=True):
            self.makers[argument] = self.makers[operand]
            self.types[argument] = self._type(operand)
        self._block(op.body.block, inner)
        stores = [
            each
            for each in op.body.block.ops
            if isinstance(each, threadblock.StoreOp | thread.StoreOp)
        ]
        for result, store in zip(op.results, stores, strict=True):
            self.makers[result] = self.of_operation[store], 0

    def _type(self, value: SSAValue) -> str:
        return self.types.get(value) or type_text(value.type)

    def _operation(self, op: Operation, layer: Path) -> None:
        edges = tuple(
            SceneEdge(*self.makers[value], self._type(value))
            for value in op.operands
            if value in self.makers
        )
        outputs = tuple(type_text(result.type) for result in op.results)
        # A store's result is that of its graph: what it stores.
        if isinstance(op, threadblock.StoreOp | thread.StoreOp):
            outputs = (_stored(op),)
        node = SceneNode(
            self._id(), _label(op), layer, _kind(op), _attributes(op), edges, outputs or ()
        )
        self.scene.nodes.append(node)
        self.of_operation[op] = node.id
        for number, result in enumerate(op.results):
            self.makers[result] = node.id, number


def _stored(op: threadblock.StoreOp | thread.StoreOp) -> str:
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp | thread.GraphOp), "checked by a trait"
    stores = [each for each in graph.body.block.ops if isinstance(each, type(op))]
    return type_text(graph.results[stores.index(op)].type)


def _label(op: Operation) -> str:
    if isinstance(op, func.ReturnOp):
        return "results"
    return op.name.partition(".")[2] if op.name.startswith(("kernel.", "threadblock.")) else op.name


def _kind(op: Operation) -> SceneKind:
    match op:
        case func.ReturnOp():
            return SceneKind.TENSOR
        case threadblock.LoadOp():
            return SceneKind.LOAD
        case threadblock.AccumulateOp():
            return SceneKind.ACCUMULATE
        case threadblock.StoreOp() | thread.StoreOp():
            return SceneKind.STORE
        case _:
            return SceneKind.OPERATOR


def _attributes(op: Operation) -> dict[str, str]:
    found = {"operation": op.name}
    for name, attribute in sorted({**op.properties, **op.attributes}.items()):
        if name in MAPS and isinstance(op, threadblock.LoadOp | threadblock.StoreOp):
            numbers = getattr(op, name)
            if numbers is not None and numbers.get_values():
                found[name] = map_text(numbers.get_values())
        elif name not in HIDDEN and (text := attribute_text(attribute)) != "[]":
            found[name] = text
    names = [f"%{result.name_hint}" for result in op.results if result.name_hint]
    return {**found, "name": ", ".join(names)} if names else found
