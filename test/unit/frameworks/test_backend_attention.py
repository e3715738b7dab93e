# pyright: basic
"""Attention as the libraries of a GPU compute it, of which torch takes one where there is a GPU."""

from collections.abc import Callable
from typing import Any

import pytest
from compiled_models import compiled
from optional_packages import package

torch: Any = package("torch")

from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule  # noqa: E402

from mirage_mlir.frameworks.backend.masked_rows import (  # noqa: E402
    drop_guards,
    guard_masked_rows,
    without_guards,
)
from mirage_mlir.frameworks.backend.nodes import Support, stem_of  # noqa: E402
from mirage_mlir.frameworks.backend.parts import parts_of, split_readers  # noqa: E402
from mirage_mlir.frameworks.fx_call import ROWS_ARE_SEEN  # noqa: E402


def traced(function: Any, *shapes: tuple[int, ...]) -> Any:
    """The operators of a function, none of which runs."""
    with FakeTensorMode():
        tensors = [torch.empty(shape, dtype=torch.bfloat16) for shape in shapes]
        return make_fx(function)(*tensors).graph


def cudnn(q: Any, k: Any, v: Any) -> Any:
    """The results behind the first are statistics and seeds, for its gradient."""
    return torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, False, 0.0, False)[0]


def flash(q: Any, k: Any, v: Any) -> Any:
    return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, False, False)[0]


def efficient(q: Any, k: Any, v: Any) -> Any:
    return torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, None, False)[0]


@pytest.mark.parametrize("attention", [cudnn, flash, efficient])
def test_taken(attention: Any) -> None:
    def grouped(q: Any, k: Any, v: Any) -> Any:
        """Each of two heads of keys and values is for four of queries."""
        return attention(q, *(each.repeat_interleave(4, dim=1) for each in (k, v)))

    graph = traced(grouped, (1, 8, 1, 64), (1, 2, 128, 64), (1, 2, 128, 64))
    graph.eliminate_dead_code()
    support = Support()
    split_readers(graph, support)
    taken = [node.name for part in parts_of(graph, support) for node in part.computing]
    assert any(name.startswith("_scaled_dot_product") for name in taken)


