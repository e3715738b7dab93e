"""Graphs that were found by timing, as entries of the cache and back."""

from collections.abc import Mapping
from typing import Any, cast, get_origin, get_type_hints

from xdsl.dialects import func

from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.search.multi_kernel.explanation import Explanation
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import target_named


def offers_written(offers: Mapping[str, Offer]) -> dict[str, object]:
    """What was taken, by chip, as JSON has it."""
    return {chip: _fields(offer) for chip, offer in offers.items()}


def _fields(offer: Offer) -> dict[str, object]:
    return {
        "function": text_of(alone(offer.function)),
        "alone": offer.alone,
        # What a search now says of the model may be another thing.
        "search": {k: v for k, v in offer.search.as_dict().items() if k != "explanation"},
        "timing": list(offer.timing),
    }


def offers_read(written: object, reference: func.FuncOp) -> dict[str, Offer]:
    """
    The graphs for `reference` that `offers_written` wrote.

    What is taken of them is verified anew; here they are only what they claim to be.

    Raises:
        ValueError: it is anything else.
        DiagnosticException: it is no program, of another version of the dialects say.
    """
    return {chip: _offer(chip, value, reference) for chip, value in _mapping(written).items()}


def _offer(chip: str, written: object, reference: func.FuncOp) -> Offer:
    if target_named(chip).chip != chip:
        raise ValueError(f"{chip} is no instruction set")
    fields = _mapping(written)
    hints = {"function": str, "alone": bool, "search": dict[str, object], "timing": list[str]}
    _check(fields, hints)
    (function,) = functions(parse_program(cast(str, fields["function"]), "cache"))
    check(function)
    for name in ("sym_name", "function_type", "arg_attrs"):
        if function.properties.get(name) != reference.properties.get(name):
            raise ValueError(f"its function has another {name}")
    search = cast(dict[str, Any], fields["search"])
    hints = get_type_hints(SearchReport, localns={"Explanation": Explanation})
    _check(search, {name: hint for name, hint in hints.items() if name != "explanation"})
    timing = tuple(cast(list[str], fields["timing"]))
    return Offer(function, cast(bool, fields["alone"]), SearchReport(**search), timing)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")
    return cast(dict[str, object], value)


def _check(fields: Mapping[str, object], hints: Mapping[str, Any]) -> None:
    """Every field is there and of its type, and no other is."""
    if fields.keys() != hints.keys():
        raise ValueError(f"it has {', '.join(fields)}, not {', '.join(hints)}")
    for name, hint in hints.items():
        kind = get_origin(hint) or hint
        value = fields[name]
        if not isinstance(value, (int, float) if kind is float else kind):
            raise ValueError(f"{name} is {value!r}")
        inner = cast(dict[str, object], value).values() if kind is dict else value
        if kind in (dict, list):
            _check_all(cast(list[object], inner), hint.__args__[-1])


def _check_all(values: list[object], hint: Any) -> None:
    if not all(isinstance(value, (int, float) if hint is float else hint) for value in values):
        raise ValueError(f"{values!r} is no list of {hint}")
