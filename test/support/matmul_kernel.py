"""A kernel built by hand: one warp multiplies two f16 matrices on the tensor core."""

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, gpu, llvm, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
    f16,
    f32,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.nvvm_attributes import GLOBAL, SHARED

M, N, STEP = 16, 8, 16
"""The result's rows and columns, and the columns of both operands that one iteration takes."""

A_BYTES, B_BYTES = M * STEP * 2, N * STEP * 2

SHARED_BYTES = A_BYTES + B_BYTES


def constant(value: int) -> SSAValue:
    """An i32."""
    return arith.ConstantOp(IntegerAttr(value, i32)).result


def pointer(base: SSAValue, byte_offset: SSAValue, space: llvm.LLVMPointerType) -> Operation:
    """`base` plus `byte_offset`."""
    return llvm.GEPOp.from_mixed_indices(base, [byte_offset], i8, space)


def member(struct: Operation, index: int, register: Attribute) -> SSAValue:
    """Register number `index` of an instruction's result."""
    return llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [index]), struct, register).res


def copy_tile(
    source: SSAValue, shared: SSAValue, first: SSAValue, columns: int, chunks: int
) -> None:
    """
    Start copying a tile of STEP columns, from column `first`, into shared memory by rows.

    A row is two chunks of 16 bytes; lane l copies chunk l, lanes from `chunks` on copy nothing.
    """
    lane = nvvm.LaneIdOp().res
    row, half = (
        arith.ShRUIOp(lane, constant(1)).result,
        arith.AndIOp(lane, constant(1)).result,
    )
    column = arith.AddiOp(first, arith.MuliOp(half, constant(8))).result
    element = arith.AddiOp(arith.MuliOp(row, constant(columns)), column)
    block = Block()
    with ImplicitBuilder(block):
        nvvm.CpAsyncSharedGlobalOp(
            pointer(shared, arith.MuliOp(lane, constant(16)).result, SHARED),
            pointer(source, arith.MuliOp(element, constant(2)).result, GLOBAL),
            16,
            "cg",
        )
        scf.YieldOp()
    scf.IfOp(arith.CmpiOp(lane, constant(chunks), "ult"), [], Region(block))


def multiply_tiles(a: SSAValue, b: SSAValue, sums: list[SSAValue]) -> list[SSAValue]:
    """`sums` plus the product of the tiles in shared memory."""
    lane = nvvm.LaneIdOp().res
    row = arith.AndIOp(lane, constant(15)).result
    a_half = arith.MuliOp(arith.ShRUIOp(lane, constant(4)), constant(16)).result
    a_at = arith.AddiOp(arith.MuliOp(row, constant(32)), a_half).result
    b_row = arith.AndIOp(lane, constant(7)).result
    b_half = arith.AndIOp(arith.MuliOp(lane, constant(2)), constant(16)).result
    b_at = arith.AddiOp(arith.MuliOp(b_row, constant(32)), b_half).result
    a_loaded = nvvm.LdMatrixOp(pointer(a, a_at, SHARED), 4)
    b_loaded = nvvm.LdMatrixOp(pointer(b, b_at, SHARED), 2)
    pair = VectorType(f16, (2,))
    a_registers = [llvm.BitcastOp(member(a_loaded, i, i32), pair) for i in range(4)]
    b_registers = [llvm.BitcastOp(member(b_loaded, i, i32), pair) for i in range(2)]
    product = nvvm.MmaSyncOp(a_registers, b_registers, sums, (M, N, STEP), "f16")
    return [member(product, i, f32) for i in range(4)]


def store_sums(result: SSAValue, sums: list[SSAValue]) -> None:
    """Write what each lane holds of the M x N result."""
    lane = nvvm.LaneIdOp().res
    row = arith.ShRUIOp(lane, constant(2)).result
    column = arith.ShLIOp(arith.AndIOp(lane, constant(3)), constant(1)).result
    at = arith.AddiOp(arith.MuliOp(row, constant(N)), column).result
    for i, value in enumerate(sums):
        offset = constant((i // 2) * 8 * N + i % 2)
        place = llvm.GEPOp.from_mixed_indices(result, [arith.AddiOp(at, offset)], f32, GLOBAL)
        llvm.StoreOp(value, place)


def kernel_body(a: SSAValue, b: SSAValue, result: SSAValue, columns: int) -> None:
    """The whole kernel, at the current insertion point."""
    shared_a = llvm.AddressOfOp("smem", SHARED).result
    shared_b = pointer(shared_a, constant(A_BYTES), SHARED).results[0]
    zero = arith.ConstantOp(FloatAttr(0.0, f32)).result
    loop = Block(arg_types=[i32, *([f32] * 4)])
    with ImplicitBuilder(loop) as (first, *sums):
        copy_tile(a, shared_a, first, columns, A_BYTES // 16)
        copy_tile(b, shared_b, first, columns, B_BYTES // 16)
        nvvm.CpAsyncCommitGroupOp()
        nvvm.CpAsyncWaitGroupOp(0)
        nvvm.BarrierOp()
        products = multiply_tiles(shared_a, shared_b, list(sums))
        nvvm.BarrierOp()
        scf.YieldOp(*products)
    end = constant(columns)
    sums = scf.ForOp(constant(0), end, constant(STEP), [zero] * 4, loop).results
    store_sums(result, list(sums))
    llvm.ReturnOp()


def matmul_kernel(columns: int = 64) -> gpu.ModuleOp:
    """
    result[16, 8] = a[16, columns] @ b[8, columns]^T; f16 inputs, f32 result, one warp.

    The kernel is `matmul(a, b, result)`; it needs `SHARED_BYTES` of dynamic shared memory.
    """
    entry = Block(arg_types=[GLOBAL] * 3)
    with ImplicitBuilder(entry) as (a, b, result):
        kernel_body(a, b, result, columns)
    function = llvm.FuncOp(
        "matmul",
        llvm.LLVMFunctionType([GLOBAL] * 3),
        linkage=llvm.LinkageAttr("external"),
        body=Region(entry),
        extra_attrs={
            "nvvm.kernel": UnitAttr(),
            "nvvm.maxntid": DenseArrayBase.from_list(i32, [32]),
        },
    )
    memory = llvm.GlobalOp(
        llvm.LLVMArrayType(IntAttr(0), i8),
        "smem",
        "external",
        addr_space=3,
        alignment=1024,
        body=Region(),
    )
    return gpu.ModuleOp.build(
        properties={"sym_name": StringAttr("kernels")},
        regions=[Region(Block([memory, function]))],
    )
