"""The parts of `select-mma` and `assign-layouts`: who multiplies tiles, and where they live."""
