"""The programs that are timed, and the lines of the table."""

from pathlib import Path

import pytest
from kernels.case import Case
from kernels.lines import behind, line, met
from kernels.ours import behind_others
from kernels.programs import case_named, chosen, table
from kernels.suite import is_right

import mirage_mlir as mi
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
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
    kernel = mi.superoptimize_file(WORKLOADS / "gqa.mlir", compile_for=["sm_90a"])
    (code,) = kernel.artifact.targets
    (other,) = behind_others(kernel).artifact.targets
    assert [launch.follows for launch in code.launches] == [True, True]
    assert [launch.follows for launch in other.launches] == [False, True]
    assert other.cubin == code.cubin
