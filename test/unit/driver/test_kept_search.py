"""Searches that are kept: what was written is read, equal in everything, and nothing else is."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage_mlir.driver.kept_search import is_final, search_key, search_read, search_written
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import function_named, functions, parse_program
from mirage_mlir.driver.tune import task_of
from mirage_mlir.driver.tune_tasks import OfferText, Task, search

WORKLOADS = Path(__file__).parents[2] / "workloads"

OPTIONS = Options(chips=("sm_90a",), profile=True, top_k=3)


@cache
def found(name: str) -> tuple[Task, list[OfferText]]:
    """A task, and what a search gives for it."""
    module = parse_program((WORKLOADS / f"{name}.mlir").read_text(), name)
    (function,) = functions(module)
    task = task_of(module, function.sym_name.data, OPTIONS)
    offers = search(task)
    assert isinstance(offers, list)
    return task, offers


def written(name: str) -> Any:
    """As the cache has it."""
    return json.loads(json.dumps(search_written(found(name)[1])))


@pytest.mark.parametrize("name", ["rmsnorm_linear", "gated_mlp"])
def test_what_was_written_is_read(name: str) -> None:
    """With explanations, and the pairs that verification takes."""
    task, offers = found(name)
    again = search_read(task, written(name))
    assert again is not None
    assert [replace(each, pairs=()) for each in again] == [
        replace(each, pairs=()) for each in offers
    ]
    assert [list(map(list, each.pairs)) for each in again] == [
        list(map(list, each.pairs)) for each in offers
    ]
    assert all(each.search.explanation is not None for each in again)
    assert is_final(again)
    (function,) = functions(parse_program(task.program, task.name))
    assert function_named(parse_program(again[0].function, "f"), task.name).function_type == (
        function.function_type
    )


def test_another_program() -> None:
    assert search_read(found("gated_mlp")[0], written("rmsnorm_linear")) is None


def test_the_key() -> None:
    """Of the options only those that decide what is found."""
    task, _ = found("rmsnorm_linear")
    same = replace(task, options=replace(OPTIONS, jobs=8, pack=True, quiet=True))
    assert search_key(same).digest() == search_key(task).digest()
    for change in ({"top_k": 4}, {"target": "A100"}, {"max_kernels": 2}, {"time_limit": 1.0}):
        other = replace(task, options=replace(OPTIONS, **cast(dict[str, Any], change)))
        assert search_key(other).digest() != search_key(task).digest()


def test_one_that_was_cut_short() -> None:
    _, offers = found("rmsnorm_linear")
    stopped = replace(offers[0], search=replace(offers[0].search, stopped="the time limit"))
    assert not is_final([offers[1], stopped])


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_edit_is_none_or_harmless(data: st.DataObject) -> None:
    task, _ = found("rmsnorm_linear")
    whole = {"entry": written("rmsnorm_linear")}
    place: Any = whole
    key: Any = "entry"
    while data.draw(st.integers(0, 8)) and (keys := _keys(place[key])):
        place, key = place[key], data.draw(st.sampled_from(keys))
    others: list[object] = [None, True, -1, 10**400, 1.5, "", "x", [], [[]], {}, {"a": 1}]
    place[key] = data.draw(st.sampled_from(others))
    for each in search_read(task, whole["entry"]) or ():
        assert each.search.lines()
        assert each.offer().function.sym_name.data == task.name


def _keys(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [*cast(dict[str, object], value)]
    return [*range(len(cast(list[object], value)))] if isinstance(value, list) else []
