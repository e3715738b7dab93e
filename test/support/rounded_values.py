"""Whether results of a GPU are as near to exact ones as their type allows."""

from typing import Any

import numpy as np

ACCURATE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5}
"""Relative in the 2-norm: of gradients, which have a few roundings."""


def close(found: Any, wanted: Any, dtype: str) -> bool:
    found, wanted = (each.detach().double().cpu().numpy() for each in (found, wanted))
    return bool(np.linalg.norm(found - wanted) <= ACCURATE[dtype] * np.linalg.norm(wanted))
