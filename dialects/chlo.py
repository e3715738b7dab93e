"""The operations of the `chlo` dialect that JAX's programs have, beside those of StableHLO."""

from xdsl.ir import Dialect

from mirage_mlir.dialects.stablehlo_bases import UnaryOp, operations

UNARY = {
    "erf": "The error function, elementwise.",
    "erfc": "`1 - erf(x)`, elementwise.",
    "square": "`x * x`, elementwise.",
}
"""What each operator of one tensor is."""

Chlo = Dialect("chlo", operations("chlo", UNARY, UnaryOp))
