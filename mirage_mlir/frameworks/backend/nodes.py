"""Which nodes of an ATen graph a program of the kernel dialect can have."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.diagnostics import UnsupportedOperation
from mirage_mlir.frameworks.fx_call import HANDLERS, ROWS_ARE_SEEN
from mirage_mlir.frameworks.fx_graph import FxImporter, name_of
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.torch import NAMESPACE

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

VIEWS = {
    *("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "t"),
    *("expand", "alias", "detach", "slice", "select", "split", "split_with_sizes", "unbind"),
}
"""Operators that move nothing where they are left to torch."""

_HEAVY = {"mm", "bmm", "matmul", "addmm", "baddbmm", "linear", "mv", "dot", "addmv"}

_REDUCTIONS = {
    *("sum", "mean", "amax", "amin", "max", "min", "any", "all", "cumsum", "var", "std"),
    *("var_mean", "linalg_vector_norm", "_softmax", "_log_softmax", "logsumexp"),
    *("rms_norm", "layer_norm"),
}

CASTS = ("_to_copy", "convert_element_type")
"""Operators that make other types of numbers."""

COMPARED = "compared_with_its_elements"
"""The mark of a node of which a backward pass asks which elements are equal to it."""

_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


def is_call(node: Any) -> bool:
    """Whether a node applies an operator, and does not stand for an input or a result."""
    return node.op == "call_function"


def stem_of(node: Any) -> str:
    """The name of a node's operator without the overload: `add`."""
    return name_of(node).removeprefix("prims.").partition(".")[0]


def is_ours(node: Any) -> bool:
    """Whether a node is a part that kernels took, or a result of one."""
    several = is_call(node) and stem_of(node) == "getitem"
    maker = node.args[0] if several else node
    return is_call(maker) and getattr(maker.target, "namespace", "") == NAMESPACE


def is_view(node: Any) -> bool:
    """Whether a node makes no numbers."""
    if is_call(node) and stem_of(node) == "getitem":
        return is_view(node.args[0])
    return is_call(node) and stem_of(node) in VIEWS


def viewed(node: Any) -> Any:
    """What a node is a view of, or itself."""
    while is_view(node):
        node = node.args[0]
    return node


def is_product(node: Any) -> bool:
    """Whether a node is a product of matrices, or attention."""
    return is_call(node) and (stem_of(node) in _HEAVY or is_attention(node))


def is_attention(node: Any) -> bool:
    """Whether a node is attention as torch has it, or what torch chose for it."""
    return is_call(node) and "scaled_dot_product" in name_of(node)


def is_reduction(node: Any) -> bool:
    """Whether a node combines elements along a dimension, and is no product."""
    return is_call(node) and stem_of(node) in _REDUCTIONS


def tensors_of(node: Any) -> list[Any]:
    """Examples of a node's results; nothing where they are no tensors."""
    value: Any = node.meta.get("val")
    some: list[Any] = [*value] if isinstance(value, tuple | list) else [value]
    return [each for each in some if isinstance(each, torch.Tensor)]


def is_floating(node: Any) -> bool:
    """
    Whether a node makes floating-point numbers: what it gives first, of several results.

    Attention of torch gives the state of a random generator behind them, maxima give indices.
    """
    found = tensors_of(node)
    return bool(found) and found[0].dtype.is_floating_point


def is_fixed(node: Any) -> bool:
    """Whether all sizes and strides of what a node makes are numbers; itself, where it is one."""
    sizes = (size for each in tensors_of(node) for size in (*each.shape, *each.stride()))
    return not isinstance(node.meta.get("val"), _SYMBOLS) and not any(
        isinstance(size, _SYMBOLS) for size in sizes
    )


