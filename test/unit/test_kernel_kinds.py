"""Each kind of kernel is built as it is called, without spills, for the chips that it is for."""

import pytest
from kernel_kinds import CHIPS, KINDS, TF32
from sampling import sampled

from mirage_mlir.driver.compile import compile_function

SPILLS = {("attention", "sm_80"): 32}
"""Bytes that may be spilled."""


@pytest.mark.parametrize(
    ("name", "chip"), sampled([(name, chip) for name in KINDS for chip in CHIPS], 6)
)
def test_kinds(name: str, chip: str) -> None:
    kind = KINDS[name]
    marks = kind.marks_on(chip)
    if marks is None:
        return
    made = compile_function(kind.module(), "f", chip, pack=bool(kind.constants))
    assert [mark for mark in marks if mark not in made.ptx] == []
    assert (TF32 in made.ptx) == ("f32" in name and "layer" not in name)
    assert len(made.code.packed) == (len(kind.constants) if chip == "sm_90a" else 0)
    assert made.assembled.spill_bytes <= SPILLS.get((name, chip), 0)
