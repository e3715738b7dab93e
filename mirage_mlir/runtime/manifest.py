"""Typed reading of the JSON in an artifact; errors name the member by its path."""

import json
from collections.abc import Iterable, Mapping, Sequence
from reprlib import Repr
from typing import cast

MOST = 2**63
"""Numbers below this are read: sizes and places have 64 bits."""

DEEPEST = 16
"""Levels of objects and lists in a manifest; there are six."""

_SHOWN = Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80
"""How wrong values are shown in errors."""


class ArtifactError(ValueError):
    """A file is not an artifact of this project, is damaged, or is of a newer format."""


class Fields:
    """A JSON object whose members are read with the type that they must have."""

    def __init__(self, members: Mapping[str, object], path: str = "") -> None:
        self._members = members
        self._path = path

    @classmethod
    def parse(cls, text: bytes) -> "Fields":
        """The object that `text` holds; raises `ArtifactError` on anything else."""
        try:
            value: object = json.loads(text, parse_constant=_no_number)
        except ValueError as error:
            raise ArtifactError(f"the manifest is not JSON: {error}") from error
        except RecursionError as error:
            raise ArtifactError("the manifest is nested too deep") from error
        if _nests(value):
            raise ArtifactError("the manifest is nested too deep")
        return cls(_mapping(value, "the manifest"))

    def _get(self, name: str) -> object:
        if name not in self._members:
            raise ArtifactError(f"the manifest has no '{self._path}{name}'")
        return self._members[name]

    def _wrong(self, name: str, wanted: str) -> ArtifactError:
        value = self._members[name]
        return ArtifactError(
            f"'{self._path}{name}' in the manifest is {shortened(value)}, not {wanted}"
        )

    def has(self, name: str) -> bool:
        """Whether there is a member `name`."""
        return name in self._members

    def text(self, name: str) -> str:
        """The string `name`."""
        if not isinstance(value := self._get(name), str):
            raise self._wrong(name, "a string")
        return value

    def number(self, name: str) -> int:
        """The non-negative integer `name`."""
        if not _is_number(value := self._get(name)):
            raise self._wrong(name, "a non-negative integer")
        return cast(int, value)

    def flag(self, name: str) -> bool:
        """The boolean `name`."""
        if not isinstance(value := self._get(name), bool):
            raise self._wrong(name, "a boolean")
        return value

    def numbers(self, name: str, length: int | None = None) -> tuple[int, ...]:
        """The list `name` of non-negative integers, `length` of them unless None."""
        values = self._list(name)
        if not all(map(_is_number, values)) or length not in (None, len(values)):
            count = "" if length is None else f"{length} "
            raise self._wrong(name, f"a list of {count}non-negative integers")
        return tuple(cast(Sequence[int], values))

    def texts(self, name: str) -> tuple[str, ...]:
        """The list `name` of strings."""
        values = self._list(name)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(name, "a list of strings")
        return tuple(cast(Sequence[str], values))

    def fields(self, name: str) -> "Fields":
        """The object `name`."""
        return Fields(_mapping(self._get(name), f"'{self._path}{name}'"), f"{self._path}{name}.")

    def each(self, name: str) -> list["Fields"]:
        """The objects of the list `name`."""
        paths = [f"{self._path}{name}[{index}]" for index in range(len(self._list(name)))]
        return [
            Fields(_mapping(value, f"'{path}'"), f"{path}.")
            for value, path in zip(self._list(name), paths, strict=True)
        ]

    def names(self) -> list[str]:
        """The names of all members, in the order of the file."""
        return list(self._members)

    def raw(self, name: str) -> dict[str, object]:
        """The object `name` as JSON gave it, for what only people read."""
        return dict(_mapping(self._get(name), f"'{self._path}{name}'"))

    def _list(self, name: str) -> Sequence[object]:
        value = self._get(name)
        if not isinstance(value, list):
            raise self._wrong(name, "a list")
        return cast(list[object], value)


def _is_number(value: object) -> bool:
    # bool is an int in Python, not in JSON.
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _nests(value: object) -> bool:
    """Whether `value` is nested deeper than any manifest is: what writes it again may be."""
    level = [value]
    for _ in range(DEEPEST):
        level = [part for each in level for part in _parts(each)]
    return bool(level)


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast(dict[str, object], value).values()
    return cast(list[object], value) if isinstance(value, list) else ()


def shortened(value: object) -> str:
    """`value` for an error, of which the first characters tell enough."""
    return _SHOWN.repr(value)


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ArtifactError(f"{what} is not a JSON object")
    return cast(dict[str, object], value)
