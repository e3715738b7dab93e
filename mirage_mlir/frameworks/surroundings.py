"""What a function of torch uses without taking it: variables around it, as they are now."""

import dis
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import CodeType
from typing import Any, cast

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

pytree: Any = import_module("torch.utils._pytree")

LARGEST = 256
"""Elements of a container that are followed; a larger one is data, which no program depends on."""


class Surroundings:
    """
    Global variables and those of enclosing functions that a function names.

    Followed are the functions of its module that it names, too, and attributes of the object that
    it is a method of. Attributes of other objects are not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._inner: dict[Any, Surroundings] = {}
        plain, self._owner = _plain(function)
        self._module: str | None = getattr(plain, "__module__", None)
        self._globals: dict[str, Any] = getattr(plain, "__globals__", {})
        code: CodeType | None = getattr(plain, "__code__", None)
        self._names = () if code is None else tuple(sorted({*_names(code)}))
        cells = getattr(plain, "__closure__", None) or ()
        self._cells = () if code is None else tuple(zip(code.co_freevars, cells, strict=True))

    def values(self) -> dict[str, Any]:
        """The variables by name, elements of containers by path; what is not set is left out."""
        found: dict[str, Any] = {}
        self._collect("", found, set())
        return found

    def _collect(self, prefix: str, found: dict[str, Any], seen: set[Any]) -> None:
        seen.add(self._function)
        for name, value in self._variables():
            for path, leaf in _leaves(f"{prefix}{name}", value):
                found[path] = leaf
                if inspect.isfunction(leaf) and leaf.__module__ == self._module:
                    if leaf not in self._inner:
                        self._inner[leaf] = Surroundings(leaf)
                    if leaf not in seen:
                        self._inner[leaf]._collect(f"{path}.", found, seen)

    def _variables(self) -> Iterator[tuple[str, Any]]:
        for name, cell in self._cells:
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue  # Not set yet.
        for name in self._names:
            if name in self._globals:
                yield name, self._globals[name]
        if not isinstance(self._owner, torch.nn.Module):
            yield from getattr(self._owner, "__dict__", {}).items()


def _plain(function: Callable[..., Any]) -> tuple[Any, Any]:
    """The function that is written in Python behind another callable, and what it is called of."""
    method: Any = function
    while isinstance(method, partial):
        method = cast(Any, method).func
    if isinstance(method, torch.nn.Module):
        method = method.forward
    elif not inspect.isroutine(method):
        method = method.__call__
    return getattr(method, "__func__", method), getattr(method, "__self__", None)


def _names(code: CodeType) -> Iterator[str]:
    """The globals that a function reads, and functions inside of it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict | list | tuple):
        yield name, value
        return
    leaves, _ = pytree.tree_flatten_with_path(value)
    for path, leaf in leaves[:LARGEST] if len(leaves) <= LARGEST else ():
        yield name + pytree.keystr(path), leaf
