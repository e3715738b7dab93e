"""The parts of `lower-to-nvvm`: addresses, copies, matmuls, reductions, stores."""
