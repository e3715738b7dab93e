# pyright: basic
"""Attention as the libraries of a GPU compute it, of which torch takes one where there is a GPU."""

from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from mirage_mlir.frameworks.backend.nodes import Support  # noqa: E402
from mirage_mlir.frameworks.backend.parts import parts_of, split_readers  # noqa: E402


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
