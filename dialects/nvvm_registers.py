"""The special registers of the `nvvm` dialect: where a thread is in its warp, block and grid."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure


class SpecialRegisterOp(IRDLOperation):
    """A read-only register of the thread: an i32 that never changes while the kernel runs."""

    res = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


@irdl_op_definition
class ThreadIdXOp(SpecialRegisterOp):
    """The thread's index in its block along x."""

    name = "nvvm.read.ptx.sreg.tid.x"


@irdl_op_definition
class ThreadIdYOp(SpecialRegisterOp):
    """The thread's index in its block along y."""

    name = "nvvm.read.ptx.sreg.tid.y"


@irdl_op_definition
class ThreadIdZOp(SpecialRegisterOp):
    """The thread's index in its block along z."""

    name = "nvvm.read.ptx.sreg.tid.z"


@irdl_op_definition
class BlockIdXOp(SpecialRegisterOp):
    """The block's index in the grid along x."""

    name = "nvvm.read.ptx.sreg.ctaid.x"


@irdl_op_definition
class BlockIdYOp(SpecialRegisterOp):
    """The block's index in the grid along y."""

    name = "nvvm.read.ptx.sreg.ctaid.y"


@irdl_op_definition
class BlockIdZOp(SpecialRegisterOp):
    """The block's index in the grid along z."""

    name = "nvvm.read.ptx.sreg.ctaid.z"


@irdl_op_definition
class LaneIdOp(SpecialRegisterOp):
    """The thread's index in its warp, 0 to 31."""

    name = "nvvm.read.ptx.sreg.laneid"
