"""
The formats of floating-point elements, one row each.

Source: IEEE 754 for f16 and f32; OCP 8-bit Floating Point Specification (OFP8) 1.0 for the 8-bit
ones. f8E4M3FN has no infinity, and two NaNs where it would be.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """One format; numbers are rounded to the nearest, ties to even."""

    name: str
    """As MLIR spells it."""
    bits: int
    mantissa_bits: int
    """Without the leading one."""
    least_exponent: int
    """Of the normal numbers; below it they have the same spacing."""
    largest: float
    """The largest finite number."""
    array_name: str
    """In numpy, ml_dtypes and torch."""
    has_infinity: bool = True
    """Whether numbers out of range become infinite; they become NaN else."""
    is_compiled: bool = True
    """Whether kernels compute with it. Of others there are only tensors and casts."""

    @property
    def bytes(self) -> int:
        """Of one element."""
        return self.bits // 8

    @property
    def roundoff(self) -> float:
        """Half the distance from 1 to the next number."""
        return 2.0 ** -(self.mantissa_bits + 1)

    @property
    def counts_to(self) -> int:
        """The largest n so that all integers from -n to n are numbers of the format."""
        return 1 << (self.mantissa_bits + 1)


FORMATS: Mapping[str, FloatFormat] = {
    row.name: row
    for row in (
        FloatFormat("f16", 16, 10, -14, 65504.0, "float16"),
        FloatFormat("bf16", 16, 7, -126, (2 - 2.0**-7) * 2.0**127, "bfloat16"),
        FloatFormat("f32", 32, 23, -126, (2 - 2.0**-23) * 2.0**127, "float32"),
        FloatFormat(
            "f8E4M3FN",
            8,
            3,
            -6,
            448.0,
            "float8_e4m3fn",
            has_infinity=False,
            is_compiled=False,
        ),
        FloatFormat("f8E5M2", 8, 2, -14, 57344.0, "float8_e5m2", is_compiled=False),
    )
}
"""The rows, by their names."""


def listed(names: list[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


COMPILED = listed([row.name for row in FORMATS.values() if row.is_compiled])
"""Those that kernels compute with, for messages."""
