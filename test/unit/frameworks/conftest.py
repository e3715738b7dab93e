# pyright: basic
"""For tests of `torch.compile`."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from exact_runs import exact_run
from optional_packages import package
from xdsl.dialects.func import FuncOp

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.dialects import kernel
from mirage_mlir.runtime.artifact import MODELLED, TensorSpec, row_major
from mirage_mlir.runtime.element_types import ElementType

HERE = Path(__file__).parent

# Inductor's C++ runs once: it need not be fast. Else g++ would try vectors in two programs, compile
# a header first, and optimize. Processes that tests start take it over.
os.environ.update(
    TORCHINDUCTOR_VEC_ISA_OK="0",
    TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS="0",
    TORCHINDUCTOR_DEBUG_COMPILE="1",
)


# First: xdist names groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process of a run has the tests of this folder: others need not load the frameworks."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("frameworks"))


@pytest.fixture(autouse=True)
def _fast(one_chip: None, first_look: None) -> None:
    """What is compiled for is said where it matters; how fast kernels are does not matter here."""


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Nothing compiled before, random numbers from the beginning."""
    torch: Any = package("torch")
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def all_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend takes every part, with what is found at once: each operator alone, say."""
    package("torch")
    from mirage_mlir.frameworks.backend import graphs, searches

    monkeypatch.setattr(searches, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(graphs, "LEAST_GAIN", -1e6)


class ExactProgram:
    """In the place of a kernel: the program itself, interpreted in float64; rounded at the end."""

    def __init__(self, graph: KernelGraph) -> None:
        function = graph.to_module().body.block.first_op
        assert isinstance(function, FuncOp)
        self._function = function
        code = SimpleNamespace(ugraph=str(function), resources={MODELLED: 1})
        inputs = [self._spec(each) for each in function.body.block.args]
        outputs = [self._spec(result) for result in function.get_return_op().operands]  # pyright: ignore
        self.artifact = SimpleNamespace(targets=[code], inputs=inputs, outputs=outputs)

    @staticmethod
    def _spec(value: Any) -> TensorSpec:
        shape = kernel.shape_of(value)
        element_type = ElementType(str(kernel.tensor_type(value).element_type))
        return TensorSpec("tensor", shape, element_type, row_major(shape))

    def __call__(self, *tensors: Any, copy: bool = False) -> Any:
        """As a kernel is called; strides do not matter here, so that there is nothing to copy."""
        torch: Any = package("torch")
        given = [np.asarray(each.double().numpy()) for each in tensors]
        made = zip(exact_run(self._function, given), self.artifact.outputs, strict=True)
        found = [
            torch.from_numpy(np.asarray(array).reshape(spec.shape)).to(
                getattr(torch, spec.element_type.array_name)
            )
            for array, spec in made
        ]
        return found[0] if len(found) == 1 else tuple(found)


@pytest.fixture
def exact_program() -> type[ExactProgram]:
    """What runs as a kernel does."""
    return ExactProgram


@pytest.fixture
def programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The backend takes every part, and runs its program; nothing is searched or compiled.

    A program that fails is an error, where a kernel that fails is replaced by torch's operators: a
    test would compare torch with torch.
    """
    package("torch")
    from mirage_mlir.frameworks.backend.entry import Backend
    from mirage_mlir.frameworks.backend.operators import PartOperator
    from mirage_mlir.frameworks.backend.searches import FoundKernel

    def found(self: Backend, programs: list[Any], target: str, timed: bool) -> list[FoundKernel]:
        kernels: list[Any] = [ExactProgram(program.graph) for program in programs]
        return [FoundKernel(each) for each in kernels]

    def run(self: PartOperator, *tensors: Any) -> Any:
        return self._by_kernels(tensors)

    monkeypatch.setattr(Backend, "_search", found)
    monkeypatch.setattr(PartOperator, "_run", run)


@pytest.fixture
def programs_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators of graphs, and of their gradients, run programs; nothing is searched."""

    def program(self: KernelGraph, *_: Any, **options: Any) -> Any:
        return ExactProgram(self)

    monkeypatch.setattr(KernelGraph, "superoptimize", program)
