"""The parts of `select-mma`: who computes each matmul, by which instruction."""
