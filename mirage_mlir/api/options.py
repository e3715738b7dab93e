"""Checking the options of a user by their types, so that a misspelt one is not ignored."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, cast, get_args, get_origin

from mirage_mlir.api.arguments import count, finite, flag, string
from mirage_mlir.suggestions import suggestion

OF_MIRAGE = {
    "backend": "kernels are for NVIDIA GPUs; target= and compile_for= say for which",
    "blockdims": "the search finds the threads of a block",
    "config": "one search serves all programs; target= and time_limit= are what it takes",
    "fmaps": "the search finds the loops",
    "franges": "the search finds the loops",
    "griddims": "the search finds the grid",
    "imaps": "the search finds which tiles a block loads",
    "is_formal_verified": "every result is verified, and the report says how",
    "omaps": "the search finds which tiles a block stores",
    "previous_checkpoint": "with profile=True results are kept by themselves; see cache=",
    "profile_iters": "profile=True times until the times are stable",
    "save_codes": "save(path) of the result writes an artifact, and mirage-opt -t ptx the code",
    "use_cached_graphs": "cache=False finds and times anew",
    "use_graph_dataset": "there is none; cache=False finds and times anew",
    "verbose": "the result's .report says what was searched, and .explain() why it was chosen",
    "warmup_iters": "profile=True warms up by itself",
}
"""Options of Mirage's Python interface that mean nothing here, and what to use instead."""


def checked(given: Mapping[str, object], hints: Mapping[str, Any]) -> dict[str, Any]:
    """
    The options `given`, each of the type that `hints` has for its name.

    Raises:
        TypeError: there is no such option, or its value has another type.
        ValueError: a number is not finite, or below 1.
    """
    for name in given:
        if name in OF_MIRAGE and name not in hints:
            raise TypeError(f"there is no option {name!r}: {OF_MIRAGE[name]}")
        if name not in hints:
            known = f"there are {', '.join(hints)}"
            raise TypeError(f"unknown option {name!r}{suggestion(name, hints)} ({known})")
    return {name: _checked(name, value, hints[name]) for name, value in given.items()}


def _checked(name: str, value: object, hint: Any) -> object:
    if NoneType in get_args(hint):
        if value is None:
            return None
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if hint is float:
        return finite(cast(float, value), name)
    if hint is int:
        return count(cast(int, value), name)
    if get_origin(hint) is Sequence:
        return strings(value, name)
    if hint is bool:
        return flag(cast(bool, value), name)
    return string(cast(str, value), name)


def strings(value: object, name: str) -> tuple[str, ...]:
    """`value` as strings; raises `TypeError` on anything else, a single string too."""
    if isinstance(value, str):
        raise TypeError(f"{name} is a list, say [{value!r}], not {value!r}")
    if not isinstance(value, Sequence) or not all(
        isinstance(each, str) for each in cast(Sequence[object], value)
    ):
        raise TypeError(f"{name} is a list of strings, not {value!r}")
    return tuple(cast(Sequence[str], value))
