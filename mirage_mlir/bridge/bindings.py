"""
Upstream MLIR's Python bindings: the one module that imports them.

What we compile ourselves uses `numba_cuda_mlir._mlir`, or the package that MIRAGE_MLIR_BINDINGS
names (say `mlir`, for a build of one's own); what a host hands over, the host's. Importing them
takes as long as a small search, so that happens on first use.
They carry no types; everything that is not a string or a number stays inside this module.
"""

import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from mirage_mlir.bridge.bare_bindings import leave_out_holder
from mirage_mlir.bridge.nesting import TOO_DEEP, too_deep

DEFAULT_PACKAGE = "numba_cuda_mlir._mlir"

PACKAGE_VARIABLE = "MIRAGE_MLIR_BINDINGS"

KERNELS_TO_LLVM = (
    "gpu.module(convert-scf-to-cf,convert-nvvm-to-llvm,convert-to-llvm,reconcile-unrealized-casts)"
)
"""
From kernels in scf, arith, math, vector, nvvm and llvm to llvm and nvvm.

Nothing is simplified in MLIR: LLVM does that anyway, to the same text.
"""

LOWER_TO_ISA = f"builtin.module({KERNELS_TO_LLVM},gpu-module-to-binary{{format=isa}})"
"""On to PTX text."""


_only_ours = False
"""Whether this process runs no code but ours."""


def own_process() -> None:
    """Import no more than the bindings from now on, since nobody else is there who needs more."""
    global _only_ours
    _only_ours = True


class MissingBindingsError(Exception):
    """The package with MLIR's bindings cannot be imported."""


class BindingsError(Exception):
    """MLIR rejected a program or could not lower it; the text is its first error."""

    def __init__(self, message: str, place: tuple[str, int, int] | None) -> None:
        super().__init__(message)
        self.place = place
        """File, line and column, where MLIR knows them."""


def package_of(*things: Any) -> str | None:
    """
    The package with the bindings that made the first of these which some made.

    Hosts derive from their classes: the contexts of JAX are of one of its own.
    """
    for thing in things:
        for kind in type(thing).__mro__:
            package, libraries, _ = kind.__module__.partition("._mlir_libs")
            if libraries:
                return package
    return None


def bindings_module(name: str, package: str | None = None) -> ModuleType:
    """The module `name` of the bindings, ours if no others are named: `ir`, `passmanager`, ..."""
    package = package or os.environ.get(PACKAGE_VARIABLE, DEFAULT_PACKAGE)
    try:
        if _only_ours and package == DEFAULT_PACKAGE:
            leave_out_holder(package)
        return import_module(f"{package}.{name}")
    except ImportError as error:
        raise MissingBindingsError(
            f"cannot import MLIR's Python bindings from '{package}': {error}; install "
            f"numba-cuda-mlir, or name another package in {PACKAGE_VARIABLE}"
        ) from error


def _first_error(error: Any) -> BindingsError:
    """What comes after the first error of an `MLIRError` only says that there was one."""
    first = error.error_diagnostics[0]
    # loc("FILE":LINE:COLUMN), alone or in a fused location; loc(unknown) has none.
    place = re.search(r'"([^"]*)":(\d+):(\d+)', str(first.location))
    return BindingsError(
        str(first.message),
        (place[1], int(place[2]), int(place[3])) if place else None,
    )


def lower_to_isa(text: str, target: str) -> str:
    """Lower the one `gpu.module` in `text` (generic form) for an `#nvvm.target`, to its PTX."""
    ir = bindings_module("ir")
    pass_manager = bindings_module("passmanager")
    gpu = bindings_module("dialects.gpu")
    try:
        with ir.Context() as context:
            # Threads would only start and stop here: a module holds one kernel or a few.
            context.enable_multithreading(False)
            module = ir.Module.parse(text)
            module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
            kernels = module.body.operations[0]
            kernels.attributes["targets"] = ir.Attribute.parse(f"[{target}]")
            pass_manager.PassManager.parse(LOWER_TO_ISA).run(module.operation)
            binary = module.body.operations[0]
            return gpu.ObjectAttr(binary.objects[0]).object.decode()
    except ir.MLIRError as error:
        raise _first_error(error) from error


def generic_form(text: str) -> str:
    """
    A module in the generic form, with every location in place.

    Raises:
        BindingsError: upstream cannot read it.
    """
    ir = bindings_module("ir")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        try:
            return text_of(_parsed(ir, text))
        except ir.MLIRError as error:
            raise _first_error(error) from error


def parse_module(text: str, context: Any) -> Any:
    """
    An `ir.Module` in an `ir.Context`.

    Raises:
        BindingsError: upstream cannot read it.
    """
    ir = bindings_module("ir", package_of(context))
    try:
        return _parsed(ir, text, context=context)
    except ir.MLIRError as error:
        raise _first_error(error) from error