def masked(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@pytest.mark.parametrize("kind", ["selects", "adds"])
@pytest.mark.usefixtures("fresh_dynamo", "programs_run")
def test_rows_without_elements(kind: str) -> None:
    """Under a mask that leaves nothing of some rows these are zeros, as torch has them."""
    q, k, v = (torch.randn(2, 4, 12, 8) for _ in range(3))
    mask = torch.rand(2, 1, 12, 12) > 0.5
    mask[0, 0, 3] = False
    # What is on the left of short sequences is padding.
    mask[1, :, :, :7] = False
    if kind == "adds":
        mask = torch.randn(2, 1, 12, 12).masked_fill(~mask, float("-inf"))

    def layers(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return masked(masked(q, k, v, mask).cos(), k, v, mask).cos()

    call, backend = compiled(layers)
    with torch.no_grad():
        found, wanted = call(q, k, v, mask), layers(q, k, v, mask)
    assert (masked(q, k, v, mask)[0, :, 3] == 0).all()
    assert torch.allclose(found, wanted, atol=1e-5)
    parts = [part for part in backend.explanation.parts if part.taken]
    assert any("scaled_dot_product" in name for part in parts for name in part.operators)


Where = Callable[[Any, Any], Any]

FORMULAS: dict[str, tuple[Where, bool]] = {
    "causal": (lambda i, j: i >= j, True),
    "around": (lambda i, j: (i - j).abs() < 3, True),
    "before": (lambda i, j: i > j, False),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_rows_of_formulas(name: str) -> None:
    """Whether a mask of indices alone has elements in all rows is known without a guard."""
    where, all_seen = FORMULAS[name]

    def attention(q: Any, k: Any, v: Any) -> Any:
        i, j = torch.arange(16)[:, None], torch.arange(16)[None]
        mask = torch.where(where(i, j), 0.0, float("-inf"))
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, False, attn_mask=mask.bfloat16()
        )[0]

    graph = traced(attention, *[(1, 2, 16, 8)] * 3)
    assert bool(guard_masked_rows(graph)) != all_seen
    (node,) = (node for node in graph.nodes if "scaled_dot_product" in str(node.target))
    assert ROWS_ARE_SEEN in node.meta


def under_mask(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """As torch lowers it on a processor, with something elementwise behind it."""
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        q, k, v, 0.0, False, attn_mask=mask
    )[0].cos()


def test_attention_that_is_left_has_no_guard() -> None:
    graph = traced(under_mask, *[(1, 2, 16, 8)] * 3, (16, 16))
    before = str(graph)
    guards = guard_masked_rows(graph)
    assert len(guards) == 1
    assert "where" in str(graph)
    drop_guards(graph, guards)
    assert str(graph) == before


def test_a_part_is_timed_without_its_guards() -> None:
    """Its inputs stay, of which one is what the guard asks."""

    graph = traced(under_mask, *[(1, 2, 16, 8)] * 3, (16, 16))
    module = torch.fx.GraphModule({}, graph)
    (guard,) = guard_masked_rows(graph)
    inside = [
        node for node in graph.nodes if node.op == "call_function" and node is not guard.highest
    ]
    part, inputs, _ = fuse_as_graphmodule(module, inside, "part", always_return_tuple=True)
    assert guard.highest in inputs
    left = without_guards(part)
    names = [str(node.target) for node in left.graph.nodes]
    assert len([node for node in left.graph.nodes if node.op == "placeholder"]) == len(inputs)
    assert not any("where" in name or "aten.ge" in name for name in names)
    tensors = [torch.randn(each.meta["val"].shape) for each in inputs]
    wanted = under_mask(
        *[tensors[inputs.index(node)] for node in graph.nodes if node.op == "placeholder"]
    )
    assert torch.equal(left(*tensors)[0], wanted)


def stems_of_parts(function: Any, *shapes: tuple[int, ...]) -> list[list[str]]:
    graph = traced(function, *shapes)
    graph.eliminate_dead_code()
    support = Support()
    split_readers(graph, support)
    parts = parts_of(graph, support)
    return [[stem_of(node) for node in part.computing] for part in parts]


@pytest.mark.parametrize("queries", [8, 64])
def test_attention_of_many_queries_is_a_part(queries: int) -> None:
    """Of few, as in decoding, it is one with the products in front of it."""

    def layer(x: Any, q: Any, k: Any, v: Any, out: Any) -> Any:
        y = x.tanh()
        heads = [(y @ each).view(1, -1, 2, 16).permute(0, 2, 1, 3) for each in (q, k, v)]
        made = flash(*heads).sigmoid()
        return x + (made.permute(0, 2, 1, 3).reshape(-1, 32) @ out)

    flash_ = "_scaled_dot_product_flash_attention"
    before, own, behind = ["tanh", "mm", "mm", "mm"], [flash_, "sigmoid"], ["mm", "add"]
    found = stems_of_parts(layer, (queries, 32), *[(32, 32)] * 4)
    assert found == ([before, own, behind] if queries == 64 else [[*before, *own], behind])


def test_two_attentions_of_many_queries() -> None:
    """Views for the second may stand in front of the first."""

    def layer(x: Any, w: Any, out: Any) -> Any:
        heads = [
            (x @ w).view(1, -1, 2, 16).permute(0, 2, 1, 3),
            x.view(1, -1, 2, 16).permute(0, 2, 1, 3),
        ]
        first = flash(heads[0], heads[0], heads[1])
        second = flash(first, heads[1], heads[0])
        return second.permute(0, 2, 1, 3).reshape(-1, 32) @ out

    flash_ = "_scaled_dot_product_flash_attention"
    found = stems_of_parts(layer, (64, 32), *[(32, 32)] * 2)
    assert found == [["mm"], [flash_], [flash_], ["mm"]]
