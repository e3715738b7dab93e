"""Values of which programs are made, as keys of a table."""

from typing import Any

import numpy as np

_FLOATS: Any = (float, np.floating)


def exactly(value: Any) -> tuple[str, object]:
    """
    A value with its type: 1, 1.0 and True are equal, as 0.0 and -0.0 are, and NaN is to nothing.
    """
    plain = float(value).hex() if isinstance(value, _FLOATS) else value
    return type(value).__qualname__, plain
