"""Graphs that were found by timing, as entries of the cache and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from xdsl.dialects import func

from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.driver.typed_json import read_as
from mirage_mlir.passes.frontend.check import check
from mirage_mlir.search.multi_kernel.explanation import Explanation
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import target_named

NAMES = {"Explanation": Explanation}
"""What the module of `SearchReport` knows only to type checkers."""


@dataclass(frozen=True)
class _Kept:
    """An offer as JSON has it."""

    function: str
    alone: bool
    search: SearchReport
    timing: tuple[str, ...]


def offers_written(offers: Mapping[str, Offer]) -> dict[str, object]:
    """What was taken, by chip, as JSON has it."""
    return {chip: _fields(offer) for chip, offer in offers.items()}


def _fields(offer: Offer) -> dict[str, object]:
    # What a search now says of the model may be another thing.
    search = replace(offer.search, explanation=None)
    text = text_of(alone(offer.function))
    return asdict(_Kept(text, offer.alone, search, offer.timing))


def offers_read(written: object, reference: func.FuncOp) -> dict[str, Offer]:
    """
    The graphs for `reference` that `offers_written` wrote.

    What is taken of them is verified anew; here they are only what they claim to be.

    Raises:
        ValueError: it is anything else.
        DiagnosticException: it is no program, of another version of the dialects say.
    """
    kept = read_as(dict[str, _Kept], written, NAMES)
    return {chip: _offer(chip, each, reference) for chip, each in kept.items()}


def _offer(chip: str, kept: _Kept, reference: func.FuncOp) -> Offer:
    if target_named(chip).chip != chip:
        raise ValueError(f"{chip} is no instruction set")
    function = function_read(kept.function, reference)
    return Offer(function, kept.alone, kept.search, kept.timing)


def function_read(text: str, reference: func.FuncOp) -> func.FuncOp:
    """A function in an entry for `reference`, whose name and types it has; raises as above."""
    (function,) = functions(parse_program(text, "cache"))
    check(function)
    for name in ("sym_name", "function_type", "arg_attrs"):
        if function.properties.get(name) != reference.properties.get(name):
            raise ValueError(f"its function has another {name}")
    return function
