"""Registers that ptxas is asked to save, so that more blocks share a multiprocessor."""

from pathlib import Path

import pytest

from mirage_mlir.decisions import registers
from mirage_mlir.driver import more_blocks
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.more_blocks import Residency, fewer_waves
from mirage_mlir.driver.source import parse_program
from mirage_mlir.targets.target import H200

INPUTS = Path(__file__).parent / "Inputs"

STEP, ATTENTION = INPUTS / "gated_deltanet_step.mlir", INPUTS / "masked_attention_577.mlir"


def compiled(path: Path = STEP) -> CompiledFunction:
    return compile_function(parse_program(path.read_text(), path.name), path.stem, "H200")


def four(threads: int) -> int:
    return 4


def test_two_blocks_instead_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 threads of up to 80 registers are one block, of 64 they are two."""
    asked = compiled()
    monkeypatch.setattr(more_blocks, "MOST_TO_SAVE", 0)
    before = compiled()
    found = [(each.resources[0].registers, each.resources[0].resident) for each in (before, asked)]
    assert found[0][0] > registers.FEW_FOR_A_THREAD
    assert found[0][1] == 1
    assert found[1] == (registers.FEW_FOR_A_THREAD, 2)
    assert ".minnctapersm 2" in asked.ptx
    assert "minnctapersm" not in before.ptx
    assert asked.assembled.spill_bytes == 0


def test_one_wave_of_warpgroups() -> None:
    """Two blocks of 128 registers, whose matmuls run on as with 145."""
    found = compiled(ATTENTION)
    assert found.resources[0].resident == 2
    assert ".minnctapersm 2" in found.ptx
    assert "wgmma.mma_async" in found.ptx
    assert not found.assembled.is_slowed


def eight_in_one_wave(residency: Residency, blocks: int, registers: int) -> int:
    return 8


def test_what_ptxas_refuses_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warpgroup matmul with fewer registers than its operands take is an error of ptxas."""
    before = compiled(ATTENTION)
    monkeypatch.setattr(more_blocks, "fewer_waves", eight_in_one_wave)
    found = compiled(ATTENTION)
    assert "minnctapersm 8" not in found.ptx
    assert "wgmma.mma_async" in found.ptx
    assert found.assembled.registers >= before.assembled.registers


def test_nothing_spills_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it would, the first code stays."""
    before = compiled()
    # Four blocks of 512 threads have 32 registers for each.
    monkeypatch.setattr(more_blocks, "FEW_FOR_A_THREAD", 32)
    monkeypatch.setattr(more_blocks, "blocks_side_by_side", four)
    monkeypatch.setattr(more_blocks, "MOST_TO_SAVE", 255)
    after = compiled()
    assert after.assembled.spill_bytes == 0
    assert "minnctapersm 4" not in after.ptx
    assert before.inputs == after.inputs


@pytest.mark.parametrize(
    ("blocks", "registers", "wanted"),
    [
        (132, 128, 0),  # They fit as they are: one block on each multiprocessor.
        (160, 140, 2),  # Two, of 128 registers, are one wave instead of two.
        (160, 255, 0),  # Half of the registers would be too few.
        (600, 96, 3),  # Two waves of three instead of three of two.
        (5000, 128, 0),  # One wave of 19 is not worth it.
    ],
)
def test_blocks_for_one_wave_less(blocks: int, registers: int, wanted: int) -> None:
    """256 threads and 32 KB a block."""
    residency = Residency(H200, 256, 32 << 10)
    assert fewer_waves(residency, blocks, registers) == wanted


def test_shared_memory_for_one_wave_less() -> None:
    """Registers are not saved where the bytes do not fit."""
    assert fewer_waves(Residency(H200, 256, 140 << 10), 160, 140) == 0
