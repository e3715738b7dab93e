"""
Whether the cost model still ranks kernels that were timed on an H200 as well as it did.

A change of a constant, or of what the model counts, that ranks them worse fails here. One that
ranks them better may write the new numbers: `python benchmarks/calibration/run.py --compact FILE`.
"""

import json
from dataclasses import replace
from typing import Any

import pytest
from calibration.calibrate import cases
from calibration.compact import PAIRS, TIMED
from calibration.first import FIRST, models
from calibration.timed import Timed, modelled, ranks_of

from mirage_mlir.targets.target import H200, Target

PROGRAMS: dict[str, Timed] = json.loads(TIMED.read_text())

AT_FIRST: dict[str, Timed] = json.loads(FIRST.read_text())
"""What searches put first: nearly alike in the model."""

OVER_PAIRS: dict[str, Timed] = json.loads(PAIRS.read_text())
"""Tiles that others are stretched over, and short rows."""

CASES = {case.name: case for case in (*cases(), *models())}

ROUNDING = 0.001
"""Of the numbers in the file."""


def now(name: str, timed: Timed, target: Target = H200) -> tuple[float, float]:
    """Rank correlation and regret of a program's kernels."""
    pairs = modelled(CASES[name], timed, target)
    assert len(pairs) == len(timed["kernels"]), "a search finds all of them again"
    return ranks_of(pairs)


@pytest.mark.parametrize("name", [*PROGRAMS, *OVER_PAIRS])
def test_ranks(name: str) -> None:
    timed = (PROGRAMS | OVER_PAIRS)[name]
    rank, regret = now(name, timed)
    assert rank >= timed["rank"] - ROUNDING, f"rank correlation {rank:.3f}"
    assert regret <= timed["regret"] + ROUNDING, f"first over fastest {regret:.3f}"


@pytest.mark.parametrize("name", AT_FIRST)
def test_first(name: str) -> None:
    timed = AT_FIRST[name]
    _, regret = now(name, timed)
    assert regret <= timed["regret"] + ROUNDING, f"first over fastest {regret:.3f}"


def test_first_ones_are_fast() -> None:
    regrets = [timed["regret"] for timed in AT_FIRST.values()]
    assert len(regrets) >= 15
    assert sum(regrets) / len(regrets) < 1.08
    assert max(regrets) < 1.3


def test_first_ones_over_pairs() -> None:
    regrets = [timed["regret"] for timed in OVER_PAIRS.values()]
    assert len(regrets) >= 12
    assert sum(regrets) / len(regrets) < 1.1
    assert max(regrets) < 1.5


def test_most_are_ranked_well() -> None:
    ranks = [timed["rank"] for timed in PROGRAMS.values()]
    assert len(ranks) >= 20
    assert sum(ranks) / len(ranks) > 0.8
    assert max(timed["regret"] for timed in PROGRAMS.values()) < 1.2


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("matmul b16_n6144 f16", {"tma_l2_bandwidth_per_sm": 9e8}),
        ("matmul b512_n4096 f16", {"mma_throughput": 3e13}),
        ("rmsnorm 8192x8192 f16", {"fp32_throughput": 1e12}),
        ("lora b16_k256_r16 f16", {"dram_bandwidth": 1e12}),
        ("linear_bias_gelu b8 f16", {"fp32_throughput": 1e12}),
        ("matmul b1_n4096 f16", {"barrier_latency": 2e-6}),
    ],
)
def test_a_wrong_constant_is_seen(name: str, wrong: dict[str, Any]) -> None:
    timed = PROGRAMS[name]
    rank, regret = now(name, timed, replace(H200, **wrong))
    assert rank < timed["rank"] - ROUNDING or regret > timed["regret"] + ROUNDING