def _parsed(ir: Any, text: str, **where: Any) -> Any:
    """A module, unless its text is nested so deep that the parser would end the process."""
    if (place := too_deep(text)) is not None:
        raise BindingsError(TOO_DEEP, ("-", *place))
    return ir.Module.parse(text, **where)


def create(
    name: str,
    operands: Sequence[Any],
    results: Sequence[Any],
    attributes: Mapping[str, Any],
    sizes: Mapping[str, Sequence[int]],
) -> Any:
    """An `ir.Operation` at the current insertion point, with `sizes` as arrays of i32."""
    ir = bindings_module("ir", package_of(*results, *operands, *attributes.values()))
    arrays = {name: ir.DenseI32ArrayAttr.get(list(each)) for name, each in sizes.items()}
    return ir.Operation.create(
        name, results=list(results), operands=list(operands), attributes={**attributes, **arrays}
    )


def in_upstream(text: str) -> str:
    """
    A module as upstream prints it in generic form.

    Raises:
        BindingsError: upstream rejects it.
    """
    ir = bindings_module("ir")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        try:
            return ir.Module.parse(text).operation.get_asm(print_generic_op_form=True)
        except ir.MLIRError as error:
            raise _first_error(error) from error


def kernels_in_llvm(text: str, passes: Sequence[str] = ()) -> str:
    """
    The one `gpu.module` in `text` with kernels of llvm and nvvm, in generic form.

    It is what `passes` of a module make of that, if there are any.

    Raises:
        BindingsError: upstream rejects it.
    """
    ir = bindings_module("ir")
    pass_manager = bindings_module("passmanager")
    pipeline = f"builtin.module({','.join([KERNELS_TO_LLVM, *passes])})"
    with ir.Context() as context:
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(text)
            pass_manager.PassManager.parse(pipeline).run(module.operation)
            (op,) = module.body.operations
            return op.operation.get_asm(print_generic_op_form=True, use_local_scope=True)
        except ir.MLIRError as error:
            raise _first_error(error) from error


def load_irdl(context: Any, definitions: str, without_terminator: Sequence[str]) -> None:
    """
    Load the dialects that the IRDL module `definitions` describes into an `ir.Context`.

    IRDL has no traits: the operations `without_terminator` get the one that they need. Bindings
    without IRDL, as jaxlib's, let any dialect pass instead.
    """
    package = package_of(context)
    ir = bindings_module("ir", package)
    try:
        irdl = bindings_module("dialects.irdl", package)
    except MissingBindingsError:
        context.allow_unregistered_dialects = True
        return
    module = ir.Module.parse(definitions, context=context)
    irdl.load_dialects(module)
    for name in without_terminator:
        ir.NoTerminatorTrait.attach(name, context=context)


def is_loaded(context: Any, operation: str) -> bool:
    """Whether an `ir.Context` knows the operation of that name."""
    return bool(context.is_registered_operation(operation))


def pass_manager(pieces: Sequence[Any], context: Any) -> Any:
    """A `PassManager` in an `ir.Context`, of texts of upstream's passes and of callables."""
    manager = bindings_module("passmanager", package_of(context)).PassManager(
        "builtin.module", context
    )
    for piece in pieces:
        manager.add(piece)
    return manager


def text_of(module: Any) -> str:
    """The generic form of an `ir.Module`, or of its operation, with every location in place."""
    text = module.operation.get_asm(
        print_generic_op_form=True, enable_debug_info=True, use_local_scope=True
    )
    return text + resources_of(module, text)


def resources_of(module: Any, text: str) -> str:
    """
    What stands behind a module of which `text` refers to resources: their bytes.

    MLIR leaves them out where it prints locations in place.
    """
    if "dense_resource<" not in text:
        return ""
    whole = module.operation.get_asm(print_generic_op_form=True)
    start = whole.rfind("\n{-#")
    return "" if start < 0 else whole[start:]


def replace_content(module: Any, text: str) -> None:
    """Make what the module `text` holds the content of an `ir.Module` or of its operation."""
    ir = bindings_module("ir", package_of(module))
    target = module.operation
    try:
        source = ir.Module.parse(text, context=target.context)
    except ir.MLIRError as error:
        raise _first_error(error) from error
    body = target.regions[0].blocks[0]
    for each in list(body.operations):
        each.operation.erase()
    for each in list(source.body.operations):
        body.append(each)
    for attribute in [*target.attributes]:
        del target.attributes[attribute]
    for attribute in source.operation.attributes:
        target.attributes[attribute] = source.operation.attributes[attribute]
