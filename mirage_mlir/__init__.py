"""A superoptimizer for tensor programs, as an MLIR-style compiler."""

__version__ = "0.1.0"
