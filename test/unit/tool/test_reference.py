"""Passes and output formats say what they do and what each of their options means."""

from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.tool.reference import (
    Reference,
    pass_references,
    pipeline_references,
    reference_of,
    target_references,
)

ALL = [*pipeline_references(), *pass_references(), *target_references()]


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_everything_is_described(each: Reference) -> None:
    assert each.summary.endswith(".")
    for option in each.options:
        assert option.type, option.name
        assert option.meaning.endswith("."), option.name


def test_passes_have_a_description() -> None:
    assert [each.name for each in pass_references() if not each.description] == []


def test_options() -> None:
    (search,) = pipeline_references()
    options = {option.name: option for option in search.options}
    assert options["top-k"].default == "1"
    assert options["top-k"].type == "an integer"
    assert options["allow-unverified"].default == "false"
    assert options["time-limit"].default == "none"
    assert options["time-limit"].meaning.startswith("Seconds of search")


@dataclass(frozen=True)
class NeedsName(ModulePass):
    """Need a name."""

    name = "needs-name"

    wanted: str
    """The name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert self.wanted


def test_required_option() -> None:
    (option,) = reference_of(NeedsName).options
    assert (option.name, option.default) == ("wanted", None)


def test_option_of_a_base_class() -> None:
    (ptx,) = [each for each in ALL if each.name == "ptx"]
    assert [option.name for option in ptx.options] == ["target", "function", "pack"]
