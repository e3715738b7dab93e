# pyright: basic
"""What the programs of parts are called: by what they do, for profilers."""

from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from mirage_mlir.frameworks.backend.operators import PartProgram, program_of  # noqa: E402
from mirage_mlir.frameworks.backend.part_names import LONGEST  # noqa: E402

F = torch.nn.functional


def program(function: Callable[..., Any], *shapes: tuple[int, ...]) -> PartProgram:
    """Of a function as inductor sees it."""
    from torch._inductor.decomposition import select_decomp_table

    made = torch.fx.experimental.proxy_tensor.make_fx(
        lambda *given: (function(*given),), select_decomp_table(), tracing_mode="fake"
    )
    return program_of(made(*(torch.randn(shape) for shape in shapes)), frozenset())


def norm(x: Any, w: Any) -> Any:
    """As models write it."""
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)) @ w


def gated(x: Any, u: Any, v: Any, w: Any) -> Any:
    return (F.silu(norm(x, u)) * (x @ v)) @ w


@pytest.mark.parametrize(
    ("function", "shapes", "name"),
    [
        (norm, [(4, 8), (8, 8)], "rms_norm_mm"),
        (gated, [(4, 8), (8, 8), (8, 8), (8, 8)], "rms_norm_mm_silu_mm_mul_mm"),
        (lambda x, y: F.softmax(x @ y, -1), [(4, 8), (8, 8)], "mm_softmax"),
        (lambda x, y: (x @ y) @ y, [(4, 8), (8, 8)], "mm"),
    ],
)
def test_names(function: Any, shapes: list[tuple[int, ...]], name: str) -> None:
    found = program(function, *shapes)
    assert found.graph.name == name
    assert found.key == program(function, *shapes).key


def test_long_names_end_with_a_whole_word() -> None:
    def long(x: Any) -> Any:
        for _ in range(10):
            x = (x.sqrt() + x.relu()).sum(-1, keepdim=True) + x
        return x

    name = program(long, (4, 8)).graph.name
    assert LONGEST - 8 < len(name) <= LONGEST
    assert {*name.split("_")} == {"sqrt", "relu", "add", "sum"}
    assert name.isidentifier()
