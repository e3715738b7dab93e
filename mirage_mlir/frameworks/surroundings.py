"""What a function of torch uses without taking it: variables around it, as they are now."""

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import CodeType, ModuleType
from typing import Any, cast

import numpy as np

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

pytree: Any = import_module("torch.utils._pytree")

LARGEST = 256
"""Elements of a container, and attributes of an object, that are followed; a larger one is data,
which no program depends on."""

MOST = 4096
"""Values that are followed; what is around a function is looked at in each call."""

LIBRARIES = frozenset({*sys.stdlib_module_names, "torch", "numpy", "jax"} - {"types"})
"""Packages whose objects are not followed; a `types.SimpleNamespace` is the user's."""

HOOKS = ("_forward_pre_hooks", "_forward_hooks")
"""The attributes in which a module of torch has functions that run with its own."""

NAMED = (bool, int, float, str, np.generic, torch.Tensor, torch.nn.Module)
"""What is followed in modules of Python and in classes."""

PASSED = frozenset({"CACHE", "PUSH_NULL", "EXTENDED_ARG", "PRECALL"})
"""Instructions between the loads of a chain of attributes."""

Found = dict[str, Any]

Chain = tuple[str, ...]
"""The name of a variable, and of attributes, each of the one before."""


class Surroundings:
    """
    What a function depends on without taking it: variables, elements and attributes by path.

    Followed are global variables that it names and those of enclosing functions, what is in
    containers, attributes of objects, of modules of torch and of the object that it is a method of,
    and functions of its module, with their defaults. Of modules of Python and of classes followed
    is what is named, as in `settings.width`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._inner: dict[Any, Surroundings] = {}
        plain, self._owner = _plain(function)
        self._plain = plain
        self._module: str | None = getattr(plain, "__module__", None)
        self._globals: dict[str, Any] = getattr(plain, "__globals__", {})
        code: CodeType | None = getattr(plain, "__code__", None)
        chains = set[Chain]() if code is None else {*_chains(code)}
        self._names = sorted({first for first, *_ in chains})
        self._chains = sorted(chain for chain in chains if len(chain) > 1)
        cells = getattr(plain, "__closure__", None) or ()
        self._cells = () if code is None else tuple(zip(code.co_freevars, cells, strict=True))

    def values(self) -> Found:
        """The variables; what is not set is left out."""
        found: Found = {}
        self._collect("", found, set())
        return found

    def _collect(self, prefix: str, found: Found, seen: set[Any]) -> None:
        seen.add(self._function)
        around = dict(self._variables())
        for name, value in around.items():
            self._add(f"{prefix}{name}", value, found, seen)
        for chain in self._chains:
            self._add_named(prefix, chain, around, found, seen)

    def _add(self, name: str, value: Any, found: Found, seen: set[Any]) -> None:
        """Add a value, or what is in it."""
        for path, leaf in _leaves(name, value) if len(found) < MOST else ():
            found[path] = leaf
            if isinstance(leaf, torch.nn.Module):
                self._add_module(path, leaf, found, seen)
            elif inspect.isfunction(leaf):
                self._add_function(path, leaf, found, seen)
            elif _is_record(leaf) and id(leaf) not in seen:
                seen.add(id(leaf))
                for attribute, inner in _attributes(leaf):
                    self._add(f"{path}.{attribute}", inner, found, seen)

    def _add_function(self, path: str, function: Any, found: Found, seen: set[Any]) -> None:
        if function.__module__ != self._module or function in seen:
            return
        if function not in self._inner:
            self._inner[function] = Surroundings(function)
        self._inner[function]._collect(f"{path}.", found, seen)

    def _add_module(self, path: str, module: Any, found: Found, seen: set[Any]) -> None:
        """Add what a module of torch has besides numbers, parameters, buffers and modules."""
        for inner, each in module.named_modules():
            if id(each) in seen:
                continue
            seen.add(id(each))
            place = f"{path}.{inner}" if inner else path
            for name in HOOKS:
                self._add(f"{place}.{name}", dict(getattr(each, name, {})), found, seen)
            for name, value in _attributes(each):
                if not name.startswith("_") and not isinstance(value, bool | int | float | str):
                    self._add(f"{place}.{name}", value, found, seen)

    def _add_named(
        self, prefix: str, chain: Chain, around: Found, found: Found, seen: set[Any]
    ) -> None:
        """Add what a chain of names stands for where it leads through modules and classes."""
        first, *names = chain
        value = around.get(first)
        for name in names:
            if not (inspect.ismodule(value) or inspect.isclass(value) or _is_record(value)):
                return
            value = inspect.getattr_static(value, name, None)
        if isinstance(
            value, bool | int | float | str | np.generic | torch.Tensor | torch.nn.Module
        ):
            self._add(prefix + ".".join(chain), value, found, seen)

    def _variables(self) -> Iterator[tuple[str, Any]]:
        for name, cell in self._cells:
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue  # Not set yet.
        for name in self._names:
            if name in self._globals:
                yield name, self._globals[name]
        for name in ("__defaults__", "__kwdefaults__"):
            yield name, getattr(self._plain, name, None)
        if isinstance(self._owner, torch.nn.Module):
            yield "self", self._owner
        elif self._owner is not None and not inspect.ismodule(self._owner):
            yield from _attributes(self._owner)


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


def _chains(code: CodeType) -> Iterator[Chain]:
    """Variables around a function that it reads, and functions inside of it, with attributes."""
    chain = list[str]()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain.append(str(instruction.argval))
            yield tuple(chain)
        elif instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
            chain = [str(instruction.argval)]
            yield tuple(chain)
        elif instruction.opname not in PASSED:
            chain = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _chains(constant)


def _attributes(value: Any) -> Sequence[tuple[str, Any]]:
    """The attributes of an object itself; none where there are too many."""
    found = getattr(value, "__dict__", {})
    return [*found.items()] if len(found) <= LARGEST else []


def _is_record(value: Any) -> bool:
    """Whether an object is the user's, with attributes that are followed."""
    if isinstance(value, type | ModuleType | torch.Tensor | torch.nn.Module) or callable(value):
        return False
    package = type(value).__module__.partition(".")[0]
    return hasattr(value, "__dict__") and package not in LIBRARIES


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict | list | tuple):
        yield name, value
        return
    leaves, _ = pytree.tree_flatten_with_path(value)
    for path, leaf in leaves[:LARGEST] if len(leaves) <= LARGEST else ():
        yield name + pytree.keystr(path), leaf
