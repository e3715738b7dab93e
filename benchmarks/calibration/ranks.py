"""Rank correlation, and what following the model costs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """The rank of each value, equal values sharing the mean of theirs."""
    array = np.asarray(values, np.float64)
    smaller = (array[None, :] < array[:, None]).sum(axis=1)
    equal = (array[None, :] == array[:, None]).sum(axis=1)
    return smaller + (equal + 1) / 2


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation; NaN where either has only equal values."""
    first, second = ranks(one), ranks(other)
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / scale if scale else float("nan")


def regret(modelled: Sequence[float], measured: Sequence[float]) -> float:
    """Measured time of the kernel that the model ranks first, over that of the fastest."""
    return measured[int(np.argmin(modelled))] / min(measured)


def mean_error(modelled: Sequence[float], measured: Sequence[float]) -> float:
    """The mean of `|log(modelled / measured)|`: 0.1 is 10 %."""
    return float(np.abs(np.log(np.asarray(modelled) / np.asarray(measured))).mean())
