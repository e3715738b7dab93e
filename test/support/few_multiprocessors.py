"""A GPU so small that kernels of some hundred rows are persistent."""

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.passes import graph_pass
from mirage_mlir.targets.target import H200, Target

FEW = replace(H200, sm_count=3, sm_count_in_clusters=2, shared_memory_per_sm=8 << 10)
"""It has fewer places for blocks than such a kernel has tiles."""


def lower_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes lower for `FEW`, whatever target they are asked for."""

    def settled(module: ModuleOp, asked: str | None, by: str) -> Target:
        return FEW

    monkeypatch.setattr(graph_pass, "settle_target", settled)
