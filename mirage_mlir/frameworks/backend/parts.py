"""
Parts of an ATen graph that may become kernels: connected, and without a way out and back in.

Nodes that no program can have are walls. A node comes after as many walls as there are on the way
to it; nodes behind the same number of walls that read each other are one part, and no way leads
out of it and back. Large parts are cut where one value alone is read further on, by several
operators, as the residual stream of a transformer is, or by a product, which reads it again and
again: that value would be stored in any case, and parts of equal layers are equal then. Attention
of many queries is a part with what is elementwise behind it: each block of queries reads all keys,
which are stored in any case, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from mirage_mlir.frameworks.backend.nodes import (
    Support,
    is_attention,
    is_call,
    is_floating,
    is_product,
    is_reduction,
    is_view,
    viewed,
)
from mirage_mlir.frameworks.fx_graph import name_of

MANY_QUERIES = 64
"""From so many on attention is a part: as many rows as a warpgroup multiplies at least. A guess."""


MOST_OPERATORS = 512
"""Of a part. What is larger is loops that were unrolled, such as a recurrent cell of many steps: to
write, verify and lower one kernel for each of 720 operators took over 100 s, and inductor 10.
A layer of a transformer has 40."""


@dataclass(frozen=True)
class GraphPart:
    """Nodes of a graph, in its order."""

    nodes: tuple[Any, ...]

    @property
    def computing(self) -> list[Any]:
        """Those that make numbers."""
        nodes = [node for node in self.nodes if is_floating(node) and not is_view(node)]
        return [node for node in nodes if name_of(node) != "getitem"]

    @property
    def results(self) -> list[Any]:
        """Those that others read."""
        inside = set(self.nodes)
        return [node for node in self.nodes if any(user not in inside for user in node.users)]

    def promises(self) -> str:
        """Why kernels of ours are not tried; empty where they are."""
        computing = self.computing
        if len(computing) < 2 and not any(map(is_attention, computing)):
            return "one operator alone"
        if not any(is_product(node) or is_reduction(node) for node in computing):
            return "elementwise operators alone"
        if len(computing) > MOST_OPERATORS:
            return f"{len(computing)} operators, more than {MOST_OPERATORS}: a search takes minutes"
        return ""


def parts_of(graph: Any, support: Support) -> list[GraphPart]:
    """The parts of `graph`, after `split_readers`."""
    while True:
        parts = [
            part
            for component in _components(graph, support)
            for piece in _around_attention(component)
            for part in _cut(piece, component)
        ]
        trimmed = [GraphPart(tuple(_without_views(part))) for part in parts]
        if not _refuse_results(trimmed, support):
            return [part for part in trimmed if part.nodes]


def split_readers(graph: Any, support: Support) -> None:
    """
    Copy what costs nothing for each of its readers, so that it is in the part of each.

    These are masks and indices that are made of nothing, and views of what no part makes, such as
    the transpose of a weight.
    """
    free = _free(graph, support)
    for node in reversed(list(graph.nodes)):
        if node in free:
            for user in list[Any](node.users)[1:]:
                with graph.inserting_before(user):
                    user.replace_input_with(node, graph.node_copy(node))


def leave_views(graph: Any, parts: Iterable[GraphPart]) -> None:
    """
    Let what is outside of `parts` view their results itself.

    A view that a part reads, too, would be a result beside what it is a view of: another tensor,
    which a later change in place does not reach.
    """
    for part in parts:
        inside = set(part.nodes)
        leaving: dict[Any, list[Any]] = {}
        for node in part.results:
            leaving.setdefault(viewed(node), []).append(node)
        for base, nodes in leaving.items():
            size = base.meta["val"].numel() if _may_be_stored(base) else inf
            larger = any(node.meta["val"].numel() >= size for node in nodes)
            if base not in inside or len(nodes) > 1 or larger:
                for node in filter(is_view, nodes):
                    _view_outside(graph, node, inside)


def _view_outside(graph: Any, node: Any, inside: set[Any]) -> None:
    """Copy a view, and those that it is of, for what reads it outside."""
    chain = [node]
    while is_view(chain[-1]) and chain[-1].args[0] in inside:
        chain.append(chain[-1].args[0])
    users = [each for each in node.users if each not in inside]
    copies: dict[Any, Any] = {each: each for view in chain for each in view.all_input_nodes}
    with graph.inserting_before(node.next):
        for each in filter(is_view, reversed(chain)):
            copies[each] = graph.node_copy(each, copies.__getitem__)
    for user in users:
        user.replace_input_with(node, copies[node])


def _free(graph: Any, support: Support) -> set[Any]:
    free = set[Any]()
    for node in graph.nodes:
        if not is_call(node) or support.refusal(node) or isinstance(node.meta["val"], list | tuple):
            continue
        operands = node.all_input_nodes
        if is_floating(node) and is_view(node):
            if all(each in free or support.refusal(each) for each in operands):
                free.add(node)
        elif not is_floating(node) and all(each in free for each in operands):
            free.add(node)
    return free


def _components(graph: Any, support: Support) -> list[list[Any]]:
    """Supported nodes behind the same walls that read each other, each list in order."""
    taken = [node for node in graph.nodes if is_call(node) and not support.refusal(node)]
    walls = _walls(graph, set(taken), _free(graph, support))
    owner = {node: node for node in taken}

    def find(node: Any) -> Any:
        while owner[node] is not node:
            owner[node] = owner[owner[node]]
            node = owner[node]
        return node

    for node in taken:
        for operand in node.all_input_nodes:
            if operand in owner and walls[operand] == walls[node]:
                owner[find(node)] = find(operand)
    found: dict[Any, list[Any]] = {}
    for node in taken:
        found.setdefault(find(node), []).append(node)
    return list(found.values())


def _walls(graph: Any, taken: set[Any], free: set[Any]) -> dict[Any, int]:
    """How many walls, nodes that are not taken after some that are, stand before each node."""
    walls: dict[Any, int] = {}
    for node in graph.nodes:
        before = [
            walls[operand] + (operand in taken and node not in taken)
            for operand in node.all_input_nodes
        ]
        walls[node] = max(before, default=0)
    # What costs nothing is where it is read.
    for node in reversed(list(graph.nodes)):
        if node in free:
            walls[node] = min((walls[user] for user in node.users), default=0)
    return walls


def _around_attention(nodes: Sequence[Any]) -> list[list[Any]]:
    """A component in pieces, of which each attention of many queries is one."""
    if sum(map(is_product, nodes)) < 2:
        return [[*nodes]]
    pieces: list[list[Any]] = [[]]
    rest = dict.fromkeys(nodes)
    for node in nodes:
        if node not in rest:
            continue
        if _has_many_queries(node):
            own = _with_neighbours(node, rest)
            pieces = [[each for each in piece if each not in own] for piece in pieces]
            pieces += [own, []]
            for each in own:
                rest.pop(each, None)
        else:
            pieces[-1].append(node)
    return [piece for piece in pieces if piece]


def _has_many_queries(node: Any) -> bool:
    return is_attention(node) and node.args[0].meta["val"].shape[-2] >= MANY_QUERIES


def _with_neighbours(node: Any, nodes: Iterable[Any]) -> list[Any]:
    """Attention with the views that are for it alone, and what is elementwise behind it."""
    order, found = list(nodes), {node}
    inside = set(order)
    lone = {each for each in order if inside.isdisjoint(each.all_input_nodes)}
    for each in order[order.index(node) + 1 :]:
        read = inside.intersection(each.all_input_nodes)
        heavy = is_product(each) or is_reduction(each)
        if not heavy and not read.isdisjoint(found) and read <= found | lone:
            found.add(each)
    for each in reversed(order):
        if (is_view(each) or each in lone) and found.issuperset(each.users):
            found.add(each)
    return [each for each in order if each in found]


def _cut(nodes: Sequence[Any], component: Sequence[Any]) -> Iterable[GraphPart]:
    """
    Some nodes of a component cut where one value is read further on, more than once; products in
    each.
    """
    last = {node: number for number, node in enumerate(component)}
    place = dict(last)
    for node in component:
        for operand in node.all_input_nodes:
            if operand in last:
                last[operand] = max(last[operand], place[node])
    start, products, live = 0, 0, set[Any]()
    for number, node in enumerate(nodes):
        products += is_product(node)
        live = {each for each in (*live, node) if last[each] > place[node]}
        ends = number + 1 == len(nodes)
        apart = products > 0 and len(live) == 1 and all(map(_is_crossing, live))
        if ends or (apart and any(map(is_product, nodes[number + 1 :]))):
            yield GraphPart(tuple(nodes[start : number + 1]))
            start, products, live = number + 1, 0, set[Any]()


def _is_crossing(node: Any) -> bool:
    """Whether a value would be stored in any case: several read it, or a product all of it."""
    readers = _readers(node)
    return _may_be_stored(node) and (len(readers) > 1 or any(map(is_product, readers)))


def _readers(node: Any) -> list[Any]:
    """What computes with a value: behind views, which are free."""
    found = list[Any]()
    for user in node.users:
        found += _readers(user) if is_view(user) else [user]
    return found


def _may_be_stored(node: Any) -> bool:
    return is_floating(node) and not isinstance(node.meta["val"], tuple | list)


def _without_views(part: GraphPart) -> list[Any]:
    """The nodes of a part without views that it does not read itself."""
    kept = list(part.nodes)
    inside = set(kept)
    for node in reversed(part.nodes):
        several = isinstance(node.meta["val"], tuple | list)
        if (is_view(node) or several) and not any(user in inside for user in node.users):
            inside.discard(node)
    return [node for node in kept if node in inside]


def _refuse_results(parts: Iterable[GraphPart], support: Support) -> bool:
    """Refuse what parts cannot give to others: masks, indices, several results in one."""
    found = [node for part in parts for node in part.results if not _may_be_stored(node)]
    for node in found:
        support.refuse(node, "masks and indices are no results of kernels")
    return bool(found)
