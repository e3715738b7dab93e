"""Which kernels are taken for right, and what is timed."""

import math

import numpy as np
import pytest
from fake_stopwatch import CHEAPEST, FakeStopwatch

from mirage_mlir.driver.bench import CALLS, Bench, Subject, Trial, relative_error
from mirage_mlir.driver.encoding import decode_tensor, encode, size_in_bytes
from mirage_mlir.runtime.artifact import Launch, TargetCode, TensorSpec, row_major
from mirage_mlir.runtime.element_types import ElementType

SHAPE = (8, 256)

TYPE = "tensor<8x256xf16>"


def scale(factor: float, name: str = "f") -> str:
    """A program that multiplies by `factor`."""
    return f"""
func.func @{name}(%x: {TYPE}) -> {TYPE} {{
  %y = kernel.scale %x {{factor = {factor} : f32}} : ({TYPE}) -> {TYPE}
  func.return %y : {TYPE}
}}
"""


def spec_of(shape: tuple[int, ...] = SHAPE, *, constant: bool = False) -> TensorSpec:
    """A dense f16 tensor."""
    return TensorSpec("x", shape, ElementType.F16, row_major(shape), constant)


def trial(factor: float, blocks: int = 3, scratch: int = 0) -> Trial:
    """A kernel that multiplies by `factor`."""
    launch = Launch("f_kernel_0", (blocks, 1, 1), 128, 0, ())
    code = TargetCode("sm_90a", b"", (launch,), scratch, scale(factor))
    return Trial(code, (spec_of(),))


@pytest.fixture
def watch() -> FakeStopwatch:
    """The device."""
    return FakeStopwatch()


@pytest.fixture
def bench(watch: FakeStopwatch) -> Bench:
    """A bench for multiplying by two."""
    return Bench(Subject(scale(2.0), "f", (spec_of(),)), watch)


def test_a_right_kernel(bench: Bench) -> None:
    reading = bench.read(trial(2.0), 3)
    assert reading.right
    assert reading.error <= 5e-4
    assert reading.microseconds == pytest.approx(CHEAPEST + 3)


@pytest.mark.parametrize("factor", [2.01, -2.0, 0.0, 1.0e9])
def test_a_wrong_kernel_is_not_timed(bench: Bench, watch: FakeStopwatch, factor: float) -> None:
    reading = bench.read(trial(factor), 3)
    assert not reading.right
    assert math.isinf(reading.microseconds)
    assert len(watch.launched) == 2


def test_what_was_not_written_is_seen(watch: FakeStopwatch) -> None:
    watch.faulty = True
    reading = Bench(Subject(scale(2.0), "f", (spec_of(),)), watch).read(trial(2.0, 8), 3)
    assert math.isnan(reading.error)
    assert not reading.right


def test_inputs_are_fresh(bench: Bench, watch: FakeStopwatch) -> None:
    bench.read(trial(3.0), 1)
    first, second = (watch.download(x, 4096) for (x,) in watch.launched)
    assert first != second


def test_timed_calls_rotate_over_more_than_l2(bench: Bench, watch: FakeStopwatch) -> None:
    bench.compare([trial(2.0)], 1, 1)
    assert len(watch.launched) >= CALLS
    sets = {x for (x,) in watch.launched}
    assert len(sets) * size_in_bytes(spec_of()) >= 4 * watch.l2_bytes
    for x in sets:
        values = decode_tensor(watch.download(x, 4096), spec_of())
        assert 0.9 < float(values.std()) < 1.1


def test_memory_is_given_back(bench: Bench, watch: FakeStopwatch) -> None:
    bench.read(trial(2.0, scratch=64), 1)
    before = len(watch.freed)
    bench.read(trial(2.0, scratch=64), 1)
    # Two checks of input, output and scratch, then an output of each set and scratch.
    assert len(watch.freed) - before == 2 * 3 + len(set(watch.launched)) - 4 + 1


def test_several_in_iteration(bench: Bench) -> None:
    times = bench.compare([trial(2.0, 7), trial(2.0, 3)], 2, 2)
    assert times == [pytest.approx(CHEAPEST + 7), pytest.approx(CHEAPEST + 3)]


def test_weights_are_scaled_by_their_depth(watch: FakeStopwatch) -> None:
    subject = Subject(scale(2.0), "f", (spec_of(constant=True),))
    Bench(subject, watch).compare([trial(2.0)], 1, 1)
    (x,) = watch.launched[0]
    values = decode_tensor(watch.download(x, 4096), spec_of())
    assert 0.3 < float(values.std()) < 0.4


@pytest.mark.parametrize("element_type", list(ElementType))
def test_numbers_survive_memory(element_type: ElementType) -> None:
    values = np.array([0.0, -1.5, 1 / 3, 300.0, 2.0**-10], np.float32)
    spec = TensorSpec("x", (5,), element_type, (1,))
    read = decode_tensor(encode(values, element_type), spec)
    assert relative_error(read, values) <= {"f16": 2e-4, "bf16": 2e-3, "f32": 0}[element_type.value]


def test_strided_tensors() -> None:
    data = encode(np.arange(8, dtype=np.float32), ElementType.F16)
    spec = TensorSpec("x", (2, 3), ElementType.F16, (1, 2))
    assert decode_tensor(data, spec).tolist() == [[0, 2, 4], [1, 3, 5]]


def test_errors_where_the_program_has_no_numbers() -> None:
    """What the logarithm of a negative number becomes says nothing; all else does."""
    exact = np.array([np.nan, 3.0, -4.0])
    assert relative_error(np.array([7.0, 3.0, -4.0]), exact) == 0.0
    assert relative_error(np.array([np.nan, 3.0, -3.0]), exact) == 0.2
    assert math.isnan(relative_error(np.array([0.0, np.nan, -4.0]), exact))
