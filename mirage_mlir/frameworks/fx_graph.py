"""From an FX graph of `torch.export`, in operators of ATen, to a program of the kernel dialect."""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.api.tensor import Tensor
from mirage_mlir.diagnostics import Severity, UnsupportedOperation, diagnostic_at
from mirage_mlir.frameworks.fx_call import HANDLERS, FxCall, counts_to, is_number
from mirage_mlir.frameworks.user_lines import location_of
from mirage_mlir.runtime.element_types import ElementType, element_type_of

for _handlers in (
    *("elementwise", "rearrangements", "indices", "windows"),
    *("reductions", "norms", "products"),
):
    import_module(f"mirage_mlir.frameworks.aten_{_handlers}")

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

WITHOUT_MEANING = {
    *("layout", "device", "pin_memory", "memory_format", "non_blocking", "dtype"),
    "requires_grad",
}
"""Arguments that the meta data of the result says, or that say where its memory is."""

HINTS = {
    r"embedding|index|gather|scatter|take|topk|sort|argm|nonzero|masked_select": (
        "indices from tensors are for torch: call it outside"
    ),
    r"conv|pool|upsample": (
        "of windows there are those of conv, avg_pool2d and max_pool2d that lie beside each other"
    ),
    r"is\w*(nan|inf|finite)|nan_to_num": (
        "kernels compute with numbers: of NaN and infinity ask outside"
    ),
    r"dropout|rand|bernoulli|multinomial": "there are no random numbers: call eval() before",
    r"(?<!\w)a(cos|sin|tan)h?2?\.": "of these there are sin, cos, tan, sinh, cosh and tanh",
    r"remainder|fmod|floor_divide|round\.decimals": "there are floor, ceil, round and trunc",
}
"""What would help, by a pattern of the operator's name."""

_INTEGERS = {
    *("add", "sub", "rsub", "mul", "neg", "abs", "minimum", "maximum", "where", "clamp"),
    *("arange", "full", "full_like", "scalar_tensor", "_to_copy", "clone", "alias", "detach"),
    *(
        "view",
        "permute",
        "unsqueeze",
        "squeeze",
        "expand",
        "select",
        "slice",
        "slice_scatter",
        "cat",
        "repeat",
    ),
    *("split", "split_with_sizes", "getitem", "copy", "unbind", "transpose", "reshape", "t"),
    *("iota", "convert_element_type", "lift_fresh_copy", "select_scatter"),
    *("clamp_min", "clamp_max"),
}
"""Operators on integers that are exact on the integers of a floating-point type."""


_VIEWS = {"view", "unsqueeze", "squeeze", "expand", "permute", "transpose", "slice", "select"}
"""Operators that read integers and give the same."""

_CONVERTING = {"_to_copy", "prims.convert_element_type", "add", "sub", "rsub", "mul", "div"}
"""Operators that convert integers to their result's type before all else."""


def unsupported(node: Any, message: str) -> UnsupportedOperation:
    """The error about `node`, at the user's line."""
    return UnsupportedOperation(diagnostic_at(location_of(node), Severity.ERROR, message))


def only_become_f32(node: Any) -> bool:
    """Whether nothing but what converts it to float32 reads a tensor of integers."""
    for user in node.users:
        name = name_of(user).rpartition(".")[0] if user.op == "call_function" else ""
        if (name in _VIEWS and only_become_f32(user)) or name == "_assert_tensor_metadata":
            continue
        if name not in _CONVERTING or user.meta["val"].dtype != torch.float32:
            return False
    return True


def name_of(node: Any) -> str:
    """Of a node's operator: `add.Tensor`, `prims.convert_element_type.default`, or `getitem`."""
    target = node.target
    if node.op != "call_function":
        raise unsupported(node, f"'{node.name}' is an input of masks or integers")
    if not isinstance(target, torch._ops.OpOverload):
        return target.__name__
    return target.name().replace("::", ".").removeprefix("aten.") + (
        "" if target._schema.overload_name else ".default"
    )


