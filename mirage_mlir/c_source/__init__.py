"""Artifacts as C: a header and a source that launch the kernels without Python or a compiler."""
