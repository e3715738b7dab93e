# pyright: basic
"""What is taken of a model where parts are timed: by a clock of the test's own, without a GPU."""

import copy
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from mirage_mlir.driver.bench import Reading  # noqa: E402
from mirage_mlir.driver.compile import CompiledFunction  # noqa: E402
from mirage_mlir.driver.options import Options  # noqa: E402
from mirage_mlir.driver.tune_tasks import Task  # noqa: E402
from mirage_mlir.frameworks.backend import graphs, timing, tuned_parts  # noqa: E402
from mirage_mlir.frameworks.backend.graphs import GraphCompiler  # noqa: E402
from mirage_mlir.frameworks.backend.operators import program_of  # noqa: E402
from mirage_mlir.frameworks.backend.report import PartReport  # noqa: E402
from mirage_mlir.frameworks.backend.searches import FoundKernel  # noqa: E402
from mirage_mlir.frameworks.backend.timing import PartTimes, times_of  # noqa: E402
from mirage_mlir.frameworks.backend.tuned_parts import fastest_kernels  # noqa: E402
from mirage_mlir.runtime.artifact import TensorSpec  # noqa: E402
from mirage_mlir.runtime.element_types import ElementType  # noqa: E402
from mirage_mlir.targets.target import target_named  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def traced(*shapes: tuple[int, ...]) -> Any:
    """A masked product, as ATen."""

    def program(x: Any, w: Any, mask: Any) -> tuple[Any]:
        return (torch.where(mask, x @ w, 0.0).relu(),)

    made = torch.fx.experimental.proxy_tensor.make_fx(program, tracing_mode="fake")
    x, w = (torch.randn(shape) for shape in shapes)
    return made(x, w, (x @ w) > 0)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, exact_program: Any) -> Callable[..., PartReport]:
    """What becomes of a part that takes so long."""

    def search(programs: Any) -> list[FoundKernel]:
        return [FoundKernel(exact_program(program.graph)) for program in programs]

    def made(times: PartTimes | Exception) -> PartReport:
        def given(module: Any, operator: Any) -> PartTimes:
            if isinstance(times, Exception):
                raise times
            return times

        monkeypatch.setattr(graphs, "times_of", given)
        compiler = GraphCompiler(search, target_named("H200"), timed_from=0.0)
        compiler.rewrite(traced((8, 16), (16, 8)))
        (part,) = compiler.explanation.parts
        return part

    return made


def test_measured_times_decide(judged: Callable[..., PartReport]) -> None:
    level = judged(PartTimes(0.98e-6, 1e-6))
    faster = judged(PartTimes(0.96e-6, 1e-6))
    assert (level.taken, level.why) == (False, "0.98 of the time without, both measured")
    assert (faster.taken, faster.why) == (True, "0.96 of the time without, both measured")
    assert (faster.seconds, faster.without) == (0.96e-6, 1e-6)


def test_what_cannot_be_timed(judged: Callable[..., PartReport]) -> None:
    """The models decide, and the table says why."""
    part = judged(RuntimeError("CUDA out of memory\nmore"))
    assert "of the time without; not measured: CUDA out of memory" in part.why
    assert part.seconds != part.without


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a compiler for the host")
def test_both_compute_the_same_of_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is timed is the part, of inputs that differ from each other."""
    monkeypatch.setattr(timing, "COLD_BYTES", 5000)
    module = traced((8, 16), (16, 8))
    program = program_of(copy.deepcopy(module), frozenset())
    assert len(program.converted) == 3

    def clock(calls: Any, sets: Any) -> list[float]:
        assert len(sets) == 5
        for x, w, mask in sets:
            wanted = torch.where(mask, x @ w, 0.0).relu()
            assert wanted.norm() > 0
            for call in calls:
                (found,) = call((x, w, mask))
                assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-5)
        assert not torch.equal(sets[0][0], sets[1][0])
        return [1.0, 2.0]

    assert times_of(module, module, clock) == PartTimes(1.0, 2.0)


PRODUCT = """
func.func @product(%x: tensor<16x128xf16>, %w: tensor<128x64xf16>) -> tensor<16x64xf16> {
  %0 = kernel.matmul %x, %w : (tensor<16x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>
  func.return %0 : tensor<16x64xf16>
}
"""


def test_the_fastest_candidate_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model says; one that gives something else is not, however fast."""
    task = Task(PRODUCT, "product", Options(target="H200", chips=("sm_90a",), top_k=4))
    timed: list[CompiledFunction] = []

    def readings(codes: list[CompiledFunction]) -> list[Reading]:
        timed.extend(codes)
        times = [10.0] * len(codes)
        times[-1], times[1] = 5.0, 1.0
        return [Reading(float(n == 1), 0.5, time) for n, time in enumerate(times)]

    monkeypatch.setattr(tuned_parts, "_readings", readings)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a clock")
    (artifact,) = fastest_kernels([task])
    assert artifact is not None
    assert len(timed) > 2
    assert artifact.targets[0].launches == timed[-1].code.launches
    assert artifact.targets[0].ugraph == timed[-1].code.ugraph
    assert not artifact.unverified


def test_where_memory_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the model has to do."""

    def readings(codes: list[CompiledFunction]) -> list[Reading]:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(tuned_parts, "_readings", readings)
    options = Options(target="H200", chips=("sm_90a",), top_k=2)
    assert fastest_kernels([Task(PRODUCT, "product", options)]) == [None]


def test_tensors_lie_as_kernels_ask() -> None:
    """A result of heads in front of tokens may lie in memory the other way around."""
    spec = TensorSpec("q", (1, 6, 4, 8), ElementType.F16, (1, 8, 48, 1))
    made = tuned_parts.made_for(spec, "cpu")
    assert (made.shape, made.stride(), made.dtype) == (spec.shape, spec.strides, torch.float16)
