"""The floating-point gate: what is accurate enough on each kind of inputs, and what is not."""

from __future__ import annotations

import pytest
from bodies import compare, programs
from gate_losses import KINDS, loss

from mirage_mlir.equivalence import Verdict
from mirage_mlir.equivalence.float_gate import FloatGate
from mirage_mlir.equivalence.float_inputs import kinds_of
from mirage_mlir.equivalence.mask_inputs import is_mask
from mirage_mlir.equivalence.sample import whole

PRODUCT = "%r = matmul %0, %1 : 16x{k} {k}x8 -> 16x8"

IN_F16 = """
%x = cast %0 : 16x{k} -> 16x{k}:f16
%w = cast %1 : {k}x8 -> {k}x8:f16
%r = matmul %x, %w : 16x{k}:f16 {k}x8:f16 -> 16x8
"""

SUM = "%r = reduce_sum %0 {dims = array<i64: 1>} : 16x512:f16 -> 16x1:f16"

SUM_OF_HALVES = """
%s = reshape %0 : 16x512:f16 -> 16x2x256:f16
%t = reduce_sum %s {dims = array<i64: 1>} : 16x2x256:f16 -> 16x1x256:f16
%u = reshape %t : 16x1x256:f16 -> 16x256:f16
%r = reduce_sum %u {dims = array<i64: 1>} : 16x256:f16 -> 16x1:f16
"""

NORM = "%r = rms_norm %0 {eps = 1.0e-05 : f32} : 16x256:f16 -> 16x256:f16"

SQUARES_IN_F16 = """
%q = square %0 : 16x256:f16 -> 16x256:f16
%m = reduce_mean %q {dims = array<i64: 1>} : 16x256:f16 -> 16x1:f16
%c = cast %m : 16x1:f16 -> 16x1
%e = constant {value = 1.0e-05 : f32} : 1x1
%d = add %c, %e : 16x1 1x1 -> 16x1
%s = rsqrt %d : 16x1 -> 16x1
%x = cast %0 : 16x256:f16 -> 16x256
%y = mul %x, %s : 16x256 16x1 -> 16x256
%r = cast %y : 16x256 -> 16x256:f16
"""

LAYER_NORM = "%r = layer_norm %0 {eps = 1.0e-05 : f32} : 16x256 -> 16x256"

FROM_THE_FIRST = """
%z = slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 1>, \
strides = array<i64: 1, 1>} : 16x256 -> 16x1
%d = sub %0, %z : 16x256 16x1 -> 16x256
%m = reduce_mean %d {dims = array<i64: 1>} : 16x256 -> 16x1
%q = square %d : 16x256 -> 16x256
%n = reduce_mean %q {dims = array<i64: 1>} : 16x256 -> 16x1
%k = square %m : 16x1 -> 16x1
%v = sub %n, %k : 16x1 16x1 -> 16x1
%e = constant {value = 1.0e-05 : f32} : 1x1
%w = add %v, %e : 16x1 1x1 -> 16x1
%s = rsqrt %w : 16x1 -> 16x1
%c = sub %d, %m : 16x256 16x1 -> 16x256
%r = mul %c, %s : 16x256 16x1 -> 16x256
"""
"""A variance in one pass, of what is left when each row's first element is subtracted."""

SOFTMAX = "%r = softmax %0 {dim = 1 : i64} : 16x64 -> 16x64"

NO_SHIFT = """
%e = exp %0 : 16x64 -> 16x64
%s = reduce_sum %e {dims = array<i64: 1>} : 16x64 -> 16x1
%r = div %e, %s : 16x64 16x1 -> 16x64
"""

WITH_MASK = """
%s = add %0, %1 : 16x64 16x64 -> 16x64
%r = softmax %s {dim = 1 : i64} : 16x64 -> 16x64
"""

MASK_TIMES_SHIFT = """
%z = scale %1 {factor = 2.0 : f32} : 16x64 -> 16x64
%y = sub %z, %1 : 16x64 16x64 -> 16x64
%s = add %0, %y : 16x64 16x64 -> 16x64
%r = softmax %s {dim = 1 : i64} : 16x64 -> 16x64
"""

