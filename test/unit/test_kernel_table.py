"""The programs that are timed, and the lines of the table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kernels.case import Case, rows, weight
from kernels.lines import behind, line, met
from kernels.ours import behind_others
from kernels.programs import case_named, chosen, table
from kernels.suite import is_right
from kernels.weight_layouts import out_in, over_in_out, summary, with_out_in

import mirage_mlir as mi
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.verification import verify

WORKLOADS = Path(__file__).parents[1] / "workloads"

CASES = {case.name: case for case in table()}


def test_the_table() -> None:
    assert len(CASES) == 72
    assert case_named("rmsnorm 32768x1024 bf16").dtype == "bf16"
    assert case_named("lora b16_k256_r16 bf16").dtype == "bf16"
    names = [case.name for case in chosen(list(CASES.values()), "ntrans,250x500")]
    assert names == ["ntrans b1 f16", "ntrans b8 f16", "rmsnorm 250x500 f32"]


@pytest.mark.parametrize("program", sorted({case.program for case in CASES.values()}))
def test_programs(program: str) -> None:
    case = next(case for case in CASES.values() if case.program == program)
    module = parse_program(case.text(), "case")
    verify(module)
    (function,) = functions(module)
    returned = function.body.block.last_op
    assert returned is not None
    assert tuple(map(kernel.shape_of, returned.operands)) == case.outputs
    assert ("kernel.constant" in case.text()) == any(given.constant for given in case.inputs)
    assert "kernel.constant" not in functions_text(case)


def functions_text(case: Case) -> str:
    """The program without marks."""
    return case.text(constants=False)


def test_bytes() -> None:
    assert CASES["matmul b16_n4096 f16"].bytes == 2 * (16 * 4096 + 4096 * 4096 + 16 * 4096)
    assert CASES["rmsnorm 250x512 f32"].bytes == 4 * (2 * 250 * 512 + 512)


def test_a_line() -> None:
    row = {
        "program": "ntrans",
        "label": "b1",
        "dtype": "f16",
        "microseconds": {"mirage": 20.0, "eager": 25.0},
        "best_peer": "eager",
        "ratio": 0.8,
        "must": 0.9,
        "aim": 0.7,
        "floor_us": 10.0,
        "errors": {"mirage": 2e-4},
    }
    assert met(row, "must")
    assert not met(row, "aim")
    assert "MISSED" not in line(row)
    assert "2.00" in line(row)
    chain, both = row["microseconds"], {"mirage": 20.0, "mirage, behind others": 21.0}
    assert isinstance(chain, dict)
    assert "2.10" in line({**row, "microseconds": {**chain, **both}})
    packed = {"mirage, packed": 18.0, "mirage, packed, behind others": 19.5}
    assert behind({**both, **packed, "eager": 1.0}) == 19.5
    assert behind({**packed, "mirage": 17.0}) == 19.5
    assert behind({"eager": 1.0}) is None
    missing = {**row, "microseconds": {"eager": 25.0}, "ratio": None, "errors": {}}
    assert line(missing).endswith("MISSED")


def test_what_is_right() -> None:
    case = CASES["ntrans b1 f16"]
    assert is_right(case, "mirage", 4e-4)
    assert not is_right(case, "mirage", 1e-3)
    assert is_right(case, "eager", 1e-3)
    assert not is_right(case, "mirage", float("nan"))


@pytest.mark.usefixtures("first_look")
def test_behind_others() -> None:
    """The first launch waits for what is before it; the others, and what is computed, stay."""
    kernel = mi.superoptimize_file(WORKLOADS / "gqa.mlir", compile_for=["sm_90a"], max_kernels=2)
    (code,) = kernel.artifact.targets
    (other,) = behind_others(kernel).artifact.targets
    assert [launch.follows for launch in code.launches] == [True, True]
    assert [launch.follows for launch in other.launches] == [False, True]
    assert other.cubin == code.cubin


def test_weights_as_linear_layers_have_them() -> None:
    """[out, in] behind [in, out], the same program, found by its name in other processes."""
    cases = chosen(list(with_out_in(CASES.values())), "lora b16_k256,ntrans b1 ")
    assert [case.name for case in cases] == [
        "lora b16_k256_r16 f16",
        "lora b16_k256_r16_out_in f16",
        "ntrans b1 f16",
    ]
    case, other, _ = cases
    assert case_named(other.name) == other
    assert [each.shape for each in other.inputs] == [(16, 256), (4096, 256), (16, 256), (4096, 16)]
    assert (other.bytes, other.flops, other.outputs) == (case.bytes, case.flops, case.outputs)
    small = replace(
        case, inputs=(rows(2, 8), weight(8, 6), weight(8, 3), weight(3, 6)), outputs=((2, 6),)
    )
    inputs = [np.random.default_rng(0).normal(size=each.shape) for each in small.inputs]
    x, *weights = inputs
    transposed = [x, *(each.T for each in weights)]
    texts = [small.text(), out_in(small).text()]
    results = [
        run_function(functions(parse_program(text, "case"))[0], given, rounding=False)[0]
        for text, given in zip(texts, (inputs, transposed), strict=True)
    ]
    assert np.allclose(results[0], results[1])


def test_times_of_both_ways() -> None:
    row = {"program": "lora", "label": "b1", "dtype": "f16", "microseconds": {"mirage": 10.0}}
    other = {**row, "label": "b1_out_in", "microseconds": {"mirage": 10.3}}
    assert over_in_out([row, other]) == {"lora b1_out_in f16": pytest.approx(1.03)}
    assert "0 of 1" in summary([row, other])
    assert summary([row]) == summary([other]) == ""