class Support:
    """
    Why nodes cannot be in a program, by trying each alone; nodes that are alike are tried once.

    A node is refused, too, where its user says so: `refuse`.
    """

    def __init__(self) -> None:
        self._known: dict[object, str] = {}
        self._refused: dict[Any, str] = {}
        self._of_node: dict[Any, str] = {}

    def refuse(self, node: Any, why: str) -> None:
        """Leave `node` to torch."""
        self._refused[node] = why
        # Others may depend on it.
        self._of_node.clear()

    def refusal(self, node: Any) -> str:
        """Why a program cannot have `node`; empty where it can."""
        if node not in self._of_node:
            self._of_node[node] = self._found(node)
        return self._of_node[node]

    def _found(self, node: Any) -> str:
        if node in self._refused:
            return self._refused[node]
        if COMPARED in node.meta:
            return "a backward pass compares it with its elements"
        if not is_call(node):
            return "is an input"
        if not all(map(is_fixed, (node, *node.all_input_nodes))):
            return "sizes are not fixed"
        if name_of(node) == "getitem" and (why := self.refusal(node.args[0])):
            return why
        if name_of(node) not in HANDLERS:
            stem = stem_of(node)
            others = any(name.partition(".")[0] == stem for name in HANDLERS)
            return f"{name_of(node) if others else stem} is no operator of the kernel dialect"
        if not tensors_of(node) or _is_on_no_gpu(node):
            return f"{name_of(node)} gives what kernels do not"
        why = "" if is_floating(node) else self._refusal_of_indices(node)
        if why or not (is_floating(node) or _is_mask(node)):
            return why
        key = _signature(node)
        if key not in self._known:
            self._known[key] = self._tried(node)
        return self._known[key]

    def _refusal_of_indices(self, node: Any) -> str:
        """Masks and integers: made from other tensors only where these are numbers or masks."""
        for operand in node.all_input_nodes:
            if not is_floating(operand) and not _is_mask(operand) and self.refusal(operand):
                return "integers are no inputs of kernels"
        return ""

    def _tried(self, node: Any) -> str:
        importer = FxImporter(KernelGraph("probe"))
        try:
            for number, operand in enumerate(_single_operands(node)):
                kind = ElementType.F32 if _is_mask(operand) else importer.own_type(operand)
                if kind is not None:
                    importer.add_input(operand, kind, f"x{number}", constant=False)
                elif why := self.refusal(operand):
                    return f"{name_of(node)} reads integers: {why}"
            if _is_mask(node):
                importer.tensor(node, ElementType.F32)
            else:
                importer.run(node)
        except UnsupportedOperation as error:
            return message_of(error)
        return ""


def message_of(error: UnsupportedOperation) -> str:
    """What an error says, without the place, which a graph of ATen seldom knows."""
    _, _, message = str(error).partition(": error: ")
    return (message or str(error)).partition("; call it outside")[0].removeprefix("aten.")


def signature_of(module: Any) -> object:
    """What the program of a part depends on: equal for those of equal layers."""
    numbers: dict[Any, int] = {}
    rows: list[object] = []
    for node in module.graph.nodes:
        # A number that the graph keeps is not in its text: such a part is like no other.
        what = name_of(node) if is_call(node) else node.op if node.op != "get_attr" else object()
        made = tuple((tuple(each.shape), each.stride(), each.dtype) for each in tensors_of(node))
        rows.append((what, _arguments(node, numbers.__getitem__), made))
        numbers[node] = len(numbers)
    return tuple(rows)


def _arguments(node: Any, of_node: Callable[[Any], object]) -> object:
    """The arguments of a node as values to compare, with `of_node` of those that are nodes."""

    def shown(value: object) -> object:
        if isinstance(value, torch.fx.Node):
            return of_node(value)
        if isinstance(value, list | tuple):
            return tuple(map(shown, cast(Sequence[object], value)))
        return repr(value)

    kwargs = tuple((name, shown(value)) for name, value in sorted(node.kwargs.items()))
    return shown(node.args), kwargs


def _single_operands(node: Any) -> list[Any]:
    """The operands of a node; of one that is a result of several, what that is made of."""
    found: dict[Any, None] = {}
    for operand in node.all_input_nodes:
        several = isinstance(operand.meta["val"], tuple | list)
        found |= dict.fromkeys(operand.all_input_nodes if several else [operand])
    return list(found)


def _is_mask(node: Any) -> bool:
    found = tensors_of(node)
    return len(found) == 1 and found[0].dtype == torch.bool


def _is_on_no_gpu(node: Any) -> bool:
    return any(each.device.type not in ("cuda", "cpu") for each in tensors_of(node))


def _signature(node: Any) -> object:
    """What the answer depends on."""

    def results(made: Any) -> object:
        return tuple((tuple(each.shape), each.dtype) for each in tensors_of(made))

    # Integers are made of what is not in the arguments.
    counts = any(not is_floating(each) and not _is_mask(each) for each in node.all_input_nodes)
    own = node if counts else None
    return name_of(node), _arguments(node, results), results(node), ROWS_ARE_SEEN in node.meta, own