CENTRED = """
%m = reduce_mean %0 {dims = array<i64: 1>} : 16x256 -> 16x1
%c = sub %0, %m : 16x256 16x1 -> 16x256
%q = square %c : 16x256 -> 16x256
%r = reduce_mean %q {dims = array<i64: 1>} : 16x256 -> 16x1
"""

ONE_PASS = """
%q = square %0 : 16x256 -> 16x256
%a = reduce_mean %q {dims = array<i64: 1>} : 16x256 -> 16x1
%m = reduce_mean %0 {dims = array<i64: 1>} : 16x256 -> 16x1
%b = square %m : 16x1 -> 16x1
%r = sub %a, %b : 16x1 16x1 -> 16x1
"""

SLICED = "%p = softmax %0 {dim = 1 : i64} : 16x64 -> 16x64\n" + (
    "%t = kernel.slice %p {offsets = array<i64: 0, 1>, sizes = array<i64: 16, 63>,"
    " strides = array<i64: 1, 1>} : (tensor<16x64xf32>) -> tensor<16x63xf32>\n"
    "%r = reduce_sum %t {dims = array<i64: 1>} : 16x63 -> 16x1"
)

ONE_WITHOUT_FIRST = "%p = softmax %0 {dim = 1 : i64} : 16x64 -> 16x64\n" + (
    "%f = kernel.slice %p {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 1>,"
    " strides = array<i64: 1, 1>} : (tensor<16x64xf32>) -> tensor<16x1xf32>\n"
    "%o = kernel.constant {value = 1.0 : f32} : tensor<16x1xf32>\n"
    "%r = sub %o, %f : 16x1 16x1 -> 16x1"
)
"""What is left beside one element of a softmax, which may be all of it but for rounding."""

COUNTED = """
%p = softmax %0 {dim = 1 : i64} : 16x64 -> 16x64
%i = kernel.iota {dim = 1 : i64} : tensor<16x64xf32>
%o = kernel.constant {value = 0.0 : f32} : tensor<16x64xf32>
%k = compare %i, %o {predicate = "gt"} : 16x64 16x64 -> 16x64
%t = mul %p, %k : 16x64 16x64 -> 16x64
%r = reduce_sum %t {dims = array<i64: 1>} : 16x64 -> 16x1
"""

CASES: dict[str, tuple[str, str, str, str, str, bool]] = {
    "operands of f32 in f16": (
        "normal",
        "16x512 512x8",
        "16x8",
        PRODUCT.format(k=512),
        IN_F16.format(k=512),
        False,
    ),
    "another order of a sum": ("normal", "16x512:f16", "16x1:f16", SUM, SUM_OF_HALVES, True),
    "squares of f16": ("normal", "16x256:f16", "16x256:f16", NORM, SQUARES_IN_F16, True),
    "squares of f16 that overflow": (
        "hot",
        "16x256:f16",
        "16x256:f16",
        NORM,
        SQUARES_IN_F16,
        False,
    ),
    "a softmax without its maximum": ("normal", "16x64", "16x64", SOFTMAX, NO_SHIFT, True),
    "of large scores": ("scores", "16x64", "16x64", SOFTMAX, NO_SHIFT, False),
    "a mask": ("masked", "16x64 16x64", "16x64", WITH_MASK, WITH_MASK, True),
    "a mask that is subtracted from itself": (
        "masked",
        "16x64 16x64",
        "16x64",
        WITH_MASK,
        MASK_TIMES_SHIFT,
        False,
    ),
    "a variance in one pass": ("normal", "16x256", "16x1", CENTRED, ONE_PASS, True),
    "of inputs far from zero": ("far", "16x256", "16x1", CENTRED, ONE_PASS, False),
}


