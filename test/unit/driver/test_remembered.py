"""Entries of the cache: what was written is read, and nothing else is taken for it."""

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.remembered import offers_read, offers_written
from mirage_mlir.driver.source import alone, function_named, parse_program, text_of
from mirage_mlir.search.report import SearchReport


def function(text: str) -> func.FuncOp:
    return function_named(parse_program(text, "f.mlir"), "f")


REFERENCE = function("""
func.func @f(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = kernel.relu %x : (tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}""")


def entry() -> dict[str, Any]:
    report = SearchReport("f", "H200", kernels=1, cut=["graphs"], phases={"costing": 0.5})
    offer = Offer(REFERENCE, True, report, ("timed", "  0: 1 us"))
    return json.loads(json.dumps(offers_written({"sm_90a": offer})))


def test_what_was_written_is_read() -> None:
    (chip, offer), *rest = offers_read(entry(), REFERENCE).items()
    assert (chip, rest) == ("sm_90a", [])
    assert text_of(alone(offer.function)) == text_of(alone(REFERENCE))
    assert offer.search.phases == {"costing": 0.5}
    assert offer.timing == ("timed", "  0: 1 us")


OTHER_TYPE = (
    """func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> { func.return %x : tensor<4xf16> }"""
)
OTHER_NAME = (
    """func.func @g(%x: tensor<8xf16>) -> tensor<8xf16> { func.return %x : tensor<8xf16> }"""
)
CONSTANT = """func.func @f(%x: tensor<8xf16> {kernel.constant}) -> tensor<8xf16> {
  func.return %x : tensor<8xf16>
}"""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"function": OTHER_TYPE}, "its function has another function_type"),
        ({"function": OTHER_NAME}, "its function has another sym_name"),
        ({"function": CONSTANT}, "its function has another arg_attrs"),
        ({"function": ""}, "not enough values"),
        ({"function": "func.func @f("}, "cache:1"),
        ({"function": 3}, "3 is no str"),
        ({"alone": "yes"}, "'yes' is no bool"),
        ({"search": {}}, "it has , not function, target"),
        ({"timing": [1]}, "1 is no str"),
        ({"more": 1}, "it has function, alone, search, timing, more"),
    ],
)
def test_other_entries(changes: dict[str, Any], message: str) -> None:
    written = entry()
    written["sm_90a"].update(changes)
    with pytest.raises((ValueError, DiagnosticException), match=message):
        offers_read(written, REFERENCE)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_edit_is_an_error_or_none(data: st.DataObject) -> None:
    whole = {"offers": entry()}
    place: Any = whole
    key: Any = "offers"
    while data.draw(st.integers(0, 4)) and (keys := _keys(place[key])):
        place, key = place[key], data.draw(st.sampled_from(keys))
    others: list[object] = [None, True, -1, 10**30, 1.5, "", "x", "sm_80", [], [[]], {}, {"a": 1}]
    place[key] = data.draw(st.sampled_from(others))
    try:
        for offer in offers_read(whole["offers"], REFERENCE).values():
            assert offer.search.lines()
    except (ValueError, DiagnosticException):
        pass


def _keys(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [*cast(dict[str, object], value)]
    return [*range(len(cast(list[object], value)))] if isinstance(value, list) else []
