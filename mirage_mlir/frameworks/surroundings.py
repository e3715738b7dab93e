"""What a function of torch uses without taking it: variables around it, as they are now."""

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

LIBRARIES = frozenset(
    {*sys.stdlib_module_names, "torch", "numpy", "jax", "mirage_mlir"} - {"types", "__main__"}
)
"""Packages whose objects are not followed; a `types.SimpleNamespace` is the user's."""

CALLED = ("forward", "__call__")
"""Methods that run where nothing names them."""

NUMBERS = (bool, int, float, str, np.generic)
"""What programs are made of; modules of torch are asked for theirs (`TracedFunction.numbers`)."""

OF_MODULES = frozenset(cast(dict[str, Any], vars(torch.nn.Module())))
"""The attributes of every module, which torch looks after."""

HOOKS = ("_forward_pre_hooks", "_forward_hooks")
"""The attributes in which a module of torch has functions that run with its own."""

NAMED = (*NUMBERS, torch.Tensor, torch.nn.Module)
"""What is followed in modules of Python and in classes."""

PASSED = frozenset({"CACHE", "PUSH_NULL", "EXTENDED_ARG", "PRECALL"})
"""Instructions between the loads of a chain of attributes."""

Found = dict[str, Any]

Chain = tuple[str, ...]
"""The name of a variable, and of attributes, each of the one before."""


@dataclass
class _Walk:
    """
    One look at what is around a function.

    Args:
        found: values by path.
        seen: what was followed already: functions, and objects by identity.
        reads: names of attributes that followed functions read, of this look and those before.
    """

    found: Found
    seen: set[Any]
    reads: set[str]


