"""
Artifacts, and running them: load cubins, check tensors, launch on the current stream.

Nothing here imports a compiler at load: saved artifacts run with numpy and CUDA's driver
bindings alone. This is the only package that touches CUDA, torch or cupy.
"""
