"""`mirage-opt -t nvvm`: the lowered kernels, as upstream MLIR reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.utils.target import Target

from mirage_mlir.bridge import bindings
from mirage_mlir.bridge.generic_form import generic_form
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects.interface import function_name, in_plain_form
from mirage_mlir.dialects.target import TARGET
from mirage_mlir.outputs.host_code import (
    DECLARATION,
    Kernels,
    Launcher,
    argument_names,
    buffers_of,
    functions_of,
    on_buffers,
    quoted,
    wrapper,
)
from mirage_mlir.outputs.host_constants import copy_constants
from mirage_mlir.outputs.kernels import KernelOptions
from mirage_mlir.outputs.lowered import lowered_modules
from mirage_mlir.outputs.packing_code import (
    constants_of,
    pack_function,
    packed_offsets,
    packing_module,
    whole_function,
)


@dataclass(frozen=True)
class NvvmTarget(KernelOptions, Target):
    """
    The module in generic form, its functions of uGraphs lowered to `gpu.module`s of llvm and nvvm.

    These say by `#nvvm.target` what they are for; `kernel.target` upstream would not know. Of how
    they are launched, `kernel.launch`, it sees a dictionary.
    """

    name = "nvvm"

    host: bool = False
    """Write functions that launch the kernels, too: of each function one of the same name on
    buffers, or on tensors where the module calls it."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        lowered = self.lowered(ctx, module)
        if self.host:
            output.write(with_host(lowered))
            return
        output.write(_program(in_plain_words(lowered)))


def in_plain_words(lowered: ModuleOp) -> ModuleOp:
    """
    A copy of a lowered module without attributes of dialects that upstream does not have.

    Kernels are marked as such in the words of its dialect gpu.
    """
    copy = lowered.clone()
    copy.attributes.pop(TARGET, None)
    for op in copy.walk():
        for name, attribute in op.attributes.items():
            op.attributes[name] = in_plain_form(attribute)
    for module in lowered_modules(copy):
        for kernel in functions_of(module):
            kernel.attributes["gpu.kernel"] = UnitAttr()
    return copy


def with_host(lowered: ModuleOp, *passes: str) -> str:
    """
    The text of a lowered module with the functions that launch its kernels, in generic form.

    The modules of kernels are what upstream's `passes` make of them.

    Raises:
        PassFailure: there is something that this code does not do.
    """
    plain = in_plain_words(lowered)
    declared = {
        op.sym_name.data: op
        for op in plain.body.block.ops
        if isinstance(op, func.FuncOp) and op.is_declaration
    }
    copy_constants(plain, {function_name(each) for each in _modules(lowered)})
    texts = [DECLARATION]
    host = _Host({*_symbols(plain)}, passes)
    for described, op in zip(_modules(lowered), _modules(plain), strict=True):
        name = function_name(described)
        texts += host.functions(kernels_of(described), op, name, called=name in declared)
        if name in declared:
            declared[name].detach()
            declared[name].erase()
    plain.attributes["gpu.container_module"] = UnitAttr()
    program = _program(plain, texts, passes)
    try:
        return bindings.in_upstream(program)
    except (bindings.BindingsError, bindings.MissingBindingsError) as error:
        fail(lowered, f"cannot be given host code: {error}")


def _program(plain: ModuleOp, texts: Sequence[str] = (), passes: Sequence[str] = ()) -> str:
    """The text of a module, `texts` first; kernels are what upstream's `passes` make of them."""
    stream = StringIO()
    printer = Printer(stream=stream, print_generic_format=True)
    ours = lowered_modules(plain)
    for op in plain.body.block.ops:
        if op in ours:
            stream.write(_kernels(op, generic_form(op), passes))
        else:
            printer.print_op(op)
        stream.write("\n")
    body = "".join([*(f"{text}\n" for text in texts), stream.getvalue()])
    resources = StringIO()
    printer.stream = resources
    printer.print_metadata([Builtin])
    frame = StringIO()
    empty = ModuleOp([], plain.attributes, plain.sym_name)
    Printer(stream=frame, print_generic_format=True).print_op(empty)
    before, _, behind = frame.getvalue().partition(EMPTY)
    return f"{before}({{\n{body}}}){behind}{resources.getvalue()}\n"