class Surroundings:
    """
    What a function depends on without taking it: variables, elements and attributes by path.

    Followed are global variables that it names and those of enclosing functions, what is in
    containers, attributes of objects and of modules of torch that have a name which is read, and
    functions and methods that are named, unless a library has them, with their defaults. Of
    modules of Python and of classes followed is what is named, as in `settings.width`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._inner: dict[Any, Surroundings] = {}
        self._reads: set[str] = set()
        plain, self._owner = _plain(function)
        self._plain = plain
        self._globals: dict[str, Any] = getattr(plain, "__globals__", {})
        code: CodeType | None = getattr(plain, "__code__", None)
        chains = set[Chain]() if code is None else {*_chains(code)}
        self._names = sorted({first for first, *_ in chains})
        self._chains = sorted(chain for chain in chains if len(chain) > 1)
        self._attributes = frozenset[str]() if code is None else frozenset(_attribute_names(code))
        cells = getattr(plain, "__closure__", None) or ()
        self._cells = () if code is None else tuple(zip(code.co_freevars, cells, strict=True))

    def values(self) -> Found:
        """The variables; what is not set is left out."""
        while True:
            known = len(self._reads)
            walk = _Walk({}, set(), self._reads)
            self._collect("", walk)
            # What is found later may read attributes of what was found before.
            if len(self._reads) == known:
                return walk.found

    def _collect(self, prefix: str, walk: _Walk) -> None:
        walk.seen.add(self._function)
        walk.reads |= self._attributes
        around = dict(self._variables())
        if isinstance(self._owner, torch.nn.Module):
            self._add(f"{prefix}self", self._owner, walk)
        elif self._owner is not None and not inspect.ismodule(self._owner):
            self._add_object(f"{prefix}self", self._owner, walk)
        for name, value in around.items():
            self._add(f"{prefix}{name}", value, walk)
        for chain in self._chains:
            self._add_named(prefix, chain, around, walk)

    def _add(self, name: str, value: Any, walk: _Walk) -> None:
        """Add a value, or what is in it."""
        for path, leaf in _leaves(name, value) if len(walk.found) < MOST else ():
            walk.found[path] = leaf
            if isinstance(leaf, torch.nn.Module):
                self._add_module(path, leaf, walk)
            elif inspect.isfunction(leaf):
                self._add_function(path, leaf, walk)
            elif _is_record(leaf):
                self._add_object(path, leaf, walk)

    def _add_function(self, path: str, function: Any, walk: _Walk) -> None:
        if _is_of_library(function) or function in walk.seen:
            return
        if function not in self._inner:
            self._inner[function] = Surroundings(function)
        self._inner[function]._collect(f"{path}.", walk)

    def _add_object(self, path: str, value: Any, walk: _Walk) -> None:
        """Add attributes and methods of an object that are read."""
        if id(value) in walk.seen:
            return
        walk.seen.add(id(value))
        for name, inner in _attributes(value):
            if name in walk.reads:
                self._add(f"{path}.{name}", inner, walk)
        self._add_methods(path, value, walk)

    def _add_methods(self, path: str, value: Any, walk: _Walk) -> None:
        kinds: tuple[Any, ...] = type(value).__mro__
        for each in kinds:
            if not _is_of_library(each):
                for name, method in cast(dict[str, Any], vars(each)).items():
                    called = name in walk.reads or name in CALLED
                    if called and inspect.isfunction(method):
                        walk.found[f"{path}.{name}"] = method
                        self._add_function(f"{path}.{name}", method, walk)

    def _add_module(self, path: str, module: Any, walk: _Walk) -> None:
        """Add what a module of torch has besides numbers, parameters, buffers and modules."""
        for inner, each in module.named_modules():
            if id(each) in walk.seen:
                continue
            walk.seen.add(id(each))
            place = f"{path}.{inner}" if inner else path
            for name in HOOKS:
                if hooks := getattr(each, name, None):
                    self._add(f"{place}.{name}", dict(hooks), walk)
            library = _is_of_library(type(each))
            for name, value in _attributes(each):
                wanted = library or name in walk.reads
                if wanted and name not in OF_MODULES and not isinstance(value, NUMBERS):
                    self._add(f"{place}.{name}", value, walk)
            self._add_methods(place, each, walk)

    def _add_named(self, prefix: str, chain: Chain, around: Found, walk: _Walk) -> None:
        """Add what a chain of names stands for where it leads through modules and classes."""
        first, *names = chain
        value = around.get(first)
        for name in names:
            if not (inspect.ismodule(value) or inspect.isclass(value) or _is_record(value)):
                return
            value = inspect.getattr_static(value, name, None)
        if isinstance(value, NAMED):
            self._add(prefix + ".".join(chain), value, walk)

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
            yield name, getattr(self._plain, name, None) or ()


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


def _attribute_names(code: CodeType) -> Iterator[str]:
    """The names of attributes that a function may read, and functions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _attribute_names(constant)
        elif isinstance(constant, str):
            yield constant  # As in `getattr(x, "name")`.


def _is_of_library(value: Any) -> bool:
    """Whether a function or a class is not the user's."""
    package = str(getattr(value, "__module__", None)).partition(".")[0]
    return package in LIBRARIES


def _attributes(value: Any) -> Sequence[tuple[str, Any]]:
    """The attributes of an object itself; none where there are too many."""
    found = getattr(value, "__dict__", {})
    return [*found.items()] if len(found) <= LARGEST else []


def _is_record(value: Any) -> bool:
    """Whether an object is the user's, with attributes that are followed."""
    if isinstance(value, type | ModuleType | torch.Tensor | torch.nn.Module) or callable(value):
        return False
    return not _is_of_library(type(value)) and hasattr(value, "__dict__")


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict | list | tuple):
        yield name, value
        return
    try:
        leaves, _ = pytree.tree_flatten_with_path(value)
        paths = [(name + pytree.keystr(path), leaf) for path, leaf in leaves[: LARGEST + 1]]
    except Exception:
        return  # It holds itself, or has a key that cannot be shown: no program depends on it.
    if len(paths) <= LARGEST:
        yield from paths
