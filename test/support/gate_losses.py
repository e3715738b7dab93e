"""Errors and tolerances of the floating-point gate, for small programs."""

from bodies import programs

from mirage_mlir.equivalence.float_gate import FloatGate, Loss
from mirage_mlir.equivalence.float_inputs import InputKind, Masked
from mirage_mlir.equivalence.sample import whole

KINDS = {
    "normal": InputKind("normal inputs"),
    "hot": InputKind("one channel of 2e4", hot=True),
    "first": InputKind("a first channel of 2e4", hot=True, first=True),
    "tiny": InputKind("inputs of 1e-5", tiny=True),
    "zero": InputKind("inputs of zero", zero=True),
    "equal": InputKind("equal inputs", equal=True),
    "large": InputKind("large data", largest=True, scaled_data=True),
    "small": InputKind("small data", smallest=True, scaled_data=True),
    "masked": InputKind("masks of -inf over the first half", masked=Masked.FIRST),
    "scores": InputKind("arguments of exp up to 1e4", scores=1e4),
    "far": InputKind("argument 0 far from zero", far=(0,)),
    "near": InputKind("all arguments far from zero", far=(0, 1)),
}


def loss(kind: str, inputs: str, result: str, *bodies: str) -> Loss:
    """The error of the one output on inputs of a kind."""
    reference, candidate = programs(inputs, result, *bodies)
    (found,) = FloatGate(reference, whole(reference), [KINDS[kind]], 0).losses(candidate)
    return found
