"""Decisions that the cost model and the lowering share, vectorised over tile sizes. No IR."""
