"""Programs that are kept as they were written, and the functions of a module that have work."""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.candidate import kept_programs, mark, program_of
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.hints import isa
from mirage_mlir.passes.frontend.inline import called_pieces, flattened, pieces_of


def functions_to_search(module: ModuleOp) -> list[FuncOp]:
    """
    Functions that have operators, or call pieces that have.

    Not among them are programs that are kept, and the pieces of those that are.
    """
    pieces = {name: f for name, f in pieces_of(module).items() if has_work(f)}
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    callers = {f: called_pieces(f, pieces) for f in functions}
    passive = {*kept_programs(module), *(name for called in callers.values() for name in called)}
    wanted = (f for f in functions if f.sym_name.data not in passive)
    return [f for f in wanted if callers[f] or has_work(f)]


def keep_program(module: ModuleOp, function: FuncOp) -> None:
    """
    Put a copy of `function` behind it, which it claims to compute from now on.

    Nothing happens where it claims that of a function already.
    """
    if program_of(function) is not None:
        return
    name = free_name(module, f"{function.sym_name.data}__program")
    program = flattened(function, pieces_of(module)).function
    program.sym_name = StringAttr(name)
    program.sym_visibility = StringAttr("private")
    mark(function, name)
    Rewriter.insert_op(program, InsertPoint.after(function))


def free_name(module: ModuleOp, wanted: str, taken: Iterable[str] = ()) -> str:
    """`wanted`, or with a number behind it, a name that no function of `module` has."""
    names = {f.sym_name.data for f in module.walk() if isinstance(f, FuncOp)} | {*taken}
    choices = (wanted, *(f"{wanted}_{number}" for number in range(1, len(names) + 1)))
    return next(name for name in choices if name not in names)


def has_work(function: FuncOp) -> bool:
    """Whether `function` has operators, or only returns what it takes, which takes a copy."""
    if any(is_operator(op) for op in function.walk()):
        return True
    ops = [op for block in function.body.blocks for op in block.ops]
    graphs = (kernel.GraphDefinedOp, ReturnOp)
    if len(function.body.blocks) != 1 or not all(isinstance(op, graphs) for op in ops):
        return False  # It is the host's.
    returned = [*ops[-1].operands]
    return any(isinstance(value, BlockArgument) for value in returned) and all(
        isa(value.type, TensorType[FloatType]) for value in returned
    )


def is_operator(op: Operation) -> bool:
    """Whether `op` is of the kernel dialect and not yet a graph."""
    return op.name.startswith("kernel.") and not isinstance(op, kernel.GraphDefinedOp)
