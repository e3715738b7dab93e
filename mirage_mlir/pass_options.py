"""From the options that a command line or a pipeline gives a pass, as words, to the pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from xdsl.utils.arg_spec import ArgSpecConvertible

from mirage_mlir.passes import is_pipeline
from mirage_mlir.suggestions import suggestion

Words = tuple[str, ...]
"""The values of one option, still text; an option without a value has none."""

ConvertibleT = TypeVar("ConvertibleT", bound=ArgSpecConvertible)

TRUTH = {"true": True, "1": True, "false": False, "0": False}


class OptionError(ValueError):
    """A pass or target has no such option, or not with such a value."""


@dataclass(frozen=True)
class Request:
    """A pass or target that the command line names, with its options."""

    name: str
    options: Mapping[str, Words] = field(default_factory=dict[str, Words])


def _convert_word(word: str, hint: Any) -> object:
    """`word` as a value of the scalar type `hint`; `ValueError` when it is none."""
    if hint is bool:
        if word not in TRUTH:
            raise ValueError
        return TRUTH[word]
    if get_origin(hint) is Literal:
        return next(choice for choice in get_args(hint) if str(choice) == word)
    if hint in (int, float, str) or (isinstance(hint, type) and issubclass(hint, Enum)):
        return hint(word)
    raise ValueError


def _convert(words: Words, hint: Any) -> object:
    """`words` as a value of the type `hint`; `ValueError` or `StopIteration` when they are none."""
    if hint is NoneType:
        if words and words != ("none",):
            raise ValueError
        return None
    if hint is bool and not words:
        return True
    if get_origin(hint) is tuple:
        return tuple(_convert_word(word, get_args(hint)[0]) for word in words)
    if hint is str:
        return ",".join(words)
    (word,) = words
    return _convert_word(word, hint)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types that `hint` allows, strings last: every word is one."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(sorted(choices, key=lambda choice: choice is str))


def describe(hint: Any) -> str:
    """What a user may write for `hint`."""
    names = {int: "an integer", float: "a number", bool: "true or false", str: "a string"}
    if hint in names:
        return names[hint]
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return f"a list, each {describe(get_args(hint)[0])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "one of " + ", ".join(str(member.value) for member in hint)
    return "none"


def _option(owner: str, name: str, words: Words, hint: Any) -> object:
    choices = alternatives(hint)
    for choice in choices:
        try:
            return _convert(words, choice)
        except (ValueError, StopIteration):
            continue
    wanted = " or ".join(describe(choice) for choice in choices if choice is not NoneType)
    got = f"not '{','.join(words)}'" if words else "and none was given"
    raise OptionError(f"option '{name}' of '{owner}' takes {wanted}, {got}")


def option_names(convertible: type[ArgSpecConvertible]) -> list[str]:
    """The options of a pass or target as the command line spells them."""
    return [each.name.replace("_", "-") for each in fields(convertible) if each.init]


def instantiate(convertible: type[ConvertibleT], request: Request) -> ConvertibleT:
    """
    The pass or target of class `convertible` with the options of `request`.

    Raises `OptionError` for an unknown option, a value of the wrong type, a missing option, and
    what the class itself rejects with a `ValueError`.
    """
    known = option_names(convertible)
    hints = get_type_hints(convertible)
    values: dict[str, object] = {}
    for name, words in request.options.items():
        option = name.replace("_", "-")
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            hint = suggestion(option, known)
            raise OptionError(f"'{request.name}' has no option '{name}' ({has}){hint}")
        attribute = option.replace("-", "_")
        values[attribute] = _option(request.name, option, words, hints[attribute])
    missing = sorted(convertible.required_fields() - set(values))
    if missing:
        raise OptionError(f"'{request.name}' needs the option '{missing[0].replace('_', '-')}'")
    try:
        return convertible(**values)
    except ValueError as error:
        raise OptionError(f"'{request.name}': {error}") from error


def in_order(requests: Sequence[Request]) -> Iterator[tuple[Request, bool]]:
    """Each request, and whether it is for a pipeline."""
    names = [(request.name, request.options) for request in requests]
    for place, request in enumerate(requests):
        yield request, is_pipeline(request.name, names[place + 1 :])
