"""Dataclasses from JSON that may be anything: a value of another type than its field is refused."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

ValueT = TypeVar("ValueT")


def read_as(kind: type[ValueT], value: object, names: Mapping[str, Any] | None = None) -> ValueT:
    """
    `value`, as `json` read it, as a `kind`: a dataclass whose fields are such, or text and numbers.

    Args:
        kind: also lists, tuples and mappings of those, and None beside another.
        value: what `json` gives for what `dataclasses.asdict` made.
        names: of types that the module of a dataclass knows only to type checkers.

    Raises:
        ValueError: it is anything else.
    """
    return _read(kind, value, names or {})


def _read(kind: Any, value: Any, names: Mapping[str, Any]) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass(kind, value, names)
    if origin in (Union, UnionType):
        (other,) = (each for each in inner if each is not NoneType)
        return None if value is None else _read(other, value, names)
    if origin is tuple:
        return _tuple(inner, value, names)
    if origin is list:
        return [_read(inner[0], each, names) for each in _of(list, value)]
    if origin in (dict, Mapping):
        return {key: _read(inner[1], each, names) for key, each in _of(dict, value).items()}
    return _plain(kind, value)


def _plain(kind: Any, value: Any) -> Any:
    if kind is not float or type(value) is not int:
        return _of(kind, value)
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{value} is no float") from error


def _of(kind: type, value: Any) -> Any:
    # A bool is an int for isinstance.
    if type(value) is not kind:
        raise ValueError(f"{value!r} is no {kind.__name__}")
    return value


def _tuple(inner: tuple[Any, ...], value: Any, names: Mapping[str, Any]) -> tuple[Any, ...]:
    values = cast(list[Any], _of(list, value))
    if inner[-1] is ...:
        return tuple(_read(inner[0], each, names) for each in values)
    if len(values) != len(inner):
        raise ValueError(f"{value!r} has {len(values)} elements, not {len(inner)}")
    return tuple(_read(kind, each, names) for kind, each in zip(inner, values, strict=True))


def _dataclass(kind: Any, value: Any, names: Mapping[str, Any]) -> Any:
    fields = cast(dict[str, Any], _of(dict, value))
    hints = get_type_hints(kind, localns=dict(names))
    if fields.keys() != hints.keys():
        raise ValueError(f"it has {', '.join(fields)}, not {', '.join(hints)}")
    return kind(**{name: _read(hint, fields[name], names) for name, hint in hints.items()})
