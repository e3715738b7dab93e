"""
A host program, as `mirage-opt -t binary` writes it, to a shared library.

    python examples/mlir/build.py binary.mlir libstep.so

Upstream's passes and its translation make LLVM IR of it, llvmlite (`pip install llvmlite`) makes
machine code, and the system's cc links it with cuda_runtime.c. Each function `NAME` of the program
is there as `_mlir_ciface_NAME`, which takes pointers to memref descriptors.
"""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

RUNTIME = Path(__file__).parent / "cuda_runtime.c"

BINDINGS = "numba_cuda_mlir._mlir"

# Functions take and give buffers that are dense. Their memory comes from cuda_runtime.c, and is
# given back by whoever owns it last. What the host computes itself becomes loops.
PIPELINE = """builtin.module(
    canonicalize,
    one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops
        function-boundary-type-conversion=identity-layout-map},
    buffer-deallocation-pipeline, convert-bufferization-to-memref,
    convert-linalg-to-loops, lower-affine, convert-scf-to-cf, expand-strided-metadata, lower-affine,
    func.func(llvm-request-c-wrappers), convert-math-to-llvm, convert-math-to-libm,
    finalize-memref-to-llvm{use-generic-functions}, gpu-to-llvm, reconcile-unrealized-casts)"""


def llvm_ir(program: str) -> str:
    """The LLVM IR of a program, with the code of its kernels in it."""
    ir: Any = import_module(f"{BINDINGS}.ir")
    pass_manager: Any = import_module(f"{BINDINGS}.passmanager")
    llvm: Any = import_module(f"{BINDINGS}.dialects.llvm")
    with ir.Context() as context:
        import_module(f"{BINDINGS}._mlir_libs._mlirRegisterEverything").register_llvm_translations(
            context
        )
        module = ir.Module.parse(program)
        pass_manager.PassManager.parse(PIPELINE).run(module.operation)
        return readable(llvm.translate_module_to_llvmir(module.operation))


def readable(text: str) -> str:
    """
    The same for an older LLVM, as llvmlite has it.

    It knows what its own intrinsics do, and may not know the words that a newer one has for that.
    """
    text = re.sub(
        r"^declare .*@llvm\..*$",
        lambda line: re.sub(r" captures\(\w+\)| #\d+$", "", line[0]),
        text,
        flags=re.MULTILINE,
    )
    used = set(re.findall(r"^(?:define|declare) .*(#\d+)", text, flags=re.MULTILINE))
    return re.sub(
        r"^attributes (#\d+) = .*$",
        lambda line: line[0] if line[1] in used else "",
        text,
        flags=re.MULTILINE,
    )


def machine_code(text: str) -> bytes:
    """An object file for this machine."""
    llvm: Any = import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(opt=2, reloc="pic")
    module = llvm.parse_assembly(text)
    module.verify()
    return machine.emit_object(module)


def build(program: str, library: Path) -> None:
    """Write the shared library."""
    with TemporaryDirectory() as folder:
        compiled = Path(folder, "host.o")
        compiled.write_bytes(machine_code(llvm_ir(program)))
        # A function of the program may be called like one of another library, as `step` of libc.
        options = ["-std=c99", "-O2", "-fPIC", "-shared", "-pthread", "-Wl,-Bsymbolic"]
        subprocess.run(
            ["cc", *options, RUNTIME, compiled, "-o", library, "-ldl", "-lm"], check=True
        )


if __name__ == "__main__":
    build(Path(sys.argv[1]).read_text(), Path(sys.argv[2]))
