"""
Rows of attention that a mask leaves nothing of.

Torch's attention gives zeros there, and kernels NaN: minus infinity less itself. So that kernels
can take attention under a mask, the graph asks the mask which rows it leaves something of:

    attention(q, k, v, mask)  becomes  where(amax(mask, -1) >= lowest, attention(q, k, v, mask), 0)

The maximum is left to torch: all layers of a model share a mask, and its rows are looked at once.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from operator import getitem
from typing import Any

from mirage_mlir.frameworks.backend.nodes import Support, is_attention, is_call, stem_of, tensors_of
from mirage_mlir.frameworks.fx_call import ROWS_ARE_SEEN
from mirage_mlir.frameworks.fx_constants import new_node

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

MOST_ELEMENTS = 1 << 24
"""Of a mask that is looked at: 4096 queries by as many keys, 64 MB in f32."""

_GUARD = "mirage_guard_of_rows"
"""The mark of nodes that are put into a graph here, and taken out again."""


@dataclass(frozen=True)
class GuardedRows:
    """
    An attention whose result is zeros in rows without elements.

    Args:
        attention: what torch chose for it.
        highest: the maximum of each row of its mask.
        result: its result, of which rows without elements may be anything.
        guarded: what is read in its place.
    """

    attention: Any
    highest: Any
    result: Any
    guarded: Any


def guard_masked_rows(graph: Any) -> list[GuardedRows]:
    """Make zeros of rows that masks of several queries leave nothing of, in a graph of ATen."""
    whole: dict[Any, bool] = {}
    guards = list[GuardedRows | None]()
    # In a list: nodes are added meanwhile.
    for node in list(graph.nodes):
        mask = _mask_of(node)
        if mask is None or node.args[0].meta["val"].shape[-2] == 1:
            continue
        if mask not in whole:
            whole[mask] = _leaves_some_of_all(mask)
        if whole[mask]:
            node.meta[ROWS_ARE_SEEN] = True
        else:
            guards.append(_guarded(graph, node, mask))
    return [each for each in guards if each is not None]


def refuse_masks(guards: Iterable[GuardedRows], support: Support) -> None:
    """Leave to torch what all layers share: masks, what is for them alone, and their maxima."""
    cone = dict[Any, None]()
    for each in guards:
        cone[each.highest] = None
        mask = _mask_of(each.attention)
        waiting = [mask]
        while waiting:
            node = waiting.pop()
            alone = all(user is each.attention or user in cone for user in node.users)
            if is_call(node) and node not in cone and (alone or node is mask):
                cone[node] = None
                waiting += node.all_input_nodes
    for node in cone:
        support.refuse(node, "masks of attention are made once for all layers")


def drop_guards(graph: Any, guards: Iterable[GuardedRows]) -> None:
    """Take out the guards of attentions that are still in the graph: torch's own need none."""
    inside = set(graph.nodes)
    for each in guards:
        if each.attention in inside:
            if each.guarded in inside:
                each.guarded.replace_all_uses_with(each.result)
            del each.attention.meta[ROWS_ARE_SEEN]
    # Backwards: what reads a guard comes behind it.
    for node in reversed(list(graph.nodes)):
        if is_guard(node) and not node.users:
            graph.erase_node(node)


def without_guards(module: Any) -> Any:
    """A copy of the module of a part, which computes what it would be without kernels."""
    copied = copy.deepcopy(module)
    for node in reversed(list(copied.graph.nodes)):
        if is_guard(node):
            if stem_of(node) == "where":
                node.replace_all_uses_with(node.args[1])
            copied.graph.erase_node(node)
    copied.recompile()
    return copied


def is_guard(node: Any) -> bool:
    """Whether a node computes something for rows that a mask leaves nothing of."""
    return is_call(node) and bool(node.meta.get(_GUARD))


def _mask_of(node: Any) -> Any:
    """The mask of numbers of what torch chose for attention; None where there is none."""
    if not is_attention(node) or not isinstance(node.meta.get("val"), tuple):
        return None
    names = [argument.name for argument in node.target._schema.arguments]
    given = dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
    for name in ("attn_mask", "attn_bias"):
        mask = given.get(name)
        if mask is not None:
            return mask if mask.meta["val"].dtype.is_floating_point else None
    return None


def _leaves_some_of_all(mask: Any) -> bool:
    """Whether a mask that is made of indices alone, as a causal one, has elements in all rows."""
    found, waiting = set[Any](), [mask]
    while waiting:
        node = waiting.pop()
        if not is_call(node) or torch.Tag.nondeterministic_seeded in node.target.tags:
            return False
        if max(each.numel() for each in tensors_of(node)) > MOST_ELEMENTS:
            return False
        found.add(node)
        waiting += [each for each in node.all_input_nodes if each not in found]
    made: dict[Any, Any] = {}
    with import_module("torch.utils._python_dispatch")._disable_current_modes():
        for node in mask.graph.nodes:
            if node in found:
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
                made[node] = node.target(*args, **kwargs)
        highest = made[mask].amax(-1)
        return bool((highest >= torch.finfo(highest.dtype).min).all())


def _guarded(graph: Any, node: Any, mask: Any) -> GuardedRows | None:
    """Make the result zeros where it is to be; None where that would change how it lies."""
    results = [user for user in node.users if user.target is getitem and user.args[1] == 0]
    if len(results) != 1:
        return None
    (result,), aten, value = results, torch.ops.aten, results[0].meta["val"]
    like = {"dtype": value.dtype, "device": value.device}
    lowest = torch.finfo(mask.meta["val"].dtype).min
    with graph.inserting_before(result.next):
        highest = new_node(graph, result, aten.amax.default, mask, [-1], True)
        seen = new_node(graph, result, aten.ge.Scalar, highest, lowest)
        zero = new_node(graph, result, aten.full.default, [], 0.0, **like)
        guarded = new_node(graph, result, aten.where.self, seen, result, zero)
    new = (guarded, zero, seen, highest)
    for each in new:
        each.meta[_GUARD] = True
    if guarded.meta["val"].stride() != value.stride():
        for each in new:
            graph.erase_node(each)
        return None
    for user in list(result.users):
        if user not in new:
            user.replace_input_with(result, guarded)
    node.meta[ROWS_ARE_SEEN] = True
    return GuardedRows(node, highest, result, guarded)