def _kernels(op: Operation, text: str, passes: Sequence[str]) -> str:
    """The text of a module of kernels, in llvm and nvvm."""
    try:
        return bindings.kernels_in_llvm(text, passes)
    except (bindings.BindingsError, bindings.MissingBindingsError) as error:
        fail(op, f"cannot be lowered by upstream's passes: {error}")


def _modules(module: ModuleOp) -> list[gpu.ModuleOp]:
    return lowered_modules(module)


def kernels_of(op: gpu.ModuleOp) -> Kernels:
    """What a caller must know of a lowered module."""
    from mirage_mlir.driver import launch_plan as plan

    return Kernels(
        op,
        plan.input_tensors(op),
        plan.outputs_of(op),
        plan.launches_of(op),
        plan.tensor_maps_of(op),
        plan.scratch_bytes_of(op),
        plan.counter_bytes_of(op),
        plan.packed_of(op),
    )


EMPTY = "({\n^bb0:\n})"
"""The region of a module without operations."""


def _symbols(module: ModuleOp) -> Iterator[str]:
    """The names at the top of a module."""
    for op in module.body.block.ops:
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            yield name.data


@dataclass(frozen=True)
class _Host:
    """Writes what launches kernels."""

    taken: set[str]
    """Names at the top of the program."""

    passes: Sequence[str]
    """What upstream makes of kernels that pack constants."""

    def free(self, name: str) -> str:
        """`name`, or with a number behind it where that is taken; it is taken from now on."""
        names = (f"{name}{number or ''}" for number in range(len(self.taken) + 1))
        found = next(each for each in names if each not in self.taken)
        self.taken.add(found)
        return found

    def functions(
        self, kernels: Kernels, op: gpu.ModuleOp, name: str, *, called: bool
    ) -> Iterator[str]:
        """What launches the kernels of `op`, which is named after its function."""
        module = op.sym_name.data
        if module == name:
            module = self.free(f"{name}_kernels")
            op.properties["sym_name"] = StringAttr(module)
        on_device = quoted(self.free(f"{name}_on_device"))
        launcher = self.free(f"{name}_launch") if called else name
        if kernels.packed:
            yield from self.packing(kernels, op, name, on_device)
        else:
            yield Launcher(kernels).function(on_device, module)
        yield on_buffers(quoted(launcher), on_device, buffers_of(kernels))
        if called:
            yield wrapper(kernels, name, launcher)

    def packing(
        self, kernels: Kernels, op: gpu.ModuleOp, name: str, on_device: str
    ) -> Iterator[str]:
        """What packs constants, what takes them packed, and `on_device`, which does both."""
        packed = kernels.packed
        apart = quoted(self.free(f"{name}_packing"))
        pack, launcher, pack_buffers, launch_buffers = (
            quoted(self.free(f"{name}_{what}"))
            for what in ("pack_on_device", "packed_on_device", "pack", "packed")
        )
        targets = op.properties.get("targets", op.attributes.get("targets"))
        yield _kernels(op, packing_module(apart, str(targets), packed), self.passes)
        yield pack_function(pack, apart, packed)
        yield Launcher(kernels).function(launcher, op.sym_name.data)
        yield whole_function(on_device, pack, launcher, argument_names(kernels), packed)
        buffers = buffers_of(kernels)
        memory = {"%packed": f"memref<{packed_offsets(packed)[1]}xi8>"}
        constants = {f"%in_{at}": buffers[f"%in_{at}"] for at in constants_of(packed)}
        yield on_buffers(pack_buffers, pack, {**constants, **memory})
        yield on_buffers(launch_buffers, launcher, {**buffers, **memory})
