"""The pieces of `lower-to-nvvm`: views, addresses, loads, matmuls, reductions, stores."""
