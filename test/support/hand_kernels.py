"""Kernels written operation by operation, with the launch plan that `lower-to-nvvm` writes."""

from collections.abc import Callable, Sequence

from small_graphs import tensor
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, gpu, llvm, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
    f32,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.dialects.interface import (
    InterfaceAttr,
    TensorMapAttr,
    interface_of,
    set_interface,
)
from mirage_mlir.dialects.launch import KernelLaunch, Workspace, set_launch, set_workspace
from mirage_mlir.dialects.nvvm_attributes import GLOBAL, SHARED
from mirage_mlir.interpreters.gpu_simulator import Checker, FaultKind, run_kernels
from mirage_mlir.interpreters.gpu_simulator.launch import random_inputs


def number(value: int) -> SSAValue:
    """An i32."""
    return arith.ConstantOp(IntegerAttr(value, i32)).result


def real(value: float) -> SSAValue:
    """An f32."""
    return arith.ConstantOp(FloatAttr(value, f32)).result


def thread() -> SSAValue:
    """The thread's index."""
    return nvvm.ThreadIdXOp().res


def shared(byte: SSAValue | int, base: SSAValue | None = None) -> SSAValue:
    """An address in shared memory."""
    start = llvm.AddressOfOp("smem", SHARED).result if base is None else base
    return llvm.GEPOp.from_mixed_indices(start, [byte], i8, SHARED).result


def device(base: SSAValue, byte: SSAValue | int) -> SSAValue:
    """An address in a tensor."""
    return llvm.GEPOp.from_mixed_indices(base, [byte], i8, GLOBAL).result


def times(value: SSAValue, factor: int) -> SSAValue:
    """A product of i32 numbers."""
    return arith.MuliOp(value, number(factor)).result


def load(pointer: SSAValue, width: int = 1) -> SSAValue:
    """`width` neighbours of type f32."""
    kind = f32 if width == 1 else VectorType(f32, [width])
    return llvm.LoadOp(pointer, kind).dereferenced_value


def store(value: SSAValue, pointer: SSAValue) -> None:
    """Write an f32."""
    llvm.StoreOp(value, pointer)


def when(condition: SSAValue, body: Callable[[], object]) -> None:
    """A branch."""
    block = Block()
    with ImplicitBuilder(block):
        body()
        scf.YieldOp()
    scf.IfOp(condition, [], Region(block))


def below(value: SSAValue, limit: int) -> SSAValue:
    """`value < limit`."""
    return arith.CmpiOp(value, number(limit), "slt").result


def kernel(
    body: Callable[..., object],
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    *,
    threads: int = 32,
    smem: int = 256,
    grid: Sequence[int] = (1, 1, 1),
    cluster: Sequence[int] = (1, 1, 1),
    scratch: int = 0,
    maps: Sequence[TensorMapAttr] = (),
    notes: Sequence[Sequence[str]] = (),
    follows: bool = False,
    constants: Sequence[int] = (),
) -> gpu.ModuleOp:
    """
    A module of one kernel, whose `body` takes a pointer for each input, output and map.

    Pointers have the attributes `notes`; the inputs `constants` never change. A kernel that
    `follows` may start before the previous grid has ended.
    """
    kinds = [GLOBAL] * (len(inputs) + len(outputs)) + [llvm.LLVMPointerType()] * len(maps)
    entry = Block(arg_types=kinds)
    with ImplicitBuilder(entry) as pointers:
        body(*pointers)
        llvm.ReturnOp()
    names = [f"input:{i}" for i in range(len(inputs))]
    names += [f"output:{i}" for i in range(len(outputs))]
    names += [f"map:{i}" for i in range(len(maps))]
    attributes: dict[str, Attribute] = {
        "nvvm.cluster_dim": DenseArrayBase.from_list(i32, list(cluster)),
    }
    dictionaries = [DictionaryAttr(dict.fromkeys(names, UnitAttr())) for names in notes]
    function = llvm.FuncOp(
        "k",
        llvm.LLVMFunctionType(kinds),
        linkage=llvm.LinkageAttr("external"),
        body=Region(entry),
        other_props={"arg_attrs": ArrayAttr(dictionaries)} if notes else {},
        extra_attrs=attributes,
    )
    launch = KernelLaunch(tuple(grid), threads, smem, starts_early=follows, arguments=tuple(names))
    set_launch(function, launch)
    module = gpu.ModuleOp.build(
        properties={"sym_name": StringAttr("kernels")}, regions=[Region(Block([function]))]
    )
    results = [tensor(kind) for kind in outputs]
    dense = [[1] if len(kind.get_shape()) == 1 else [kind.get_shape()[1], 1] for kind in results]
    interface = InterfaceAttr(
        StringAttr("kernels"),
        ArrayAttr([tensor(kind) for kind in inputs]),
        i64_array(constants),
        ArrayAttr(results),
        ArrayAttr([i64_array(strides) for strides in dense]),
        ArrayAttr(maps),
        ArrayAttr([]),
    )
    set_interface(module, interface)
    set_workspace(module, Workspace(scratch))
    return module


def set_in_interface(kernels: gpu.ModuleOp, **fields: Attribute) -> None:
    """Change some fields of a module's interface."""
    interface = interface_of(kernels)
    assert interface is not None
    names = [name for name, _ in InterfaceAttr.get_irdl_definition().parameters]
    values = {**dict(zip(names, interface.parameters, strict=True)), **fields}
    set_interface(kernels, InterfaceAttr.new([values[name] for name in names]))


def faults(module: gpu.ModuleOp) -> list[FaultKind]:
    """What a module's kernels do wrong on random inputs, in the order in which it is found."""
    checker = Checker(keep_going=True)
    run_kernels(module, random_inputs(module), checker=checker)
    return [fault.kind for fault in checker.faults]
