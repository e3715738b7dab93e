"""The way out of xDSL: upstream MLIR's Python bindings, PTX and cubins."""
