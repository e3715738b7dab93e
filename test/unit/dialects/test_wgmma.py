"""Products of warpgroups with the left side in registers: inline PTX that ptxas takes."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import Float32Type, f32, i32, i64

from mirage_mlir.dialects.nvvm_wgmma import ElementName, RegistersForm, is_pin, pinned


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize(("transposed", "adds"), [(False, True), (True, False)])
@pytest.mark.parametrize("columns", [8, 256])
def test_the_form_is_read_back(columns: int, element: ElementName, transposed: bool, adds: bool):
    form = RegistersForm(columns, element, transposed, adds)
    values = test.TestOp(result_types=[*[f32] * (columns // 2), *[i32] * 4, i64]).results
    op = form.make(values[: columns // 2], values[columns // 2 : -1], values[-1])
    op.verify()
    assert RegistersForm.of(op) == form
    assert len(op.operands) == columns // 2 + 5
    assert op.constraints.data.count("=f") == columns // 2
    assert f"${columns + 4}," in op.asm_string.data, "the descriptor is the last operand"
    assert not is_pin(op)


def test_a_pin_has_its_operands():
    values = test.TestOp(result_types=[Float32Type()] * 3).results
    op = pinned(values)
    op.verify()
    assert is_pin(op)
    assert RegistersForm.of(op) is None
    assert op.constraints.data == "=f,=f,=f,0,1,2"
