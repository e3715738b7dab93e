"""Programs for tests of interpreters and of equivalence, from text."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sampling import EVERYTHING
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.math import Math
from xdsl.parser import Parser

from mirage_mlir.api import graph
from mirage_mlir.dialects.kernel import Kernel
from mirage_mlir.dialects.thread import Thread
from mirage_mlir.dialects.threadblock import Threadblock
from mirage_mlir.effort import Effort
from mirage_mlir.search.single_kernel.limits import Limits

Parse = Callable[[str], list[FuncOp]]


@pytest.fixture(scope="session")
def parse() -> Parse:
    """The functions of a module, verified."""

    def functions(text: str) -> list[FuncOp]:
        context = Context()
        for dialect in (Builtin, Func, Arith, Math, Kernel, Threadblock, Thread):
            context.load_dialect(dialect)
        module = Parser(context, text).parse_module()
        module.verify()
        return [op for op in module.ops if isinstance(op, FuncOp)]

    return functions


@pytest.fixture
def shared_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A cache of this run, for tests that call kernels and do not look at how they are found.

    What one process of the run has compiled the others find there, as users do.
    """
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(Path(run) / "shared-cache"))


@pytest.fixture
def one_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Python that does not say what to compile for compiles for one chip, as where there is a GPU.

    For tests that do not look at chips: with two, every program is searched and compiled twice.
    """
    if not EVERYTHING:
        monkeypatch.setattr(graph, "DEFAULT_CHIPS", ("sm_90a",))


@pytest.fixture
def first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Searches take the best of a few tile sizes, as they do where they compare ways to cut a program.

    For tests that do not look at how fast the kernels are.
    """
    limits = Effort.limits

    def few(self: Effort) -> Limits:
        return replace(limits(self), coarse=True)

    if not EVERYTHING:
        monkeypatch.setattr(Effort, "limits", few)
