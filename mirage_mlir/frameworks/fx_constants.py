"""What a program of `torch.export` computes from no input: torch computes it once, beforehand."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

aten: Any = torch.ops.aten

_PASSING = (
    "view",
    "_unsafe_view",
    "reshape",
    "_to_copy",
    "clone",
    "unsqueeze",
    "squeeze",
    "expand",
)
"""Operators that pass the elements of their operand on."""

_INDEX_FORMULAS = (
    *("arange", "full", "scalar_tensor", "add", "sub", "rsub", "mul", "neg", "abs"),
    *("eq", "ne", "lt", "le", "gt", "ge", "where"),
    *("logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_not"),
)
"""Operators of masks that say which rows see which columns."""

_RAMPS = ("arange", "add", "sub", "rsub", "mul", "div", "neg")
"""Operators of numbers in even steps."""

MANTISSAS = {torch.float16: 11, torch.bfloat16: 8}
"""Binary digits of types; f32, as which kernels compute integers, has 24."""

_WEIGHING = ("_softmax", "amax", "logsumexp")
"""Operators on which an element of -inf has no influence."""


def constants_of(graph: Any) -> dict[Any, Any]:
    """
    Tensors that are the same in each call, by the nodes that make them for the rest of `graph`.

    A bias or a rotary table that is made of indices is one. Left out are integers, single numbers,
    tensors all of whose elements are one number, conditions on indices, numbers in even steps, and
    results of the program.
    """
    (output,) = (node for node in graph.nodes if node.op == "output")
    results = {*output.all_input_nodes}
    known = dict[Any, None]()
    for node in graph.nodes:
        if _is_alike(node) and all(each in known for each in node.all_input_nodes):
            known[node] = None
    free = [*known]
    inner = {node for node in free if all(user in known for user in node.users)}
    made: dict[Any, Any] = {}
    with torch.no_grad():
        for node in free:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
            made[node] = node.target(*args, **kwargs)
    return {
        node: made[node].contiguous()
        for node in free
        if node not in inner
        and node not in results
        and _is_worth(made[node])
        # Of a mask as a formula of indices more is known, which -inf needs, and short loops.
        and not any(map(_masks_by_lowest, node.users))
        and not _is_index_mask(node, made)
        and not _is_ramp(node, made)
    }


def add_masks(graph: Any) -> None:
    """
    Make masks that keep scores from a softmax or a maximum sums, in place.

    `where(c, x, -inf)` becomes `x + where(c, 0, -inf)` where c is made from no input: a sum is part
    of a kernel of attention. Masks that are formulas of indices stay: a kernel computes them, and
    leaves out what they leave nothing of.
    """
    for node in list(graph.nodes):
        if node.target is aten.where.self:
            _add_mask(graph, node)
    graph.lint()


def _add_mask(graph: Any, node: Any) -> None:
    condition, *branches = node.args
    low = [_is_lowest(each) for each in branches]
    if low[0] == low[1] or not _is_free(condition) or not _only_weighs(node):
        return
    if _is_of_indices(condition):
        return
    x = branches[low.index(False)]
    like = node.meta["val"]
    if _is_free(x) or x.meta["val"].dtype != like.dtype:
        return
    if torch.broadcast_shapes(x.meta["val"].shape, condition.meta["val"].shape) != like.shape:
        return
    with graph.inserting_before(node):
        zero = new_node(
            graph, node, aten.full.default, [], 0.0, dtype=like.dtype, device=like.device
        )
        chosen = [branch if each else zero for branch, each in zip(branches, low, strict=True)]
        bias = new_node(graph, node, aten.where.self, condition, *chosen)
        total = new_node(graph, node, aten.add.Tensor, x, bias)
    node.replace_all_uses_with(total)
    graph.erase_node(node)


def new_node(graph: Any, like: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
    """A new node at the line of `like`, with an example of what it makes."""
    made = graph.call_function(target, args, kwargs)
    made.meta = dict(like.meta)
    values = torch.fx.node.map_arg((args, kwargs), _value_of)
    with like.meta["val"].fake_mode:
        made.meta["val"] = target(*values[0], **values[1])
    return made


def _value_of(node: Any) -> Any:
    return node.meta["val"]


def list_indices(graph: Any, literals: Mapping[Any, Any]) -> None:
    """
    Make indices that are the same in each call lists of numbers, in place.

    Args:
        graph: whose operators take elements.
        literals: tensors that never change, by the nodes that stand for them.
    """

    def listed(node: Any) -> Any:
        value = _known(node, literals)
        return node if value is None else value.flatten().tolist()

    for node in graph.nodes:
        if node.target in (aten.index.Tensor, aten.index_select.default):
            x, *others = node.args
            node.args = (x, *torch.fx.node.map_arg(others, listed))


def _known(node: Any, literals: Mapping[Any, Any]) -> Any:
    """The integers of a tensor that is the same in each call; None of other tensors."""
    if node in literals:
        value = literals[node]
        return value if value.dtype in (torch.int64, torch.int32) else None
    if not _is_alike(node):
        return None
    made = {each: _known(each, literals) for each in node.all_input_nodes}
    if any(value is None for value in made.values()):
        return None
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
    value = node.target(*args, **kwargs)
    return value if value.dtype in (torch.int64, torch.int32) else None


def _is_free(node: Any) -> bool:
    """Whether a value is made from no input, and the same each time."""
    return _is_alike(node) and all(map(_is_free, node.all_input_nodes))


def _is_alike(node: Any) -> bool:
    """Whether a value is the same each time where what it is made of is."""
    if not isinstance(node, torch.fx.Node) or node.op != "call_function":
        return False
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    seeded = torch.Tag.nondeterministic_seeded in node.target.tags
    return isinstance(node.meta.get("val"), torch.Tensor) and not seeded


def _is_of_indices(node: Any) -> bool:
    """Whether a value is a formula of indices and numbers that kernels compute."""
    name = node.target.overloadpacket.__name__
    known = name in _INDEX_FORMULAS or name in _PASSING
    return known and all(map(_is_of_indices, node.all_input_nodes))


def _is_index_mask(node: Any, made: Mapping[Any, Any]) -> bool:
    """Whether a value is a condition on indices, or exact numbers by such a condition."""
    chosen = node.target is aten.where.self and all(
        bool(made[each].isinf().all()) or _is_exact(made[each])
        for each in node.args[1:]
        if isinstance(each, torch.fx.Node)
    )
    return (node.meta["val"].dtype == torch.bool or chosen) and _is_of_indices(node)


def _is_ramp(node: Any, made: Mapping[Any, Any]) -> bool:
    """Whether a value is an `arange`, scaled and moved by numbers, which kernels compute."""
    name, mode = node.target.overloadpacket.__name__, "mode" in node.target._overloadname
    tensors = [each for each in node.args if isinstance(each, torch.fx.Node)]
    if (name not in _RAMPS and name not in _PASSING) or mode or len(tensors) > 1:
        return False
    return _is_exact(made[node]) and all(_is_ramp(each, made) for each in tensors)


def _is_exact(value: Any) -> bool:
    """
    Whether numbers are the same however they are computed: multiples of one power of two, of which
    the type has as many. The points of a `linspace` are not; a comparison with one would change.
    """
    if value.dtype in (torch.float64, torch.bool):
        return False
    # The importer bounds integers without computing them: these are far from where f32 ends.
    most, finest = 2**20, 2**20
    if not bool((value.abs() <= most).all()):
        return False
    steps = value.double() * finest
    if not bool((steps == steps.round()).all()):
        return False
    together = 0
    for each in set[int](steps.long().abs().flatten().tolist()):
        together |= each
    digits = MANTISSAS.get(value.dtype, 24)
    return together == 0 or together.bit_length() - (together & -together).bit_length() < digits


def _is_worth(value: Any) -> bool:
    kinds = (torch.float16, torch.bfloat16, torch.float32, torch.bool)
    if value.dtype not in kinds or value.numel() < 2:
        return False
    first = value.reshape(-1)[0]
    return not bool((value == first).all())


def _is_lowest(node: Any) -> bool:
    """Whether all elements are -inf."""
    while _is_free(node) and node.target.overloadpacket.__name__ in _PASSING:
        node = node.args[0]
    if not _is_free(node) or node.target not in (aten.full.default, aten.scalar_tensor.default):
        return False
    return _number_of(node.args) == float("-inf")


def _masks_by_lowest(node: Any) -> bool:
    return node.target is aten.where.self and any(map(_is_lowest, node.args[1:]))


def _number_of(args: Sequence[Any]) -> float:
    return float(args[-1]) if isinstance(args[-1], int | float) else 0.0


def _only_weighs(node: Any) -> bool:
    """Whether all that reads a value gives an element of -inf no influence, nor a gradient."""
    for user in node.users:
        if user.op != "call_function" or not isinstance(user.target, torch._ops.OpOverload):
            return False
        name = user.target.overloadpacket.__name__
        if name not in _WEIGHING and not (name in _PASSING and _only_weighs(user)):
            return False
    return True
