"""Launches are in ranges where the user asks for them, and cost nothing else elsewhere."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType

import pytest
from runtime_fakes import FakeDriver, artifact, code

from mirage_mlir.runtime import nvtx_ranges
from mirage_mlir.runtime.launch import LoadedCode
from mirage_mlir.runtime.nvtx_ranges import VARIABLE, annotated_code


class FakeNvtx(ModuleType):
    """Notes the ranges that begin and end."""

    def __init__(self) -> None:
        super().__init__("nvtx")
        self.events: list[str] = []

    @contextmanager
    def annotate(self, message: str, *, domain: str) -> Generator[None]:
        self.events.append(f"{domain}: {message}")
        yield
        self.events.append("end")


def is_there(name: str) -> object:
    return object()


def is_missing(name: str) -> None:
    return None


def test_without_the_variable_launches_are_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert annotated_code("f") is LoadedCode
    monkeypatch.setenv(VARIABLE, "0")
    assert annotated_code("f") is LoadedCode


def test_a_launch_is_in_a_range_of_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, driver = FakeNvtx(), FakeDriver()
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setitem(sys.modules, "nvtx", fake)
    monkeypatch.setattr(nvtx_ranges, "find_spec", is_there)
    made = annotated_code("f")(code(), driver, 0, ())
    program = artifact(code())
    made.launch([256] * len(program.inputs), [512] * len(program.outputs), 0, 0)
    assert fake.events == ["mirage_mlir: f", "end"]
    assert len(driver.launches) == len(code().launches)


def test_without_the_package_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(nvtx_ranges, "find_spec", is_missing)
    with pytest.warns(UserWarning, match="no package nvtx"):
        assert annotated_code("f") is LoadedCode
