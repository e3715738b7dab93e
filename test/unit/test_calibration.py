"""Rank correlation, and what is computed from timed kernels."""

import json
import math

import pytest
from calibration.calibrate import Row, line, numbers, result, right
from calibration.ranks import mean_error, ranks, regret, spearman


def test_ranks() -> None:
    assert ranks([30.0, 10.0, 20.0]).tolist() == [3, 1, 2]
    assert ranks([1.0, 2.0, 2.0, 5.0]).tolist() == [1, 2.5, 2.5, 4]


def test_spearman() -> None:
    assert spearman([1, 2, 3], [10, 100, 1000]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # A textbook's: 1 - 6 * (0 + 1 + 1 + 1 + 1) / (5 * 24).
    assert spearman([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]) == pytest.approx(0.8)
    assert math.isnan(spearman([1, 1], [1, 2]))


def test_what_following_the_model_costs() -> None:
    assert regret([1, 2, 3], [12, 10, 11]) == pytest.approx(1.2)
    assert mean_error([1.1, 1 / 1.1], [1, 1]) == pytest.approx(math.log(1.1))


def row(modelled: float, measured: float | None, spill: int = 0) -> Row:
    """A kernel of one program."""
    return Row("f b1 f16", "grid(i)", {"i": 8}, modelled, measured, "", "0", spill)


def test_kernels_that_are_not_counted() -> None:
    rows = [row(1, 2), row(2, None), row(3, 900, spill=96), row(4, 5)]
    assert right(rows) == [(1, 2), (4, 5)]
    found = numbers([*rows, row(5, 7)])
    assert found["kernels"] == 3
    assert found["overall"] == pytest.approx(1)
    assert found["programs"] == {"f b1 f16": pytest.approx(1)}


def test_a_line() -> None:
    text = line("f b1 f16", [row(1, 2), row(2, 4), row(3, 3)])
    assert "3 of   3" in text
    assert "rho  0.50" in text
    assert "1 of 2 timed" in line("f", [row(1, 2), row(2, None)])


def test_a_result() -> None:
    """It has the target's constants, features among them, and is read as it was written."""
    written = json.loads(result({"date": "2026"}, "gpu", "H200", [row(2, 3), row(3, 4)]))
    assert written["target"]["name"] == "H200"
    assert "wgmma" in str(written["target"]["features"])
    assert [each["measured"] for each in written["rows"]] == [3, 4]