def inverse_of(order: Sequence[int]) -> tuple[int, ...]:
    """The order in which dimensions in `order` are as they were."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


class FxImporter:
    """
    The program that grows while the nodes of an FX graph are read.

    A tensor of floating-point numbers has its own type. Masks and integers are made in the types
    that their users have, and only when these ask: an index is exact in each type that counts to
    it.
    """

    def __init__(self, graph: KernelGraph) -> None:
        self.graph = graph
        self._made: dict[tuple[Any, ElementType], Tensor] = {}
        self._parts: dict[tuple[Any, ElementType], tuple[Tensor | None, ...]] = {}
        self._largest: dict[Any, float] = {}
        self._inputs: dict[Any, Tensor] = {}

    def add_input(
        self,
        node: Any,
        kind: ElementType,
        name: str,
        *,
        constant: bool,
        order: Sequence[int] | None = None,
    ) -> None:
        """
        Make what `node` stands for an input of the program, of type `kind`.

        Args:
            node: a tensor.
            kind: its element type.
            name: the input's.
            constant: whether it is the same in all calls.
            order: that of the input's dimensions, outermost first; the tensor's own unless given.
        """
        dims = [int(size) for size in node.meta["val"].shape]
        order = range(len(dims)) if order is None else order
        try:
            placed = [dims[dim] for dim in order]
            made = self.graph.new_input(placed, kind, constant=constant, name=name)
            self._inputs[node] = self.in_order(made, inverse_of(order))
            # Of integers: those that `only_become_f32`.
            self._largest[node] = counts_to(ElementType.F32)
        except ValueError as error:
            raise unsupported(node, f"input '{name}': {error}") from error

    def in_order(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """`x` with its dimension `order[i]` as dimension i."""
        return x if [*order] == [*range(len(order))] else self.graph.transpose(x, *order)

    def run(self, node: Any) -> None:
        """Make the operators of `node`, unless its users have to say of which type it is."""
        if node.op == "call_function" and (kind := self.own_type(node)) is not None:
            _ = self.parts(node, kind) if _has_parts(node) else self.tensor(node, kind)

    def tensor(self, node: Any, dtype: ElementType) -> Tensor:
        """What `node` became, as a tensor of `dtype`."""
        kind = self.own_type(node) or dtype
        if not self.counts(node, kind):
            kind = ElementType.F32
        if (node, kind) not in self._made:
            self._made[node, kind] = self._make(node, kind)
        made = self._made[node, kind]
        return made if kind is dtype else self.graph.cast(made, dtype)

    def parts(self, node: Any, dtype: ElementType) -> tuple[Tensor | None, ...]:
        """What a node of several results became."""
        if (node, dtype) not in self._parts:
            made = self._handled(node, dtype)
            assert isinstance(made, tuple)
            self._parts[node, dtype] = made
        return self._parts[node, dtype]

    def own_type(self, node: Any) -> ElementType | None:
        """The type of a tensor of floating-point numbers; None for masks and integers."""
        example = _example(node)
        if not isinstance(example, torch.Tensor):
            message = "is a number that a tensor has, which a program does not know: use the tensor"
            raise unsupported(node, f"{node.target} {message}")
        dtype = example.dtype
        if not dtype.is_floating_point and not dtype.is_complex:
            return None
        try:
            return element_type_of(dtype)
        except TypeError as error:
            raise unsupported(node, str(error)) from error

    def is_mask(self, node: Any) -> bool:
        """Whether a node is a tensor of truth values."""
        return _example(node).dtype == torch.bool

    def counts(self, node: Any, kind: ElementType) -> bool:
        """Whether `kind` has all integers that a tensor of integers may have, if it is one."""
        if self.own_type(node) is not None or self.is_mask(node):
            return True
        if self._bound(node) > counts_to(ElementType.F32):
            raise unsupported(node, f"integers beyond {counts_to(ElementType.F32)}, which f32 has")
        if self._bound(node) > torch.iinfo(_example(node).dtype).max or self._may_fall_below(node):
            raise unsupported(node, f"integers that may wrap around in {_example(node).dtype}")
        return self._bound(node) <= counts_to(kind)

    def _may_fall_below(self, node: Any) -> bool:
        """Whether a tensor of integers without a sign may be made of numbers below 0."""
        if _is_signed(node):
            return False
        operands = [each for each in _flat(node.args) if isinstance(each, torch.fx.Node)]
        integers = [
            each for each in operands if self.own_type(each) is None and not self.is_mask(each)
        ]
        below = any(is_number(each) and each < 0 for each in _flat(node.args))
        falls = name_of(node).partition(".")[0] in ("sub", "rsub", "neg")
        return falls or below or any(map(_is_signed, integers))

    def _make(self, node: Any, kind: ElementType) -> Tensor:
        if (given := self._inputs.get(node)) is not None:
            return given if given.dtype is kind else self.graph.cast(given, kind)
        made = self._handled(node, kind)
        assert isinstance(made, Tensor)
        wanted = FxCall(self, node, kind).shape
        if made.dims != wanted:
            made = self.graph.broadcast(made, wanted)
        return made if made.dtype is kind else self.graph.cast(made, kind)

    def _handled(self, node: Any, kind: ElementType) -> Any:
        name = name_of(node)
        if name not in HANDLERS:
            raise unsupported(node, _refusal(name))
        if self.is_mask(node) and name.partition(".")[0] in ("add", "sub"):
            raise unsupported(node, f"aten.{name} of truth values is not supported: use | or ^")
        kwargs = {key: each for key, each in node.kwargs.items() if key not in WITHOUT_MEANING}
        with self.graph.located(location_of(node)):
            try:
                return HANDLERS[name](FxCall(self, node, kind), *node.args, **kwargs)
            except (TypeError, ValueError) as error:
                raise unsupported(node, f"aten.{name}: {error}") from error

    def _bound(self, node: Any) -> float:
        """No element of a tensor of integers has a larger magnitude."""
        if node not in self._largest:
            self._largest[node] = self._bound_of(node)
        return self._largest[node]

    def _bound_of(self, node: Any) -> float:
        name = name_of(node).removeprefix("prims.").partition(".")[0]
        if name not in _INTEGERS:
            raise unsupported(node, f"aten.{name_of(node)} on integers is not supported")
        if name in ("arange", "full", "scalar_tensor", "full_like"):
            return max(abs(each) for each in node.args if is_number(each))
        if name == "iota":
            start, step = node.kwargs["start"], node.kwargs["step"]
            return max(abs(start), abs(start + step * node.args[0]))
        numbers = name in ("add", "sub", "rsub", "mul", "clamp", "clamp_min", "clamp_max")
        magnitudes = [self._magnitude(each, numbers) for each in _flat(node.args)]
        if name in ("add", "sub", "rsub"):
            return sum(magnitudes) * max(1, abs(node.kwargs.get("alpha", 1)))
        return magnitudes[0] * magnitudes[1] if name == "mul" else max(magnitudes)

    def _magnitude(self, operand: Any, numbers: bool) -> float:
        if not isinstance(operand, torch.fx.Node):
            return abs(operand) if numbers and is_number(operand) else 0
        if self.own_type(operand) is not None:
            raise unsupported(operand, "integers that are made of other numbers are not supported")
        return 1 if self.is_mask(operand) else self._bound(operand)


def _has_parts(node: Any) -> bool:
    return isinstance(node.meta["val"], tuple | list)


def _is_signed(node: Any) -> bool:
    """Whether a tensor of integers has a type with numbers below 0."""
    return torch.iinfo(_example(node).dtype).min < 0


def _example(node: Any) -> Any:
    """The tensor, or the first of several, that says which type `node` has."""
    return node.meta["val"][0] if _has_parts(node) else node.meta["val"]


def _flat(values: Any) -> list[Any]:
    """Arguments, and what lists among them have."""
    found: list[Any] = []
    for each in values:
        found += each if isinstance(each, list) else [each]
    return found


def _refusal(name: str) -> str:
    for pattern, hint in HINTS.items():
        if re.match(rf"_*(native_)?\w*({pattern})", name):
            return f"aten.{name} is no operator of the kernel dialect; {hint}"
    return f"aten.{name} is no operator of the kernel dialect; call it outside of what is compiled"
