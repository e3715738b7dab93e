"""Values of which programs are made, as keys of a table."""

from typing import Any

import numpy as np


def exactly(value: Any) -> tuple[str, object]:
    """
    A value with its type: 1, 1.0 and True are equal, as 0.0 and -0.0 are, and NaN is to nothing.
    """
    kind: type[Any] = type(value)
    plain: object = float(value).hex() if issubclass(kind, float | np.floating) else value
    return kind.__qualname__, plain