@pytest.mark.parametrize("name", CASES)
def test_either_side_of_the_tolerance(name: str) -> None:
    kind, inputs, result, reference, candidate, acceptable = CASES[name]
    found = loss(kind, inputs, result, reference, candidate)
    assert found.acceptable == acceptable, found
    assert loss(kind, inputs, result, reference, reference).acceptable


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [(SLICED, ONE_WITHOUT_FIRST), (ONE_WITHOUT_FIRST, SLICED), (COUNTED, ONE_WITHOUT_FIRST)],
    ids=["sliced", "the other way", "counted"],
)
def test_one_element_that_is_all_of_a_softmax(reference: str, candidate: str) -> None:
    """The sum of the others is refused for 1 minus it only where it was computed so before."""
    report = compare("16x64", "16x1", reference, candidate)
    accurate = candidate == SLICED
    assert report.verdict is (Verdict.EQUAL if accurate else Verdict.INACCURATE), str(report)
    assert accurate or "far above the others" in str(report)


ONE = "%o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>\n"

NEGATED = "%n = neg %0 : 16x64 -> 16x64\n"

IN_PAIRS: dict[str, tuple[str, str, str, str]] = {
    "an element far below the others": (
        "16x64",
        "16x1",
        NEGATED + SLICED.replace("softmax %0", "softmax %n"),
        NEGATED + ONE_WITHOUT_FIRST.replace("softmax %0", "softmax %n"),
    ),
    "a sigmoid that is nearly 1": (
        "16x64",
        "16x64",
        f"{ONE}%e = exp %0 : 16x64 -> 16x64\n%s = add %o, %e : 1x1 16x64 -> 16x64\n"
        "%r = div %o, %s : 1x1 16x64 -> 16x64",
        f"{ONE}{NEGATED}%e = exp %n : 16x64 -> 16x64\n%s = add %o, %e : 1x1 16x64 -> 16x64\n"
        "%d = div %o, %s : 1x1 16x64 -> 16x64\n%r = sub %o, %d : 1x1 16x64 -> 16x64",
    ),
    "f16 on the way to bf16": (
        "16x64",
        "16x64:bf16",
        "%r = cast %0 : 16x64 -> 16x64:bf16",
        "%h = cast %0 : 16x64 -> 16x64:f16\n%r = cast %h : 16x64:f16 -> 16x64:bf16",
    ),
    "a range that f16 has not": (
        "16x64",
        "16x64:f16",
        "%s = scale %0 {factor = 0.001 : f32} : 16x64 -> 16x64\n%r = cast %s : 16x64 -> 16x64:f16",
        "%h = cast %0 : 16x64 -> 16x64:f16\n"
        "%r = scale %h {factor = 0.001 : f32} : 16x64:f16 -> 16x64:f16",
    ),
    "one row of small numbers": (
        "1x64",
        "1x64",
        f"{ONE}%q = square %0 : 1x64 -> 1x64\n"
        "%s = add %q, %o : 1x64 1x1 -> 1x64\n%r = div %q, %s : 1x64 1x64 -> 1x64",
        f"{ONE}%q = square %0 : 1x64 -> 1x64\n"
        "%s = add %q, %o : 1x64 1x1 -> 1x64\n%d = div %o, %s : 1x1 1x64 -> 1x64\n"
        "%r = sub %o, %d : 1x1 1x64 -> 1x64",
    ),
}


@pytest.mark.parametrize("name", IN_PAIRS)
def test_what_is_lost_on_hard_inputs_alone(name: str) -> None:
    """The program is accepted for what loses accuracy, but not the other way round."""
    inputs, result, accurate, other = IN_PAIRS[name]
    report = compare(inputs, result, accurate, other)
    assert report.verdict is Verdict.INACCURATE, str(report)
    assert compare(inputs, result, accurate, accurate).verdict is Verdict.EQUAL


@pytest.mark.parametrize("k", [64, 8192])
def test_f16_operands_are_refused_whatever_the_length(k: int) -> None:
    """The error does not grow with the sum, but what is tolerated must not hide it."""
    report = compare(f"16x{k} {k}x8", "16x8", PRODUCT.format(k=k), IN_F16.format(k=k))
    assert report.verdict is Verdict.INACCURATE, str(report)


