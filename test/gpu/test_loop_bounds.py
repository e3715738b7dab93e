"""Attention whose loops masks of indices bound: many blocks, long loops, ragged edges."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_runs import chip_here, run_guarded
from index_masks import CASES, Masked, behind, causal, window

import mirage_mlir as mi

LARGE = {
    "causal, many blocks": causal(2048, 2048, 64, 64, heads=12),
    "causal, ragged, many blocks": causal(1999, 2001, 64, 128, heads=5),
    "window, many blocks": window(3000, 3000, 128, 64, 500),
    "keys behind, many blocks": behind(1500, 2500, 64, 64),
}


@pytest.mark.parametrize("name", [*CASES, *LARGE])
def test_attention_by_index(torch: Any, tmp_path: Path, name: str) -> None:
    case: Masked = (CASES | LARGE)[name]
    path = tmp_path / "masked.mlir"
    path.write_text(case.text())
    kernel = mi.compile_file(path, compile_for=[chip_here()])
    inputs = case.inputs()
    (found,) = run_guarded(torch, kernel, [each.astype(np.float32) for each in inputs])
    exists = case.plane.any(axis=1)
    np.testing.assert_allclose(found[:, exists], case.expected(inputs)[:, exists], atol=4e-3)
