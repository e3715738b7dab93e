"""The cost model: the time of a kernel, for all combinations of tile sizes at once."""