def test_tiny_inputs() -> None:
    """A scale that leaves f16 on the way, and comes back."""
    down = "%h = scale %0 {{factor = {f} : f32}} : 16x64:f16 -> 16x64:f16\n"
    up = "%r = scale %h {{factor = {f} : f32}} : 16x64:f16 -> 16x64:f16"
    reference = "%r = scale %0 {factor = 1.0 : f32} : 16x64:f16 -> 16x64:f16"
    candidate = down.format(f=0.0009765625) + up.format(f=1024.0)
    inputs = "16x64:f16", "16x64:f16"
    assert loss("normal", *inputs, reference, candidate).acceptable
    assert not loss("tiny", *inputs, reference, candidate).acceptable


def test_one_rounding_more() -> None:
    """A result that is rounded twice is within 2 u, one that is off by 1 % is not."""
    reference = "%r = silu %0 : 16x64:f16 -> 16x64:f16"
    more = "%s = sigmoid %0 : 16x64:f16 -> 16x64:f16\n%r = mul %s, %0 : 16x64:f16 16x64:f16 -> "
    found = loss("normal", "16x64:f16", "16x64:f16", reference, more + "16x64:f16")
    assert found.acceptable
    off = "%s = silu %0 : 16x64:f16 -> 16x64:f16\n%r = scale %s {factor = 1.01 : f32} : "
    found = loss("normal", "16x64:f16", "16x64:f16", reference, off + "16x64:f16 -> 16x64:f16")
    assert not found.acceptable
    assert found.error == pytest.approx(0.01, rel=0.1)


def test_kinds_that_say_something() -> None:
    attention, *_ = programs("16x64 16x64", "16x64", WITH_MASK)
    assert is_mask(attention.body.block.args[1])
    names = [kind.name for kind in kinds_of(attention, exponentials=True)]
    assert names[:3] == ["normal inputs", "one channel of 2e4", "inputs of 1e-5"]
    assert {"arguments of exp up to 1e4", "masks of -inf over the first half"} <= set(names)
    norm, *_ = programs("16x256:f16", "16x256:f16", NORM)
    names = [kind.name for kind in kinds_of(norm, exponentials=False)]
    assert "arguments of exp up to 1e4" not in names
    assert names[-2:] == ["argument 0 far from zero", "equal inputs"]


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_rows_of_the_large_channel(seed: int) -> None:
    """Its signs are random: were its sizes all one, sums of few rows would cancel to nothing."""
    squares = """
%q = square %0 : 16x256 -> 16x256
%m = reduce_mean %q {dims = array<i64: 1>} : 16x256 -> 16x1
%s = rsqrt %m : 16x1 -> 16x1
"""
    tail = "%r = reduce_sum %p {dims = array<i64: 0>} : 16x256 -> 1x256"
    first = "%n = mul %0, %s : 16x256 16x1 -> 16x256\n%p = mul %n, %1 : 16x256 16x256 -> 16x256\n"
    other = "%n = mul %1, %s : 16x256 16x1 -> 16x256\n%p = mul %n, %0 : 16x256 16x256 -> 16x256\n"
    reference, candidate = programs(
        "16x256 16x256", "1x256", *(squares + body + tail for body in (first, other))
    )
    gate = FloatGate(reference, whole(reference), [KINDS["hot"]], seed)
    (found,) = gate.losses(candidate)
    assert found.acceptable
    assert found.error < 1e-4


def test_rows_are_measured_from_an_outlier() -> None:
    """In f32 what is subtracted from a row may not be its largest element."""
    assert loss("hot", "16x256", "16x256", LAYER_NORM, FROM_THE_FIRST).acceptable
    assert not loss("first", "16x256", "16x256", LAYER_NORM, FROM_THE_FIRST).acceptable
    (norm,), (softmax,) = (
        programs("16x256", "16x256", LAYER_NORM),
        programs("16x64", "16x64", SOFTMAX),
    )
    assert any(kind.first for kind in kinds_of(norm, exponentials=False))
    assert not any(kind.first for kind in kinds_of(softmax, exponentials=True))


