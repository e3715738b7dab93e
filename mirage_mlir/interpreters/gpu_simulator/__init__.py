"""
Lowered kernels executed on numpy arrays, and what they do wrong with memory: no GPU is needed.

    outputs = run_kernels(module, inputs)

`module` is the `gpu.module` that `lower-to-nvvm` makes of a function. Each block of each kernel
runs on its own, its threads side by side: a value is an array with one element per thread. Warps
that copy for others, and wait for them, go their own way from where they part. The first wrong
access is raised as a `KernelFault` that names the operation, its line and the thread.

Limits: what a GPU leaves open is taken in one way. Blocks run one after the other; a kernel starts
when the one before has ended; loads happen where they stand; the tensor core adds in f32; warps
that parted take turns where they wait. Which accesses other orders could bring into disorder is
found nevertheless. Tensors in scratch
memory have no bounds of their own: an access past the end of one is found only where nothing was
written.
"""

from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind, KernelFault
from mirage_mlir.interpreters.gpu_simulator.launch import random_inputs, run_kernels

__all__ = ["Checker", "FaultKind", "KernelFault", "random_inputs", "run_kernels"]