@pytest.mark.parametrize(("added", "acceptable"), [(2, True), (64, False)])
def test_results_without_a_right_digit(added: int, acceptable: bool) -> None:
    """Of exp(x) - 1 - x nothing is right near 0: what is a few times as wrong is not refused."""
    small = """
    %e = exp %0 : 64x64 -> 64x64
    %c = constant {value = 1.0 : f32} : 1x1
    %d = sub %e, %c : 64x64 1x1 -> 64x64
    %r = sub %d, %0 : 64x64 64x64 -> 64x64
    """
    large = f"""
    %e = exp %0 : 64x64 -> 64x64
    %a = constant {{value = {added}.0 : f32}} : 1x1
    %b = constant {{value = {added + 1}.0 : f32}} : 1x1
    %s = add %e, %a : 64x64 1x1 -> 64x64
    %d = sub %s, %b : 64x64 1x1 -> 64x64
    %r = sub %d, %0 : 64x64 64x64 -> 64x64
    """
    found = loss("tiny", "64x64", "64x64", small, large)
    assert found.error > loss("tiny", "64x64", "64x64", small, small).error > 1
    assert found.acceptable == acceptable


def test_a_result_that_is_luck() -> None:
    """
    The difference of two logarithms that are nearly equal is what rounding makes of them.

    The program rounds both alike, as the divergence of a distribution from itself does.
    """
    body = """
    %e = exp %0 : 64x4096 -> 64x4096
    %s = reduce_sum %e {{dims = array<i64: 1>}} : 64x4096 -> 64x1
    %c = scale %s {{factor = {factor} : f32}} : 64x1 -> 64x1
    %l = log %c : 64x1 -> 64x1
    %n = constant {{value = {logarithm} : f32}} : 1x1
    %k = sub %l, %n : 64x1 1x1 -> 64x1
    %f = exp %1 : 64x4096 -> 64x4096
    %t = reduce_sum %f {{dims = array<i64: 1>}} : 64x4096 -> 64x1
    %m = log %t : 64x1 -> 64x1
    %r = sub %k, %m : 64x1 64x1 -> 64x1
    """
    program = body.format(factor="1.0", logarithm="0.0")
    other = body.format(factor="3.0e15", logarithm="35.637388671907")
    found = loss("tiny", "64x4096 64x4096", "64x1", program, other)
    assert found.error > 4 * loss("tiny", "64x4096 64x4096", "64x1", program, program).error
    assert found.acceptable


def test_halves_of_a_value() -> None:
    """What rounding loses of the first half is in the second: one half is not accurate enough."""
    halves = """
    %h = cast %0 : 16x64 -> 16x64:bf16
    %b = cast %h : 16x64:bf16 -> 16x64
    %d = sub %0, %b : 16x64 16x64 -> 16x64
    %l = cast %d : 16x64 -> 16x64:bf16
    %p = matmul %h, %1 : 16x64:bf16 64x8:bf16 -> 16x8
    %q = matmul %l, %1 : 16x64:bf16 64x8:bf16 -> 16x8
    %r = add %p, %q : 16x8 16x8 -> 16x8
    """
    first = """
    %h = cast %0 : 16x64 -> 16x64:bf16
    %r = matmul %h, %1 : 16x64:bf16 64x8:bf16 -> 16x8
    """
    assert loss("normal", "16x64 64x8:bf16", "16x8", halves, halves).acceptable
    assert not loss("normal", "16x64 64x8:bf16", "16x8", halves, first).acceptable
    assert loss("normal", "16x64 64x8:bf16", "16x8", first, first).acceptable


def test_an_exact_difference() -> None:
    """Inputs are numbers as they are: what the program loses nothing of must not be lost."""
    difference = "%r = sub %0, %1 : 16x64 16x64 -> 16x64"
    through_a_quotient = """
    %q = div %0, %1 : 16x64 16x64 -> 16x64
    %o = constant {value = 1.0 : f32} : 1x1
    %d = sub %q, %o : 16x64 1x1 -> 16x64
    %r = mul %d, %1 : 16x64 16x64 -> 16x64
    """
    assert not loss("near", "16x64 16x64", "16x64", difference, through_a_quotient).acceptable
